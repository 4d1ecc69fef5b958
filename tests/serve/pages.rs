use std::time::Duration;

use rustix::process::Signal;

use super::server::has_words;
use super::stores::{BARE, DEMO, HOST, Store};
use crate::support::registry::{Personality, Setup, matching};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::signer::Signer;

fn store() -> Store {
    let store = Store::demo();
    store.push(BARE, "1.0.0", Some(Mistake::SignatureMissing));
    store
}

#[test]
fn pages_need_no_script_and_allow_none() {
    let store = store();
    let server = store.serve("--url https://providers.example.com");
    for path in ["/", "/?q=demo", &format!("/providers/{DEMO}")] {
        let page = server.get(path).is(200);
        assert_eq!(
            page.header("content-type"),
            Some("text/html; charset=utf-8")
        );
        // Scripts are of `default-src`.
        let policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
        assert_eq!(page.header("content-security-policy"), Some(policy));
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        let text = page.text();
        for word in "<script javascript: onclick http:// <img src=".split(' ') {
            assert!(!text.contains(word), "{path}: {word}\n{text}");
        }
        assert!(
            text.contains("https://providers.example.com/mirror/"),
            "{path}\n{text}"
        );
    }
}

/// A proxy removes the path of the public URL. Without a proxy, requests have it.
#[test]
fn a_url_with_a_path_is_served_below_it() {
    let store = store();
    let server = store.serve("--url https://localhost/tf/");
    server.get(&format!("/mirror/{DEMO}/index.json")).is(200);
    server.get(&format!("/tf/mirror/{DEMO}/index.json")).is(404);
    let url = "--url https://localhost:[PORT]/providers/";
    let server = store.serve_tls(url);
    for page in ["/", "/providers/"].map(|base| format!("{base}providers/{DEMO}")) {
        server.get(&page).is(200);
    }
    let url = "--url https://localhost:[PORT]/tf/";
    let server = store.serve_tls(url);
    let index = format!("/mirror/{DEMO}/index.json");
    let bare = server.get(&index).is(200).text();
    assert_eq!(server.get(&format!("/tf{index}")).is(200).text(), bare);
    let text = server.get("/tf/").is(200).text();
    assert!(text.contains("/tf/mirror/"), "{text}");
    for path in [format!("/tfx{index}"), format!("/tf/tf{index}")] {
        server.get(&path).is(404);
    }
    // The log has the same path for an answer that is refused before the route is known.
    let hosts = [("Host", "a"), ("Host", "b")];
    server.ask("GET", &format!("/tf{index}"), &hosts).is(400);
    server.logs(&format!(" 400 GET {index}: "));
}

#[test]
fn links_of_pages_are_relative() {
    let store = store();
    let server = store.serve("");
    for provider in [DEMO, BARE] {
        server
            .get(&format!("/mirror/{provider}/index.json"))
            .is(200);
    }
    for path in [&format!("/providers/{DEMO}"), "/"] {
        let host = [("Host", "evil.example.net")];
        let page = server.ask("GET", path, &host).is(200).text();
        // Only the home of tfoci and its licence are elsewhere.
        let home = std::fs::read_to_string("packaging/home").unwrap();
        let home = home.lines().find_map(|line| line.strip_prefix("url="));
        let page = page.replace(home.unwrap(), "");
        let page = page.replace("https://www.apache.org/licenses/LICENSE-2.0", "");
        let links: Vec<&str> = page.split("href=\"").skip(1).collect();
        assert!(links.len() >= 2, "{page}");
        for link in links {
            let link = link.split('"').next().unwrap();
            assert!(!link.contains("//") && !link.contains("evil"), "{link}");
        }
    }
}

