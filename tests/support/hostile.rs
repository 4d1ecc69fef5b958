//! Every zip that must be refused. `testdata/hostile.txt` has the first line of each error.
//!
//! Uses nothing but the builder beside it, so that unit tests and integration tests share it.

#![allow(clippy::indexing_slicing)] // Of zips built here.

use super::zipfile::{EXECUTABLE, File, Header, deflate, directory, executable, file, with, zip};

/// A zip that must be refused.
pub struct Case {
    /// The mistake.
    pub label: &'static str,
    pub zip: Vec<u8>,
    /// The exit status of a command that meets it.
    pub exit: u8,
}

fn case(label: &'static str, exit: u8, zip: Vec<u8>) -> Case {
    Case { label, zip, exit }
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
        case("no bytes", 1, Vec::new()),
        case("text", 1, b"<html></html>".to_vec()),
        case("cut short", 1, cut),
        case("cut in its end record", 1, cut_in_the_end),
        case("no entries", 1, zip([])),
        case("no executable", 1, zip([file("LICENSE", "x\n")])),
        case("executable below a directory", 1,
            zip([file(format!("bin/{EXECUTABLE}"), "x\n")])),
        case("executable of another type", 1,
            zip([file("terraform-provider-demonstration", "x\n")])),
        case("executable is a directory", 1, zip([directory("terraform-provider-demo_v1/")])),
    ]
}

#[rustfmt::skip] // A table.
fn ends() -> Vec<Case> {
    let files = || [executable()];
    let nested = zip([file("other", "x\n")]);
    let mut wide_lie = with(files(), |zip| zip.wide = true);
    let narrow_entries = wide_lie.len() - 12;
    wide_lie[narrow_entries] = 7;
    vec![
        case("bytes behind the end", 3, with(files(), |zip| zip.after = vec![0])),
        case("a second zip in the comment", 3,
            with(files(), |zip| zip.comment = nested.clone())),
        case("an end record in the comment that ends early", 3,
            with(files(), |zip| { zip.comment = [nested.as_slice(), b"x"].concat() })),
        case("a stub before the zip, offsets not shifted", 3,
            { let mut bytes = b"#!/bin/sh\n".to_vec(); bytes.extend(zip(files())); bytes }),
        case("bytes between directory and end", 3, with(files(), |zip| zip.between = vec![0; 8])),
        case("directory out of range", 3, with(files(), |zip| zip.offset_lie = 1 << 30)),
        case("directory of another size", 3, with(files(), |zip| zip.size_lie = 1)),
        case("fewer entries than announced", 1,
            with(files(), |zip| zip.entries_lie = 1)),
        case("more entries than announced", 1,
            with([executable(), file("x", "")], |zip| zip.entries_lie = -1)),
        case("directory begins elsewhere", 1,
            with(files(), |zip| (zip.offset_lie, zip.size_lie) = (-1, 1))),
        case("more entries than the limit", 3,
            with(files(), |zip| zip.entries_lie = 10_000)),
        case("more directories than the limit", 3,
            zip([executable()].into_iter().chain((0..200).map(|n| file(format!("{n:03}/{}x", "d/".repeat(50)), ""))))),
        case("a directory of five megabytes", 3,
            zip((0..80).map(|n| {
                file(format!("{n}"), "").both(|header| {
                    header.extra = [[7, 0, 0xfc, 0xff].as_slice(), &[0; 0xfffc]].concat()
                })
            }))),
        case("one part of several", 1,
            with(files(), |zip| zip.disk = 1)),
        case("an entry in another part", 1,
            zip([File { disk: 1,..executable() }])),
        case("64-bit number of entries unlike the other", 3, wide_lie),
        case("64-bit end record elsewhere", 3, {
            let mut bytes = with(files(), |zip| zip.wide = true);
            let locator = bytes.len() - 22 - 12;
            bytes[locator] ^= 1;
            bytes
        }),
        case("64-bit directory out of range", 3,
            with(files(), |zip| { (zip.wide, zip.offset_lie) = (true, i64::MAX / 2) })),
    ]
}

