use super::origin_scene::OriginScene;
use super::{demo, mirror, said, scene};
use crate::support::origin::{Fault, Origin, asks};

/// A request that fails, as errors name it.
struct Asked {
    kind: &'static str,
    name: &'static str,
    /// Version and platform, if the request is about them.
    about: &'static str,
    path: &'static str,
    /// The credentials that were tried.
    tried: &'static str,
    /// What to do about a refusal.
    hint: &'static str,
}

const NO_TOKEN: &str = "no token, since none was found for [ORIGIN]";
const TOKEN: &str = "give it a token: `credentials \"[ORIGIN]\"` in the CLI configuration";
const NEVER_SENT: &str = "no token, since this request never carries one";
const SERVE: &str = "clients send no credentials for it either: the source has to serve it without, or by a signed URL";

const DISCOVERY: Asked = Asked {
    kind: "discovery",
    name: "service discovery document",
    about: "",
    path: ".well-known/terraform.json",
    tried: NO_TOKEN,
    hint: TOKEN,
};
const VERSIONS: Asked = Asked {
    kind: "versions",
    name: "list of versions",
    about: "",
    path: "v1/providers/acme/demo/versions",
    tried: NO_TOKEN,
    hint: TOKEN,
};
const DOWNLOAD: Asked = Asked {
    kind: "download",
    name: "package metadata",
    about: " 1.0.0 linux_amd64",
    path: "v1/providers/acme/demo/1.0.0/download/linux/amd64",
    tried: NO_TOKEN,
    hint: TOKEN,
};
const DOCUMENT: Asked = Asked {
    kind: "document",
    name: "checksum document",
    about: " 1.0.0",
    path: "files/acme/demo/1.0.0/SHA256SUMS",
    tried: NEVER_SENT,
    hint: SERVE,
};
const SIGNATURE: Asked = Asked {
    kind: "signature",
    name: "signature",
    about: " 1.0.0",
    path: "files/acme/demo/1.0.0/SHA256SUMS.sig",
    tried: NEVER_SENT,
    hint: SERVE,
};
const PACKAGE: Asked = Asked {
    kind: "package",
    name: "package",
    about: " 1.0.0 linux_amd64",
    path: "files/acme/demo/1.0.0/linux_amd64/terraform-provider-demo_1.0.0_linux_amd64.zip",
    tried: "no password, since no .netrc has one for [ORIGIN]",
    hint: "packages get names and passwords, never tokens: `machine [ORIGIN]` in .netrc",
};

const FAILS: &str = "the server fails, and asking again did not help. Run it again later: what is done is not repeated";

impl Asked {
    /// Errors of downloads are causes of another error, and are printed below it.
    fn error(&self, what: &str, facts: &[&str]) -> String {
        let (head, indent) = match self.kind {
            "package" => ("cannot download the package".to_owned(), "  "),
            _ => (format!("the request for the {} {what}", self.name), ""),
        };
        let mut text = format!(
            "error: [ORIGIN]/acme/demo{} ([ORIGIN]): {head}\n",
            self.about
        );
        if !indent.is_empty() {
            text += &format!("  the request for the {} {what}\n", self.name);
        }
        text += &format!("{indent}  from https://[ORIGIN]/{}\n", self.path);
        for fact in facts {
            text += &format!("{indent}  {fact}\n");
        }
        text
    }

    /// Asserts the number of requests and the error for a status.
    #[track_caller]
    fn meets(&self, fault: Fault, times: usize, error: &str, hint: &str) {
        let scene = OriginScene::of([demo()]);
        let origin = &scene.origin;
        origin.always(asks(self.kind), fault);
        let run = mirror(&scene.scene, origin, &[]).exits(1);
        let text = said(&run, origin);
        let (text, error_hint) = text.split_once("\nhint: ").unwrap_or((&text, ""));
        let lines = text.lines().filter(|line| !line.starts_with("  Verified"));
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        assert_eq!((lines.as_str(), error_hint.trim_end()), (error, hint));
        assert_eq!(origin.count(asks(self.kind)), times, "{error}");
        assert_eq!(run.stdout, "");
        assert!(scene.installs().is_empty());
    }

