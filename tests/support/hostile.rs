//! Every zip that must be refused, with its error message.
//!
//! Uses nothing but the builder beside it, so that unit tests and integration tests share it.

#![allow(clippy::indexing_slicing)] // Of zips built here.

use super::zipfile::{EXECUTABLE, File, Header, deflate, directory, executable, file, with, zip};

/// A zip that must be refused.
pub struct Case {
    /// The mistake.
    pub label: &'static str,
    pub zip: Vec<u8>,
    /// The first line of the error.
    pub message: &'static str,
    /// The exit status of a command that meets it.
    pub exit: u8,
}

fn case(label: &'static str, exit: u8, message: &'static str, zip: Vec<u8>) -> Case {
    Case {
        label,
        zip,
        message,
        exit,
    }
}

/// The executable and one more file.
fn beside(other: File) -> Vec<u8> {
    zip([executable(), other])
}

fn named(name: impl AsRef<[u8]>) -> Vec<u8> {
    beside(file(name, "x\n"))
}

/// All of them.
pub fn cases() -> Vec<Case> {
    let mut all = shapes();
    all.extend(ends());
    all.extend(names());
    all.extend(collisions());
    all.extend(kinds());
    all.extend(methods());
    all.extend(descriptions());
    all.extend(contents());
    all
}

#[rustfmt::skip] // A table.
fn shapes() -> Vec<Case> {
    let good = beside(file("LICENSE", "x\n"));
    let mut cut = good.clone();
    cut.truncate(good.len() - 30);
    let mut cut_in_the_end = good.clone();
    cut_in_the_end.truncate(good.len() - 1);
    vec![
        case("no bytes", 1, "not a zip archive", Vec::new()),
        case("text", 1, "not a zip archive", b"<html></html>".to_vec()),
        case("cut short", 1, "the zip is cut short", cut),
        case("cut in its end record", 1, "the zip is cut short", cut_in_the_end),
        case("no entries", 1, "the zip has no entries", zip([])),
        case("no executable", 1, "the zip holds no executable", zip([file("LICENSE", "x\n")])),
        case("executable below a directory", 1, "the zip holds no executable",
            zip([file(format!("bin/{EXECUTABLE}"), "x\n")])),
        case("executable of another type", 1, "the zip holds no executable",
            zip([file("terraform-provider-demonstration", "x\n")])),
        case("executable is a directory", 1, "the zip holds no executable", zip([directory("terraform-provider-demo_v1/")])),
    ]
}

#[rustfmt::skip] // A table.
fn ends() -> Vec<Case> {
    let files = || [executable()];
    let nested = zip([file("other", "x\n")]);
    let wrong_place = "the zip has its central directory elsewhere than its end record says";
    let contradiction = "the zip has a 64-bit end record that contradicts its other records";
    let mut wide_lie = with(files(), |zip| zip.wide = true);
    let narrow_entries = wide_lie.len() - 12;
    wide_lie[narrow_entries] = 7;
    vec![
        case("bytes behind the end", 3, "the zip has bytes after its end", with(files(), |zip| zip.after = vec![0])),
        case("a second zip in the comment", 3, "the zip has more than one end record",
            with(files(), |zip| zip.comment = nested.clone())),
        case("an end record in the comment that ends early", 3, "the zip has more than one end record",
            with(files(), |zip| { zip.comment = [nested.as_slice(), b"x"].concat() })),
        case("a stub before the zip, offsets not shifted", 3, wrong_place,
            { let mut bytes = b"#!/bin/sh\n".to_vec(); bytes.extend(zip(files())); bytes }),
        case("bytes between directory and end", 3, wrong_place, with(files(), |zip| zip.between = vec![0; 8])),
        case("directory out of range", 3, wrong_place, with(files(), |zip| zip.offset_lie = 1 << 30)),
        case("directory of another size", 3, wrong_place, with(files(), |zip| zip.size_lie = 1)),
        case("fewer entries than announced", 1, "the zip has a central directory that cannot be read",
            with(files(), |zip| zip.entries_lie = 1)),
        case("more entries than announced", 1, "the zip has bytes after the last entry of its central directory",
            with([executable(), file("x", "")], |zip| zip.entries_lie = -1)),
        case("directory begins elsewhere", 1, "the zip has a central directory that cannot be read",
            with(files(), |zip| (zip.offset_lie, zip.size_lie) = (-1, 1))),
        case("more entries than the limit", 3, "the zip has too many entries",
            with(files(), |zip| zip.entries_lie = 10_000)),
        case("more directories than the limit", 3, "the zip makes too many files and directories",
            zip([executable()].into_iter().chain((0..200).map(|n| file(format!("{n:03}/{}x", "d/".repeat(50)), ""))))),
        case("a directory of five megabytes", 3, "the zip has too large a central directory",
            zip((0..80).map(|n| {
                file(format!("{n}"), "").both(|header| {
                    header.extra = [[7, 0, 0xfc, 0xff].as_slice(), &[0; 0xfffc]].concat()
                })
            }))),
        case("one part of several", 1, "the zip is one part of several",
            with(files(), |zip| zip.disk = 1)),
        case("an entry in another part", 1, "the entry `terraform-provider-demo_v1.0.0` is in another file",
            zip([File { disk: 1,..executable() }])),
        case("64-bit number of entries unlike the other", 3, contradiction, wide_lie),
        case("64-bit end record elsewhere", 3, contradiction, {
            let mut bytes = with(files(), |zip| zip.wide = true);
            let locator = bytes.len() - 22 - 12;
            bytes[locator] ^= 1;
            bytes
        }),
        case("64-bit directory out of range", 3, wrong_place,
            with(files(), |zip| { (zip.wide, zip.offset_lie) = (true, i64::MAX / 2) })),
    ]
}