#[rustfmt::skip] // A table.
fn names() -> Vec<Case> {
    vec![
        case("parent", 3, named("../x")),
        case("parent in the middle", 3, named("a/../../x")),
        case("parent behind backslashes", 3, named("a\\..\\x")),
        case("absolute", 3, named("/etc/x")),
        case("drive", 3, named("C:x")),
        case("backslash", 3, named("docs\\x")),
        case("current directory", 3, named("./x")),
        case("doubled slash", 3, named("a//x")),
        case("no name", 3, named("")),
        case("line break", 3, named("a\nb")),
        case("nul", 3, named("x\0y")),
        case("not UTF-8", 3, named([0xff])),
        case("long", 3, named("x".repeat(1025))),
        case("too deep", 3, named("d/".repeat(64) + "x")),
        case("device", 3, named("nul.txt")),
        case("device with a raised digit", 3, named("COM¹")),
        case("console", 3, named("docs/CONIN$")),
        case("wildcard", 3, named("a*")),
        case("right to left", 3, named("x\u{202e}gpj.exe")),
        case("zero width", 3, named("x\u{200b}")),
        case("dot at the end", 3, named("x.")),
    ]
}

#[rustfmt::skip] // A table.
fn collisions() -> Vec<Case> {
    let pair = |one: &str, other: &str| zip([executable(), file(one, "1"), file(other, "2")]);
    vec![
        case("twice", 3, pair("x", "x")),
        case("executable twice", 3,
            zip([executable(), file(EXECUTABLE, "another\n")])),
        case("case", 3, pair("license", "LICENSE")),
        case("case of a directory", 3, pair("Docs/a", "docs/b")),
        case("encoding", 3, pair("\u{e9}", "e\u{301}")),
        case("encoding of a directory", 3,
            pair("\u{e9}/a", "e\u{301}/b")),
        case("file and directory", 3, pair("x", "x/y")),
        case("file and directory entry", 3, zip([executable(), file("x", ""), directory("x/")])),
    ]
}

#[rustfmt::skip] // A table.
fn kinds() -> Vec<Case> {
    let kind = |mode| beside(file("x", "LICENSE").mode(mode));
    let dos_directory = File {
        attributes: 0x10,
        ..file("x", "").without_mode()
    };
    vec![
        case("symbolic link", 3, kind(0o120777)),
        case("symbolic link, not made on Unix", 3,
            beside(File { made_by: 20,..file("x", "/etc").mode(0o120777) })),
        case("device file", 3, kind(0o020666)),
        case("pipe", 3, kind(0o010666)),
        case("socket", 3, kind(0o140666)),
        case("directory without a slash", 3, kind(0o040755)),
        case("DOS directory without a slash", 3, beside(dos_directory)),
        case("directory with content", 3,
            beside(file("x/", "content").mode(0o040755))),
    ]
}

#[rustfmt::skip] // A table.
fn methods() -> Vec<Case> {
    let flag = |flag: u16| beside(file("x", "").both(|header| header.flags |= flag));
    vec![
        case("encrypted", 1, flag(1)),
        case("strongly encrypted", 1, flag(1 << 6)),
        case("masked headers", 1, flag(1 << 13)),
        case("patch", 1, flag(1 << 5)),
        case("bzip2", 1,
            beside(file("x", "").both(|header| header.method = 12))),
    ]
}

