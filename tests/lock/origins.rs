//! `versions` and `inspect` ask origins and mirrors too.

use crate::support::signer::Signer;

use super::{given, platforms};

#[test]
fn an_origin_is_a_source_like_a_store() {
    let (origin, scene) = given();
    let demo = origin.address("acme/demo");
    let asks = |line: &str| scene.line(format!("{line} --from origin"));
    let run = asks(&format!("versions {demo}")).succeeds();
    let all = "0.9.0 1.0.0 1.0.1 1.1.0 1.2.0 2.0.0 2.1.0-beta.1 ";
    assert_eq!(run.stdout, all.replace(' ', "\n"));
    let run = asks(&format!("inspect {demo}@~>1.0.0")).succeeds();
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], format!("provider        {demo} 1.0.1"));
    assert_eq!(lines[1], format!("from            {}", origin.host()));
    let said = &run.stdout;
    assert!(said.contains("\nauthentication  signed "), "{said}");
    assert_eq!(said.matches("\npackage  ").count(), 2, "{said}");
    let json = asks(&format!("inspect {demo} --format json"));
    let document = json.succeeds().json();
    assert_eq!(document["version"], "2.0.0");
    assert_eq!(document["authentication"]["anchor"], "origin");
    assert_eq!(document["packages"][1]["platform"], platforms()[1].as_str());

    scene.write("stranger.asc", Signer::stranger().public_armored());
    let run = asks(&format!("inspect {demo} --key stranger.asc")).exits(3);
    let said = run.stdout;
    assert!(said.contains("\nauthentication  refused"), "{said}");
    let none = origin.address("acme/none");
    for command in ["versions", "inspect"] {
        let run = asks(&format!("{command} {none}")).exits(1);
        run.tells(origin.host());
    }
    let mirror = format!("network-mirror:{}", origin.mirror_url());
    let versions = format!("versions hashicorp/null --from {mirror}");
    scene.line(versions).succeeds();
}
