//! Compares the destinations with the wanted platforms of a version.

use futures_util::future;

use super::Journey;
use super::completed::Completed;
use super::selection::Selected;
use super::target::{MirrorTarget, Missing, Stored, TargetState};
use crate::event::Subject;
use crate::platform::Platforms;
use crate::version::Version;

/// A version in all destinations.
pub(super) struct Compared<'t> {
    /// Destinations that are complete, and those that failed.
    pub(super) completed: Vec<Completed<'t>>,
    /// What the other destinations lack.
    pub(super) missing: Vec<Missing<'t>>,
    /// The wanted platforms. `All` may be resolved only when the release is requested.
    pub(super) wanted: Platforms,
}

impl Journey<'_> {
    /// Compares all destinations. The source's list of platforms is requested only if a destination has the version.
    pub(super) async fn compare<'t>(
        &self,
        Selected {
            available,
            platforms,
            ..
        }: &Selected,
        targets: &'t [MirrorTarget<'t>],
    ) -> Compared<'t> {
        let version = available.version.version();
        let subject = Subject::version(&self.task.provider, version);
        let mut compared = Compared {
            completed: Vec::new(),
            missing: Vec::new(),
            wanted: platforms.clone(),
        };
        let looked = self.look(version, targets, &mut compared.completed).await;
        let is_stored = looked.iter().any(|(_, stored)| stored.is_some());
        if is_stored && compared.wanted == Platforms::All {
            let platforms = self
                .source
                .platforms(&self.task.provider, &available.version);
            match platforms.await {
                Ok(platforms) => compared.wanted = Platforms::Among(platforms),
                Err(error) => {
                    let failure = self.at_source(error, subject);
                    let failed = looked
                        .iter()
                        .map(|(target, _)| Completed::failed(target, &failure));
                    compared.completed.extend(failed);
                    return compared;
                }
            }
        }
        for (target, stored) in looked {
            let comparison = target.compare(version, stored, &compared.wanted);
            match comparison.await {
                Ok(TargetState::Present(published)) => {
                    compared
                        .completed
                        .push(Completed::present(target, *published));
                }
                Ok(TargetState::Missing(one)) => compared.missing.push(*one),
                Err(problem) => {
                    let failure = target.failure(problem, subject.clone());
                    compared.completed.push(Completed::failed(target, &failure));
                }
            }
        }
        compared
    }

    /// Reads the version from every destination. One that cannot be read has failed.
    async fn look<'t>(
        &self,
        version: &Version,
        targets: &'t [MirrorTarget<'t>],
        completed: &mut Vec<Completed<'t>>,
    ) -> Vec<(&'t MirrorTarget<'t>, Option<Stored>)> {
        let looking = targets.iter().map(|target| target.read_stored(version));
        let mut looked = Vec::new();
        for (target, found) in targets.iter().zip(future::join_all(looking).await) {
            match found {
                Ok(stored) => looked.push((target, stored)),
                Err(problem) => {
                    let subject = Subject::version(&self.task.provider, version);
                    completed.push(Completed::failed(target, &target.failure(problem, subject)));
                }
            }
        }
        looked
    }
}