#[rustfmt::skip] // A table.
fn names() -> Vec<Case> {
    vec![
        case("parent", 3, "the entry `../x` has an element `..` in its name", named("../x")),
        case("parent in the middle", 3, "the entry `a/../../x` has an element `..` in its name", named("a/../../x")),
        case("parent behind backslashes", 3, "the entry `a\\..\\x` has an element `..` in its name", named("a\\..\\x")),
        case("absolute", 3, "the entry `/etc/x` has an absolute name", named("/etc/x")),
        case("drive", 3, "the entry `C:x` has one of `\\:<>\"|?*` in its name, which Windows reserves", named("C:x")),
        case("backslash", 3, "the entry `docs\\x` has one of `\\:<>\"|?*` in its name, which Windows reserves", named("docs\\x")),
        case("current directory", 3, "the entry `./x` has an empty element or an element `.` in its name", named("./x")),
        case("doubled slash", 3, "the entry `a//x` has an empty element or an element `.` in its name", named("a//x")),
        case("no name", 3, "the entry `` has no name", named("")),
        case("line break", 3, "the entry `a\u{fffd}b` has a control character in its name", named("a\nb")),
        case("nul", 3, "the entry `x\u{fffd}y` has a control character in its name", named("x\0y")),
        case("not UTF-8", 3, "the entry `\u{fffd}` has a name that is not UTF-8", named([0xff])),
        case("long", 3, LONG, named("x".repeat(1025))),
        case("too deep", 3, DEEP, named("d/".repeat(64) + "x")),
        case("device", 3, "the entry `nul.txt` has a name that Windows reserves for a device", named("nul.txt")),
        case("device with a raised digit", 3, "the entry `COM¹` has a name that Windows reserves for a device", named("COM¹")),
        case("console", 3, "the entry `docs/CONIN$` has a name that Windows reserves for a device", named("docs/CONIN$")),
        case("wildcard", 3, "the entry `a*` has one of `\\:<>\"|?*` in its name, which Windows reserves", named("a*")),
        case("right to left", 3, "the entry `x\u{fffd}gpj.exe` has an invisible character in its name", named("x\u{202e}gpj.exe")),
        case("zero width", 3, "the entry `x\u{fffd}` has an invisible character in its name", named("x\u{200b}")),
        case("dot at the end", 3, "the entry `x.` has an element that ends in a dot or a space", named("x.")),
    ]
}

const LONG: &str = concat!(
    "the entry `",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "…` has too long a name"
);

const DEEP: &str = "the entry `d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/x` has too long a name";

