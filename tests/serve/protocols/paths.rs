use super::{MIRROR, REGISTRY, Served};
use crate::serve::stores::{DEMO, HOST, INDEX, package};

pub fn all(served: &Served) {
    spellings(served);
    malformed(served);
}

/// A path is first split at `/` and then decoded, and `+` is a plus sign.
fn spellings(served: &Served) {
    let same = |paths: &[String]| {
        let bodies = paths.iter().map(|path| served.server.get(path).is(200));
        let bodies: Vec<Vec<u8>> = bodies.map(|reply| reply.body).collect();
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
        INDEX.to_owned(),
        INDEX.replace("demo", "%64emo"),
        "/mirror/REGISTRY.acme.test/Acme/Demo/index.json".to_owned(),
        format!("{INDEX}?query=is-ignored"),
    ]);
}

/// An encoded slash starts no segment, and `.` and `..` are none.
const BAD: &str = "/mirror/HOST/acme/demo%2findex.json
/mirror/HOST/acme/demo%5cindex.json/x
/v1/providers/acme%2Fdemo/versions
/mirror/HOST/acme/demo/../demo/index.json
/mirror/HOST/acme/demo/./index.json
/mirror/HOST/acme/demo/%2e%2e/demo/index.json
/mirror/HOST/acme/%2E/index.json
/mirror/HOST//acme/demo/index.json
//mirror/HOST/acme/demo/index.json
/mirror/HOST/acme/demo/%00.json
/mirror/HOST/acme/demo/%0a.json
/mirror/HOST/acme/demo/%ff.json
/mirrors/a//b
/../mirrors
/%00
/mirror//";

/// A space is not a plus sign, paths are decoded once, and other spellings of a version are not found.
const ABSENT: &str = "/mirror/HOST/acme/demo/1.2.0%20build.5.json
/mirror/HOST/acme/demo/1.2.0%252Bbuild.5.json
/mirror/HOST/acme/demo/1.0.json
/mirror/HOST/acme/demo/v1.0.0.json
/mirror/HOST/acme/demo/01.0.0.json
/mirror/HOST/acme/demo/99999999999999999999.0.0.json
/mirror/HOST/acme/demo/1.0.0.json.json
/mirror/HOST/acme/terraform-x/index.json
/mirror/HOST/-/demo/index.json
/mirror/HOST/acme/demo
/mirror/a_b/acme/demo/index.json
/mirror/HOST:99999/acme/demo/index.json
/mirror/HOST/acme/demo/x.zip
/mirror/HOST_8443/acme/demo/index.json
/mirrors/
/mirror
/mirror/
/v1/
/v1/providers/
/v1/providers/acme/demo
/v1/providers/acme/demo/1.0.0/download/linux
/signed/x/y/index.json";

fn malformed(served: &Served) {
    for path in [BAD, ABSENT].join("\n").replace("HOST", HOST).lines() {
        let reply = served.server.get(path);
        assert_eq!(reply.status, 404, "{path}: {}", reply.text());
    }
    let long = INDEX.replace("demo", &"x".repeat(5_000));
    served.server.get(&long).is(404);
    // A target that is not a path.
    for target in ["*", "registry.acme.test:443"] {
        let reply = served.server.ask("GET", target, &[]);
        assert!((400..500).contains(&reply.status), "{target}: {reply:?}");
    }
    // The path of an absolute URL, as a proxy sends it, is used.
    let whole = format!("http://server.test{INDEX}");
    served.server.get(&whole).is(200);
}
