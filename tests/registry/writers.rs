use std::sync::Arc;

use tokio::sync::Barrier;

use super::pusher::{NAME, Pusher};
use crate::support::registry::quirks::Etags;
use crate::support::registry::{Fault, Personality, Seen, Setup};

const PLATFORMS: [&str; 3] = ["darwin_arm64", "linux_amd64", "windows_amd64"];
const ROUNDS: usize = 20;

fn moves_the_tag(seen: &Seen) -> bool {
    seen.method == "PUT" && seen.path.ends_with("/manifests/1.0.0")
}

/// Two writers each add a platform to a version. Neither moves the tag before both have read it.
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
        assert_eq!(
            registry.platforms(NAME, "1.0.0"),
            PLATFORMS,
            "round {round}"
        );
        let moves = registry.count(moves_the_tag);
        assert!(moves >= 3, "round {round}: no writer came too late");
    }
}

#[test]
fn a_late_writer_finds_the_conflict_afterwards() {
    rounds(Etags::Absent);
}

#[test]
fn a_late_writer_learns_of_the_conflict_from_the_registry() {
    rounds(Etags::Compared);
}
