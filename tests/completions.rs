//! `tfoci completions`.

use std::process::Command;

use crate::support::scene::Scene;

#[test]
fn every_shell_completes_commands_and_options() {
    let scene = Scene::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = scene.tfoci(["completions", shell]).succeeds().stdout;
        for word in ["mirror", "from-lock", "completions"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    // The script is one that the shell reads.
    scene.write(
        "tfoci.bash",
        scene.tfoci(["completions", "bash"]).succeeds().stdout,
    );
    let read = Command::new("bash")
        .arg("-n")
        .arg(scene.path("tfoci.bash"))
        .status();
    assert!(read.unwrap().success());
}
