use std::fs;

use super::{site, with_two};

#[test]
fn the_page_lists_the_providers() {
    let scene = with_two();
    site(&scene, &["--url", "https://mirror.example/a&b'c<d"]).succeeds();
    let page = fs::read_to_string(scene.path("public/index.html")).unwrap();
    for part in [
        "<strong>example.com/acme/demo</strong> <span class=\"soft\">1.1.0 of 2</span>",
        "<p>1.1.0, 1.0.0</p>",
        "<a href=\"./example.com/acme/demo/index.json\">",
        "url     &#x3D; &quot;https://mirror.example/a&amp;b&#x27;c%3Cd/&quot;",
        "include &#x3D; [&quot;example.com/acme/demo&quot;]",
        "exclude &#x3D; [&quot;example.com/acme/demo&quot;]",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("<script") && !page.contains("a&b"), "{page}");
    site(&scene, &[]).succeeds();
    let page = fs::read_to_string(scene.path("public/index.html")).unwrap();
    assert!(!page.contains("network_mirror"), "{page}");
}

#[test]
fn another_page_stays() {
    let scene = with_two();
    scene.write("public/index.html", "mine");
    let run = site(&scene, &[]).succeeds();
    let warning = "   Warning public/index.html was not written by tfoci, and stays unchanged\n";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
    assert_eq!(fs::read(scene.path("public/index.html")).unwrap(), b"mine");
}
