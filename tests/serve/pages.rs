use rustix::process::Signal;

use super::server::{Server, has_words};
use super::stores::{BARE, DEMO, DOWNLOAD, HOST, INDEX, PAGE, Store, VERSION, ZIP};
use crate::support::registry::{Personality, Setup, matching};
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::signer::Signer;

fn store() -> Store {
    let store = Store::demo();
    store.push(BARE, "1.0.0", Some(Mistake::SignatureMissing));
    store
}

/// A server that has read the lists of both providers.
fn listed(store: &Store) -> Server {
    let server = store.serve("");
    for provider in ["demo", "bare"] {
        server.get(&INDEX.replace("demo", provider)).is(200);
    }
    server
}

#[test]
fn pages_need_no_script_and_allow_none() {
    let store = store();
    let server = store.serve("--url https://providers.example.com");
    for path in ["/", "/?q=demo", PAGE] {
        let page = server.get(path).is(200);
        // Scripts are of `default-src`.
        let policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
        for (header, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("content-security-policy", policy),
            ("x-frame-options", "DENY"),
            ("x-content-type-options", "nosniff"),
        ] {
            assert_eq!(page.header(header), Some(value), "{path}: {header}");
        }
        let mut page = page.tells("https://providers.example.com/mirror/");
        for word in "<script javascript: onclick http:// <img src=".split(' ') {
            page = page.omits(word);
        }
    }
}

/// A proxy removes the path of the public URL.
#[test]
fn a_url_with_a_path_needs_a_proxy() {
    let store = store();
    let server = store.serve("--url https://localhost/tf/");
    server.get("/").is(200).tells("/tf/mirror/");
    server.get(&format!("/tf{INDEX}")).is(404);
}

#[test]
fn links_of_pages_are_relative() {
    let store = store();
    let server = listed(&store);
    for path in [PAGE, "/"] {
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
        for path in [PAGE, "/"] {
            let asked = [("Host", "asked.example.net")];
            let page = server.ask("GET", path, &asked).is(200).tells(host);
            let sent = page.header("cache-control").unwrap();
            assert!(sent.starts_with(caching), "{more:?} {path}: {sent}");
        }
    }
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
        ("/mirror//", 404),
        ("/mirrors/registry.acme.test/acme//", 404),
    ] {
        let said = server.get(path).is(status).text();
        let routes = "/mirror/HOST/NAMESPACE/TYPE/index.json /v1/providers/NAMESPACE/TYPE/versions";
        assert!(has_words(&said, routes), "{path}: {said}");
    }
    let server = store.serve(format!("--registry-host {HOST}"));
    for path in [VERSION, ZIP, DOWNLOAD] {
        let reply = server.get(&path.replace("1.0.0", "9.9.9")).is(404);
        reply.tells(format!("{DEMO} 9.9.9"));
    }
    let said = server.get("/mirror/registry.acme.test/acme/none/9.9.9.json");
    said.is(404).tells("acme/none 9.9.9");
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
        let [home, page] = ["/", PAGE].map(|path| {
            let page = server.get(path).is(200).text().replace("&quot;", "\"");
            assert_eq!(page.contains(block), needs_block, "{page}");
            page
        });
        let needs_none = home.contains("need no configuration");
        assert_eq!(needs_none, !needs_block, "{home}");
        assert!(!page.contains("without any configuration"), "{page}");
    }
}

/// The part of the page about a provider.
fn row<'a>(page: &'a str, provider: &str) -> &'a str {
    let link = format!("href=\"providers/{provider}\"");
    let (_, rest) = page.split_once(&link).expect(page);
    rest.split_once("</li>").unwrap().0
}

/// The page reads nothing. It shows what clients have asked for.
#[test]
fn the_page_shows_the_lists_that_were_read() {
    let registry = Setup::of(Personality::Plain);
    let registry = registry.quirks(|quirks| quirks.catalog = Some(20)).start();
    let store = Store::at(registry.host());
    let providers = ["demo", "other"].map(|name| format!("{HOST}/acme/{name}"));
    for provider in &providers {
        for version in ["1.0.0", "1.1.0"] {
            store.push(provider, version, None);
        }
    }
    registry.forget();
    let server = store.serve(format!("--registry-host {HOST}"));
    server.logs("2 providers");
    server.get(INDEX).is(200);
    let page = server.get("/").is(200);
    let page = page.tells("<h2>Providers <span class=\"count\">2</span></h2>");
    let page = page.text();
    let [read, other] = providers.map(|provider| row(&page, &provider).to_owned());
    for fact in "<strong>1.1.0</strong>|<b>linux</b> amd64</span>|<b>windows</b> arm64</span>| B</span>|2 versions|</time>".split('|') {
        assert!(read.contains(fact), "{fact}: {read}");
    }
    assert_eq!(read.matches("class=\"chip\"").count(), 2, "{read}");
    assert!(!other.contains("version"), "{other}");
    assert_eq!(registry.count(matching("GET", "/other/tags/list")), 0);
}

