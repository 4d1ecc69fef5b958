use serde_json::json;

use super::origin_scene::{OriginScene, arrives, refused, told};
use super::{LINUX, demo};
use crate::support::origin::{Door, Fault, asks, at, lie};

#[test]
fn discovery_follows_redirects_and_relative_urls() {
    let scene = OriginScene::of([demo()]);
    scene.origin.fault(
        1,
        at(Door::Front, asks("discovery")),
        Fault::RedirectElsewhere,
    );
    arrives(&scene);
    arrives(&told(
        "discovery",
        lie::says("providers.v1", "../v1/providers/"),
    ));
    arrives(&told(
        "discovery",
        Fault::with("content-type", "Application/JSON; charset=utf-8"),
    ));
    refused(
        "discovery",
        Fault::with("content-type", "text/html"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the service discovery document is not JSON
  expected the content type application/json
  received text/html
  from https://[ORIGIN]/.well-known/terraform.json

hint: a page in place of JSON often means that something between here and the server wants a login
",
    );
    refused(
        "discovery",
        Fault::without("content-type"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the service discovery document is not JSON
  expected the content type application/json
  received none
  from https://[ORIGIN]/.well-known/terraform.json

hint: a page in place of JSON often means that something between here and the server wants a login
",
    );
    refused(
        "discovery",
        lie::padded(2 << 20),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the answer is too large
  expected at most 1048576 bytes
  received more
  from https://[ORIGIN]/.well-known/terraform.json
",
    );
    refused(
        "discovery",
        lie::lacks("providers.v1"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): [ORIGIN] does not offer a provider registry

hint: if the provider registry is on another host, a `host` block in the CLI configuration names it. If [ORIGIN]/acme/demo has no origin, `tfoci copy` copies it from a store
",
    );
    refused(
        "discovery",
        lie::renames("providers.v1", "providers.v2"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): [ORIGIN] does not offer a provider registry
  expected providers.v1
  received providers.v2

hint: if the provider registry is on another host, a `host` block in the CLI configuration names it
",
    );
    refused(
        "discovery",
        lie::says("providers.v1", "https://a:b@localhost/"),
        3,
        r#"
error: [ORIGIN]/acme/demo ([ORIGIN]): the service discovery document has another providers.v1 than expected
  expected a URL without a user's name
  received https://…@localhost/
  from https://[ORIGIN]/.well-known/terraform.json
"#,
    );
    refused("discovery", lie::says("providers.v1", "/v1/providers"), 1, "
error: [ORIGIN]/acme/demo ([ORIGIN]): the origin has no such provider
  from https://[ORIGIN]/v1/acme/demo/versions
  answered 404

hint: the full address counts: the same name on another host is another provider. A private one may need a token
");
    refused(
        "discovery",
        Fault::body("{"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the service discovery document cannot be understood
  from https://[ORIGIN]/.well-known/terraform.json
  line 1, column 1: the document ends too early
",
    );
    refused(
        "discovery",
        Fault::RedirectLoop,
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the server redirects more than 10 times
  last to https://[ORIGIN]/.well-known/terraform.json
",
    );
}

#[test]
fn a_list_of_versions_with_one_malformed_entry_is_refused() {
    let scene = OriginScene::of([demo().version("one", &[])]);
    scene.demo("").says(
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the list of versions has an invalid version
  from https://[ORIGIN]/v1/providers/acme/demo/versions
  `one` is not a version: its form is unknown
    expected MAJOR.MINOR.PATCH, optionally with -PRE and +META
",
    );
    refused(
        "versions",
        lie::says("versions", json!([])),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): no version is listed

hint: the source knows the provider, and lists no version of it
",
    );
    refused(
        "versions",
        Fault::body("<html>"),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the list of versions cannot be understood
  from https://[ORIGIN]/v1/providers/acme/demo/versions
  line 1, column 1: this is not JSON
",
    );
    refused(
        "versions",
        lie::padded(9 << 20),
        1,
        "
error: [ORIGIN]/acme/demo ([ORIGIN]): the answer is too large
  expected at most 8388608 bytes
  received more
  from https://[ORIGIN]/v1/providers/acme/demo/versions
",
    );
}

#[test]
fn a_version_that_is_listed_twice_is_mirrored_once() {
    arrives(&OriginScene::of([demo().version("1.0.0", &[LINUX])]));
}
