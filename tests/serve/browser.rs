//! The pages in a real browser without a window: Chromium, if it is on `PATH`.

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use flate2::read::ZlibDecoder;
use serde_json::{Value, json};

use super::server::Server;
use super::stores::{BARE, DEMO, HOST, Store};
use crate::support::programs::{can_run, find};
use crate::support::release::Mistake;
use crate::support::scene::Scene;

/// The debugging protocol of the browser.
mod devtools;

/// More than the browser needs to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// The options for a container: without privileges it has no sandbox.
const ALWAYS: [&str; 4] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
];
const HEIGHT: usize = 900;
/// The width of a small telephone, in pixels.
const NARROW: usize = 360;
/// The margin of the page at the right edge of a narrow window, in pixels.
const MARGIN: usize = 12;

/// The colours of the background in `style.css`.
const LIGHT: [u8; 3] = [0xff, 0xff, 0xff];
const DARK: [u8; 3] = [0x14, 0x16, 0x1a];

/// A browser, if this machine has one that works.
struct Browser<'a> {
    scene: &'a Scene,
    program: PathBuf,
}

/// A picture of rows of red, green and blue.
struct Picture {
    width: usize,
    pixels: Vec<[u8; 3]>,
}

impl<'a> Browser<'a> {
    fn find(scene: &'a Scene) -> Option<Self> {
        let profile = format!("--user-data-dir={}", scene.path("probe").display());
        let probe = [&ALWAYS[..], &[&profile, "--dump-dom", "about:blank"]].concat();
        if !can_run("chromium", &probe) {
            return None;
        }
        let program = find("chromium")?;
        Some(Self { scene, program })
    }
}

impl Picture {
    /// Reads a PNG of eight bits a colour, without transparency and not interlaced, as browsers write it.
    fn read(png: &[u8]) -> Self {
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(&png[12..16], b"IHDR");
        let (width, height) = (number(16), number(20));
        let channels = match png[24..26] {
            [8, 2] => 3,
            [8, 6] => 4,
            _ => panic!("{:?}", &png[..32]),
        };
        let mut packed = Vec::new();
        let mut at = 8;
        while at + 8 <= png.len() {
            let length = number(at);
            if &png[at + 4..at + 8] == b"IDAT" {
                packed.extend_from_slice(&png[at + 8..at + 8 + length]);
            }
            at += length + 12;
        }
        let mut raw = Vec::new();
        ZlibDecoder::new(&*packed).read_to_end(&mut raw).unwrap();
        let line = width * channels;
        assert_eq!(raw.len(), (line + 1) * height);
        let mut above = vec![0; line];
        let mut pixels = Vec::new();
        for row in raw.chunks(line + 1) {
            let mut here = row[1..].to_vec();
            for at in 0..line {
                let left = if at < channels {
                    0
                } else {
                    here[at - channels]
                };
                let corner = if at < channels {
                    0
                } else {
                    above[at - channels]
                };
                let guess = match row[0] {
                    0 => 0,
                    1 => left,
                    2 => above[at],
                    3 => ((u16::from(left) + u16::from(above[at])) / 2) as u8,
                    4 => nearest(left, above[at], corner),
                    filter => panic!("{filter}"),
                };
                here[at] = here[at].wrapping_add(guess);
            }
            pixels.extend(here.chunks(channels).map(|one| [one[0], one[1], one[2]]));
            above = here;
        }
        Self { width, pixels }
    }

    fn column(&self, at: usize) -> impl Iterator<Item = &[u8; 3]> {
        self.pixels.chunks(self.width).map(move |row| &row[at])
    }

    /// The number of different colours: more than two where there is text.
    fn colours(&self) -> usize {
        let all: std::collections::BTreeSet<_> = self.pixels.iter().collect();
        all.len()
    }
}

/// The neighbour that is nearest to what the slope of all three says (Paeth).
fn nearest(left: u8, above: u8, corner: u8) -> u8 {
    let [a, b, c] = [left, above, corner].map(i16::from);
    let slope = a + b - c;
    let mut all = [left, above, corner];
    all.sort_by_key(|one| (slope - i16::from(*one)).abs());
    // Equal distances: left before above before corner.
    let least = (slope - i16::from(all[0])).abs();
    let is_least = |one: &u8| (slope - i16::from(*one)).abs() == least;
    [left, above, corner].into_iter().find(is_least).unwrap()
}

