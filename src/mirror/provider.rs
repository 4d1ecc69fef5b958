//! Mirrors one provider: lists, selects, plans and copies its versions.

use std::collections::BTreeSet;

use futures_util::future;
use tokio::sync::mpsc;

use super::Task;
use super::journey::Journey;
use super::selection::{self, Selected, SelectedVersions};
use super::target::MirrorTarget;
use super::version::Planned;
use crate::error::printable;
use crate::event::{Event, Subject};
use crate::outcome::{Failure, OnResult};
use crate::platform::Platform;

/// The number of planned versions that may wait while one version is copied and another is planned.
const AHEAD: usize = 1;

impl<'a> Journey<'a> {
    /// Mirrors the selected versions.
    pub(super) async fn run(&self, on_result: &OnResult<'_>) {
        let fail =
            |failures: Vec<Failure>| failures.into_iter().for_each(|one| on_result(Err(one)));
        let (selection, targets) = match self.select_versions(on_result).await {
            Ok(found) => found,
            Err(failures) => return fail(failures),
        };
        let SelectedVersions {
            selected,
            unmatched,
        } = selection;
        let selected = self.with_packages(selected).unwrap_or_else(|failure| {
            fail(self.of_each(&targets, failure));
            Vec::new()
        });
        let (sender, mut receiver) = mpsc::channel(AHEAD);
        let planning = async {
            let sender = sender;
            // The receiver is dropped only after the last version.
            for selected in &selected {
                let planned = self.plan(selected, &targets).await;
                let _all_received = sender.send(planned).await;
            }
            for no_match in unmatched {
                let completed = self.without_match(&no_match, &targets).await;
                let _all_received = sender.send(Planned::completed(completed)).await;
            }
        };
        let copying = async {
            while let Some(planned) = receiver.recv().await {
                self.execute(planned, on_result).await;
            }
        };
        future::join(planning, copying).await;
    }

    /// Lists the versions of the source and the tags of the destinations, and selects versions. A destination that cannot be read fails
    /// separately.
    async fn select_versions(
        &self,
        on_result: &OnResult<'_>,
    ) -> Result<(SelectedVersions, Vec<MirrorTarget<'a>>), Vec<Failure>> {
        let Task {
            provider,
            filters,
            destinations,
            ..
        } = self.task;
        let subject = Subject::provider(provider);
        let available = async {
            let available = self.source.available_versions(provider).await;
            available.map_err(|error| {
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
        for message in &available.warnings {
            self.reporter.report(Event::Warning {
                subject: subject.clone(),
                message: printable(message),
            });
        }
        Ok((selection::select(filters, &available.versions), targets))
    }

    /// Removes versions without any wanted package in the source. It fails if no version remains.
    fn with_packages(&self, mut selected: Vec<Selected>) -> Result<Vec<Selected>, Failure> {
        for Selected {
            available, absent, ..
        } in &selected
        {
            self.report_absent(available.version.version(), absent);
        }
        let absent = selected.iter().flat_map(|one| one.absent.clone());
        let absent: BTreeSet<Platform> = absent.collect();
        let newest = selected.first().and_then(Selected::published);
        let is_some = !selected.is_empty();
        selected.retain(|one| !one.is_empty());
        if is_some && selected.is_empty() {
            let subject = Subject::provider(&self.task.provider);
            return Err(self.without_packages(&absent, newest, subject));
        }
        Ok(selected)
    }
}
