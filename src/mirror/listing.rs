//! Lists the versions of a provider and the tags of its destinations.

use futures_util::future;

use super::Journey;
use super::Task;
use super::selection::Selected;
use super::target::MirrorTarget;
use crate::event::{Event, Subject};
use crate::outcome::{Failure, OnResult};
use crate::source::{self, AvailableVersions, BadEntries};

impl<'a> Journey<'a> {
    /// Lists the versions of the source and the tags of the destinations. A destination that cannot be read fails separately.
    pub(super) async fn list(
        &self,
        on_result: &OnResult<'_>,
    ) -> Result<(AvailableVersions, Vec<MirrorTarget<'a>>), Vec<Failure>> {
        let Task {
            provider,
            destinations,
            ..
        } = self.task;
        let subject = Subject::provider(provider);
        let available = async {
            let available = self
                .source
                .available_versions(provider, BadEntries::Skipped);
            available.await.map_err(|error| {
                let failure = self.at_source(error, subject.clone());
                let labels = destinations.iter().map(|one| self.task.label(one));
                labels.map(|label| failure.to(label.as_deref())).collect()
            })
        };
        let targets = async {
            let opening = destinations
                .iter()
                .map(|one| MirrorTarget::open(self.task, one, self.options, self.reporter));
            let (mut targets, mut failures) = (Vec::new(), Vec::new());
            for opened in future::join_all(opening).await {
                match opened {
                    Ok(target) => targets.push(target),
                    Err(failure) => failures.push(failure),
                }
            }
            match targets.is_empty() {
                true => Err(failures),
                false => Ok((targets, failures)),
            }
        };
        let (available, (targets, failures)) = future::try_join(available, targets).await?;
        failures
            .into_iter()
            .for_each(|failure| on_result(Err(failure)));
        for warning in &available.warnings {
            self.reporter.report(Event::Warning {
                subject: subject.clone(),
                warning: warning.clone(),
            });
        }
        Ok((available, targets))
    }

    /// Removes versions without any wanted package in the source. It fails if no version remains.
    pub(super) fn with_packages(
        &self,
        mut selected: Vec<Selected>,
    ) -> Result<Vec<Selected>, Failure> {
        let all = selected.iter().flat_map(|one| one.absent.clone());
        let all = source::unexplained(all);
        let newest = selected.first().and_then(Selected::published);
        let is_some = !selected.is_empty();
        if is_some && selected.iter().all(Selected::is_empty) {
            let subject = Subject::provider(&self.task.provider);
            return Err(self.without_packages(all, newest, subject));
        }
        for Selected {
            available, absent, ..
        } in &selected
        {
            let has = available.platforms.as_deref().unwrap_or_default();
            let absent = source::unexplained(absent.clone());
            self.report_absent(available.version.version(), &absent, has);
        }
        selected.retain(|one| !one.is_empty());
        Ok(selected)
    }
}