#[test]
fn only_a_pinned_key_has_a_name() {
    let store = store();
    let hostile = Signer::hostile();
    let evil = format!("{HOST}/acme/evil");
    let keys = [Signer::acme(), hostile].map(Signer::public_armored);
    store.scene.write("acme.asc", keys.concat());
    let release = ReleaseFolder::new("evil", "1.0.0").platform("linux_amd64");
    store.push_release(&evil, "1.0.0", &release.signed_by(hostile));
    for (arguments, is_pinned) in [("--key acme.asc", true), ("", false)] {
        let server = store.serve(arguments);
        for provider in [DEMO, BARE, &evil] {
            server.get(&format!("/mirror/{provider}/index.json"));
        }
        let page = server.get("/").is(200).text();
        for (provider, signer, name) in [
            (DEMO, Signer::acme(), "Acme Provider Signing (test key)"),
            (&evil, hostile, "Evil\u{fffd}[[provider]]\u{fffd}match"),
        ] {
            let row = row(&page, provider);
            let details = server.get(&format!("/providers/{provider}")).is(200).text();
            let fingerprint = signer.fingerprint();
            let key_id = &fingerprint[fingerprint.len() - 16..];
            for shown in [row, &details] {
                for (text, is_there) in [
                    (&*format!("verified: {name}"), is_pinned),
                    (&format!("signed, not pinned: key {key_id}"), !is_pinned),
                    (name, is_pinned),
                ] {
                    assert_eq!(shown.contains(text), is_there, "{text}: {shown}");
                }
                assert!(!shown.contains(['\u{1b}', '\u{202e}', '\u{85}']), "{shown}");
            }
            for text in [
                &format!("<code>{fingerprint}</code>"),
                "<time datetime=\"20",
            ] {
                assert!(details.contains(text), "{text}: {details}");
            }
        }
        let bare = row(&page, BARE);
        assert_eq!(bare.contains("not signed"), !is_pinned, "{bare}");
        assert_eq!(bare.contains("1 hidden"), is_pinned, "{bare}");
        assert!(!bare.contains("<time"), "{bare}");
    }
    // The name goes with the pin.
    store.pin(DEMO, "acme.asc");
    let server = store.serve("--trust trust.toml");
    let has = |words: &'static str| {
        // The page has what clients asked for.
        let index = format!("/mirror/{DEMO}/index.json");
        server.until(&index, |_| {
            row(&server.get("/").text(), DEMO).contains(words)
        });
    };
    has("verified: ");
    store.pin(BARE, "acme.asc");
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
    for path in ["/", PAGE] {
        let page = server.get(path).is(200).tells(format!("{shown}</title>"));
        let page = page.tells(env!("CARGO_PKG_VERSION"));
        page.omits("<script").omits("<b>#use");
    }
    let page = server.get("/").tells(format!("<h1>{shown}</h1>"));
    page.tells("<a href=\"https://docs.acme.example/tf?a&#x3D;%22");
    for link in
        "javascript:alert(1) data:text/html,a //a.example https://a@a.example ftp://a.example"
            .split(' ')
    {
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
    let page = server.get(PAGE).is(200).tells("Hidden versions");
    let page = page.omits("Use it").omits("required_providers");
    page.omits("provider_installation");
    // The list has no version that clients could install either, and says why.
    server.get(INDEX).is(404).tells("hidden");
    let none = INDEX.replace("demo", "none");
    server.get(&none).is(404).omits("hidden");
}

/// The start tags of a page.
fn tags(page: &str) -> Vec<&str> {
    let parts = page.split('<').skip(1);
    let parts = parts.filter(|part| !part.starts_with(['/', '!']));
    parts.map(|part| part.split('>').next().unwrap()).collect()
}

/// The value of an attribute.
fn attribute<'t>(tag: &'t str, name: &str) -> &'t str {
    let (_, rest) = tag.split_once(&format!(" {name}=\"")).unwrap();
    rest.split('"').next().unwrap()
}

#[test]
fn pages_can_be_used_by_keyboard_and_screen_reader() {
    let store = Store::spoiled_layout();
    let server = store.serve("--registry-host registry.acme.test");
    for path in ["/", PAGE, &PAGE.replace("demo", "bare")] {
        let page = server.get(path).is(200).text();
        let tags = tags(&page);
        let of = |wanted: &'static str| {
            let is_it = move |tag: &&&str| tag.split(' ').next() == Some(wanted);
            tags.iter().filter(is_it).copied()
        };
        for once in ["html", "title", "h1", "main", "header"] {
            assert_eq!(of(once).count(), 1, "{path}: {once}");
        }
        assert!(of("html").all(|tag| tag == "html lang=\"en\""), "{path}");
        let mut metas = of("meta");
        assert!(
            metas.any(|tag| tag.contains("width=device-width")),
            "{path}"
        );
        // The first link leads to the main content.
        let skip = of("a").next().unwrap();
        assert!(skip.contains("class=\"skip\""), "{path}: {skip}");
        let target = attribute(skip, "href").strip_prefix('#').unwrap();
        assert!(page.contains(&format!(" id=\"{target}\"")), "{path}");
        // Everything that reacts is an element that browsers reach and name by themselves.
        assert!(of("a").all(|tag| tag.contains(" href=\"")), "{path}");
        for field in of("input") {
            let label = format!("label for=\"{}\"", attribute(field, "id"));
            assert!(of("label").any(|tag| tag == label), "{path}: {field}");
        }
        let order = page.matches(" tabindex=\"").count();
        assert_eq!(order, page.matches(" tabindex=\"0\"").count(), "{path}");
        // Content that may be wider than the window can be scrolled by keyboard.
        assert!(
            of("pre").all(|tag| tag.contains(" tabindex=\"0\"")),
            "{path}"
        );
        assert!(of("th").all(|tag| tag.contains(" scope=\"")), "{path}");
        for other in "onclick role=\"button\" contenteditable <select autofocus".split(' ') {
            assert!(!page.contains(other), "{path}: {other}");
        }
        let style = page.split("<style>").nth(1).unwrap();
        let has_ring = style.contains(":focus-visible") && !style.contains("outline: none");
        assert!(has_ring, "{path}");
    }
}
