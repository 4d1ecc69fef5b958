//! An entry of an index and a layer of a manifest are chosen as clients choose them.

use tfoci::oci::manifest::read;
use tfoci::oci::{INDEX, Index, MANIFEST, PROVIDER, PROVIDER_TARGET, RawManifest};
use tfoci::release::Expected;

use crate::support::codes;

fn index(entries: &str) -> RawManifest {
    let text =
        format!(r#"{{"mediaType":"{INDEX}","manifests":[{entries}],"artifactType":"{PROVIDER}"}}"#);
    RawManifest::new(INDEX, PROVIDER, text.into_bytes())
}

fn manifest(layers: &str) -> RawManifest {
    let text = format!(
        r#"{{"mediaType":"{MANIFEST}","artifactType":"{PROVIDER_TARGET}","layers":{layers}}}"#
    );
    RawManifest::new(MANIFEST, PROVIDER_TARGET, text.into_bytes())
}

fn code(raw: &RawManifest) -> String {
    let read = read(raw, &"linux_amd64".parse().unwrap());
    read.map_or_else(|refusal| codes::of_refusal(&refusal), |_| "ok".to_owned())
}

#[test]
fn a_platform_is_selected_as_clients_do() {
    let entry = |platform: &str| {
        format!(
            r#"{{"mediaType":"{MANIFEST}","artifactType":"{PROVIDER_TARGET}","digest":"d","size":1{platform}}}"#
        )
    };
    let linux = entry(r#","platform":{"os":"linux","architecture":"amd64"}"#);
    let select = |entries: &str| {
        let index = Index::read(&index(entries)).unwrap();
        let selected = index.select(&"linux_amd64".parse().unwrap());
        selected.map_or_else(|refusal| codes::of_refusal(&refusal), |_| "ok".to_owned())
    };
    assert_eq!(select(&linux), "ok");
    assert_eq!(
        select(&format!(r#"{{"mediaType":"cosign"}},{linux}"#)),
        "ok"
    );
    assert_eq!(select(&format!("{linux},{linux}")), "platform-ambiguous");
    assert_eq!(
        select(&format!("{linux},{}", entry(""))),
        "entry-platform-missing"
    );
    assert_eq!(
        select(&format!("{linux},{}", entry("").replace(MANIFEST, INDEX))),
        "entry-media-type-wrong"
    );
    let old = linux.replace("amd64\"", "amd64\",\"os.version\":\"10\"");
    assert_eq!(select(&format!("{linux},{old}")), "ok");
    assert_eq!(select(&old), "platform-missing");
    assert_eq!(select(&entry(r#","platform":{}"#)), "platform-missing");
    assert_eq!(select(&linux.replace("linux", "Linux")), "platform-missing");
    assert_eq!(
        select(&linux.replace(PROVIDER_TARGET, "other")),
        "index-without-packages"
    );
    assert_eq!(select(""), "index-without-packages");
}

#[test]
fn layers_are_chosen_as_clients_choose_them() {
    let digest = Expected::of(b"zip").digest;
    let zip = format!(r#"{{"mediaType":"archive/zip","digest":"{digest}","size":3}}"#);
    let other = r#"{"mediaType":"text/plain"}"#;
    assert_eq!(code(&manifest(&format!("[{other},{zip}]"))), "ok");
    assert_eq!(code(&manifest("null")), "layer-missing");
    assert_eq!(
        code(&manifest(&format!("[{other}]"))),
        "layer-media-type-wrong"
    );
    assert_eq!(
        code(&manifest(&format!("[{zip},{zip}]"))),
        "layer-ambiguous"
    );
    assert_eq!(code(&manifest(&zip)), "manifest-malformed");
    assert_eq!(
        code(&manifest(&format!("[{}]", zip.replace("sha256", "md5")))),
        "layer-digest-unsupported"
    );
    let long = zip
        .replace("sha256", "sha512")
        .replace(&digest.hex(), &digest.hex().repeat(2));
    assert_eq!(
        code(&manifest(&format!("[{long}]"))),
        "layer-digest-unsupported"
    );
    let platform = |os: &str| {
        zip.replace(
            "\"size\"",
            &format!(r#""platform":{{"os":"{os}","architecture":"amd64"}},"size""#),
        )
    };
    assert_eq!(code(&manifest(&format!("[{}]", platform("linux")))), "ok");
    assert_eq!(
        code(&manifest(&format!("[{}]", platform("darwin")))),
        "layer-platform-wrong"
    );
}
