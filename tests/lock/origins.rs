//! `versions` and `inspect` ask origins and mirrors too.

use serde_json::Value;

use super::{origin, platforms, scene};

#[test]
fn an_origin_is_a_source_like_a_store() {
    let origin = origin();
    let scene = scene(&origin);
    let demo = origin.address("acme/demo");
    let run = scene
        .tfoci(["versions", &demo, "--from", "origin"])
        .succeeds();
    assert_eq!(
        run.stdout,
        "0.9.0\n1.0.0\n1.0.1\n1.1.0\n1.2.0\n2.0.0\n2.1.0-beta.1\n"
    );
    let wanted = format!("{demo}@~> 1.0.0");
    let run = scene
        .tfoci(["inspect", &wanted, "--from", "origin"])
        .succeeds();
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], format!("provider        {demo} 1.0.1"));
    assert_eq!(lines[1], format!("from            {}", origin.host()));
    assert!(
        run.stdout.contains("\nauthentication  signed "),
        "{}",
        run.stdout
    );
    assert_eq!(
        run.stdout.matches("\npackage  ").count(),
        2,
        "{}",
        run.stdout
    );
    let json = ["inspect", &demo, "--from", "origin", "--format", "json"];
    let document: Value = serde_json::from_str(&scene.tfoci(json).succeeds().stdout).unwrap();
    assert_eq!(document["version"], "2.0.0");
    assert_eq!(document["authentication"]["anchor"], "origin");
    assert_eq!(document["packages"][1]["platform"], platforms()[1].as_str());

    scene.write(
        "stranger.asc",
        crate::support::signer::Signer::stranger().public_armored(),
    );
    let run = scene
        .tfoci([
            "inspect",
            &demo,
            "--from",
            "origin",
            "--key",
            "stranger.asc",
        ])
        .exits(3);
    assert!(
        run.stdout.contains("\nauthentication  refused"),
        "{}",
        run.stdout
    );
    let none = origin.address("acme/none");
    for command in ["versions", "inspect"] {
        let run = scene.tfoci([command, &none, "--from", "origin"]).exits(1);
        assert!(run.stderr.contains(origin.host()), "{}", run.stderr);
    }
    let mirror = format!("network-mirror:{}", origin.mirror_url());
    scene
        .tfoci(["versions", "hashicorp/null", "--from", &mirror])
        .succeeds();
}