#[rustfmt::skip] // A table.
fn collisions() -> Vec<Case> {
    let pair = |one: &str, other: &str| zip([executable(), file(one, "1"), file(other, "2")]);
    vec![
        case("twice", 3, "the entry `x` is there twice", pair("x", "x")),
        case("executable twice", 3, "the entry `terraform-provider-demo_v1.0.0` is there twice",
            zip([executable(), file(EXECUTABLE, "another\n")])),
        case("case", 3, "the entry `license` is the same file as another where case and the encoding of letters do not count", pair("license", "LICENSE")),
        case("case of a directory", 3, "the entry `Docs/a` is the same file as another where case and the encoding of letters do not count", pair("Docs/a", "docs/b")),
        case("encoding", 3, "the entry `\u{e9}` is the same file as another where case and the encoding of letters do not count", pair("\u{e9}", "e\u{301}")),
        case("encoding of a directory", 3, "the entry `\u{e9}/a` is the same file as another where case and the encoding of letters do not count",
            pair("\u{e9}/a", "e\u{301}/b")),
        case("file and directory", 3, "the entry `x` is a file, and a directory of another", pair("x", "x/y")),
        case("file and directory entry", 3, "the entry `x` is there twice", zip([executable(), file("x", ""), directory("x/")])),
    ]
}

#[rustfmt::skip] // A table.
fn kinds() -> Vec<Case> {
    let kind = |mode| beside(file("x", "LICENSE").mode(mode));
    let both = "the entry `x` has the attributes of a directory, and the name of a file";
    let dos_directory = File {
        attributes: 0x10,
        ..file("x", "").without_mode()
    };
    vec![
        case("symbolic link", 3, "the entry `x` is a symbolic link", kind(0o120777)),
        case("symbolic link, not made on Unix", 3, "the entry `x` is a symbolic link",
            beside(File { made_by: 20,..file("x", "/etc").mode(0o120777) })),
        case("device", 3, "the entry `x` is a special file", kind(0o020666)),
        case("pipe", 3, "the entry `x` is a special file", kind(0o010666)),
        case("socket", 3, "the entry `x` is a special file", kind(0o140666)),
        case("directory without a slash", 3, both, kind(0o040755)),
        case("DOS directory without a slash", 3, both, beside(dos_directory)),
        case("directory with content", 3, "the entry `x/` is a directory with content",
            beside(file("x/", "content").mode(0o040755))),
    ]
}

#[rustfmt::skip] // A table.
fn methods() -> Vec<Case> {
    let flag = |flag: u16| beside(file("x", "").both(|header| header.flags |= flag));
    let encrypted = "the entry `x` is encrypted";
    vec![
        case("encrypted", 1, encrypted, flag(1)),
        case("strongly encrypted", 1, encrypted, flag(1 << 6)),
        case("masked headers", 1, encrypted, flag(1 << 13)),
        case("patch", 1, "the entry `x` is a patch", flag(1 << 5)),
        case("bzip2", 1, "the entry `x` has an unsupported compression method",
            beside(file("x", "").both(|header| header.method = 12))),
    ]
}

