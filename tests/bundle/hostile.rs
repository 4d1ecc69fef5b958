use std::fs;
use std::path::Path;

use super::{bundled, copy, filled, members, read, with};
use crate::support::author::Author;
use crate::support::release::sha256;
use crate::support::tar::{Entry, Tar};

/// Asserts that nothing is copied out of a file, and that no command panics or takes it for sound.
#[track_caller]
fn refused(author: &Author, case: &str, bytes: &[u8]) {
    author.write("bad.tar", bytes);
    refused_now(author, case);
}

#[track_caller]
fn refused_now(author: &Author, case: &str) {
    let copied = copy(author, "bundle:bad.tar oci-layout:back");
    assert!(copied.stderr.contains("bad.tar"), "{case}: {copied:?}");
    assert!(!author.path("back").exists(), "{case}");
    for run in [copied, author.line("verify --from bundle:bad.tar")] {
        assert!(matches!(run.status, Some(1 | 3)), "{case}: {run:?}");
    }
}

fn entry(name: &str, bytes: &[u8]) -> Entry {
    Entry {
        name: name.to_owned(),
        kind: b'0',
        bytes: bytes.to_vec(),
        size: None,
    }
}

/// A bundle, and the tar that it is.
fn sound() -> (Author, Tar) {
    let author = filled();
    bundled(&author, "all.tar", "");
    let tar = members(&author, "all.tar");
    assert!(tar.write() == read(&author, "all.tar"));
    (author, tar)
}

#[test]
fn other_members_and_other_orders_are_refused() {
    let (author, tar) = sound();
    let refuse = |case: &str, change: &dyn Fn(&mut Vec<Entry>)| {
        let mut changed = tar.clone();
        change(&mut changed.0);
        refused(&author, case, &changed.write());
    };
    let last = tar.0.len() - 1;
    refuse("reordered", &|all| all.swap(3, 4));
    refuse("reordered zips", &|all| all.swap(last, last - 1));
    refuse("reordered lists", &|all| all.swap(0, 1));
    refuse("layout first", &|all| all.rotate_left(2));
    refuse("doubled", &|all| all.insert(5, all[4].clone()));
    refuse("doubled at the end", &|all| all.push(all[4].clone()));
    refuse("one member less", &|all| drop(all.remove(6)));
    refuse("one zip less", &|all| drop(all.pop()));
    refuse("one more", &|all| {
        all.push(entry(&format!("blobs/sha256/{}", sha256(b"x")), b"x"))
    });
    refuse("no marker", &|all| drop(all.remove(2)));
    refuse("another marker", &|all| {
        all[2].bytes = b"{\"imageLayoutVersion\":\"2.0.0\"}".to_vec()
    });
    let names = "../evil,/etc/passwd,blobs/sha256/../../evil,blobs/sha512/00,BLOBS/sha256/00,,a";
    for name in names.split(',') {
        refuse(name, &|all| all.insert(3, entry(name, b"x")));
    }
    let upper = tar.0[4].name.to_uppercase();
    let upper = upper.replace("BLOBS/SHA256", "blobs/sha256");
    refuse("another spelling", &|all| all[4].name.clone_from(&upper));
    // Hard and symbolic links, devices, directories, long names, sparse files, extended headers.
    for kind in *b"123456LKSxg7\0" {
        refuse(&format!("kind {kind}"), &|all| all[4].kind = kind);
    }
    for size in [0, 1, 1 << 32, 0o77_777_777_777] {
        refuse(&format!("size {size}"), &|all| all[last].size = Some(size));
    }
}

#[test]
fn a_cut_or_altered_file_is_refused() {
    let (author, tar) = sound();
    let whole = tar.write();
    let step = whole.len() / 40;
    let near_the_end = [whole.len() - 512, whole.len() - 1];
    for end in (0..whole.len()).step_by(step).chain(near_the_end) {
        refused(&author, &format!("cut at {end}"), &whole[..end]);
    }
    refused(&author, "longer", &[&whole[..], &[0; 512]].concat());
    refused(&author, "more", &[&whole[..], b"more"].concat());
    // Each byte of the first header, and some of each member.
    let mut at = 0;
    let mut places: Vec<usize> = (0..512).step_by(7).collect();
    for entry in &tar.0 {
        places.extend([at, at + 124, at + 156, at + 300, at + 511]);
        at += 512 + entry.bytes.len().next_multiple_of(512);
        if entry.bytes.len() % 512 != 0 {
            places.push(at - 1);
        }
    }
    for place in places.into_iter().chain([at, at + 1023]) {
        let mut altered = whole.clone();
        altered[place] ^= 0x41;
        refused(&author, &format!("byte {place}"), &altered);
    }
}

