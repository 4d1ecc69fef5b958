#!/usr/bin/env python3
"""Makes testdata/layouts: one OCI image layout per mistake or liberty of an artifact, and EXPECTED.tsv.

Every function of layouts_*.py that is marked with @layout makes one folder, named like the function. Its lines of the
table say what the client answers and which reason code tfoci gives. The same bytes come out on every machine: zips are
stored with a fixed date, JSON has no spaces, nothing is signed.

    python3 testdata/make/layouts.py            write the folders and the table
    python3 testdata/make/layouts.py --check    exit 1 if what is there differs from what would be written
"""

import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
import layouts_accepted, layouts_refused, layouts_versions
from oci_layout import FIXTURES, TABLE, Layout

LAYOUTS = pathlib.Path(__file__).resolve().parent.parent / "layouts"


def everything():
    """Every file to write, by its path below testdata/layouts."""
    header = ("layout", "version", "platform", "outcome", "reason", "row")
    out = {"EXPECTED.tsv": "".join("\t".join(line) + "\n" for line in [header, *TABLE]).encode()}
    for name, make in FIXTURES.items():
        made = Layout()
        make(made)
        out.update((f"{name}/{path}", data) for path, data in made.files())
    return out


def main():
    files = everything()
    present = {path.relative_to(LAYOUTS).as_posix(): path.read_bytes() for path in LAYOUTS.rglob("*") if path.is_file()}
    if "--check" in sys.argv[1:]:
        differ = sorted(path for path in files.keys() | present.keys() if files.get(path) != present.get(path))
        sys.exit("\n".join(["these differ:", *differ]) if differ else 0)
    shutil.rmtree(LAYOUTS, ignore_errors=True)
    for path, data in files.items():
        target = LAYOUTS / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


if __name__ == "__main__":
    main()
