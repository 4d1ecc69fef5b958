use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;

use super::{COMMANDS, NESTED, ONLINE, ORIGINS, scene};
use crate::support::scene::Scene;

/// The command lines in the examples of a command, without `tfoci`. A line that ends in a backslash goes on in the next one.
fn examples(scene: &Scene, command: &str) -> Vec<String> {
    let help = scene.line(format!("{command} --help")).succeeds().stdout;
    let (_, examples) = help.split_once("Examples:\n").expect("examples");
    let (examples, _) = examples.split_once("\n\n").unwrap();
    // A terminal of this width does not break them.
    for line in examples.lines() {
        assert!(line.chars().count() <= 80, "{command}: {line}");
    }
    let examples = examples.replace(" \\\n   ", "");
    let example = |line: &str| line.strip_prefix("  tfoci ").expect(line).to_owned();
    examples.lines().map(example).collect()
}

/// The words of a command line as a shell splits them; single quotes are all that the examples use.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// Writes the store that the examples read.
const STORE: &str = "push dist --provider acme/demo --key acme.asc --to oci-layout:mirror";

/// Whether an example reads or writes a registry.
fn needs_registry(example: &str) -> bool {
    (example.contains("ghcr.io/") || example.contains("registry.internal/"))
        && !example.starts_with("resolve ")
        && !example.starts_with("cli-config ")
}

#[test]
fn every_command_has_two_examples_that_work() {
    let scene = scene();
    // The examples of `push` publish a provider of another host.
    scene.line(STORE).succeeds();
    for command in COMMANDS.split(' ').chain(NESTED) {
        let examples = examples(&scene, command);
        assert!((2..=3).contains(&examples.len()), "{command}");
        for example in &examples {
            let (arguments, _) = example.split_once(" > ").unwrap_or((example.as_str(), ""));
            // `login` asks for a password on the terminal.
            if !needs_registry(arguments) && !arguments.starts_with("login ") {
                scene.tfoci(words(arguments)).succeeds();
            }
        }
    }
}

#[test]
fn examples_that_need_a_registry_are_understood() {
    let scene = scene().env("REGISTRY_AUTH_FILE", "none.json");
    for command in ONLINE {
        let examples = examples(&scene, command);
        assert_eq!(examples.len(), 2, "{command}");
        for example in &examples {
            let (arguments, _) = example.split_once(" < ").unwrap_or((example.as_str(), ""));
            let run = scene.tfoci(words(arguments));
            // There is neither a terminal nor a password here.
            let asked = run.stderr.starts_with("error: login needs a terminal")
                || run.stderr.starts_with("error: no password was given");
            assert!(asked || run.status == Some(0), "{example}: {}", run.stderr);
        }
    }
}

/// A proxy that refuses every request and records it.
fn refusing_proxy() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let _read = stream.read(&mut request);
            let _sent = stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
        }
    });
    url
}

#[test]
fn examples_that_need_a_network_are_understood() {
    let scene = scene()
        .env("HTTPS_PROXY", &refusing_proxy())
        .env("TF_REGISTRY_DISCOVERY_RETRY", "0")
        .env("REGISTRY_AUTH_FILE", "none.json");
    scene.write("mirror.toml", "to = [\"oci-layout:mirror\"]\ntrust = \"trust.toml\"\n[[provider]]\naddress = \"registry.opentofu.org/acme/demo\"\n");
    scene.write(".terraform.lock.hcl", "provider \"registry.opentofu.org/acme/demo\" {\n  version = \"1.0.0\"\n  hashes  = [\"zh:34e22e01f10d6481608e6e69526bbf1460b9f606d4d09290309fea1f681eec29\"]\n}\n");
    scene.line(STORE).succeeds();
    let mut tried = 0;
    for command in COMMANDS.split(' ').chain(ORIGINS) {
        for example in &examples(&scene, command) {
            if ORIGINS.contains(&command) || needs_registry(example) {
                let (arguments, _) = example.split_once(" > ").unwrap_or((example, ""));
                let run = scene.tfoci(words(arguments)).exits(1);
                run.tells("proxy");
                tried += 1;
            }
        }
    }
    assert!(tried >= 8, "{tried}");
}
