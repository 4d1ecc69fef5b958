//! Why a version was not published, and whether the source or the destination caused it.

use std::convert::Infallible;

use crate::blob::{self, BlobSource, File, ReadError};
use crate::digest::Digest;
use crate::event::Subject;
use crate::oci::Part;
use crate::outcome::{Failure, Problem};
use crate::place::Place;
use crate::platform::Platform;
use crate::release::Package;
use crate::source::{self, SourcePackage};
use crate::store::{self, PutError, RepoMut, StoreBlob};
use crate::trust;

/// Why a version was not published or copied.
#[derive(Debug)]
pub enum Error {
    /// The repository's content forbids it, or its store fails.
    Destination(Problem),
    /// The source of a package or another blob fails, or gives wrong bytes.
    Source {
        /// The platform, if the problem is about one package.
        platform: Option<Platform>,
        /// What went wrong.
        problem: Problem,
    },
}

/// A blob whose source fails or gives wrong bytes.
#[derive(Debug)]
pub struct BlobFailure<F> {
    /// The part of the artifact that the blob is.
    pub what: Part,
    /// The package, if the blob is one.
    pub package: Option<FailedPackage>,
    /// The digest that the release states for the package.
    pub digest: Digest,
    /// What went wrong when it was read.
    pub source: ReadError<F>,
}

impl<F> BlobFailure<F> {
    /// A package that cannot be used.
    pub(crate) fn of_package<B>(package: &Package<B>, source: ReadError<F>) -> Self {
        Self {
            what: Part::Package,
            package: Some(FailedPackage {
                platform: package.platform.clone(),
                file_name: package.file_name.clone(),
            }),
            digest: package.expected.digest,
            source,
        }
    }
}

/// The name of a package in messages.
#[derive(Clone, Debug)]
pub struct FailedPackage {
    /// The platform that it is built for.
    pub platform: Platform,
    /// The name of its zip in the checksum document.
    pub file_name: String,
}

impl<P: Into<Problem>> From<P> for Error {
    fn from(problem: P) -> Self {
        Self::Destination(problem.into())
    }
}

impl Error {
    /// The failure of a version that was to be published to `to`. `from` is the place of its packages.
    pub(crate) fn of(self, subject: Subject, from: Place, to: &RepoMut) -> Failure {
        match self {
            Self::Destination(problem) => problem.of(subject, Some(to.place())),
            Self::Source { platform, problem } => {
                let subject = Subject {
                    platform,
                    ..subject
                };
                problem.of(subject, Some(from))
            }
        }
    }

    /// A problem of the source that is not about one package.
    pub(crate) fn in_source(problem: impl Into<Problem>) -> Self {
        Self::Source {
            platform: None,
            problem: problem.into(),
        }
    }

    /// A blob that its source does not give.
    pub(super) fn of_failure<B: PackageBlob>(failure: BlobFailure<B::Failure>) -> Self {
        let package = failure.package.as_ref();
        Self::Source {
            platform: package.map(|package| package.platform.clone()),
            problem: B::problem(failure),
        }
    }

    /// A blob that was not written.
    pub(super) fn of_blob<B: PackageBlob>(
        error: PutError<B::Failure>,
        failure: impl Fn(ReadError<B::Failure>) -> BlobFailure<B::Failure>,
    ) -> Self {
        match error {
            PutError::Store(error) => Self::Destination(error.into()),
            PutError::Source(source) => Self::of_failure::<B>(failure(source)),
        }
    }
}

/// A package of a release folder, an origin or a store. Which of them has it decides how its failure is reported.
pub trait PackageBlob: BlobSource {
    /// The problem to report for a package that could not be read.
    fn problem(failure: BlobFailure<Self::Failure>) -> Problem;
}

impl PackageBlob for File {
    fn problem(failure: BlobFailure<Infallible>) -> Problem {
        let ReadError::Blob(source) = failure.source;
        match (failure.package, source) {
            // The digest is that of the checksum document.
            (Some(package), blob::Error::Digest { expected, received }) => {
                mismatch(package.file_name, expected, received)
            }
            (package, source) => unusable(package, failure.digest, source),
        }
    }
}

impl PackageBlob for SourcePackage {
    fn problem(failure: BlobFailure<source::Error>) -> Problem {
        match (failure.package, failure.source) {
            (package, ReadError::Blob(source)) => unusable(package, failure.digest, source),
            (Some(package), ReadError::Source(error)) => package.failed(error.into()),
            (None, ReadError::Source(error)) => error.into(),
        }
    }
}

/// A store that gives wrong bytes is damaged.
impl PackageBlob for StoreBlob {
    fn problem(failure: BlobFailure<store::Error>) -> Problem {
        store::Error::reading(failure.what, failure.digest, failure.source).into()
    }
}

/// The problem of a zip with another digest than the one in the checksum document.
pub(crate) fn mismatch(file_name: String, expected: Digest, received: Digest) -> Problem {
    let mismatch = trust::Error::Mismatch {
        file_name,
        expected,
        received,
    };
    mismatch.into()
}

/// The problem of wrong bytes from a release folder or an origin.
fn unusable(package: Option<FailedPackage>, digest: Digest, source: blob::Error) -> Problem {
    match (package, source) {
        (Some(package), blob::Error::Archive(source)) => Problem::Archive {
            file: package.file_name,
            source,
        },
        (Some(package), blob::Error::Http(error)) => {
            package.failed(source::Error::from(error).into())
        }
        (Some(package), source) if source.is_damage() => package.failed(source.into()),
        (_, source) => store::Error::reading(Part::Blob, digest, source).into(),
    }
}

impl FailedPackage {
    fn failed(self, source: Problem) -> Problem {
        Problem::Package {
            platform: self.platform,
            source: Box::new(source),
        }
    }
}
