//! Keys and signed documents of real owners, from `testdata/real`.

use std::path::{Path, PathBuf};

use super::certificate::Offered;
use super::certificates::Certificates;
use super::key::key_status;
use super::tests::signed;
use crate::authentication::{Anchor, Note};
use crate::release::KeyRing;
use crate::trust::rule::Weak;
use crate::trust::tests::now;
use crate::trust::{Deadline, Error, Rule, SignatureErrorKind, verify};

fn files_below(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Whether some key may sign and has not expired.
fn usable(offered: &Offered) -> bool {
    let certificate = offered.open(&Deadline::default()).expect("cheap");
    let certificate = certificate.expect("a certificate");
    certificate.parsed.keys().any(|key| {
        key_status(&key, now(), now())
            .is_some_and(|standing| standing.expires.is_none_or(|at| at > now()))
    })
}

#[test]
fn all_101_keys_are_read() {
    let mut files = Vec::new();
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/real/keys");
    files_below(&keys, &mut files);
    assert_eq!(files.len(), 101);
    let mut expired = Vec::new();
    for file in &files {
        let ring = KeyRing {
            name: file.display().to_string(),
            bytes: std::fs::read(file).expect("a key"),
            anchor: Anchor::Origin,
        };
        let certificates = Certificates::read(&Rule::default(), &[ring]).expect("a ring");
        assert!(!certificates.skipped(), "{}", file.display());
        assert_eq!(certificates.iter().count(), 1, "{}", file.display());
        if !certificates.iter().any(usable) {
            let owner = file.parent().and_then(Path::file_name).expect("an owner");
            expired.push(owner.to_string_lossy().into_owned());
        }
    }
    expired.sort_unstable();
    assert_eq!(
        expired.join(" "),
        "american-cloud atykhyy bpg bpg brightbox change-engine matthewbaggett newrelic newrelic \
         opentelekomcloud sapcc scalr spacelift-io thegeeklab thegeeklab"
    );
}

#[test]
fn the_four_real_documents() {
    let sums = |folder: &str, name: &str| {
        let document = format!("real/signed/{folder}/{name}_SHA256SUMS");
        (document.clone(), format!("{document}.sig"))
    };
    let verdict = |folder: &str, name: &str, key: &str, rule: &Rule| {
        let (document, signature) = sums(folder, name);
        verify(signed(&document, &[&signature], &[key]), rule, now())
            .map(|v| v.authentication().clone())
    };
    let strict = Rule::default();
    let old = "real/keys-other/hashicorp-34365D9472D7468F.opentofu-source.asc";
    let null = verdict(
        "hashicorp-null-3.1.0",
        "terraform-provider-null_3.1.0",
        old,
        &strict,
    )
    .expect("good");
    assert_eq!(null.notes, [Note::ExpiredKey, Note::RepairedMpi]);
    assert_eq!(
        null.fingerprint,
        "C874011F0AB405110D02105534365D9472D7468F".parse().ok()
    );

    let renewed = "real/signed/hashicorp-terraform-1.6.6/hashicorp-pgp-key.txt";
    let null = verdict(
        "hashicorp-null-3.1.0",
        "terraform-provider-null_3.1.0",
        renewed,
        &strict,
    )
    .expect("good");
    // The key was renewed, and the subkey that made this was not.
    assert_eq!(null.notes, [Note::ExpiredKey, Note::RepairedMpi]);

    let hcdl = "real/keys-other/hashicorp-34365D9472D7468F.hcdl.asc";
    let later = verdict(
        "hashicorp-terraform-0.15.1",
        "terraform_0.15.1",
        hcdl,
        &strict,
    )
    .expect("good");
    assert_eq!(later.notes, [Note::ExpiredKey]);
    let newest = verdict(
        "hashicorp-terraform-1.6.6",
        "terraform_1.6.6",
        renewed,
        &strict,
    )
    .expect("good");
    assert_eq!(newest.notes, []);

    let older = "real/keys-other/hashicorp-51852D87348FFC4C.boring-registry.asc";
    let sha1 = verdict(
        "hashicorp-terraform-0.12.26",
        "terraform_0.12.26",
        older,
        &strict,
    );
    let Err(Error::Refused(refusal)) = sha1 else {
        panic!("{sha1:?}")
    };
    assert!(
        matches!(refusal.reason, SignatureErrorKind::WeakDocument { .. }),
        "{refusal}"
    );
    let warning = Rule {
        weak: Weak::Warn,
        ..Rule::default()
    };
    let sha1 = verdict(
        "hashicorp-terraform-0.12.26",
        "terraform_0.12.26",
        older,
        &warning,
    )
    .expect("good");
    assert_eq!(sha1.notes, [Note::WeakSelfSignature, Note::WeakDocument]);
}
