//! The carrier: brings what the destination lacks of a parcel, and moves the tags last.

use std::sync::Arc;

use crate::blob::BlobSource as _;
use crate::disk;
use crate::event::{Event, Reporter, Subject, Transfer};
use crate::examine::Shelf;
use crate::jobs;
use crate::oci::Part;
use crate::outcome::{Beside, Change, Published, PublishedPackage};
use crate::publish::{Destination, Existing, deliver, deliver_blob};
use crate::release::{Expected, Release};
use crate::store::{Move, ReadStore, Tagged, WriteStore};
use crate::trust::Verified;

use super::Request;
use super::parcel::{self, Parcel, Piece};
use super::plan::Plan;
use super::side::Trouble;
use super::tree::Tree;

/// Whoever brings one parcel, and keeps other writers out meanwhile.
pub(super) struct Carrier<'a, F: ReadStore, T> {
    pub(super) from: &'a Shelf<F>,
    pub(super) to: &'a Destination<T>,
    pub(super) parcel: &'a Parcel<F::Blob>,
    pub(super) request: &'a Request,
    pub(super) reporter: &'a Arc<dyn Reporter>,
    /// Held until the tags have moved.
    pub(super) _lock: Option<disk::Lock>,
}

impl<F: ReadStore, T: WriteStore> Carrier<'_, F, T> {
    /// Carries out a plan, or says what it would do; `None` if somebody else moved a tag in the meantime.
    pub(super) async fn carry_out(&self, plan: &Plan) -> Result<Option<Published>, Trouble> {
        let transfers = match (plan.brings_index, self.request.dry_run) {
            (false, _) => self
                .parcel
                .release
                .packages
                .iter()
                .map(|_| Transfer::Present)
                .collect(),
            (true, true) => self.planned().await?,
            (true, false) => self.bring_packages().await?,
        };
        if self.request.dry_run || !plan.brings_index {
            tell(&self.parcel.release, &transfers, self.reporter);
        }
        let Parcel { release, tree, .. } = self.parcel;
        let ferry = Ferry {
            from: self.from,
            to: self.to,
            dry_run: self.request.dry_run,
            reporter: self.reporter,
        };
        let mut beside = Beside::default();
        if plan.brings_index {
            ferry.bring(tree, release, Part::Blob, &mut beside).await?;
        }
        if let Some(evidence) = self.evidence(plan) {
            let what = Part::Evidence;
            ferry.bring(evidence, release, what, &mut beside).await?;
        }
        let published = self.report(plan, &transfers, beside);
        if self.request.dry_run {
            return Ok(Some(published));
        }
        if self.move_tags(plan).await? == Tagged::Conflict {
            return Ok(None);
        }
        if self.request.existing == Existing::Replace {
            self.sweep().await;
        }
        Ok(Some(published))
    }

    fn evidence(&self, plan: &Plan) -> Option<&Tree> {
        let evidence = self.parcel.evidence.as_ref();
        evidence.filter(|_| plan.brings_evidence)
    }

    fn subject(&self) -> Subject {
        Subject::version(&self.from.provider, &self.parcel.release.version)
    }

    async fn bring_packages(&self) -> Result<Vec<Transfer>, Trouble> {
        let authentication = self.parcel.release.authentication().clone();
        let packages = self.parcel.release.packages.iter().cloned();
        let subject = self.subject();
        jobs::run(self.request.jobs, packages, |package| {
            let subject = subject.platform(&package.platform);
            let (to, reporter) = (self.to.clone(), Arc::clone(self.reporter));
            let authentication = authentication.clone();
            async move {
                let delivered = deliver(&package, &to, &subject, &reporter).await;
                let lost =
                    |problem| Trouble::on_the_way(problem, Part::Package).about(&package.platform);
                let transfer = delivered.map_err(lost)?;
                reporter.report(Event::Finished {
                    subject,
                    size: package.expected.size,
                    transfer,
                    authentication,
                });
                Ok(transfer)
            }
        })
        .await
    }

    async fn move_tags(&self, plan: &Plan) -> Result<Tagged, Trouble> {
        let mut moves = Vec::new();
        if let Some(evidence) = self.evidence(plan) {
            moves.push(Move {
                tag: &self.parcel.evidence_tag,
                to: &evidence.root,
                was: plan.standing.evidence.as_ref(),
            });
        }
        if plan.moves_index {
            moves.push(Move {
                tag: &self.parcel.tag,
                to: &self.parcel.tree.root,
                was: plan.standing.version.as_ref(),
            });
        }
        if moves.is_empty() {
            return Ok(Tagged::Moved);
        }
        let Destination { store, repository } = self.to;
        let moved = store.tag(repository, &moves).await;
        moved.map_err(Trouble::destination)
    }

    /// Removes what was replaced. The version is copied by then: what cannot be removed is no failure.
    async fn sweep(&self) {
        if let Err(error) = self.to.store.sweep(&self.to.repository).await {
            self.reporter.report(Event::Warning {
                subject: self.subject(),
                message: format!("what was replaced is not removed: {error}"),
            });
        }
    }

    /// What [`Carrier::bring_packages`] would do with each.
    async fn planned(&self) -> Result<Vec<Transfer>, Trouble> {
        let Destination { store, repository } = self.to;
        let mut transfers = Vec::new();
        for package in &self.parcel.release.packages {
            let there = store.has_blob(repository, &package.expected).await;
            let there = there.map_err(Trouble::destination)?;
            transfers.push(if there {
                Transfer::Present
            } else {
                Transfer::Planned
            });
        }
        Ok(transfers)
    }

    fn report(&self, plan: &Plan, transfers: &[Transfer], beside: Beside) -> Published {
        let Parcel {
            tag, tree, release, ..
        } = self.parcel;
        let digest = tree.root.expected.digest;
        let found_damage = transfers.iter().any(|one| *one != Transfer::Present);
        let status = match plan.change {
            Change::Present if found_damage => Change::Updated,
            Change::Present => Change::Present,
            _ if self.request.dry_run => Change::Planned,
            change => change,
        };
        let packages = release.packages.iter().zip(transfers);
        let packages: Vec<PublishedPackage> = packages
            .map(|(package, transfer)| PublishedPackage {
                platform: package.platform.clone(),
                status: *transfer,
                size: Some(package.expected.size),
                zh: package.zh(),
            })
            .collect();
        let copied = packages
            .iter()
            .filter(|package| package.status == Transfer::Copied);
        let moved = if self.request.dry_run {
            0
        } else {
            beside.moved
        };
        Published {
            provider: self.from.provider.clone(),
            version: release.version.clone(),
            reference: self.to.store.reference(&self.to.repository, tag, &digest),
            digest,
            status,
            authentication: Some(release.authentication().clone()),
            bytes: copied.filter_map(|package| package.size).sum::<u64>() + moved,
            packages,
            beside: beside.if_any(),
        }
    }
}