#[rustfmt::skip] // A table.
fn descriptions() -> Vec<Case> {
    let local = |change: fn(&mut Header)| beside(file("x", "content").local(change));
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
        case("other local name", 3, local(|h| h.name = b"y".to_vec())),
        case("longer local name", 3, local(|h| h.name = b"x/../y".to_vec())),
        case("Unicode path", 3,
            beside(file("x", "").both(|header| header.extra = unicode_path.clone()))),
        case("other local method", 3,
            local(|h| h.method = 8)),
        case("other local flags", 3,
            local(|h| h.flags = 8)),
        case("other local size", 3,
            local(|h| h.size += 1)),
        case("other local compressed size", 3,
            local(|h| h.compressed -= 1)),
        case("other local checksum", 3,
            local(|h| h.crc ^= 1)),
        case("sizes left open without a descriptor", 3,
            local(|h| (h.crc, h.size, h.compressed) = (0, 0, 0))),
        case("other descriptor", 3, beside(streamed)),
        case("no descriptor", 3,
            beside(File { descriptor: Vec::new(),..file("x", "content").streamed() })),
        case("no local header", 3,
            beside(File { offset: Some(1),..file("x", "") })),
        case("local header out of range", 3,
            beside(File { offset: Some(1 << 31),..file("x", "") })),
        case("64-bit size missing", 3, beside(file("x", "").both(|header| header.size = u32::MAX))),
        case("64-bit size unlike the other", 3, beside(file("x", "content").both(|header| header.extra = zip64(9)))),
        case("64-bit size unlike the local one", 3,
            { let mut wide = file("x", "content").wide(); wide.local.extra[4] += 1; beside(wide) }),
        case("64-bit offset out of range", 3,
            {
                let mut wide = file("x", "content");
                wide.offset = Some(u32::MAX);
                wide.central.extra = zip64(u64::MAX);
                beside(wide)
            }),
        case("broken extra field", 1,
            beside(file("x", "").both(|header| header.extra = vec![7, 0, 9, 0]))),
        case("data runs into the directory", 3,
            beside(file("x", "content").both(|header| (header.size, header.compressed) = (99, 99)))),
        case("an entry inside another", 3, zip(quoted)),
        case("an unlisted entry between others", 3,
            zip([executable(), File { descriptor: zip([file("y", "inner")])[..36].to_vec(), ..file("x", "content") }, file("z", "")])),
        case("an unlisted entry before all", 3,
            with([executable()], |zip_| zip_.before = zip([file("y", "inner")])[..36].to_vec())),
        case("an unlisted entry behind all", 3,
            beside(File { descriptor: [&[0; 70_000], &zip([file("y", "inner")])[..36]].concat(), ..file("x", "content") })),
    ]
}

#[rustfmt::skip] // A table.
fn contents() -> Vec<Case> {
    let deflated = |data: Vec<u8>, announced: &str| {
        let mut lie = file("x", announced).deflated();
        lie.data = data;
        let length = lie.data.len() as u32;
        beside(lie.both(|header| header.compressed = length))
    };
    let stream = deflate(b"content");
    vec![
        case("more than two hundred times its size", 3,
            beside(file("x", "").both(|header| (header.method, header.size) = (8, 1 << 20)))),
        case("twelve gigabytes", 3, {
            let huge = |name: &str| file(name, "").both(|header| (header.method, header.size) = (8, u32::MAX - 1));
            zip([huge("a"), huge("b"), huge("c")])
        }),
        case("unpacks to more", 3,
            deflated(deflate(&[0; 1 << 20]), "announced")),
        case("unpacks to less", 3, deflated(deflate(b"a"), "announced")),
        case("stored with more", 3,
            beside(file("x", "content").both(|header| header.size = 3))),
        case("stored with less", 3,
            beside(file("x", "content").both(|header| header.size = 9))),
        case("wrong checksum", 3,
            beside(file("x", "content").both(|header| header.crc ^= 1))),
        case("not deflate", 3, deflated(vec![0xff; 8], "content")),
        case("stream ends early", 3, deflated(stream[..stream.len() - 3].to_vec(), "content")),
        case("bytes behind the stream", 3, deflated([stream.as_slice(), b"x"].concat(), "content")),
        case("no stream at all", 3, deflated(Vec::new(), "content")),
    ]
}