    fn meets_every_status(&self) {
        for status in [401, 403] {
            let answered = format!("answered {status}: it went wrong");
            let tried = format!("tried {}", self.tried);
            let error = self.error("was refused", &[&answered, &tried]);
            let hint = match (status, self.hint) {
                (403, TOKEN) => format!(
                    "{TOKEN}. A web server without tokens answers 403 too, if it may not read the file or a directory above it"
                ),
                (_, hint) => hint.to_owned(),
            };
            self.meets(Fault::status(status), 1, &error, &hint);
        }
        for (status, times, hint) in [
            (500, 2, FAILS),
            (503, 2, FAILS),
            (520, 2, FAILS),
            (
                501,
                1,
                "the server does not do this at all: its owner has to say what serves providers there",
            ),
        ] {
            let error = self.error("failed", &[&format!("answered {status}: it went wrong")]);
            self.meets(Fault::status(status), times, &error, hint);
        }
        // A longer pause than tfoci waits.
        let fault = Fault::too_many_requests("3600");
        let said = r#"answered 429: {"errors":[{"code":"TOOMANYREQUESTS","message":"too many requests"}]}"#;
        let error = self.error("failed", &[said, "asks for a pause of 3600 s"]);
        let hint = "run it again when that time has passed: what is done is not repeated";
        self.meets(fault, 1, &error, hint);
    }

    fn is_absent(&self, hint: &str) {
        let error = self.error("failed", &["answered 404: it went wrong"]);
        self.meets(Fault::status(404), 1, &error, hint);
    }
}

#[test]
fn refused_discovery_documents() {
    DISCOVERY.meets_every_status();
    DISCOVERY.meets(
        Fault::status(404),
        1,
        "error: [ORIGIN]/acme/demo ([ORIGIN]): [ORIGIN] does not offer a provider registry\n  answered 404: it went wrong\n",
        "if the provider registry is on another host, a `host` block in the CLI configuration names it. If [ORIGIN]/acme/demo has no origin, `tfoci copy` copies it from a store",
    );
}

#[test]
fn refused_lists_of_versions() {
    VERSIONS.meets_every_status();
    VERSIONS.meets(
        Fault::status(404),
        1,
        "error: [ORIGIN]/acme/demo ([ORIGIN]): the origin has no such provider\n  from https://[ORIGIN]/v1/providers/acme/demo/versions\n  answered 404: it went wrong\n",
        "the full address counts: the same name on another host is another provider. A private one may need a token",
    );
}

#[test]
fn refused_package_metadata() {
    DOWNLOAD.meets_every_status();
    DOWNLOAD.meets(
        Fault::status(404),
        1,
        "error: [ORIGIN]/acme/demo 1.0.0 ([ORIGIN]): none of the wanted packages is published\n  expected linux_amd64\n  answered 404: it went wrong\n",
        "",
    );
}

const NOT_THERE: &str = "nothing of this version was written. The origin lists a file that does not exist, so clients cannot install this version either";

#[test]
fn refused_checksum_documents() {
    DOCUMENT.meets_every_status();
    DOCUMENT.is_absent(NOT_THERE);
}

#[test]
fn refused_signatures() {
    SIGNATURE.meets_every_status();
    SIGNATURE.is_absent(NOT_THERE);
}

#[test]
fn refused_packages() {
    PACKAGE.meets_every_status();
    PACKAGE.is_absent(
        "the source lists a package that is not there: its owner has to publish it again",
    );
}

#[test]
fn transient_failures_are_retried() {
    let scene = OriginScene::of([demo()]);
    let origin = &scene.origin;
    for kind in ["discovery", "versions", "download", "document", "signature"] {
        origin.fault(1, asks(kind), Fault::status(503));
    }
    origin.fault(1, asks("package"), Fault::too_many_requests("1"));
    mirror(&scene.scene, origin, &[]).succeeds();
    assert_eq!(scene.installs(), ["acme/demo 1.0.0 linux_amd64"]);
    assert_eq!(
        origin.counters(),
        "2 discovery, 2 versions, 2 download, 2 document, 2 signature, 2 package"
    );
}

#[test]
fn documents_time_out_after_the_configured_time() {
    let origin = Origin::of([demo()]);
    let scene = scene(&origin).env("TF_REGISTRY_CLIENT_TIMEOUT", "1");
    origin.always(asks("versions"), Fault::stall_body(10));
    let run = mirror(&scene, &origin, &[]).exits(1);
    let wanted = "error: [ORIGIN]/acme/demo ([ORIGIN]): no complete answer within 1 seconds\n  from https://[ORIGIN]/v1/providers/acme/demo/versions\n\nhint: TF_REGISTRY_CLIENT_TIMEOUT says for how long, in seconds; unset, it is five times `--timeout`\n";
    assert_eq!(said(&run, &origin), wanted);
    assert_eq!(origin.counters(), "1 discovery, 2 versions");
}

#[test]
fn malformed_numbers_in_variables_count_as_unset() {
    let origin = Origin::of([demo()]);
    let scene = scene(&origin)
        .env("TF_REGISTRY_CLIENT_TIMEOUT", "0")
        .env("TF_REGISTRY_DISCOVERY_RETRY", "-1")
        .env("TF_PROVIDER_DOWNLOAD_RETRY", "twice");
    origin.storm(2, asks("versions"), Fault::status(502));
    mirror(&scene, &origin, &[]).succeeds();
    assert_eq!(origin.count(asks("versions")), 3);
}
