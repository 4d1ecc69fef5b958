use super::{MIRROR, REGISTRY, Served};
use crate::serve::stores::{DEMO, package};

pub fn all(served: &Served) {
    spellings(served);
    malformed(served);
}

/// A path is first split at `/` and then decoded, and `+` is a plus sign.
fn spellings(served: &Served) {
    let same = |paths: &[String]| {
        let bodies: Vec<Vec<u8>> = paths
            .iter()
            .map(|path| served.server.get(path).is(200).body)
            .collect();
        assert!(bodies.windows(2).all(|two| two[0] == two[1]), "{paths:?}");
    };
    for (plus, encoded) in [("+", "%2B"), ("+", "%2b")] {
        let version = |plus: &str| format!("1.2.0{plus}build.5");
        let name = |plus: &str| package(DEMO, &version(plus), "linux_amd64");
        let both = |path: &dyn Fn(&str) -> String| same(&[path(plus), path(encoded)]);
        both(&|plus| format!("{MIRROR}/{}.json", version(plus)));
        both(&|plus| format!("{MIRROR}/{}", name(plus)));
        both(&|plus| format!("{REGISTRY}/{}/download/linux/amd64", version(plus)));
        both(&|plus| format!("{REGISTRY}/{}/{}", version(plus), name(plus)));
    }
    same(&[
        format!("{MIRROR}/index.json"),
        "/mirror/registry.acme.test/acme/%64emo/index.json".to_owned(),
        "/mirror/REGISTRY.acme.test/Acme/Demo/index.json".to_owned(),
        format!("{MIRROR}/index.json?query=is-ignored"),
    ]);
}

fn malformed(served: &Served) {
    for (path, status) in [
        // An encoded slash starts no segment.
        ("/mirror/registry.acme.test/acme/demo%2findex.json", 400),
        ("/mirror/registry.acme.test/acme/demo%5cindex.json/x", 400),
        ("/v1/providers/acme%2Fdemo/versions", 400),
        (
            "/mirror/registry.acme.test/acme/demo/../demo/index.json",
            400,
        ),
        ("/mirror/registry.acme.test/acme/demo/./index.json", 400),
        (
            "/mirror/registry.acme.test/acme/demo/%2e%2e/demo/index.json",
            400,
        ),
        ("/mirror/registry.acme.test/acme/%2E/index.json", 400),
        ("/mirror/registry.acme.test//acme/demo/index.json", 400),
        ("//mirror/registry.acme.test/acme/demo/index.json", 400),
        ("/mirror/registry.acme.test/acme/demo/%00.json", 400),
        ("/mirror/registry.acme.test/acme/demo/%0a.json", 400),
        ("/mirror/registry.acme.test/acme/demo/%ff.json", 400),
        // A space is not a plus sign.
        (
            "/mirror/registry.acme.test/acme/demo/1.2.0%20build.5.json",
            404,
        ),
        // Decoded once.
        (
            "/mirror/registry.acme.test/acme/demo/1.2.0%252Bbuild.5.json",
            404,
        ),
        // Other spellings of a version are not found.
        ("/mirror/registry.acme.test/acme/demo/1.0.json", 404),
        ("/mirror/registry.acme.test/acme/demo/v1.0.0.json", 404),
        ("/mirror/registry.acme.test/acme/demo/01.0.0.json", 404),
        (
            "/mirror/registry.acme.test/acme/demo/99999999999999999999.0.0.json",
            404,
        ),
        ("/mirror/registry.acme.test/acme/demo/1.0.0.json.json", 404),
        (
            "/mirror/registry.acme.test/acme/terraform-x/index.json",
            404,
        ),
        ("/mirror/registry.acme.test/-/demo/index.json", 404),
        ("/mirror/registry.acme.test/acme/demo", 404),
        ("/mirror/a_b/acme/demo/index.json", 404),
        ("/mirror/registry.acme.test:99999/acme/demo/index.json", 404),
        ("/mirror/registry.acme.test/acme/demo/x.zip", 404),
        ("/mirror/registry.acme.test_8443/acme/demo/index.json", 404),
        ("/mirrors/", 404),
        ("/mirrors/a//b", 400),
        ("/../mirrors", 400),
        ("/%00", 400),
        ("/mirror", 404),
        ("/mirror/", 404),
        ("/mirror//", 400),
        ("/v1/", 404),
        ("/v1/providers/", 404),
        ("/v1/providers/acme/demo", 404),
        ("/v1/providers/acme/demo/1.0.0/download/linux", 404),
        ("/signed/x/y/index.json", 404),
    ] {
        served.server.get(path).is(status);
    }
    let long = format!(
        "/mirror/registry.acme.test/acme/{}/index.json",
        "x".repeat(5_000)
    );
    served.server.get(&long).is(400);
    // A target that is not a path.
    for target in ["*", "registry.acme.test:443"] {
        let reply = served.server.ask("GET", target, &[]);
        assert!((400..500).contains(&reply.status), "{target}: {reply:?}");
    }
    // The path of an absolute URL, as a proxy sends it, is used.
    let whole = format!("http://server.test{MIRROR}/index.json");
    served.server.get(&whole).is(200);
}
