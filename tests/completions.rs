//! `tfoci completions`.

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
    let script = scene.line("completions bash").succeeds().stdout;
    scene.write("tfoci.bash", script);
    scene.run("bash", ["-n", "tfoci.bash"]).succeeds();
}
