//! Push: from the folder of a release process into a store.
//!
//! 1. The **folder** gives a release: documents, and zips by their names. Each zip has the size of its file, and the digest that the
//!    checksum document says.
//! 2. [`crate::trust`] **verifies** signature and document; from here on there is a verified release. Only now is the document
//!    believed when it lists a zip that is not there.
//! 3. The directory of every zip is **read**, without inflating anything: one that clients could not use, or should not, stops here.
//! 4. [`crate::publish`] puts it into the store. Each zip is **hashed** while it is sent, and its last chunk held back until the hash
//!    is right; where the store has the zip already, it is hashed without being sent.
//!
//! So each zip is read once. A zip with the wrong bytes is found while others are sent: then no tag moves, and what was sent of the
//! release is left for the registry's own collector.

use std::path::PathBuf;
use std::sync::Arc;

use crate::address::ProviderAddr;
use crate::archive::{self, Archive, Limits};
use crate::authentication::Note;
use crate::blob::{self, BlobSource, Body, File};
use crate::digest::Digest;
use crate::disk;
use crate::error::printable_path;
use crate::event::{Event, Reporter, Subject};
use crate::outcome::{At, Failure, Problem, Published};
use crate::platform::Platform;
use crate::prove::prove;
use crate::publish::{self, Edition, Undelivered, publish};
use crate::release::{Expected, Package, Release};
use crate::source::folder::{self, Files, Folder, Zip};
use crate::store::{RepoMut, WriteStore};
use crate::trust::{self, Checksums, Mismatch, Rule};
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
    let release = locate(files, request).await.map_err(about)?;
    let mut verified = prove(release, &request.rule, options.now)
        .await
        .map_err(Problem::from)
        .map_err(about)?;
    if let Some(name) = missing {
        return Err(about(folder::Error::ListedZipMissing { name }.into()));
    }
    let notes = inspect(&verified.packages, &request.provider).await;
    for note in notes.map_err(about)? {
        verified.note(note);
    }
    let authentication = verified.authentication().clone();
    reporter.report(Event::Verified {
        subject: subject.clone(),
        authentication,
    });
    let published = publish(&Edition::of(&verified), to, options, reporter).await;
    published.map_err(|error| match error {
        publish::Error::Destination(problem) => problem.of(subject.clone(), At::To(to.to_string())),
        publish::Error::Source(undelivered) => about(of_zip(undelivered)),
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

/// The release with the digests that its checksum document says. A zip without a line in it is hashed, so that the refusal tells
/// what it is.
async fn locate(files: Files, request: &Request) -> Result<Release<ReleaseZip>, Problem> {
    let checksums = Checksums::parse(&files.checksums.bytes).map_err(folder::Error::Checksums)?;
    let mut packages = Vec::new();
    for zip in files.zips {
        let Zip {
            platform,
            file_name,
            path,
        } = zip;
        let file = match checksums.lookup(&file_name) {
            None => File::measured(path).await?,
            Some(digest) => {
                let metadata = disk::open(&path)?.metadata();
                let metadata = metadata.map_err(|source| disk::Error::at("read", &path, source))?;
                let size = metadata.len();
                let expected = Expected { digest, size };
                File { path, expected }
            }
        };
        packages.push(Package {
            platform,
            file_name,
            expected: file.expected,
            location: ReleaseZip(file),
        });
    }
    Ok(Release {
        packages,
        provider: request.provider.clone(),
        version: files.version,
        protocols: files.protocols,
        checksums: Some(files.checksums),
        signatures: files.signatures,
        keys: Vec::new(),
        notes: files.notes,
    })
}

/// Reads the directory of each zip as clients will, and notes what they stumble on. Of a zip with the wrong bytes, that is said, and
/// not what follows from it.
async fn inspect(
    packages: &[Package<ReleaseZip>],
    provider: &ProviderAddr,
) -> Result<Vec<Note>, Problem> {
    let mut notes = Vec::new();
    for package in packages {
        let File { path, expected } = &package.location.0;
        let source = match has_directory_entries(disk::open(path)?, provider) {
            Ok(false) => continue,
            Ok(true) => {
                notes.push(Note::DirectoryEntries);
                continue;
            }
            Err(source) => source,
        };
        let received = File::measured(path.clone()).await?.expected.digest;
        let file = package.file_name.clone();
        return Err(match received == expected.digest {
            true => Problem::Archive { file, source },
            false => mismatch(file, expected.digest, received),
        });
    }
    Ok(notes)
}

fn has_directory_entries(
    zip: std::fs::File,
    provider: &ProviderAddr,
) -> Result<bool, archive::Error> {
    let archive = Archive::open(zip, &Limits::default())?;
    archive.executable(provider.type_name())?;
    Ok(archive.has_directory_entries())
}

/// What is wrong with a zip that was read while it was sent.
fn of_zip(undelivered: Undelivered) -> Problem {
    match undelivered {
        Undelivered {
            package: Some(package),
            source: blob::Error::Digest { expected, received },
            ..
        } => mismatch(package.file_name, expected, received),
        undelivered => undelivered.into_problem(),
    }
}

fn mismatch(file_name: String, expected: Digest, received: Digest) -> Problem {
    let mismatch = Mismatch {
        file_name,
        expected,
        received,
    };
    trust::Error::Mismatch(Box::new(mismatch)).into()
}

/// A zip of the folder: what its digest is, only the checksum document says so far.
#[derive(Clone, Debug)]
struct ReleaseZip(File);

impl BlobSource for ReleaseZip {
    fn expected(&self) -> Expected {
        self.0.expected()
    }

    fn is_unverified(&self) -> bool {
        true
    }

    async fn open(&self, from: u64) -> Result<Body, blob::Error> {
        self.0.open(from).await
    }
}
