use std::fs;

use super::{bundled, copy, filled, members};
use crate::support::author::Author;
use crate::support::release::sha256;
use crate::support::tar::{Entry, Tar};

/// Asserts that nothing is copied out of a file, and that no command panics or takes it for sound.
#[track_caller]
fn refused(author: &Author, case: &str, bytes: &[u8]) {
    author.scene.write("bad.tar", bytes);
    refused_now(author, case);
}

#[track_caller]
fn refused_now(author: &Author, case: &str) {
    let run = copy(author, "bundle:bad.tar", "oci-layout:back", &[]);
    assert!(
        matches!(run.status, Some(1 | 3)),
        "{case}: {:?} {}",
        run.status,
        run.stderr
    );
    assert!(run.stderr.contains("bad.tar"), "{case}: {}", run.stderr);
    assert!(!author.scene.path("back").exists(), "{case}");
    let run = author.tfoci(&["verify", "--from", "bundle:bad.tar"]);
    assert!(
        matches!(run.status, Some(1 | 3)),
        "{case}: {:?} {}",
        run.status,
        run.stderr
    );
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
    bundled(&author, "all.tar", &[]);
    let tar = members(&author, "all.tar");
    assert!(tar.write() == fs::read(author.scene.path("all.tar")).unwrap());
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
    for name in [
        "../evil",
        "/etc/passwd",
        "blobs/sha256/../../evil",
        "blobs/sha512/00",
        "BLOBS/sha256/00",
        "",
        "a",
    ] {
        refuse(name, &|all| all.insert(3, entry(name, b"x")));
    }
    let upper = tar.0[4]
        .name
        .to_uppercase()
        .replace("BLOBS/SHA256", "blobs/sha256");
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
    for end in (0..whole.len())
        .step_by(step)
        .chain([whole.len() - 512, whole.len() - 1])
    {
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
        author.scene.write("bad.tar", altered.write());
        let run = author
            .tfoci(&["verify", "--from", "bundle:bad.tar"])
            .exits(3);
        let hex = tar.0[place].name.rsplit_once('/').unwrap().1;
        assert!(
            run.stdout.contains(hex) || run.stderr.contains(hex),
            "{}",
            run.stdout
        );
        let _back = fs::remove_dir_all(author.scene.path("back"));
        copy(&author, "bundle:bad.tar", "oci-layout:back", &[]).exits(3);
        if author.scene.path("back").exists() {
            author
                .tfoci(&["verify", "--deep", "--from", "oci-layout:back"])
                .succeeds();
        }
        copy(
            &author,
            "bundle:bad.tar",
            "bundle:new.tar",
            &["--overwrite"],
        )
        .exits(3);
    }
}

