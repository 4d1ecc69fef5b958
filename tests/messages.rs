//! Every error that a user can see, word for word.
//!
//! A case is a command that cannot be carried out, and what it prints. Each says what is so and of which provider, version and
//! platform; what was expected and received where two things differ; and in a hint what can be done, where something can.

use crate::support::author::Author;

mod answers;
mod census;
mod connections;
mod form;
mod mirroring;
mod registries;
mod remarks;

/// A command that fails, and what it prints.
struct Case {
    label: &'static str,
    given: fn(&Author),
    /// Separated by white space.
    arguments: &'static str,
    exit: i32,
    says: &'static str,
}

/// Runs every case in a scene of its own.
#[track_caller]
fn check(cases: &[Case]) {
    let wrong: Vec<String> = cases.iter().filter_map(complain).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn complain(case: &Case) -> Option<String> {
    let author = Author::new();
    (case.given)(&author);
    let arguments: Vec<&str> = case.arguments.split_whitespace().collect();
    let run = author.tfoci(&arguments);
    let errors = run.stderr.find("error: ").map(|at| &run.stderr[at..]);
    let said = errors.unwrap_or_default();
    let right = run.status == Some(case.exit)
        && said == case.says.trim_start_matches('\n')
        && run.stdout.is_empty();
    (!right).then(|| {
        format!(
            "=== {} exit {:?}\n{said}=== stdout\n{}",
            case.label, run.status, run.stdout
        )
    })
}