/// A page without `--url` and `--registry-host` names the host that its reader requested, which no other reader may get out of a shared cache.
#[test]
fn pages_that_name_the_requested_host_are_not_in_shared_caches() {
    let store = store();
    let url = "https://localhost";
    for (more, host, caching) in [
        ("", "https://asked.example.net", "private, max-age="),
        ("--registry-host localhost", url, "public, max-age="),
        (&format!("--url {url}"), url, "public, max-age="),
    ] {
        let server = store.serve(more);
        for path in [&format!("/providers/{BARE}"), "/"] {
            let asked = [("Host", "asked.example.net")];
            let page = server.ask("GET", path, &asked).is(200);
            assert!(page.text().contains(host), "{more:?} {path}");
            let sent = page.header("cache-control").unwrap();
            assert!(sent.starts_with(caching), "{more:?} {path}: {sent}");
        }
    }
}

#[test]
fn a_slash_after_the_path_of_a_page_leads_to_the_page() {
    let store = store();
    let page = format!("/providers/{DEMO}");
    for base in ["", "/tf"] {
        let url = format!("https://localhost{base}/");
        let server = store.serve_tls(format!("--url {url}"));
        let moved = server.get(&format!("{base}{page}/")).is(308);
        assert_eq!(moved.text(), "the page is at ../demo\n");
        let base = url::Url::parse(&format!("https://localhost{base}{page}/")).unwrap();
        let target = base.join(moved.header("location").unwrap()).unwrap();
        assert_eq!(target.path(), base.path().trim_end_matches('/'));
        server.get(target.path()).is(200);
        server.get(&format!("{page}//")).is(400);
    }
}

#[test]
fn a_search_finds_addresses_and_stays_text() {
    let store = store();
    let server = store.serve("");
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
        for text in ["<script", "<svg", "\"\"><", "\u{0}", "\u{1b}"] {
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
fn pages_that_people_open_by_mistake_name_the_right_path() {
    let store = store();
    let server = store.serve("");
    for (path, status) in [
        ("/mirror/", 404),
        ("/mirror", 404),
        ("/v1/providers/", 404),
        ("/mirror/registry.acme.test/", 404),
        ("/mirror/registry.acme.test/acme/demo/", 404),
        ("/v1/providers/acme/demo/versions/", 404),
        ("/mirrors/registry.acme.test/acme/demo/index.json", 404),
        ("/mirror//", 400),
        ("/mirrors/registry.acme.test/acme//", 400),
    ] {
        let said = server.get(path).is(status).text();
        let routes = "/mirror/HOST/NAMESPACE/TYPE/index.json /v1/providers/NAMESPACE/TYPE/versions";
        assert!(has_words(&said, routes), "{path}: {said}");
    }
    let host = "--registry-host registry.acme.test";
    let server = store.serve(host);
    for path in [
        &format!("/mirror/{DEMO}/9.9.9.json"),
        &format!(
            "/mirror/{DEMO}/{}",
            super::stores::package(DEMO, "9.9.9", "linux_amd64")
        ),
        "/v1/providers/acme/demo/9.9.9/download/linux/amd64",
    ] {
        let said = server.get(path).is(404).text();
        assert!(said.contains(&format!("{DEMO} 9.9.9")), "{path}: {said}");
    }
    let said = server.get("/mirror/registry.acme.test/acme/none/9.9.9.json");
    let said = said.is(404).text();
    assert!(
        said.contains("acme/none") && !said.contains("9.9.9"),
        "{said}"
    );
}

/// Clients ask the host of an address. Where it does not lead to this server, a `host` block does.
#[test]
fn a_provider_registry_of_another_host_needs_a_block() {
    let store = store();
    let url = "https://mirror.acme.test";
    let block = "host \"registry.acme.test\" {
  services = { \"providers.v1\" = \"https://mirror.acme.test/v1/providers/\" }
}</pre>";
    for (url, host, needs_block) in [
        (url, "registry.acme.test", true),
        (url, "mirror.acme.test", false),
        ("https://bücher.example", "xn--bcher-kva.example", false),
    ] {
        let server = store.serve(format!("--url {url} --registry-host {host}"));
        let home = server.get("/").is(200).text().replace("&quot;", "\"");
        assert_eq!(home.contains(block), needs_block, "{home}");
        assert_eq!(
            home.contains("need no configuration"),
            !needs_block,
            "{home}"
        );
        let page = server.get(&format!("/providers/{DEMO}")).is(200).text();
        let page = page.replace("&quot;", "\"");
        assert_eq!(page.contains(block), needs_block, "{page}");
        assert!(!page.contains("without any configuration"), "{page}");
    }
}

/// The part of the page about a provider.
fn row<'a>(page: &'a str, provider: &str) -> &'a str {
    let link = format!("href=\"providers/{provider}\"");
    let (_, rest) = page.split_once(&link).expect(page);
    rest.split_once("</li>").unwrap().0
}

