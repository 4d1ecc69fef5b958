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

/// The code of a refusal of a manifest with these layers.
fn code(layers: &str) -> String {
    let read = read(&manifest(layers), &"linux_amd64".parse().unwrap());
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
    let old = linux.replace("amd64\"", "amd64\",\"os.version\":\"10\"");
    let nested = entry("").replace(MANIFEST, INDEX);
    #[rustfmt::skip] // A table.
    let cases = [
        (linux.clone(), "ok"),
        (format!(r#"{{"mediaType":"cosign"}},{linux}"#), "ok"),
        (format!("{linux},{linux}"), "platform-ambiguous"),
        (format!("{linux},{}", entry("")), "entry-platform-missing"),
        (format!("{linux},{nested}"), "entry-media-type-wrong"),
        (format!("{linux},{old}"), "ok"),
        (old, "platform-missing"),
        (entry(r#","platform":{}"#), "platform-missing"),
        (linux.replace("linux", "Linux"), "platform-missing"),
        (linux.replace(PROVIDER_TARGET, "other"), "index-without-packages"),
        (String::new(), "index-without-packages"),
    ];
    for (entries, code) in cases {
        assert_eq!(select(&entries), code, "{entries}");
    }
}

#[test]
fn layers_are_chosen_as_clients_choose_them() {
    let digest = Expected::of(b"zip").digest;
    let zip = format!(r#"{{"mediaType":"archive/zip","digest":"{digest}","size":3}}"#);
    let other = r#"{"mediaType":"text/plain"}"#;
    let platform = |os: &str| {
        let platform = format!(r#""platform":{{"os":"{os}","architecture":"amd64"}},"size""#);
        zip.replace("\"size\"", &platform)
    };
    #[rustfmt::skip] // A table.
    let cases = [
        (format!("[{other},{zip}]"), "ok"),
        ("null".to_owned(), "layer-missing"),
        (format!("[{other}]"), "layer-media-type-wrong"),
        (format!("[{zip},{zip}]"), "layer-ambiguous"),
        (zip.clone(), "manifest-malformed"),
        (format!("[{}]", zip.replace("sha256", "md5")), "layer-digest-malformed"),
        (format!("[{}]", platform("linux")), "ok"),
        (format!("[{}]", platform("darwin")), "layer-platform-wrong"),
    ];
    for (layers, expected) in cases {
        assert_eq!(code(&layers), expected, "{layers}");
    }
}
