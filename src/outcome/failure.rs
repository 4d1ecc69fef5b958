//! Failures of journeys.

use std::fmt;
use std::sync::Arc;

use super::Problem;
use crate::error::Category;
use crate::event::Subject;
use crate::place::Place;

/// A failure of a journey: the problem, its subject, and the place where it occurred.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The provider, version or package, if known.
    pub subject: Option<Subject>,
    /// The source or store; `None` if it is this machine or an argument. Messages then contain the path.
    pub at: Option<Place>,
    /// The problem, shared by the failures of several destinations.
    pub problem: Arc<Problem>,
}

impl Problem {
    /// The failure for a subject, at the place that failed.
    pub fn of(self, subject: Subject, at: Option<Place>) -> Failure {
        let subject = match &self {
            Self::OtherPackage { platform, .. } | Self::Package { platform, .. } => {
                subject.platform(platform)
            }
            Self::Source(error) => match error.platform() {
                Some(platform) => subject.platform(platform),
                None => subject,
            },
            _ => subject,
        };
        Failure {
            subject: Some(subject),
            at,
            problem: Arc::new(self),
        }
    }
}

impl Failure {
    /// The category that decides the exit code.
    pub fn category(&self) -> Category {
        self.problem.category()
    }
}

impl<P: Into<Problem>> From<P> for Failure {
    fn from(problem: P) -> Self {
        Self {
            subject: None,
            at: None,
            problem: Arc::new(problem.into()),
        }
    }
}

/// Writes the subject, the name of the source or store in parentheses, and the problem.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.at.as_ref().map(Place::name);
        // The place already names the destination.
        let subject = self.subject.clone();
        let subject = subject.map(|subject| subject.without_destination(place));
        match (subject, place) {
            (Some(subject), Some(place)) => write!(f, "{subject} ({place}): ")?,
            (Some(subject), None) => write!(f, "{subject}: ")?,
            (None, Some(place)) => write!(f, "{place}: ")?,
            (None, None) => {}
        }
        write!(f, "{}", self.problem)
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.problem.source()
    }
}
