//! Questions on a terminal, which `script` provides.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use super::{Manner, open};
use crate::support::registry::Registry;
use crate::support::registry::access::PASSWORD;
use crate::support::scene::Scene;

/// Runs `tfoci login` on a terminal, answers each prompt, and returns what the terminal shows, with the state of its echo at the end.
fn talk(scene: &Scene, door: &Registry, more: &str, answers: &[(&str, &str)]) -> String {
    let program = env!("CARGO_BIN_EXE_tfoci");
    let host = door.host();
    // The shell ignores the signal that Ctrl-C sends to both.
    let line = format!(
        "trap : INT; '{program}' login {host} --plain-http {host} {more}; echo \"exit $?\"; stty -a | grep -o '[-]*echo '"
    );
    let mut command = scene.command("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .env("SHELL", "/bin/sh")
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let mut shown = String::new();
    let mut read = |until: Option<&str>| {
        let mut byte = [0];
        while !until.is_some_and(|text| shown.ends_with(text)) {
            match screen.read(&mut byte) {
                Ok(1) => shown.push(byte[0].into()),
                _ => break,
            }
        }
        shown.clone()
    };
    for (prompt, answer) in answers {
        read(Some(prompt));
        keyboard.write_all(answer.as_bytes()).unwrap();
    }
    let shown = read(Some("echo \r\n"));
    drop(keyboard);
    child.wait().unwrap();
    let home = scene.path("");
    let home = home.to_str().unwrap().trim_end_matches('/');
    shown
        .replace("\r\n", "\n")
        .replace(home, "[TMP]")
        .replace(host, "[HOST]")
}

#[test]
fn username_and_password_are_prompted_without_echo() {
    let (scene, door) = (Scene::new(), open(Manner::Basic));
    let password = format!("{PASSWORD}\r");
    let answers = [
        ("Username at ", ""),
        (": ", "me\r"),
        ("me at ", ""),
        (": ", &password),
    ];
    let shown = talk(&scene, &door, "", &answers);
    assert_eq!(
        shown,
        "Username at [HOST]: me\nPassword of me at [HOST]: \n     Login succeeded\n    Stored [HOST] in [TMP]/.docker/config.json\n   Warning the password lies unencrypted in [TMP]/.docker/config.json; a credential helper would protect it\nexit 0\necho \n"
    );
}

#[test]
fn ctrl_c_ends_at_once_and_restores_the_echo() {
    let (scene, door) = (Scene::new(), open(Manner::Basic));
    let answers = [("Password of ", ""), (": ", "\u{3}")];
    let start = std::time::Instant::now();
    let shown = talk(&scene, &door, "-u me", &answers);
    assert!(start.elapsed().as_secs() < 4, "{:?}", start.elapsed());
    assert_eq!(
        shown,
        "Password of me at [HOST]: \nerror: interrupted\nexit 130\necho \n"
    );
    assert!(door.seen().is_empty());
}