/// A member with other bytes spoils its version only, which is named, and is not copied.
#[test]
fn altered_blobs_are_named() {
    let (author, tar) = sound();
    let last = tar.0.len() - 1;
    for place in [3, tar.0.len() / 2, last] {
        let mut altered = tar.clone();
        let bytes = &mut altered.0[place].bytes;
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        author.write("bad.tar", altered.write());
        let run = author.line("verify --from bundle:bad.tar").exits(3);
        let hex = tar.0[place].name.rsplit_once('/').unwrap().1;
        let said = run.stdout + &run.stderr;
        assert!(said.contains(hex), "{said}");
        let _back = fs::remove_dir_all(author.path("back"));
        copy(&author, "bundle:bad.tar oci-layout:back").exits(3);
        // Of what arrived, every byte is right.
        let index = author.path("back/registry.opentofu.org/acme/demo/index.json");
        if index.exists() {
            let verify = "verify acme/demo --deep --from oci-layout:back";
            author.line(verify).succeeds();
        }
        copy(&author, "bundle:bad.tar bundle:new.tar --overwrite").exits(3);
    }
}

/// The lists say what the members are, or they are refused.
#[test]
fn lists_that_lie_are_refused() {
    let (author, tar) = sound();
    let refuse = |place: usize, from: &str, to: &str| {
        let changed = with(&tar, place, from, to);
        refused(&author, &format!("{from} -> {to}"), &changed.write());
    };
    refuse(1, "1.1.0", "1.2.0");
    refuse(1, "acme/demo", "acme/evil");
    refuse(1, "\"format\":1", "\"format\":2");
    refuse(1, ",6]", ",5]");
    refuse(1, ",6]", ",18446744073709551615]");
    refuse(1, "{\"format\":1", "{\"format\":1,\"format\":1");
    refuse(1, "{\"format\":1", "{\"more\":1,\"format\":1");
    refuse(1, "sha256:", "sha512:");
    let list = String::from_utf8(tar.0[1].bytes.clone()).unwrap();
    let versions = list.find("\"members\"").unwrap();
    refuse(1, &list[..versions], "{\"format\":1,\"versions\":[],");
    let version = "{\"schemaVersion\":2";
    refuse(0, version, &format!("{version},\"schemaVersion\":2"));
    refuse(0, "acme/demo/1.0.0", "acme/demo/1.0.9");
    refuse(0, "acme/demo/1.0.0", "../../evil/1.0.0");
    refuse(0, "registry.opentofu.org/acme/demo/1.0.0", "1.0.0");
    for place in [0, 1] {
        for bytes in [&b""[..], b"{}", b"null", b"[]", &[b'['; 100_000]] {
            let mut changed = tar.clone();
            changed.0[place].bytes = bytes.to_vec();
            refused(&author, "another document", &changed.write());
        }
    }
}

#[test]
fn other_files_are_refused() {
    let (author, tar) = sound();
    refused(&author, "empty", b"");
    refused(&author, "text", b"hello");
    refused(&author, "zeros", &[0; 10_240]);
    let foreign = Tar(tar.0[2..].to_vec());
    refused(&author, "a layout of another tool", &foreign.write());
    author.run("tar", ["cf", "gnu.tar", "store"]).succeeds();
    refused(&author, "tar", &read(&author, "gnu.tar"));
    let gzip = ["-c", "gzip < all.tar > bad.gz"];
    author.run("sh", gzip).succeeds();
    refused(&author, "gzip", &read(&author, "bad.gz"));
    for name in ["none.tar", "store", "/dev/null", "-"] {
        copy(&author, format!("bundle:{name} oci-layout:back")).exits(1);
    }
    assert!(!author.path("back").exists());
}

