//! What helps when a journey fails.

use super::{Failure, Problem};
use crate::error::Hint;
use crate::trust;

impl Hint for Failure {
    fn hint(&self) -> Option<String> {
        let hint = match (&*self.problem, &self.at) {
            (
                Problem::Trust(trust::Error::Unproven { pinned, .. }),
                Some(place),
            ) if pinned.is_empty() && place.is_mirror() => {
                "mirrors have no signatures: `--allow-unsigned ADDR` or `lock --trust-store` believes one".to_owned()
            }
            (problem, _) => problem.hint()?,
        };
        let provider = self.subject.as_ref().map(|subject| &subject.provider);
        Some(match provider {
            Some(provider) => hint.replace("ADDR", &provider.to_string()),
            None => hint,
        })
    }
}

/// `ADDR` stands for the provider.
impl Hint for Problem {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Endpoint(error) => error.hint(),
            Self::Mapping(error) => error.hint(),
            Self::Folder(error) => error.hint(),
            Self::Source(error) => error.hint(),
            Self::Package { source, .. } => source.hint(),
            Self::Store(error) => error.hint(),
            Self::Unreadable(error) if error.is_about_access() => error.hint(),
            Self::Unreadable(_) | Self::NoEvidence => {
                Some("`tfoci mirror --recheck` writes its evidence from the origin".to_owned())
            }
            Self::Blob(error) => error.hint(),
            Self::Disk(error) => error.hint(),
            Self::Trust(error) => error.hint(),
            Self::Evidence { source } if source.is_by_rule() => source.hint(),
            Self::Evidence { .. } => Some(TAMPERED.to_owned()),
            Self::NoVersion { available, .. } => available.is_empty().then(|| {
                "`tfoci versions ADDR --from STORE --all` lists other tags, if there are any"
                    .to_owned()
            }),
            Self::Withdrawn {
                admitted: Some(version),
                ..
            } => Some(format!("`tfoci lock ADDR --upgrade` selects {version}")),
            problem => own_hint(problem).map(str::to_owned),
        }
    }
}

const TAMPERED: &str =
    "do not use these packages: the store was tampered with, or a replacement was interrupted";

fn own_hint(problem: &Problem) -> Option<&'static str> {
    Some(match problem {
        Problem::Taken { .. } => {
            "`--existing replace` of `push` or `copy` puts the provider in its place"
        }
        Problem::OtherProvider { .. } => {
            "a template with `{hostname}`, `{namespace}` and `{type}` tells them apart"
        }
        Problem::NoProvider => "`tfoci list --from STORE` lists its providers, with their hosts",
        Problem::OtherLocked { .. } => "`tfoci lock ADDR --upgrade` selects another version",
        Problem::NotInTarget { .. } => {
            "on the near side, `tfoci copy ADDR@VERSION... --from STORE --to bundle:FILE` writes them"
        }
        Problem::NoPin => "pin its key in a trust file, as `tfoci help trust` shows",
        Problem::Unproven { .. } => {
            "`--rebuild-index` copies its packages and evidence, and leaves out the rest"
        }
        Problem::CapitalLetters => "install it with `--unpacked`",
        _ => return None,
    })
}
