//! The repositories of a registry.

use reqwest::StatusCode;

use super::super::action::Action;
use super::auth::Scope;
use super::pages::List;
use super::{Error, Registry, Repository, answer};
use crate::store::{Listed, Requested};

/// The most repositories of a registry that are read, ten times as many as large company registries have. Their names together are limited
/// too.
const MOST_REPOSITORIES: usize = 100_000;

const REPOSITORIES: List = List {
    what: Listed::Repositories,
    most: MOST_REPOSITORIES,
};

impl Registry {
    /// All repositories of a host that it lists, sorted. Names that are not those of repositories are left out.
    ///
    /// # Errors
    /// The registry fails, or it does not list its repositories.
    pub(in crate::store) async fn catalog(&self, host: &str) -> Result<Vec<Repository>, Error> {
        const WHAT: Requested = Requested::List(Listed::Repositories);
        // Sessions belong to repositories; this one has no name, as the list has none.
        let root = Repository::of_registry(host);
        let (session, _) = self.locate(&root).await?;
        let first = session.base.join("v2/_catalog");
        let first = first.map_err(|_| crate::http::Error::Url {
            url: session.base.clone().into(),
        })?;
        match self
            .pages(&session, &Scope::catalog(), first, &REPOSITORIES)
            .await?
        {
            Ok(names) => {
                let named = |name: String| Repository::in_registry(&format!("{host}/{name}")).ok();
                Ok(names.into_iter().filter_map(named).collect())
            }
            Err(refused) => {
                let status = refused.status();
                let no_catalog = || Error::NoCatalog {
                    host: host.to_owned(),
                    status: status.as_u16(),
                    answer: answer::text(&refused),
                };
                Err(match status {
                    StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                        let error = session.refused(Action::Pull, WHAT, &refused);
                        // Credentials that a registry accepts elsewhere are often not enough for its list.
                        match error {
                            Error::Unauthorized { tried: None, .. } => error,
                            Error::Unauthorized { .. } => Error::ListRefused(Box::new(error)),
                            _ => no_catalog(),
                        }
                    }
                    StatusCode::NOT_FOUND => {
                        self.check_registry(&session, refused.body()).await?;
                        no_catalog()
                    }
                    StatusCode::METHOD_NOT_ALLOWED => no_catalog(),
                    _ => answer::failure(WHAT, &refused),
                })
            }
        }
    }
}
