//! Waiting for what another process or thread does.

use std::time::{Duration, Instant};

/// More than any awaited event takes, but not for ever.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// The shortest and the longest pause between two checks of a condition, which leave the processor to what is awaited.
const GLANCES: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(50)];

/// Waits for a condition, and panics with a text if it is not fulfilled in time. The longer it takes, the rarer it is checked.
#[track_caller]
pub fn wait(mut is_there: impl FnMut() -> bool, otherwise: impl FnOnce() -> String) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed() < PATIENCE, "{}", otherwise());
        glance(begun);
    }
}

/// A pause of a loop that has begun at this time.
pub fn glance(begun: Instant) {
    let [shortest, longest] = GLANCES;
    std::thread::park_timeout((begun.elapsed() / 16).clamp(shortest, longest));
}
