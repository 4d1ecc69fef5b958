//! The pages in a real browser without a window: Chromium, if it is on `PATH`.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::stores::{BARE, DEMO, HOST, PAGE, Store};
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
/// The width of a small telephone, in pixels.
const NARROW: usize = 360;

/// The colours of the background in `style.css`.
const LIGHT: &str = "rgb(255, 255, 255)";
const DARK: &str = "rgb(20, 22, 26)";
/// The width of the page, which content that is too wide for the window enlarges, its background, and whether it has text.
const DRAWN: &str = "[document.documentElement.scrollWidth, getComputedStyle(document.body).backgroundColor, document.body.innerText.length > 100]";

/// A browser, if this machine has one that works.
struct Browser<'a> {
    scene: &'a Scene,
    program: PathBuf,
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

const LONG: &str = "registry.acme.test/a-namespace-with-a-long-name/a-type-with-a-name-that-is-longer-than-a-narrow-window";

/// A provider with every kind of version: signed, unsigned, and hidden.
fn store() -> Store {
    let store = Store::spoiled_layout();
    let version = "1.0.0-rc.1.with.many.more.identifiers.than.usual";
    store.push(LONG, version, Some(Mistake::SignatureMissing));
    store
}

/// Runs a test with a browser and a server of [`store`], if this machine has a browser.
fn with_browser(test: impl FnOnce(&Browser<'_>, &str)) {
    let store = store();
    let Some(browser) = Browser::find(&store.scene) else {
        return;
    };
    let server = store.serve(format!("--registry-host {HOST}"));
    for provider in [DEMO, BARE, LONG] {
        server.get(&format!("/mirror/{provider}/index.json"));
    }
    test(&browser, &format!("http://{}", server.address));
}

#[test]
fn pages_are_drawn_in_light_dark_and_narrow_windows() {
    with_browser(|browser, base| {
        let mut page = browser.open();
        let [bare, long] = [BARE, LONG].map(|address| format!("/providers/{address}"));
        for path in ["/", PAGE, &bare, &long] {
            let url = format!("{base}{path}");
            page.visit(&url);
            for width in [1_000, NARROW] {
                page.resize(width);
                for (is_dark, background) in [(false, LIGHT), (true, DARK)] {
                    page.prefer_dark(is_dark);
                    let drawn = json!([width, background, true]);
                    assert_eq!(page.evaluate(DRAWN), drawn, "{url} {is_dark}");
                }
            }
            page.resize(390);
            assert_eq!(page.evaluate(BROKEN), json!([]), "{url}");
            assert_eq!(page.console(), [Value::Null; 0], "{url}");
        }
    });
}

#[test]
fn text_of_strangers_runs_no_script() {
    with_browser(|browser, base| {
        // A script that runs, and one that the policy of its page refuses, would be seen.
        let mut page = browser.open();
        let script = "<script>document.title='b';console.error('c')</script>";
        page.visit(&format!("data:text/html,<title>a</title>{script}"));
        let dom = page.dom();
        assert!(dom.contains("<title>b</title>"), "{dom}");
        assert_eq!(page.console().len(), 1, "{:?}", page.console());
        for name in ["demo", "bare"] {
            let path = PAGE.replace("demo", name);
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
/// Opens all versions, and adds a text of each kind.
const EVERYTHING: &str = "document.querySelectorAll('details').forEach(one => one.open = true);
    for (const kind of ['soft', 'good', 'fair', 'weak', 'chip', 'note'])
        document.querySelector('main').insertAdjacentHTML('beforeend', `<p class=\"${kind}\">text</p>`);";
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
    with_browser(|browser, base| {
        let mut page = browser.open();
        for path in ["/", PAGE] {
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
        // The first link skips to the providers.
        page.visit(&format!("{base}/"));
        page.press("Tab", 9, None);
        page.press("Enter", 13, Some("\r"));
        assert_eq!(page.evaluate("location.hash"), json!("#main"));
    });
}

#[test]
fn every_text_that_is_drawn_has_enough_contrast() {
    with_browser(|browser, base| {
        let mut page = browser.open();
        for is_dark in [false, true] {
            page.prefer_dark(is_dark);
            for path in ["/", PAGE, &PAGE.replace("demo", "bare")] {
                page.visit(&format!("{base}{path}"));
                page.evaluate(EVERYTHING);
                let [least, text, count] = [0, 1, 2].map(|at| page.evaluate(CONTRAST)[at].clone());
                assert!(count.as_f64().unwrap() > 5.0, "{path} {count}");
                let is_readable = least.as_f64().unwrap() >= 4.5;
                assert!(is_readable, "{path} {is_dark} {least}: {text}");
            }
        }
    });
}
