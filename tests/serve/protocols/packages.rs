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
    parts(served);
    unchanged(served);
    old_protocols(served);
}

fn whole(served: &Served) {
    for version in ["1.0.0", "1.2.0+build.5"] {
        let name = package(DEMO, version, "linux_amd64");
        let zip = served.store.file(DEMO, version, &name);
        for path in paths(version) {
            for method in ["HEAD", "GET"] {
                let reply = served.server.ask(method, &path, &[]).is(200);
                assert!(reply.is_whole);
                let body: &[u8] = if method == "HEAD" { b"" } else { &zip };
                assert!(reply.body == body, "{method} {path}");
                for (name, value) in [
                    ("content-type", "application/zip"),
                    ("content-length", &zip.len().to_string()),
                    ("etag", &format!("\"sha256:{}\"", sha256(&zip))),
                    ("accept-ranges", "bytes"),
                    ("cache-control", "public, max-age=31536000, immutable"),
                ] {
                    assert_eq!(reply.header(name), Some(value), "{method} {path}");
                }
            }
        }
    }
}

fn parts(served: &Served) {
    let name = package(DEMO, "1.3.0-rc.1", "linux_amd64");
    let zip = served.store.file(DEMO, "1.3.0-rc.1", &name);
    let size = zip.len();
    let etag = format!("\"sha256:{}\"", sha256(&zip));
    let beyond = format!("bytes=3-{}", size + 99);
    // A registry would have to send a whole package that was not verified before, so the client gets the whole.
    for path in paths("1.3.0-rc.1").iter().take(1) {
        let first = served.server.ask("GET", path, &[("Range", "bytes=1-9")]);
        let expected = match first.status {
            206 => &zip[1..10],
            _ => &zip[..],
        };
        assert!(first.is_whole && first.body == expected, "{first:?}");
        served.server.get(path).is(200);
    }
    for path in paths("1.3.0-rc.1") {
        for (range, condition, expected) in [
            ("bytes=1-9", None, Some((1, 10))),
            (
                &format!("bytes={}-", size - 7),
                None,
                Some((size - 7, size)),
            ),
            ("bytes=-5", None, Some((size - 5, size))),
            (&format!("bytes=-{}", size + 1), None, Some((0, size))),
            ("bytes=0-", None, Some((0, size))),
            (&beyond, Some(&*etag), Some((3, size))),
            // The ETag of another package: the whole is sent.
            ("bytes=1-9", Some("\"sha256:00\""), None),
            // Several parts, unknown units and what is no range are ignored.
            ("bytes=20-10", None, None),
            ("bytes=x-", None, None),
            ("bytes=0-1,4-5", None, None),
            ("lines=0-1", None, None),
        ] {
            for method in ["GET", "HEAD"] {
                let mut headers = vec![("Range", range)];
                headers.extend(condition.map(|etag| ("If-Range", etag)));
                let reply = served.server.ask(method, &path, &headers);
                let (start, end) = expected.unwrap_or((0, size));
                let status = if expected.is_some() { 206 } else { 200 };
                let said = expected.map(|_| format!("bytes {start}-{}/{size}", end - 1));
                let length = (end - start).to_string();
                let found = ["content-range", "content-length"].map(|name| reply.header(name));
                let headers = [said.as_deref(), Some(&*length)];
                assert_eq!((reply.status, found), (status, headers), "{path} {range}");
                if method == "GET" {
                    let is_right = reply.is_whole && reply.body == zip[start..end];
                    assert!(is_right, "{path} {range}");
                }
            }
        }
        for range in [&format!("bytes={size}-"), "bytes=-0"] {
            let reply = served.server.ask("GET", &path, &[("Range", range)]);
            let said = format!("bytes */{size}");
            assert_eq!(reply.is(416).header("content-range"), Some(said.as_str()));
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
        // A condition together with a range.
        let headers = [("If-None-Match", etag), ("Range", "bytes=0-3")];
        served.server.ask("GET", &path, &headers).is(304);
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
