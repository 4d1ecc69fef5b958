//! `tfoci help TOPIC` on a terminal that is narrower than the lines of the page.

use std::process::Stdio;

use crate::support::scene::Scene;

/// What a terminal of this width shows of a page.
fn shown(scene: &Scene, columns: usize, topic: &str) -> String {
    let program = env!("CARGO_BIN_EXE_tfoci");
    let line = format!("stty cols {columns} rows 40; '{program}' help {topic}");
    let mut command = scene.command("script");
    let output = command
        .args(["-qec", &line, "/dev/null"])
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn paragraphs_and_rows_are_folded_and_code_is_not() {
    let scene = Scene::new();
    for topic in ["trust", "deployment", "credentials", "json"] {
        let page = scene.tfoci(["help", topic]).succeeds().stdout;
        assert_eq!(shown(&scene, 100, topic), page, "{topic}");
        let narrow = shown(&scene, 60, topic);
        assert_eq!(words(&narrow), words(&page), "{topic}");
        // What is too wide is a line of the page as it was.
        for line in narrow.lines().filter(|line| line.chars().count() > 60) {
            assert!(
                page.lines().any(|one| one.starts_with(line)),
                "{topic}: {line}"
            );
        }
    }
    let narrow = shown(&scene, 60, "trust");
    let paragraph = "  push and mirror check the signature of the checksum\n  document, and the hash of every package, before a\n  version's tag is written.";
    assert!(narrow.contains(paragraph), "{narrow}");
    let row = "  release     one version of a provider: its zip packages,\n              and the author's documents: checksum document\n";
    assert!(narrow.contains(row), "{narrow}");
    let code = "    unsigned = \"refuse\"            # or \"allow\", where no keys are named\n";
    assert!(narrow.contains(code), "{narrow}");
    let narrow = shown(&scene, 60, "deployment");
    for code in [
        "  ExecStart=/usr/local/bin/tfoci serve --from oci-layout:/var/lib/tfoci --listen 0.0.0.0:443 \\\n",
        "  ProtectClock=yes\n  ProtectControlGroups=yes\n",
        "  # Add the key files that trust.toml names: keys = [\"acme.asc\"] needs --from-file=acme.asc. A\n  # Secret",
    ] {
        assert!(narrow.contains(code), "{narrow}");
    }
}