/// Before the page is asked for, nothing is read. Then the newest versions are read, a few providers at once, and nothing is read twice.
#[test]
fn the_page_reads_the_newest_versions_and_no_more() {
    let registry = Setup::of(Personality::Plain);
    let registry = registry.quirks(|quirks| quirks.catalog = Some(20)).start();
    let store = Store::at(registry.host());
    let providers: Vec<String> = (0..8).map(|at| format!("{HOST}/acme/demo{at}")).collect();
    for provider in &providers {
        for version in ["1.0.0", "1.1.0"] {
            store.push(provider, version, None);
        }
    }
    registry.latency(
        matching("GET", "/demo7/manifests/1.1.0"),
        Duration::from_secs(2),
    );
    registry.latency(matching("GET", "/tags/list"), Duration::from_millis(50));
    registry.forget();
    let server = store.serve(format!("--registry-host {HOST}"));
    server.logs("8 providers");
    assert_eq!(registry.count(matching("GET", "/tags/list")), 0);
    let page = server.get("/").is(200).text();
    assert!(page.contains("<h2>Providers <span class=\"count\">8</span></h2>"));
    assert!(
        row(&page, &providers[7]).contains("is being read"),
        "{page}"
    );
    let page = server
        .until("/", |reply| !reply.text().contains("being read"))
        .text();
    for provider in &providers {
        let row = row(&page, provider);
        for fact in [
            "<strong>1.1.0</strong>",
            "<b>linux</b> amd64</span>",
            "<b>windows</b> arm64</span>",
            " B</span>",
            "2 versions",
            " ago</time>",
        ] {
            assert!(row.contains(fact), "{fact}: {row}");
        }
        assert_eq!(row.matches("class=\"chip\"").count(), 2, "{row}");
    }
    server.get("/?q=demo3").is(200);
    assert_eq!(registry.count(matching("GET", "/manifests/1.0.0")), 0);
    for lists in ["/tags/list", "/manifests/1.1.0"] {
        assert_eq!(registry.count(matching("GET", lists)), 8, "{lists}");
        assert!(registry.most_at_once(matching("GET", lists)) <= 4);
    }
}