#[rustfmt::skip] // A table.
fn descriptions() -> Vec<Case> {
    let local = |change: fn(&mut Header)| beside(file("x", "content").local(change));
    let sizes = "the entry `x` has 64-bit sizes that contradict its other sizes";
    let overlap = "the entry `x` overlaps what follows it";
    let descriptor = "the entry `x` has a data descriptor that contradicts the central directory";
    let mut streamed = file("x", "content").streamed();
    streamed.descriptor[4] ^= 1;
    let unicode_path = [b"\x75\x70\x06\0\x01\0\0\0\0".as_slice(), b"y"].concat();
    let zip64 = |value: u64| [[1, 0, 8, 0].as_slice(), &value.to_le_bytes()].concat();
    // A local header with data of its own, inside the data of the entry before it.
    let inner = zip([file("y", "inner")]);
    let quoted = [
        file("x", &inner[..40]),
        File {
            offset: Some(31),
            ..file("y", "inner")
        },
    ];
    vec![
        case("other local name", 3, "the entry `x` has a second name", local(|h| h.name = b"y".to_vec())),
        case("longer local name", 3, "the entry `x` has a second name", local(|h| h.name = b"x/../y".to_vec())),
        case("Unicode path", 3, "the entry `x` has a second name",
            beside(file("x", "").both(|header| header.extra = unicode_path.clone()))),
        case("other local method", 3, "the entry `x` has a local header that contradicts the central directory",
            local(|h| h.method = 8)),
        case("other local flags", 3, "the entry `x` has a local header that contradicts the central directory",
            local(|h| h.flags = 8)),
        case("other local size", 3, "the entry `x` has a local header that contradicts the central directory",
            local(|h| h.size += 1)),
        case("other local compressed size", 3, "the entry `x` has a local header that contradicts the central directory",
            local(|h| h.compressed -= 1)),
        case("other local checksum", 3, "the entry `x` has a local header that contradicts the central directory",
            local(|h| h.crc ^= 1)),
        case("sizes left open without a descriptor", 3, "the entry `x` has a local header that contradicts the central directory",
            local(|h| (h.crc, h.size, h.compressed) = (0, 0, 0))),
        case("other descriptor", 3, descriptor, beside(streamed)),
        case("no descriptor", 3, descriptor,
            beside(File { descriptor: Vec::new(),..file("x", "content").streamed() })),
        case("no local header", 3, "the entry `x` has no local header where the directory says",
            beside(File { offset: Some(1),..file("x", "") })),
        case("local header out of range", 3, "the entry `x` has no local header where the directory says",
            beside(File { offset: Some(1 << 31),..file("x", "") })),
        case("64-bit size missing", 3, sizes, beside(file("x", "").both(|header| header.size = u32::MAX))),
        case("64-bit size unlike the other", 3, sizes, beside(file("x", "content").both(|header| header.extra = zip64(9)))),
        case("64-bit size unlike the local one", 3, "the entry `x` has a local header that contradicts the central directory",
            { let mut wide = file("x", "content").wide(); wide.local.extra[4] += 1; beside(wide) }),
        case("64-bit offset out of range", 3, "the entry `x` has no local header where the directory says",
            {
                let mut wide = file("x", "content");
                wide.offset = Some(u32::MAX);
                wide.central.extra = zip64(u64::MAX);
                beside(wide)
            }),
        case("broken extra field", 1, "the entry `x` has extra fields that cannot be read",
            beside(file("x", "").both(|header| header.extra = vec![7, 0, 9, 0]))),
        case("data runs into the directory", 3, overlap,
            beside(file("x", "content").both(|header| (header.size, header.compressed) = (99, 99)))),
        case("an entry inside another", 3, overlap, zip(quoted)),
        case("an unlisted entry between others", 3, HIDDEN,
            zip([executable(), File { descriptor: zip([file("y", "inner")])[..36].to_vec(), ..file("x", "content") }, file("z", "")])),
        case("an unlisted entry before all", 3, HIDDEN,
            with([executable()], |zip_| zip_.before = zip([file("y", "inner")])[..36].to_vec())),
        case("an unlisted entry behind all", 3, HIDDEN,
            beside(File { descriptor: [&[0; 70_000], &zip([file("y", "inner")])[..36]].concat(), ..file("x", "content") })),
    ]
}

const HIDDEN: &str = "the zip hides an entry that its central directory does not list";

#[rustfmt::skip] // A table.
fn contents() -> Vec<Case> {
    let deflated = |data: Vec<u8>, announced: &str| {
        let mut lie = file("x", announced).deflated();
        lie.data = data;
        let length = lie.data.len() as u32;
        beside(lie.both(|header| header.compressed = length))
    };
    let corrupt = "the entry `x` has corrupt compressed data";
    let stream = deflate(b"content");
    vec![
        case("more than two hundred times its size", 3, "the zip unpacks to too much",
            beside(file("x", "").both(|header| (header.method, header.size) = (8, 1 << 20)))),
        case("twelve gigabytes", 3, "the zip unpacks to too much", {
            let huge = |name: &str| file(name, "").both(|header| (header.method, header.size) = (8, u32::MAX - 1));
            zip([huge("a"), huge("b"), huge("c")])
        }),
        case("unpacks to more", 3, "the entry `x` unpacks to more than it announces",
            deflated(deflate(&[0; 1 << 20]), "announced")),
        case("unpacks to less", 3, "the entry `x` unpacks to less than it announces", deflated(deflate(b"a"), "announced")),
        case("stored with more", 3, "the entry `x` is stored with another size than its own",
            beside(file("x", "content").both(|header| header.size = 3))),
        case("stored with less", 3, "the entry `x` is stored with another size than its own",
            beside(file("x", "content").both(|header| header.size = 9))),
        case("wrong checksum", 3, "the entry `x` has content that does not match its CRC-32",
            beside(file("x", "content").both(|header| header.crc ^= 1))),
        case("not deflate", 3, corrupt, deflated(vec![0xff; 8], "content")),
        case("stream ends early", 3, corrupt, deflated(stream[..stream.len() - 3].to_vec(), "content")),
        case("bytes behind the stream", 3, corrupt, deflated([stream.as_slice(), b"x"].concat(), "content")),
        case("no stream at all", 3, corrupt, deflated(Vec::new(), "content")),
    ]
}