/// A sparse file of a terabyte is as quickly refused.
#[test]
#[cfg(target_os = "linux")]
fn a_hole_is_refused() {
    let (author, tar) = sound();
    author.write("bad.tar", &tar.write()[..4096]);
    let file = fs::File::options().write(true).open(author.path("bad.tar"));
    file.unwrap().set_len(1 << 40).unwrap();
    refused_now(&author, "a hole");
}

/// `verify` reads members that no version refers to, and those that the list calls left out.
#[test]
fn every_member_is_read() {
    let (author, tar) = sound();
    let verify = |case: &str, tar: &Tar, status: i32| {
        author.write("bad.tar", tar.write());
        for more in ["", "--deep"] {
            let run = author.line(format!("verify --from bundle:bad.tar {more}"));
            assert_eq!(run.status, Some(status), "{case} {}", run.stdout);
        }
    };
    let last = tar.0.len() - 1;
    let digest = format!("sha256:{}", sha256(&tar.0[last].bytes));
    let base = format!(
        "\"base\":{{\"digest\":\"{digest}\",\"omitted\":[{{\"digest\":\"{digest}\",\"size\":1}}]}},\"members\""
    );
    let mut lies = with(&tar, 1, "\"members\"", &base);
    verify("a sound package that is called left out", &lies, 0);
    lies.0[last].bytes[50] ^= 1;
    verify("an altered package that is called left out", &lies, 3);
    let mut more = with(&tar, 1, ",6]", ",7]");
    let name = format!("blobs/sha256/{}", "f".repeat(64));
    more.0.push(entry(&name, b"x"));
    verify("a member that nothing refers to", &more, 3);
    let mut config = tar.clone();
    let empty = format!("blobs/sha256/{}", sha256(b"{}"));
    let place = config.0.iter().position(|entry| entry.name == empty);
    config.0[place.unwrap()].bytes = b"[]".to_vec();
    verify("the empty config", &config, 3);
}

/// A damaged file is no base: the next bundle would be without what is lost.
#[test]
fn a_damaged_file_is_no_base() {
    let (author, tar) = sound();
    let mut whole = tar.write();
    whole.push(0);
    author.write("bad.tar", &whole);
    author.line("have --from bundle:bad.tar").exits(1);
    copy(&author, "oci-layout:store bundle:new.tar --base bad.tar").exits(1);
    assert!(!author.path("new.tar").exists());
}

/// A name in a list begins no line of its own.
#[test]
fn names_do_not_forge_lines() {
    let (author, tar) = sound();
    let forged = "x\\n    Copied acme/forged 1.0.0";
    let parts = format!(
        "\"parts\":{{\"set\":\"{forged}\",\"number\":1,\"of\":2,\"versions\":{{\"{forged}\":2}}}},\"members\""
    );
    let part = with(&tar, 1, "\"members\"", &parts).write();
    author.write("bad.tar.001", &part);
    for number in [2, 3] {
        let run = copy(&author, "bundle:bad.tar oci-layout:back").exits(1);
        run.omits("\n    Copied acme");
        author.write(format!("bad.tar.00{number}"), &part);
    }
    author.write("base.json", format!("{{\"{forged}\":1}}"));
    let run = copy(&author, "oci-layout:store bundle:new.tar --base base.json");
    run.exits(2).omits("\n    Copied");
}

/// Somebody else may have put a link at the place of the unfinished file.
#[test]
#[cfg(unix)]
fn another_file_is_never_written() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let author = filled();
    let path = |name: &str| author.path(name);
    type Plant = fn(&Path, &Path) -> std::io::Result<()>;
    let plants: [(&str, Plant); 4] = [
        ("a symbolic link", |victim, part| symlink(victim, part)),
        ("a hard link", |victim, part| fs::hard_link(victim, part)),
        ("a file of all", |_, part| {
            fs::write(part, "x")?;
            fs::set_permissions(part, fs::Permissions::from_mode(0o666))
        }),
        ("a directory", |_, part| fs::create_dir(part)),
    ];
    for (case, plant) in plants {
        author.write("victim", "precious");
        plant(&path("victim"), &path("new.tar.part")).unwrap();
        copy(&author, "oci-layout:store bundle:new.tar").exits(1);
        let victim = fs::read(path("victim")).unwrap();
        assert_eq!(victim, b"precious", "{case}");
        assert!(!path("new.tar").exists(), "{case}");
        let _file = fs::remove_file(path("new.tar.part"));
    }
}
