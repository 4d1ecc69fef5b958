use std::process::Stdio;

use crate::support::author::Author;

const GREEN: &str = "\u{1b}[32m\u{1b}[1m";
const CYAN: &str = "\u{1b}[36m\u{1b}[1m";

/// The output on a terminal of 200 columns, which `script` provides.
fn shown(author: &Author, arguments: &str) -> String {
    let program = env!("CARGO_BIN_EXE_tfoci");
    let line = format!("stty cols 200 rows 50; '{program}' {arguments}");
    let mut command = author.scene.command("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A key that is stored beside the package proves nothing about its author. No line has the colour or the verb of a verified package.
#[test]
fn an_embedded_key_has_neither_the_colour_nor_the_verb_of_a_pinned_one() {
    let author = Author::new();
    author.with_pushed();
    let install = "install acme/demo --platform all --from oci-layout:store --into";
    for (directory, more, colour, end) in [
        ("one", "", CYAN, "not pinned"),
        ("two", "--key acme.asc", GREEN, "(pinned)"),
    ] {
        let text = shown(&author, &format!("{install} {directory} {more}"));
        let line = |line: &&str| line.contains("signed ");
        let lines: Vec<&str> = text.lines().filter(line).collect();
        assert_eq!(lines.len(), 1, "{text:?}");
        let verb = format!("{colour}    Copied");
        assert!(lines[0].contains(&verb), "{text:?}");
        assert!(lines[0].trim_end().ends_with(end), "{text:?}");
        assert!(!text.contains("Verified"), "{text:?}");
    }
    // Without a terminal, each package may have a line.
    let run = author.line(format!("{install} three --color always -v"));
    let run = run.succeeds();
    for line in run.stderr.lines().filter(|line| line.contains("signed ")) {
        assert!(line.starts_with(CYAN), "{}", run.stderr);
    }
    run.omits("Verified");
}

#[test]
fn lock_and_install_do_not_show_an_embedded_key_as_verified() {
    let author = Author::new();
    author.with_pushed();
    for (command, verb) in [("lock", "Locked"), ("install", "Copied")] {
        let line = format!("{command} acme/demo --from oci-layout:store");
        let text = shown(&author, &line);
        let mut lines = text.lines();
        let line = lines.find(|line| line.contains("signed ")).unwrap();
        for part in [CYAN, verb, "not pinned"] {
            assert!(line.contains(part), "{part}: {text:?}");
        }
        std::fs::remove_file(author.scene.path(".terraform.lock.hcl")).unwrap();
    }
}
