//! Push: from the folder of a release process into a store.
//!
//! 1. The **folder** gives a release: documents, and zips by their names.
//! 2. Every zip is **hashed**.
//! 3. [`crate::trust`] **verifies** signature, document and hashes; from here on there is a verified release. Only now is the
//!    document believed when it lists a zip that is not there.
//! 4. Every zip is **opened**, without inflating it: one that clients could not use, or should not, stops here.
//! 5. [`crate::publish`] puts it into the store.
//!
//! The zips are read twice, for step 2 and for step 5. That is the price of refusing a bad release before anything of it is
//! written; while they are copied they are hashed again, so that a file which changes in between is refused too.

use std::path::PathBuf;
use std::sync::Arc;

use crate::address::ProviderAddr;
use crate::archive::{Archive, Limits};
use crate::authentication::Note;
use crate::blob::File;
use crate::disk;
use crate::error::printable_path;
use crate::event::{Event, Reporter, Subject};
use crate::jobs;
use crate::outcome::{At, Failure, Problem, Published};
use crate::platform::Platform;
use crate::prove::prove;
use crate::publish::{self, Edition, publish};
use crate::release::{Package, Release};
use crate::source::folder::{self, Files, Folder, Zip};
use crate::store::{RepoMut, WriteStore};
use crate::trust::Rule;
use crate::version::Version;

/// What to push.
#[derive(Clone, Debug)]
pub struct Request {
    /// The folder.
    pub directory: PathBuf,
    /// Whose release it is.
    pub provider: ProviderAddr,
    /// Which version, where the folder has several.
    pub version: Option<Version>,
    /// Which platforms; empty for all that the checksum document lists.
    pub platforms: Vec<Platform>,
    /// Whom to believe.
    pub rule: Rule,
}

/// Pushes a release.
///
/// # Errors
/// Whatever stands against it, before anything is visible in the store.
pub async fn push<S: WriteStore>(
    request: &Request,
    to: &RepoMut<S>,
    options: &publish::Options,
    reporter: &Arc<dyn Reporter>,
) -> Result<Published, Failure> {
    let unknown = Subject {
        version: request.version.clone(),
        ..Subject::provider(&request.provider)
    };
    let folder = printable_path(&request.directory);
    let files =
        read_folder(request).map_err(|problem| problem.of(unknown, At::Origin(folder.clone())))?;
    let subject = Subject::version(&request.provider, &files.version);
    let about = |problem: Problem| problem.of(subject.clone(), At::Origin(folder.clone()));

    let missing = files.missing.clone();
    let release = hash(files, request, options.jobs).await.map_err(about)?;
    let mut verified = prove(release, &request.rule, options.now)
        .await
        .map_err(Problem::from)
        .map_err(about)?;
    if let Some(name) = missing {
        return Err(about(folder::Error::ListedZipMissing { name }.into()));
    }
    for note in inspect(&verified.packages, &request.provider).map_err(about)? {
        verified.note(note);
    }
    let authentication = verified.authentication().clone();
    reporter.report(Event::Verified {
        subject: subject.clone(),
        authentication,
    });
    let published = publish(&Edition::of(&verified), to, options, reporter).await;
    published.map_err(|error| match error {
        publish::Error::Destination(problem) => {
            problem.of(subject.clone(), At::To(to.to_string()))
        }
        publish::Error::Source(undelivered) => about(undelivered.into_problem()),
    })
}

fn read_folder(request: &Request) -> Result<Files, Problem> {
    let folder = Folder::open(&request.directory)?;
    Ok(folder.release(
        &request.provider,
        request.version.as_ref(),
        &request.platforms,
    )?)
}

async fn hash(files: Files, request: &Request, limit: usize) -> Result<Release<File>, Problem> {
    let packages = jobs::run(limit, files.zips, |zip| async move {
        let Zip {
            platform,
            file_name,
            path,
        } = zip;
        let location = File::measured(path).await?;
        Ok::<_, Problem>(Package {
            platform,
            file_name,
            expected: location.expected,
            location,
        })
    });
    Ok(Release {
        packages: packages.await?,
        provider: request.provider.clone(),
        version: files.version,
        protocols: files.protocols,
        checksums: Some(files.checksums),
        signatures: files.signatures,
        keys: Vec::new(),
        notes: files.notes,
    })
}

/// Opens each zip as clients will, and notes what they stumble on.
fn inspect(packages: &[Package<File>], provider: &ProviderAddr) -> Result<Vec<Note>, Problem> {
    let mut notes = Vec::new();
    for package in packages {
        let unusable = |source| Problem::Archive {
            file: package.file_name.clone(),
            source,
        };
        let file = disk::open(&package.location.path)?;
        let archive = Archive::open(file, &Limits::default()).map_err(unusable)?;
        archive.executable(provider.type_name()).map_err(unusable)?;
        if archive.has_directory_entries() {
            notes.push(Note::DirectoryEntries);
        }
    }
    Ok(notes)
}