/// The lists say what the members are, or they are refused.
#[test]
fn lists_that_lie_are_refused() {
    let (author, tar) = sound();
    let text = |place: usize| String::from_utf8(tar.0[place].bytes.clone()).unwrap();
    let refuse = |place: usize, from: &str, to: &str| {
        assert!(text(place).contains(from), "{from}");
        let mut changed = tar.clone();
        changed.0[place].bytes = text(place).replacen(from, to, 1).into_bytes();
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
    let list = text(1);
    let versions = list.find("\"members\"").unwrap();
    refuse(1, &list[..versions], "{\"format\":1,\"versions\":[],");
    refuse(
        0,
        "{\"schemaVersion\":2",
        "{\"schemaVersion\":2,\"schemaVersion\":2",
    );
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
    author
        .scene
        .run("tar", ["cf", "gnu.tar", "store"])
        .succeeds();
    refused(
        &author,
        "tar",
        &fs::read(author.scene.path("gnu.tar")).unwrap(),
    );
    author
        .scene
        .run("sh", ["-c", "gzip < all.tar > bad.gz"])
        .succeeds();
    refused(
        &author,
        "gzip",
        &fs::read(author.scene.path("bad.gz")).unwrap(),
    );
    for from in [
        "bundle:none.tar",
        "bundle:store",
        "bundle:/dev/null",
        "bundle:-",
    ] {
        copy(&author, from, "oci-layout:back", &[]).exits(1);
    }
    assert!(!author.scene.path("back").exists());
}

/// A sparse file of a terabyte is as quickly refused.
#[test]
#[cfg(target_os = "linux")]
fn a_hole_is_refused() {
    let (author, tar) = sound();
    author.scene.write("bad.tar", &tar.write()[..4096]);
    let file = fs::File::options()
        .write(true)
        .open(author.scene.path("bad.tar"));
    file.unwrap().set_len(1 << 40).unwrap();
    refused_now(&author, "a hole");
}

/// Replaces a text in a list of a bundle.
fn with(tar: &Tar, place: usize, from: &str, to: &str) -> Tar {
    let mut changed = tar.clone();
    let text = String::from_utf8(tar.0[place].bytes.clone()).unwrap();
    assert!(text.contains(from), "{from}");
    changed.0[place].bytes = text.replacen(from, to, 1).into_bytes();
    changed
}

/// `verify` reads members that no version refers to, and those that the list calls left out.
#[test]
fn every_member_is_read() {
    let (author, tar) = sound();
    let verify = |case: &str, tar: &Tar, status: i32| {
        author.scene.write("bad.tar", tar.write());
        for more in [&[][..], &["--deep"]] {
            let verify = [&["verify", "--from", "bundle:bad.tar"], more].concat();
            let run = author.tfoci(&verify);
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
    more.0
        .push(entry(&format!("blobs/sha256/{}", "f".repeat(64)), b"x"));
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
    author.scene.write("bad.tar", &whole);
    author.tfoci(&["have", "--from", "bundle:bad.tar"]).exits(1);
    let base = ["--base", "bad.tar"];
    copy(&author, "oci-layout:store", "bundle:new.tar", &base).exits(1);
    assert!(!author.scene.path("new.tar").exists());
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
    author.scene.write("bad.tar.001", &part);
    for number in [2, 3] {
        let run = copy(&author, "bundle:bad.tar", "oci-layout:back", &[]);
        let run = run.exits(1);
        assert!(!run.stderr.contains("\n    Copied acme"), "{}", run.stderr);
        author.scene.write(format!("bad.tar.00{number}"), &part);
    }
    author
        .scene
        .write("base.json", format!("{{\"{forged}\":1}}"));
    let base = ["--base", "base.json"];
    let run = copy(&author, "oci-layout:store", "bundle:new.tar", &base).exits(2);
    assert!(!run.stderr.contains("\n    Copied"), "{}", run.stderr);
}

/// Somebody else may have put a link at the place of the unfinished file.
#[test]
#[cfg(unix)]
fn another_file_is_never_written() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let author = filled();
    let path = |name: &str| author.scene.path(name);
    type Plant = fn(&std::path::Path, &std::path::Path);
    let plants: [(&str, Plant); 4] = [
        ("a symbolic link", |victim, part| {
            symlink(victim, part).unwrap()
        }),
        ("a hard link", |victim, part| {
            fs::hard_link(victim, part).unwrap()
        }),
        ("a file of all", |_, part| {
            fs::write(part, "x").unwrap();
            fs::set_permissions(part, fs::Permissions::from_mode(0o666)).unwrap();
        }),
        ("a directory", |_, part| fs::create_dir(part).unwrap()),
    ];
    for (case, plant) in plants {
        author.scene.write("victim", "precious");
        plant(&path("victim"), &path("new.tar.part"));
        copy(&author, "oci-layout:store", "bundle:new.tar", &[]).exits(1);
        assert_eq!(
            fs::read_to_string(path("victim")).unwrap(),
            "precious",
            "{case}"
        );
        assert!(!path("new.tar").exists(), "{case}");
        let _file = fs::remove_file(path("new.tar.part"));
    }
}
