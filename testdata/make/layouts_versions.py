"""Layouts that differ in their tags: rows 1 to 10."""

from oci_layout import *


def tags(it, *names):
    for name in names:
        it.tag(name=name)


@layout("1", lists("1.0.2+foo.1"), installs(version="1.0.2+foo.1"))
def versions_build_metadata(it):
    it.tag(it.index(it.entry(body=it.manifest(version="1.0.2+foo.1"))), "1.0.2_foo.1")


@layout("2", lists("1.0.0"), ignores("latest", "v1.0.0", "1.0.0.0", "1.x", "sha256-abc.sig", "linux_amd64"))
def versions_ignored(it):
    tags(it, "latest", "v1.0.0", "1.0.0.0", "1.x", "sha256-abc.sig", "linux_amd64", "1.0.0")


@layout("3", lists("1.0.0", "1.2.0"), refused('resolving tag "1.2.0"', "tag-missing", "1.2.0"))
def versions_floating(it):
    tags(it, "1.0.0", "1.2")


@layout("4", lists("1.0.0", "20260101.0.0"), refused('resolving tag "20260101.0.0"', "tag-missing", "20260101.0.0"))
def versions_date(it):
    tags(it, "20260101", "1.0.0")


@layout("5", refused("panic: value out of range", "tag-number-too-large", "list", "-"), installs())
def versions_number_too_large(it):
    """A number beyond 64 bits: clients crash while they list."""
    tags(it, "1234567890123456789012345", "1.0.0")


@layout("6", lists("1.0.0"), installs())
def versions_leading_zero(it):
    """`01.0.0` is the same version, and never asked for."""
    it.tag(it.index(it.entry(body=it.manifest("linux_other"))), "01.0.0")
    it.tag()


@layout("6", lists("1.0.0"), refused('resolving tag "1.0.0"', "tag-missing"))
def versions_leading_zero_alone(it):
    tags(it, "01.0.0")


@layout("7", lists("1.0.0", "1.1.0-rc.2", "1.1.0-rc.10"), installs(version="1.1.0-rc.10"))
def versions_prerelease(it):
    tags(it, "1.1.0-rc.10", "1.1.0-rc.2", "1.0.0")


@layout("9", lists(), refused('resolving tag "1.0.0"', "tag-missing"))
def versions_none(it):
    """Nothing is tagged at all."""


@layout("10", lists("1.0.0+foo"), refused('resolving tag "1.0.0_foo"', "tag-missing", "1.0.0+foo"))
def versions_plus_in_tag(it):
    """A name that a layout can hold and a registry cannot."""
    tags(it, "1.0.0+foo")


@layout(
    "§1.2",
    lists("1.1.0", "2.0.0", "3.0.0", "4.0.0", "5.0.0", "2026.1.2", "1234567.0.0"),
    refused('resolving tag "2.0.0"', "tag-missing", "2.0.0"),
)
def versions_not_canonical(it):
    """All of these parse, and none is its own canonical form."""
    tags(it, "2.0.0-", "3.0.0_", "4.", "05", "2026.01.02", "1234567", "01.1.0")
