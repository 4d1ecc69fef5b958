use std::fs;

use serde_json::Value;

use super::{FROM, NAME, PINNED, PROVIDER, TO, at, copy, copy_demo, filled, other, status};
use crate::support::author::{Author, another_build, two_platforms};
use crate::support::layout_of_registry::import;
use crate::support::registry::Registry;
use crate::support::release::Mistake;
use crate::support::tamper;

const EVIDENCE: &str = "evidence-1.0.0";

/// `store` and `other` have the same version.
fn copied() -> Author {
    let author = Author::pushed();
    copy(&author, FROM, TO, "").succeeds();
    author
}

/// The same zips, signed with another author's key.
fn by_stranger() -> Author {
    let rival = Author::with_mistake(Mistake::SignatureByStranger);
    rival.push_unsigned("--key stranger.asc").succeeds();
    rival
}

/// The same zips, without a signature.
fn unsigned() -> Author {
    let rival = Author::with_mistake(Mistake::SignatureMissing);
    rival.push_unsigned("--allow-unsigned acme/demo").succeeds();
    rival
}

/// Another release of the same version.
fn other_release() -> Author {
    let rival = Author::of(another_build());
    rival.push("").succeeds();
    rival
}

/// The digest of the evidence at the destination.
fn standing(author: &Author) -> Value {
    tamper::tagged(&other(author), EVIDENCE)["digest"].clone()
}

fn ours(author: &Author) -> Value {
    tamper::tagged(&author.repository(""), EVIDENCE)["digest"].clone()
}

fn allow(author: &Author) {
    let all = "[[provider]]\nmatch = \"*/*/*\"\nunsigned = \"allow\"\n";
    author.write("allow.toml", all);
}

/// Evidence by another key is consistent in itself, but does not verify against the key that the user names.
#[test]
fn evidence_of_another_key_at_the_destination_is_replaced() {
    let rival = by_stranger();
    for more in [PINNED, "--key acme.asc"] {
        let author = copied();
        tamper::transplant(&rival.repository(""), &other(&author), "1.0.0");
        assert_ne!(standing(&author), ours(&author));
        assert_eq!(status(&author, format!("{more} --dry-run")), "planned");
        assert_eq!(status(&author, more), "updated");
        assert_eq!(standing(&author), ours(&author));
        assert_eq!(status(&author, more), "present");
    }
}

#[test]
fn evidence_of_another_release_is_replaced() {
    for rival in [by_stranger(), other_release()] {
        let author = copied();
        tamper::transplant(&rival.repository(""), &other(&author), "1.0.0");
        // The destination has evidence without the version.
        tamper::untag(&other(&author), "1.0.0");
        copy(&author, FROM, TO, "").succeeds();
        assert_eq!(standing(&author), ours(&author));
    }
}

/// The destination's index has more platforms than the source's, so it does not change. Its evidence is checked nevertheless.
#[test]
fn evidence_is_checked_alike_when_platforms_are_added() {
    let author = Author::with_release();
    author.push("--platform linux_amd64").succeeds();
    author.push_to(TO, "").succeeds();
    let index = tamper::tagged(&other(&author), "1.0.0");
    tamper::transplant(&by_stranger().repository(""), &other(&author), "1.0.0");
    assert_eq!(status(&author, PINNED), "updated");
    assert_eq!(standing(&author), ours(&author));
    assert_eq!(tamper::tagged(&other(&author), "1.0.0"), index);
}

/// The same between registries. A version that is present costs two requests to each; without a policy, nothing more is read.
#[test]
fn evidence_in_registries_is_checked_alike() {
    let author = copied();
    let rival = by_stranger();
    tamper::transplant(&rival.repository(""), &other(&author), "1.0.0");
    let (from, to) = (filled(&author), Registry::plain());
    import(&other(&author), &to, NAME);
    copy_demo(&author, &at(&from), &at(&to), "").succeeds();
    assert_eq!(to.seen().len(), 2);
    assert_ne!(from.tags(NAME), to.tags(NAME));
    copy_demo(&author, &at(&from), &at(&to), PINNED).succeeds();
    assert_eq!(from.tags(NAME), to.tags(NAME));
}

