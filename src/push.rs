//! Push: publishes the output folder of a release process to a store.
//!
//! 1. tfoci reads the **folder**: the release documents, and the zips by their file names. Each zip gets the size of its file and
//!    the digest from the checksum document.
//! 2. [`crate::trust`] **verifies** the signature and the checksum document. Only then is it an error that the document lists a
//!    zip that is missing from the folder.
//! 3. tfoci **reads** the central directory of every zip, without decompressing anything, and refuses a zip that clients cannot use.
//! 4. [`crate::publish`] writes to the store. Each zip is **hashed** while it is sent, and its last chunk is held back until the
//!    hash matches. A zip that the store already has is hashed without being sent.
//!
//! Each zip is therefore read once. A zip with the wrong bytes is found while others are being sent: then no tag moves, and the
//! uploaded blobs are left to the registry's garbage collection.

use std::path::PathBuf;
use std::sync::Arc;

use crate::address::ProviderAddr;
use crate::archive::{Archive, Limits};
use crate::authentication::Note;
use crate::blob::File;
use crate::disk;
use crate::error::{printable, printable_path};
use crate::event::{Event, Reporter, Subject, Warning};
use crate::outcome::{Failure, Problem, Published};
use crate::place::Place;
use crate::platform::Platform;
use crate::prove::prove;
use crate::publish::{self, Edition, mismatch, publish};
use crate::release::{Package, Release};
use crate::source::folder::{self, Files, Folder, Zip};
use crate::store::RepoMut;
use crate::trust::{Denials, Rule};
use crate::version::Version;

/// The release folder, and what of it to push.
#[derive(Clone, Debug)]
pub struct Request {
    /// The folder to read.
    pub directory: PathBuf,
    /// The provider that the release belongs to.
    pub provider: ProviderAddr,
    /// The version to push; required if the folder has several.
    pub version: Option<Version>,
    /// The platforms to push; empty for all that the checksum document lists.
    pub platforms: Vec<Platform>,
    /// What the release must prove.
    pub rule: Rule,
    /// The versions that are denied.
    pub denied: Denials,
}

/// Pushes a release.
///
/// # Errors
/// The release is invalid, or the store refuses it. The version's tag has then not moved.
pub async fn push(
    request: &Request,
    to: &RepoMut,
    options: &publish::Options,
    reporter: &Arc<dyn Reporter>,
) -> Result<Published, Failure> {
    let unknown = Subject {
        version: request.version.clone(),
        ..Subject::provider(&request.provider)
    };
    let folder = Place::Folder(printable_path(&request.directory).into());
    let files = Folder::open(&request.directory).and_then(|opened| {
        let version = request.version.as_ref();
        opened.release(&request.provider, version, &request.platforms)
    });
    let unread = |error| Problem::from(error).of(unknown, Some(folder.clone()));
    let files = files.map_err(unread)?;
    let subject = Subject::version(&request.provider, &files.version);
    let about = |problem: Problem| problem.of(subject.clone(), Some(folder.clone()));

    let denied = request
        .denied
        .check(&request.provider, &files.version, options.now);
    denied.map_err(Problem::from).map_err(about)?;
    reporter.report(Event::VersionsSelected {
        subject: Subject::provider(&request.provider),
        versions: vec![(files.version.clone(), Some(files.zips.len()))],
    });
    let missing = files.missing.clone();
    let release = locate(files, request).await.map_err(about)?;
    let mut verified = prove(release, &request.rule, options.now)
        .await
        .map_err(Problem::from)
        .map_err(about)?;
    if let Some(name) = missing {
        return Err(about(folder::Error::ListedZipMissing { name }.into()));
    }
    let notes = inspect(&verified.packages, &subject, reporter).await;
    for note in notes.map_err(about)? {
        verified.note(note);
    }
    reporter.report(verified.event());
    let published = publish(Edition::of(&verified), to, options, reporter).await;
    published.map_err(|error| match error {
        publish::Error::Destination(problem) => problem.of(subject.clone(), Some(to.place())),
        publish::Error::Source { problem, .. } => about(problem),
    })
}

/// Builds the release, with the digests from the checksum document. A zip that the document does not list is hashed, so that the
/// error can show its digest.
async fn locate(files: Files, request: &Request) -> Result<Release<File>, Problem> {
    let mut packages = Vec::new();
    for zip in files.zips {
        let Zip {
            platform,
            file_name,
            path,
            digest,
        } = zip;
        let file = match digest {
            None => File::measured(path).await?,
            Some(digest) => File::claimed(path, digest)?,
        };
        packages.push(Package {
            platform,
            file_name,
            expected: file.expected,
            location: file,
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

/// The permissions to execute a file, for its owner, its group and others.
const EXECUTABLE: u32 = 0o111;

/// Reads the central directory of each zip as clients do, notes entries that clients handle badly, and warns of an executable that nobody may
/// execute. If a zip is invalid and its digest is wrong too, the error is about the digest.
async fn inspect(
    packages: &[Package<File>],
    subject: &Subject,
    reporter: &Arc<dyn Reporter>,
) -> Result<Vec<Note>, Problem> {
    let mut notes = Vec::new();
    for package in packages {
        let File { path, expected, .. } = &package.location;
        let opened = Archive::open(disk::open(path)?, &Limits::default());
        let usable = opened.and_then(|zip| {
            let executable = zip.executable(subject.provider.type_name())?;
            let mode = executable.mode().unwrap_or_default();
            let file = executable.name().to_owned();
            Ok((zip, (mode & EXECUTABLE == 0).then_some(file)))
        });
        let source = match usable {
            Ok((zip, plain)) => {
                // Windows knows no such permission.
                if let Some(file) = plain.filter(|_| package.platform.os() != "windows") {
                    let subject = subject.platform(&package.platform);
                    let file = printable(&file);
                    let text = format!(
                        "`{file}` has no permission to be executed in the zip, so that clients cannot start it: `chmod +x`, zip and sign again"
                    );
                    reporter.warn(subject, Warning::Other(text));
                }
                notes.extend(
                    zip.has_directory_entries()
                        .then_some(Note::DirectoryEntries),
                );
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
