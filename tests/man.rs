//! `tfoci man`.

use std::fs;

use crate::support::scene::Scene;

#[test]
fn manual_pages_are_written_for_every_command() {
    let scene = Scene::new();
    scene.tfoci(["man", "share/man1"]).succeeds();
    let help = scene.tfoci(["--help"]).succeeds().stdout;
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let lines = list.lines().map_while(|line| line.strip_prefix("  "));
    let names = lines.filter_map(|line| line.split(' ').next());
    let commands: Vec<_> = names.filter(|name| !name.is_empty()).collect();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        let page = fs::read_to_string(scene.path(format!("share/man1/tfoci-{command}.1")));
        assert!(page.unwrap().contains(".SH SYNOPSIS"), "{command}");
    }
    for page in ["tfoci", "tfoci-trust-check", "tfoci-trust-show"] {
        let is_there = scene.path(format!("share/man1/{page}.1")).exists();
        assert!(is_there, "{page}");
    }
    let page = |name: &str| fs::read_to_string(scene.path(format!("share/man1/{name}.1")));
    // An option that the short help leaves out, and an example on two lines.
    let serve = page("tfoci-serve").unwrap();
    let include = ".TP\n\\fB\\-\\-include\\fR \\fI<PATTERN>\\fR\nMirror only these providers";
    assert!(serve.contains(include), "{serve}");
    let examples = ".SH EXAMPLES\n.nf\n  tfoci serve \\-\\-from oci\\-layout:mirror";
    assert!(serve.contains(examples), "{serve}");
    assert!(serve.contains("\n.fi\n"), "{serve}");
    let main = page("tfoci").unwrap();
    assert!(main.contains(".SH NOTES\n.nf\nHelp topics"), "{main}");
    assert!(main.contains("\n.fi\n.SH VERSION\n"), "{main}");
    scene.write("file", "");
    for directory in ["file", "file/below"] {
        scene.tfoci(["man", directory]).exits(1).says("error file");
    }
}