/// A provider with every kind of version: signed, unsigned, and hidden.
fn store() -> Store {
    let store = Store::spoiled_layout();
    store.push(
        "registry.acme.test/a-namespace-with-a-long-name/a-type-with-a-name-that-is-longer-than-a-narrow-window",
        "1.0.0-rc.1.with.many.more.identifiers.than.usual",
        Some(Mistake::SignatureMissing),
    );
    store
}

/// Runs a test with a browser and a server of [`store`], if this machine has a browser.
fn with_browser(test: impl FnOnce(&Browser<'_>, &Server, &str)) {
    let store = store();
    let Some(browser) = Browser::find(&store.scene) else {
        return;
    };
    let server = store.serve(format!("--registry-host {HOST}"));
    test(&browser, &server, &format!("http://{}", server.address));
    server.stop();
}

#[test]
fn pages_are_drawn_in_light_dark_and_narrow_windows() {
    with_browser(|browser, server, base| {
        for provider in [DEMO, BARE] {
            server
                .get(&format!("/mirror/{provider}/index.json"))
                .is(200);
        }
        let mut page = browser.open();
        let long = "registry.acme.test/a-namespace-with-a-long-name/a-type-with-a-name-that-is-longer-than-a-narrow-window";
        for path in [
            "/",
            &format!("/providers/{DEMO}"),
            &format!("/providers/{BARE}"),
            &format!("/providers/{long}"),
        ] {
            let url = format!("{base}{path}");
            page.visit(&url);
            for (width, is_dark, background) in [
                (1_000, false, LIGHT),
                (1_000, true, DARK),
                (NARROW, false, LIGHT),
                (NARROW, true, DARK),
            ] {
                page.prefer_dark(is_dark);
                let picture = Picture::read(&page.screenshot(width, HEIGHT));
                assert_eq!(picture.width, width, "{url}");
                assert!(picture.colours() > 10, "{url} {width} {is_dark}");
                // Content that is too wide would reach the right edge.
                for at in width - MARGIN..width {
                    assert!(
                        picture.column(at).all(|one| *one == background),
                        "{url} {width} {is_dark}: {at}"
                    );
                }
            }
            let _drawn = page.screenshot(390, HEIGHT);
            assert_eq!(page.evaluate(BROKEN), json!([]), "{url}");
            assert_eq!(page.console(), [Value::Null; 0], "{url}");
        }
    });
}

#[test]
fn text_of_strangers_runs_no_script() {
    with_browser(|browser, _, base| {
        // A script that runs, and one that the policy of its page refuses, would be seen.
        let mut page = browser.open();
        page.visit(
            "data:text/html,<title>a</title><script>document.title='b';console.error('c')</script>",
        );
        let dom = page.dom();
        assert!(dom.contains("<title>b</title>"), "{dom}");
        assert_eq!(page.console().len(), 1, "{:?}", page.console());
        for hostile in [
            "%3Cscript%3Edocument.title%3D%27spoiled%27%3C/script%3E",
            "%22%3E%3Cscript%3Edocument.title%3D%27spoiled%27%3C/script%3E",
            "%22%20autofocus%20onfocus%3D%22document.title%3D%27spoiled%27",
            "%3C/code%3E%3Cimg%20src%3Dx%20onerror%3Ddocument.title%3D%27spoiled%27%3E",
            "%E2%80%9D%3Csvg/onload%3Ddocument.title%3D%27spoiled%27%3E",
            "%7B%7B%7Bstyle%7D%7D%7D%3C/style%3E%3Cstyle%3Ebody%7Bdisplay:none%7D",
        ] {
            page.visit(&format!("{base}/?q={hostile}"));
            let dom = page.dom();
            let title = format!("<title>Providers at https://{HOST}</title>");
            assert!(dom.contains(&title), "{dom}");
            for tag in dom.split('<').skip(1) {
                let tag = tag.split('>').next().unwrap();
                // Without the values of its attributes.
                let bare: String = tag.split('"').step_by(2).collect();
                for word in ["script", "img", "svg", " onfocus", " autofocus"] {
                    assert!(!bare.contains(word), "{hostile}: {tag}");
                }
            }
            assert_eq!(dom.matches("<style").count(), 1, "{hostile}");
            assert_eq!(page.console(), [Value::Null; 0], "{hostile}");
        }
        for path in [format!("/providers/{DEMO}"), format!("/providers/{BARE}")] {
            page.visit(&format!("{base}{path}"));
            assert_eq!(page.console(), [Value::Null; 0], "{path}");
            let dom = page.dom();
            assert!(dom.contains("<summary>"), "{dom}");
        }
    });
}

/// The parts of addresses, of up to 30 letters and a slash, and the chips that take more than one line.
const BROKEN: &str = "[...document.querySelectorAll('.part, .chip')]
    .filter(one => one.innerText.length <= 31 && one.offsetHeight > 2.5 * parseFloat(getComputedStyle(one).fontSize))
    .map(one => one.innerText)";

/// The tag and the text of the element that has the focus, and whether it is drawn with a ring; `null` at the end of the page.
const FOCUSED: &str = "(() => {
    const one = document.activeElement;
    if (!one || one === document.body) return null;
    const style = getComputedStyle(one), box = one.getBoundingClientRect();
    const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
    return [one.tagName.toLowerCase(), one.innerText.trim(), ring && box.width > 0 && box.height > 0];
})()";
/// The tags and texts of the elements that people use. Of radio buttons, the tabulator key reaches the checked one.
const USABLE: &str = "[...document.querySelectorAll('a[href], button, input, summary, pre')]
    .filter(one => one.checkVisibility() && (one.type !== 'radio' || one.checked))
    .map(one => [one.tagName.toLowerCase(), one.innerText.trim(), true])";