/// A version without evidence cannot repair the evidence at the destination.
#[test]
fn a_version_without_evidence_is_refused_beside_evidence_of_another_release() {
    let author = copied();
    allow(&author);
    tamper::untag(&author.repository(""), EVIDENCE);
    let arguments = "--trust allow.toml";
    copy(&author, FROM, TO, arguments).succeeds();
    tamper::transplant(&other_release().repository(""), &other(&author), "1.0.0");
    let before = author.tree();
    for how in ["merge", "replace"] {
        let run = copy(&author, FROM, TO, format!("{arguments} --existing {how}"));
        run.exits(3).without_result().says(&format!(
            "Warning {PROVIDER} 1.0.0 error {PROVIDER} 1.0.0 {TO}/{PROVIDER}"
        ));
        assert_eq!(author.tree(), before);
    }
}

/// `store` has checksums only, and `other` a signature over the same zips.
fn weaker() -> Author {
    let author = copied();
    tamper::transplant(&unsigned().repository(""), &author.repository(""), "1.0.0");
    allow(&author);
    author
}

#[test]
fn a_signature_is_kept_when_the_source_has_only_checksums() {
    let author = weaker();
    let signed = standing(&author);
    for more in ["", "--trust allow.toml", "--existing replace"] {
        copy(&author, FROM, TO, more).succeeds();
        assert_eq!(standing(&author), signed, "{more:?}");
    }
    // The same holds for a new version whose evidence is already at the destination.
    tamper::untag(&other(&author), "1.0.0");
    copy(&author, FROM, TO, "").succeeds();
    assert_eq!(standing(&author), signed);
}

#[test]
fn a_signature_is_replaced_by_checksums_only_with_a_policy_and_a_warning() {
    let author = weaker();
    let replace = "--existing replace --trust allow.toml";
    let warning = format!("Warning {PROVIDER} 1.0.0 checksum");
    for more in ["--dry-run", ""] {
        let run = copy(&author, FROM, TO, format!("{replace} {more}")).succeeds();
        run.says(&warning);
    }
    assert_eq!(standing(&author), ours(&author));
    // Checksums are upgraded to a signature again without any option.
    fs::rename(author.path("other"), author.path("weak")).unwrap();
    author.with_pushed();
    copy(&author, FROM, "oci-layout:weak", PINNED).succeeds();
    let weak = author.path(format!("weak/{PROVIDER}"));
    let now = tamper::tagged(&weak, EVIDENCE)["digest"].clone();
    assert_eq!(now, ours(&author));
}

/// A damaged signature counts as a signature: checksums do not replace it.
#[test]
fn only_a_signature_repairs_a_damaged_signature() {
    let author = weaker();
    let evidence = tamper::document(&other(&author), &tamper::tagged(&other(&author), EVIDENCE));
    let digest = evidence["layers"][1]["digest"].as_str().unwrap();
    fs::remove_file(other(&author).join("blobs").join(digest.replace(':', "/"))).unwrap();
    let before = author.tree();
    let run = copy(&author, FROM, TO, "").exits(3).without_result();
    run.tells("expected signed (in the store)\n  received checksum");
    assert_eq!(author.tree(), before);
    author.with_release_in_place();
    let _none = fs::remove_dir_all(author.path("store"));
    author.push("").succeeds();
    assert_eq!(status(&author, ""), "updated");
    assert_eq!(standing(&author), ours(&author));
}

/// Fewer platforms in an index written anew: the same rules.
#[test]
fn a_rebuilt_index_keeps_the_signature_too() {
    let author = weaker();
    let signed = standing(&author);
    tamper::untag(&other(&author), "1.0.0");
    let rebuild = "--rebuild-index --platform linux_amd64";
    copy(&author, FROM, TO, rebuild).succeeds();
    assert_eq!(standing(&author), signed);
    tamper::transplant(&by_stranger().repository(""), &other(&author), "1.0.0");
    let _none = fs::remove_dir_all(author.path("store"));
    two_platforms().write(&author.path("dist"));
    author.push("").succeeds();
    copy(&author, FROM, TO, format!("{rebuild} {PINNED}")).succeeds();
    let inspect = format!("inspect acme/demo@1.0.0 --from {TO}");
    author.line(format!("{inspect} {PINNED}")).succeeds();
}
