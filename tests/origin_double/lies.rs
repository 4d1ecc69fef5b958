use super::{DOWNLOAD, LINUX, Raw, VERSIONS};
use crate::support::origin::lie::{self, Form};
use crate::support::origin::{Fault, Origin, Provider, asks};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::signer::Signer;

#[tokio::test]
async fn members_of_answers_can_be_altered() {
    let origin = Origin::of([Provider::demo(&[LINUX])]);
    let raw = Raw::new();
    let right = raw.ask(&origin, DOWNLOAD).await.json();
    for (path, value) in [
        ("shasum", "00"),
        ("os", "plan9"),
        ("download_url", "ftp://example.com/x.zip"),
        ("filename", "../x.zip"),
    ] {
        origin.fault(1, asks("download"), lie::says(path, value));
        let mut said = raw.ask(&origin, DOWNLOAD).await.json();
        assert_eq!(said[path], value);
        said[path] = right[path].clone();
        assert_eq!(said, right, "nothing else differs");
    }
    origin.fault(
        1,
        asks("download"),
        lie::says("packages/linux_amd64/package_size", 1),
    );
    origin.fault(
        2,
        asks("download"),
        lie::lacks("signing_keys/gpg_public_keys"),
    );
    origin.fault(3, asks("download"), lie::lacks("packages"));
    origin.fault(4, asks("download"), lie::broken_first_key());
    let said = raw.ask(&origin, DOWNLOAD).await.json();
    assert_eq!(said["packages"][LINUX]["package_size"], 1);
    let said = raw.ask(&origin, DOWNLOAD).await.json();
    assert_eq!(said["signing_keys"], serde_json::json!({}));
    let said = raw.ask(&origin, DOWNLOAD).await.json();
    assert_eq!(said.get("packages"), None);
    let said = raw.ask(&origin, DOWNLOAD).await.json();
    let keys = said["signing_keys"]["gpg_public_keys"].as_array().unwrap();
    assert_eq!(keys[1], right["signing_keys"]["gpg_public_keys"][0]);
    assert_eq!(keys.len(), 2);
    origin.fault(
        1,
        asks("versions"),
        lie::says("versions/0/version", "1.0.0.0"),
    );
    let said = raw.ask(&origin, VERSIONS).await.json();
    assert_eq!(said["versions"][0]["version"], "1.0.0.0");
}

#[tokio::test]
async fn discovery_documents_can_be_altered() {
    let origin = Origin::of([Provider::demo(&[LINUX])]);
    let raw = Raw::new();
    let discovery = "/.well-known/terraform.json";
    origin.fault(1, asks("discovery"), lie::padded(2 << 20));
    origin.fault(
        2,
        asks("discovery"),
        Fault::with("content-type", "text/html"),
    );
    origin.fault(
        3,
        asks("discovery"),
        lie::says("providers.v1", "/v1/providers"),
    );
    origin.fault(4, asks("discovery"), Fault::body("[]"));
    let long = raw.ask(&origin, discovery).await;
    assert_eq!(long.header("content-length"), long.body.len().to_string());
    assert!(long.body.len() > 2 << 20);
    assert_eq!(long.json()["providers.v1"], "/v1/providers/");
    let html = raw.ask(&origin, discovery).await;
    assert_eq!(html.header("content-type"), "text/html");
    let slashless = raw.ask(&origin, discovery).await.json();
    assert_eq!(slashless["providers.v1"], "/v1/providers");
    assert_eq!(raw.ask(&origin, discovery).await.body, "[]");
}

#[test]
fn checksum_documents_can_have_every_form() {
    let hex = "0123456789abcdef".repeat(4);
    let document = format!("{hex}  a.zip\n{hex}  b.zip\n");
    for form in Form::ALL {
        let upper = hex.to_uppercase();
        let expected = match form {
            Form::Starred => format!("{hex} *a.zip\n{hex} *b.zip\n"),
            Form::Crlf => format!("{hex}  a.zip\r\n{hex}  b.zip\r\n"),
            Form::BlankLine => format!("{hex}  a.zip\n\n{hex}  b.zip\n"),
            Form::UpperCaseHex => format!("{upper}  a.zip\n{upper}  b.zip\n"),
            Form::OneWord => format!("checksums\n{document}"),
            Form::MoreFiles => {
                let zeros = "0".repeat(64);
                format!("{document}{zeros}  README.md\n{zeros}  checksums.sbom.json\n")
            }
            Form::UpperCaseNames => format!("{hex}  A.ZIP\n{hex}  B.ZIP\n"),
            Form::NoLastNewline => format!("{hex}  a.zip\n{hex}  b.zip"),
        };
        assert_eq!(form.of(&document), expected);
    }
}

#[tokio::test]
async fn the_form_of_a_document_is_applied_before_signing() {
    let folder = ReleaseFolder::new("demo", "1.0.0")
        .platform(LINUX)
        .document(|text| Form::Crlf.of(text));
    let origin = Origin::of([Provider::new("acme/demo").release(folder)]);
    let raw = Raw::new();
    let document = raw.ask(&origin, "/files/acme/demo/1.0.0/SHA256SUMS").await;
    assert!(document.body.ends_with(b"\r\n"));
    let signature = raw
        .ask(&origin, "/files/acme/demo/1.0.0/SHA256SUMS.sig")
        .await;
    assert!(Signer::acme().signed(&document.body, &signature.body));
    assert!(!Signer::stranger().signed(&document.body, &signature.body));
}

#[tokio::test]
async fn releases_with_mistakes_can_be_served() {
    for (mistake, document, signature) in [
        (Mistake::DocumentMissing, 404, 404),
        (Mistake::SignatureMissing, 200, 404),
        (Mistake::SignatureArmored, 200, 200),
    ] {
        let folder = ReleaseFolder::new("demo", "1.0.0")
            .platform(LINUX)
            .mistake(mistake);
        let origin = Origin::of([Provider::new("acme/demo").release(folder)]);
        let raw = Raw::new();
        for (file, status) in [("SHA256SUMS", document), ("SHA256SUMS.sig", signature)] {
            let said = raw
                .ask(&origin, &format!("/files/acme/demo/1.0.0/{file}"))
                .await;
            assert_eq!(said.status, status, "{mistake:?} {file}");
        }
    }
}