/// The least contrast between a text and its background, as WCAG 2.1 defines it, with that text.
const CONTRAST: &str = "(() => {
    const channels = text => text.match(/[0-9.]+/g).map(Number);
    const light = text => {
        const [r, g, b] = channels(text).map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const background = one => {
        for (; one; one = one.parentElement) {
            const colour = getComputedStyle(one).backgroundColor;
            if ((channels(colour)[3] ?? 1) > 0) return colour;
        }
        throw 'no background';
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let least = [21, ''], count = 0;
    while (texts.nextNode()) {
        const one = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || !one.checkVisibility()) continue;
        const [a, b] = [light(getComputedStyle(one).color), light(background(one))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        count += 1;
        if (ratio < least[0]) least = [ratio, texts.currentNode.data];
    }
    return [...least, count];
})()";

#[test]
fn the_keyboard_reaches_everything_in_the_order_of_the_page() {
    with_browser(|browser, _, base| {
        let mut page = browser.open();
        for path in ["/", &format!("/providers/{DEMO}")] {
            page.visit(&format!("{base}{path}"));
            let usable = page.evaluate(USABLE);
            assert!(usable.as_array().unwrap().len() > 3, "{path}: {usable}");
            let mut reached = Vec::new();
            for _ in usable.as_array().unwrap() {
                page.press("Tab", 9, None);
                reached.push(page.evaluate(FOCUSED));
            }
            assert_eq!(Value::from(reached), usable, "{path}");
        }
        // Versions open and close by the keyboard.
        page.evaluate("document.querySelector('summary').focus()");
        let is_open = "document.querySelector('details').open";
        for open in [true, false] {
            page.press("Enter", 13, Some("\r"));
            assert_eq!(page.evaluate(is_open), json!(open));
        }
        // The first link skips to the providers, and a search is sent with Enter.
        page.visit(&format!("{base}/"));
        page.press("Tab", 9, None);
        page.press("Enter", 13, Some("\r"));
        assert_eq!(page.evaluate("location.hash"), json!("#main"));
        page.evaluate("document.querySelector('input').focus()");
        for key in ["d", "e", "m", "o"] {
            page.press(key, 0, Some(key));
        }
        page.press("Enter", 13, Some("\r"));
        page.until_loaded();
        assert_eq!(page.evaluate("location.search"), json!("?q=demo"));
    });
}

#[test]
fn every_text_that_is_drawn_has_enough_contrast() {
    with_browser(|browser, _, base| {
        let mut page = browser.open();
        for is_dark in [false, true] {
            page.prefer_dark(is_dark);
            for path in [
                "/".to_owned(),
                "/?q=nothing".to_owned(),
                format!("/providers/{DEMO}"),
                format!("/providers/{BARE}"),
            ] {
                page.visit(&format!("{base}{path}"));
                page.evaluate(
                    "document.querySelectorAll('details').forEach(one => one.open = true)",
                );
                let [least, text, count] = [0, 1, 2].map(|at| page.evaluate(CONTRAST)[at].clone());
                assert!(count.as_f64().unwrap() > 5.0, "{path} {count}");
                assert!(
                    least.as_f64().unwrap() >= 4.5,
                    "{path} {is_dark} {least}: {text}"
                );
            }
        }
    });
}