#[test]
fn only_a_pinned_key_has_a_name() {
    let store = store();
    let hostile = Signer::hostile();
    let evil = format!("{HOST}/acme/evil");
    let keys = [Signer::acme(), hostile]
        .map(Signer::public_armored)
        .concat();
    store.scene.write("acme.asc", &keys);
    let release = ReleaseFolder::new("evil", "1.0.0").platform("linux_amd64");
    store.push_release(&evil, "1.0.0", &release.signed_by(hostile));
    for (arguments, is_pinned) in [("--key acme.asc", true), ("", false)] {
        let server = store.serve(arguments);
        let page = server
            .until("/", |reply| !reply.text().contains("being read"))
            .text();
        for (provider, signer, name) in [
            (DEMO, Signer::acme(), "Acme Provider Signing (test key)"),
            (&evil, hostile, "Evil\u{fffd}[[provider]]\u{fffd}match"),
        ] {
            let row = row(&page, provider);
            let details = server.get(&format!("/providers/{provider}")).is(200).text();
            let fingerprint = signer.fingerprint();
            let key_id = &fingerprint[fingerprint.len() - 16..];
            for shown in [row, &details] {
                assert_eq!(
                    shown.contains(&format!("verified: {name}")),
                    is_pinned,
                    "{shown}"
                );
                let weaker = format!("signed, not pinned: key {key_id}");
                assert_eq!(shown.contains(&weaker), !is_pinned, "{shown}");
                assert_eq!(shown.contains(name), is_pinned, "{shown}");
                assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{85}']), "{shown}");
            }
            assert!(
                details.contains(&format!("<code>{fingerprint}</code>")),
                "{details}"
            );
            assert!(details.contains("<time datetime=\"20"), "{details}");
        }
        let bare = row(&page, BARE);
        assert_eq!(bare.contains("not signed"), !is_pinned, "{bare}");
        assert_eq!(bare.contains("1 hidden"), is_pinned, "{bare}");
        assert!(!bare.contains("<time"), "{bare}");
    }
    // The name goes with the pin.
    let trust = |pattern| format!("[[provider]]\nmatch = \"{pattern}\"\nkeys = [\"acme.asc\"]\n");
    store.scene.write("trust.toml", trust(DEMO));
    let server = store.serve("--trust trust.toml");
    let has = |words: &'static str| {
        server.until("/", move |reply| row(&reply.text(), DEMO).contains(words));
    };
    has("verified: ");
    store.scene.write("trust.toml", trust(BARE));
    server.signal(Signal::HUP);
    has("signed, not pinned");
}

#[test]
fn the_title_of_the_operator_stays_text_and_the_link_is_one_of_http() {
    let store = store();
    let title = "Acme's <script>alert(1)</script> & \"mirror\"\u{202e}";
    let shown =
        "Acme&#x27;s &lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;mirror&quot;\u{fffd}";
    let link = "https://docs.acme.example/tf?a=\"><b>#use";
    let one_word = title.replace(' ', "[SPACE]");
    let server = store.serve(format!("--title {one_word} --link {link}"));
    for path in ["/".to_owned(), format!("/providers/{DEMO}")] {
        let page = server.get(&path).is(200).text();
        assert!(page.contains(&format!("{shown}</title>")), "{page}");
        assert!(
            !page.contains("<script") && !page.contains("<b>#use"),
            "{page}"
        );
        assert!(page.contains(env!("CARGO_PKG_VERSION")), "{page}");
    }
    let page = server.get("/").text();
    assert!(page.contains(&format!("<h1>{shown}</h1>")), "{page}");
    assert!(
        page.contains("<a href=\"https://docs.acme.example/tf?a&#x3D;%22"),
        "{page}"
    );
    for link in [
        "javascript:alert(1)",
        "data:text/html,a",
        "//a.example",
        "https://a@a.example",
        "ftp://a.example",
    ] {
        let serve = format!("serve --from oci-layout:store --plain-http --link {link}");
        store.scene.line(serve).exits(2);
    }
}

#[test]
fn a_provider_whose_versions_are_all_hidden_has_no_instructions() {
    let store = store();
    let stranger = Signer::stranger().public_armored();
    store.scene.write("stranger.asc", stranger);
    let server = store.serve("--key stranger.asc");
    let page = server.get(&format!("/providers/{DEMO}")).is(200).text();
    assert!(page.contains("Hidden versions"), "{page}");
    for text in ["Use it", "required_providers", "provider_installation"] {
        assert!(!page.contains(text), "{text}\n{page}");
    }
}

/// Red, green and blue of `#rgb` or `#rrggbb`.
fn colour(text: &str) -> [f64; 3] {
    let digits = text.trim().strip_prefix('#').unwrap();
    let width = digits.len() / 3;
    [0, 1, 2].map(|at| {
        let part = digits[at * width..(at + 1) * width].repeat(3 - width);
        f64::from(u8::from_str_radix(&part, 16).unwrap()) / 255.0
    })
}

