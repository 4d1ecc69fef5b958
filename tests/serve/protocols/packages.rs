use super::{MIRROR, REGISTRY, Served};
use crate::serve::stores::{DEMO, ZIP, package};
use crate::support::release::sha256;

/// The path of the package in each protocol.
fn paths(version: &str) -> [String; 2] {
    let name = package(DEMO, version, "linux_amd64");
    [
        format!("{MIRROR}/{name}"),
        format!("{REGISTRY}/{version}/{name}"),
    ]
}

pub fn all(served: &Served) {
    whole(served);
    unchanged(served);
    old_protocols(served);
}

fn whole(served: &Served) {
    for version in ["1.0.0", "1.2.0+build.5"] {
        let name = package(DEMO, version, "linux_amd64");
        let zip = served.store.file(DEMO, version, &name);
        for path in paths(version) {
            for method in ["HEAD", "GET"] {
                // Clients get the whole, as HTTP allows.
                let range = [("Range", "bytes=1-9")];
                let reply = served.server.ask(method, &path, &range).is(200);
                assert!(reply.is_whole);
                let body: &[u8] = if method == "HEAD" { b"" } else { &zip };
                assert!(reply.body == body, "{method} {path}");
                for (name, value) in [
                    ("content-type", "application/zip"),
                    ("content-length", &zip.len().to_string()),
                    ("etag", &format!("\"sha256:{}\"", sha256(&zip))),
                    ("cache-control", "public, max-age=31536000, immutable"),
                ] {
                    assert_eq!(reply.header(name), Some(value), "{method} {path}");
                }
            }
        }
    }
}

fn unchanged(served: &Served) {
    for path in paths("1.0.0") {
        let first = served.server.ask("HEAD", &path, &[]);
        let etag = first.header("etag").unwrap();
        let (weak, list) = (format!("W/{etag}"), format!("\"other\", {etag}"));
        let same = [etag, &weak, &list, "*"].map(|known| (known, 304));
        for (known, status) in same.into_iter().chain([("\"other\"", 200)]) {
            for method in ["GET", "HEAD"] {
                let headers = [("If-None-Match", known)];
                let reply = served.server.ask(method, &path, &headers).is(status);
                assert_eq!(reply.header("etag"), Some(etag));
                if status == 304 {
                    assert_eq!(reply.body, b"");
                }
            }
        }
    }
}

/// Old proxies and measuring tools speak HTTP/1.0.
fn old_protocols(served: &Served) {
    let zip = served.store.zip("linux_amd64");
    let mut connection = served.server.connect();
    for header in [
        "Connection: keep-alive\r\n",
        "Connection: keep-alive\r\n",
        "",
    ] {
        connection.send(format!("GET {ZIP} HTTP/1.0\r\n{header}\r\n").as_bytes());
        let reply = connection.reply("GET").unwrap().is(200);
        assert!(reply.is_whole && reply.body == zip);
        let keeps = (!header.is_empty()).then_some("keep-alive");
        assert!(keeps.is_none() || reply.header("connection") == keeps);
    }
    assert!(connection.ends());
    // Pipelined requests are answered in their order.
    let mut connection = served.server.connect();
    connection.request("GET", "/healthz", &[]);
    connection.request("HEAD", ZIP, &[]);
    connection.request("GET", "/nothing", &[]);
    for (method, status) in [("GET", 200), ("HEAD", 200), ("GET", 404)] {
        connection.reply(method).unwrap().is(status);
    }
}
