//! The repositories of a registry.

use reqwest::{Method, StatusCode};

use super::auth::Scope;
use super::pages::{List, text};
use super::{Error, Registry, Repository, answer};
use crate::http::{Request, Retry};
use crate::store::Requested;

/// The most repositories of a registry that are read, ten times as many as large company registries have. Their names together are limited
/// too.
const MOST_REPOSITORIES: usize = 100_000;

const REPOSITORIES: List = List {
    what: Requested::Repositories,
    member: "repositories",
    item: text,
    most: MOST_REPOSITORIES,
};

impl Registry {
    /// All repositories of a host that it lists, sorted. Names that are not those of repositories are left out.
    ///
    /// # Errors
    /// The registry fails, or it does not list its repositories.
    pub(in crate::store) async fn catalog(&self, host: &str) -> Result<Vec<Repository>, Error> {
        // Sessions belong to repositories; this one has no name, as the list has none.
        let root = Repository::of_registry(host);
        let (session, _) = self.locate(&root).await?;
        let first = session.join("v2/_catalog")?;
        // Credentials that a registry accepts elsewhere are often not enough for its list.
        let list_refused = |error| match error {
            Error::Unauthorized { tried: Some(_), .. } => Error::ListRefused(Box::new(error)),
            error => error,
        };
        // The registry may name its scheme before: zot shows anonymous users a part of the list.
        if session.auth.credential().is_some() && !session.auth.was_challenged() {
            let root = session.root()?;
            let request = || Request::new(Method::GET, root.clone(), &session.base);
            let answer = self.http.retrying(Retry::default(), request).await?;
            session.auth.learn(&answer, &Scope::none(), None).await?;
        }
        let scope = Scope::catalog();
        let pages = self.pages(&session, &scope, first, &REPOSITORIES);
        let no_catalog = |status, answer| Error::NoCatalog {
            host: host.to_owned(),
            status,
            answer,
        };
        let refused = match pages.await {
            Ok(Ok(names)) => {
                let named = |name: String| Repository::in_registry(&format!("{host}/{name}")).ok();
                return Ok(names.into_iter().filter_map(named).collect());
            }
            Ok(Err(refused)) => refused,
            // A token server knows the user, and gives nobody this token.
            Err(Error::Unauthorized {
                status: 403,
                answer,
                ..
            }) => return Err(no_catalog(403, answer)),
            Err(error) => return Err(list_refused(error)),
        };
        let status = refused.status();
        if status == StatusCode::NOT_FOUND {
            self.check_registry(&session, refused.body()).await?;
        }
        Err(
            match (status, session.refusal(REPOSITORIES.what, &refused)) {
                (_, error @ Error::Unauthorized { .. }) => list_refused(error),
                (
                    StatusCode::UNAUTHORIZED
                    | StatusCode::FORBIDDEN
                    | StatusCode::NOT_FOUND
                    | StatusCode::METHOD_NOT_ALLOWED,
                    _,
                ) => no_catalog(status.as_u16(), answer::text(&refused)),
                (_, error) => error,
            },
        )
    }
}
