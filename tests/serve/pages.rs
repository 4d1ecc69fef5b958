use super::stores::{BARE, DEMO, Store};
use crate::support::release::Mistake;

fn store() -> Store {
    let store = Store::demo();
    store.push(BARE, "1.0.0", Some(Mistake::SignatureMissing));
    store
}

#[test]
fn pages_need_no_script_and_allow_none() {
    let store = store();
    let server = store.serve(&["--url", "https://providers.example.com"]);
    for path in ["/", "/?q=demo", &format!("/providers/{DEMO}")] {
        let page = server.get(path).is(200);
        assert_eq!(
            page.header("content-type"),
            Some("text/html; charset=utf-8")
        );
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(!policy.contains("script"), "{policy}");
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        let text = page.text();
        for word in [
            "<script",
            "javascript:",
            "onclick",
            "http://",
            "<img",
            "src=",
        ] {
            assert!(!text.contains(word), "{path}: {word}\n{text}");
        }
        assert!(
            text.contains("https://providers.example.com/mirror/"),
            "{path}\n{text}"
        );
    }
}

#[test]
fn links_of_pages_are_relative() {
    let store = store();
    let server = store.serve(&[]);
    for provider in [DEMO, BARE] {
        server
            .get(&format!("/mirror/{provider}/index.json"))
            .is(200);
    }
    for path in [&format!("/providers/{DEMO}"), "/"] {
        let host = [("Host", "evil.example.net")];
        let page = server.ask("GET", path, &host).is(200).text();
        let links: Vec<&str> = page.split("href=\"").skip(1).collect();
        assert!(links.len() >= 2, "{page}");
        for link in links {
            let link = link.split('"').next().unwrap();
            assert!(!link.contains("//") && !link.contains("evil"), "{link}");
        }
    }
}

#[test]
fn a_search_finds_addresses_and_stays_text() {
    let store = store();
    let server = store.serve(&[]);
    for provider in [DEMO, BARE] {
        server
            .get(&format!("/mirror/{provider}/index.json"))
            .is(200);
    }
    for (query, found) in [
        ("", vec![DEMO, BARE]),
        ("q=", vec![DEMO, BARE]),
        ("q=demo", vec![DEMO]),
        ("q=ACME%2Fbare", vec![BARE]),
        ("q=acme+bare", vec![]),
        ("q=none", vec![]),
        ("p=demo", vec![DEMO, BARE]),
    ] {
        let page = server.get(&format!("/?{query}")).is(200).text();
        for provider in [DEMO, BARE] {
            let link = format!("href=\"providers/{provider}\"");
            assert_eq!(
                page.contains(&link),
                found.contains(&provider),
                "{query}\n{page}"
            );
        }
    }
    for hostile in [
        "%3Cscript%3Ealert(1)%3C/script%3E",
        "%22%3E%3Csvg%20onload%3Dalert(1)%3E",
        "%7B%7B%7Bstyle%7D%7D%7D",
        "%00%1b%5B31m%E2%80%AE",
        &"x".repeat(3_000),
    ] {
        let page = server.get(&format!("/?q={hostile}")).is(200).text();
        for text in ["<script", "<svg", "\"><", "\u{0}", "\u{1b}"] {
            assert!(!page.contains(text), "{hostile}\n{page}");
        }
    }
    server
        .get("/providers/registry.acme.test/acme/%3Cscript%3E")
        .is(404);
    server
        .get("/providers/registry.acme.test/acme/none")
        .is(404);
}

#[test]
fn what_people_open_by_mistake_says_where_to_look() {
    let store = store();
    let server = store.serve(&[]);
    for (path, status, expected) in [
        (
            "/mirror/",
            404,
            "expected /mirror/HOST/NAMESPACE/TYPE/index.json\n",
        ),
        (
            "/mirror",
            404,
            "the page at / has the configuration for clients\n",
        ),
        (
            "/v1/providers/",
            404,
            "expected /v1/providers/NAMESPACE/TYPE/versions\n",
        ),
        ("/mirror//", 400, "the path is malformed\n"),
    ] {
        let said = server.get(path).is(status).text();
        assert!(said.contains(expected), "{path}: {said}");
    }
    let host = ["--registry-host", "registry.acme.test"];
    let server = store.serve(&host);
    for path in [
        &format!("/mirror/{DEMO}/9.9.9.json"),
        &format!(
            "/mirror/{DEMO}/{}",
            super::stores::package(DEMO, "9.9.9", "linux_amd64")
        ),
        "/v1/providers/acme/demo/9.9.9/download/linux/amd64",
    ] {
        let said = server.get(path).is(404).text();
        assert_eq!(
            said,
            format!("the store does not have {DEMO} 9.9.9\n"),
            "{path}"
        );
    }
    let said = server.get("/mirror/registry.acme.test/acme/none/9.9.9.json");
    let expected = "the store does not have registry.acme.test/acme/none\n";
    assert_eq!(said.is(404).text(), expected);
}
