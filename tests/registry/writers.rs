use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Barrier;

use super::pusher::{NAME, Pusher};
use crate::support::registry::quirks::Etags;
use crate::support::registry::{Fault, Personality, Registry, Seen, Setup};

const PLATFORMS: [&str; 3] = ["darwin_arm64", "linux_amd64", "windows_amd64"];
const ROUNDS: usize = 20;

fn moves_the_tag(seen: &Seen) -> bool {
    seen.method == "PUT" && seen.path.ends_with("/manifests/1.0.0")
}

/// The platforms of the version, sorted.
fn platforms(registry: &Registry) -> Vec<String> {
    registry.repository(NAME, |repository| {
        let digest = repository.resolve("1.0.0").unwrap();
        let index: Value = serde_json::from_slice(&repository.manifests[&digest].bytes).unwrap();
        let entries = index["manifests"].as_array().unwrap().iter();
        let platforms = entries.map(|entry| {
            let part = |name: &str| entry["platform"][name].as_str().unwrap();
            format!("{}_{}", part("os"), part("architecture"))
        });
        platforms.collect()
    })
}

/// Two add a platform each to a version, and neither moves the tag before both have seen where it stands.
fn rounds(etags: Etags) {
    let registry = Setup::of(Personality::Plain)
        .quirks(|quirks| quirks.etags = etags)
        .start();
    let pusher = Pusher::new(&PLATFORMS);
    pusher
        .push(&registry, &["--platform", PLATFORMS[0]])
        .succeeds();
    let before = registry.repository(NAME, |repository| repository.clone());
    for round in 0..ROUNDS {
        registry.repository(NAME, |repository| *repository = before.clone());
        registry.forget();
        let both = Arc::new(Barrier::new(2));
        for nth in [1, 2] {
            registry.fault(nth, moves_the_tag, Fault::Together(Arc::clone(&both)));
        }
        let writers = PLATFORMS[1..].iter().map(|platform| {
            let mut command = pusher.command(&registry, &["--platform", platform]);
            command.spawn().unwrap()
        });
        for mut writer in writers.collect::<Vec<_>>() {
            assert!(writer.wait().unwrap().success(), "round {round}");
        }
        assert_eq!(platforms(&registry), PLATFORMS, "round {round}");
        let moves = registry.count(moves_the_tag);
        assert!(moves >= 3, "round {round}: no writer came too late");
    }
}

#[test]
fn who_comes_too_late_sees_it_afterwards() {
    rounds(Etags::Absent);
}

#[test]
fn who_comes_too_late_is_told_by_the_registry() {
    rounds(Etags::Compared);
}