/// The way from one store into the other for everything but packages.
pub(super) struct Ferry<'a, F: ReadStore, T> {
    pub(super) from: &'a Shelf<F>,
    pub(super) to: &'a Destination<T>,
    pub(super) dry_run: bool,
    pub(super) reporter: &'a Arc<dyn Reporter>,
}

impl<F: ReadStore, T: WriteStore> Ferry<'_, F, T> {
    /// Brings everything of a tree but packages, and but the document that the tag will stand for; adds to `beside` what nothing proves.
    pub(super) async fn bring(
        &self,
        tree: &Tree,
        release: &Release<F::Blob>,
        what: Part,
        beside: &mut Beside,
    ) -> Result<(), Trouble> {
        let Destination { store, repository } = self.to;
        for piece in parcel::others(tree, release, self.from) {
            if piece.is_unproven() {
                let transfer = self.carry(&piece, release, what).await?;
                beside.add(piece.expected().size, transfer);
            } else if !self.dry_run {
                let put = store.put_blob(repository, &piece).await;
                put.map_err(|error| Trouble::on_the_way(error, what))?;
            }
        }
        let documents = tree.documents.iter().filter(|_| !self.dry_run);
        for document in documents {
            let put = store.put_manifest(repository, document).await;
            put.map_err(Trouble::destination)?;
        }
        Ok(())
    }

    /// Carries a blob that nothing proves, and tells of it.
    async fn carry(
        &self,
        piece: &Piece<F::Blob>,
        release: &Release<F::Blob>,
        what: Part,
    ) -> Result<Transfer, Trouble> {
        let Self { to, reporter, .. } = self;
        let Expected { digest, size } = piece.expected();
        let subject = Subject::version(&release.provider, &release.version);
        let transfer = if self.dry_run {
            let Destination { store, repository } = to;
            let there = store.has_blob(repository, &piece.expected()).await;
            match there.map_err(Trouble::destination)? {
                true => Transfer::Present,
                false => Transfer::Planned,
            }
        } else {
            let delivered = deliver_blob(piece.clone(), size, to, &subject, reporter).await;
            delivered.map_err(|problem| Trouble::on_the_way(problem, what))?
        };
        reporter.report(Event::Carried {
            subject,
            digest,
            size,
            transfer,
        });
        Ok(transfer)
    }
}

/// Tells what becomes of packages that do not move now.
pub(super) fn tell<B>(
    release: &Verified<Release<B>>,
    transfers: &[Transfer],
    reporter: &Arc<dyn Reporter>,
) {
    let subject = Subject::version(&release.provider, &release.version);
    for (package, transfer) in release.packages.iter().zip(transfers) {
        reporter.report(Event::Finished {
            subject: subject.platform(&package.platform),
            size: package.expected.size,
            transfer: *transfer,
            authentication: release.authentication().clone(),
        });
    }
}