/// The contrast of two colours, from 1 to 21 (WCAG 2, 1.4.3).
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |text: &str| {
        let linear = colour(text).map(|part| match part <= 0.04045 {
            true => part / 12.92,
            false => ((part + 0.055) / 1.055).powf(2.4),
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    };
    let (a, b) = (luminance(one), luminance(other));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn every_text_can_be_read_on_its_background() {
    assert!((contrast("#fff", "#000000") - 21.0).abs() < 0.01);
    let style = include_str!("../../templates/serve/style.css");
    let schemes: Vec<&str> = style
        .split(":root {")
        .skip(1)
        .map(|rest| rest.split('}').next().unwrap())
        .collect();
    assert_eq!(schemes.len(), 2, "light and dark");
    let mut named = 0;
    for scheme in schemes {
        let colours: std::collections::BTreeMap<&str, &str> = scheme
            .split(';')
            .filter_map(|line| line.trim().strip_prefix("--")?.split_once(": "))
            .collect();
        named += colours.len();
        for text in ["text", "soft", "link", "good", "fair", "weak"] {
            for background in ["back", "card"] {
                let found = contrast(colours[text], colours[background]);
                assert!(
                    found >= 4.5,
                    "{text} on {background}: {found:.2} in {scheme}"
                );
            }
        }
        // The edge of a field, which is not text.
        assert!(contrast(colours["soft"], colours["back"]) >= 3.0);
    }
    // No rule has a colour of its own.
    assert_eq!(style.matches('#').count(), named, "{style}");
}

/// The start tags of a page.
fn tags(page: &str) -> Vec<&str> {
    let parts = page
        .split('<')
        .skip(1)
        .filter(|part| !part.starts_with(['/', '!']));
    parts.map(|part| part.split('>').next().unwrap()).collect()
}

fn name(tag: &str) -> &str {
    tag.split(' ').next().unwrap()
}

#[test]
fn pages_can_be_used_by_keyboard_and_screen_reader() {
    let store = Store::spoiled_layout();
    let server = store.serve("--registry-host registry.acme.test");
    for path in [
        "/".to_owned(),
        format!("/providers/{DEMO}"),
        format!("/providers/{BARE}"),
    ] {
        let page = server.get(&path).is(200).text();
        let tags = tags(&page);
        let of = |wanted: &'static str| tags.iter().filter(move |tag| name(tag) == wanted).copied();
        assert_eq!(
            of("html").collect::<Vec<_>>(),
            ["html lang=\"en\""],
            "{path}"
        );
        for once in ["title", "h1", "main", "header"] {
            assert_eq!(of(once).count(), 1, "{path}: {once}");
        }
        assert!(
            of("meta").any(|tag| tag.contains("width=device-width")),
            "{path}"
        );
        // The first link leads to the main content.
        let skip = of("a").next().unwrap();
        assert!(skip.contains("class=\"skip\""), "{path}: {skip}");
        let target = skip
            .split("href=\"#")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        assert!(
            tags.iter()
                .any(|tag| tag.contains(&format!(" id=\"{target}\""))),
            "{path}"
        );
        // Everything that reacts is an element that browsers reach and name by themselves.
        assert!(of("a").all(|tag| tag.contains(" href=\"")), "{path}");
        for field in of("input") {
            let id = field
                .split(" id=\"")
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap();
            assert!(
                of("label").any(|tag| tag == format!("label for=\"{id}\"")),
                "{path}: {field}"
            );
        }
        let order = page.matches(" tabindex=\"").count();
        assert_eq!(order, page.matches(" tabindex=\"0\"").count(), "{path}");
        // Content that may be wider than the window can be scrolled by keyboard.
        assert!(
            of("pre").all(|tag| tag.contains(" tabindex=\"0\"")),
            "{path}"
        );
        assert!(of("th").all(|tag| tag.contains(" scope=\"")), "{path}");
        for other in [
            "div onclick",
            "role=\"button\"",
            "contenteditable",
            "<select",
            "autofocus",
        ] {
            assert!(!page.contains(other), "{path}: {other}");
        }
        let style = page.split("<style>").nth(1).unwrap();
        assert!(
            style.contains(":focus-visible") && !style.contains("outline: none"),
            "{path}"
        );
    }
}
