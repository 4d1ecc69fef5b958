//! The tags of a repository.

use reqwest::StatusCode;

use super::auth::Scope;
use super::pages::{List, text};
use super::{Error, Registry, Repository, answer};
use crate::oci::tags::MOST_TAGS;
use crate::store::Requested;

const TAGS: List = List {
    what: Requested::Tags,
    member: "tags",
    item: text,
    most: MOST_TAGS,
};

impl Registry {
    /// All tags, sorted; `None` if there is no such repository.
    pub(in crate::store) async fn tags(
        &self,
        repository: &Repository,
    ) -> Result<Option<Vec<String>>, Error> {
        let (session, name) = self.locate(repository).await?;
        let first = session.url(name, "tags/list")?;
        let tags = self
            .pages(&session, &Scope::pull(name), first, &TAGS)
            .await?;
        let is_empty = match &tags {
            Ok(tags) => tags.is_empty(),
            Err(refused) => {
                let (status, body) = (refused.status(), refused.body());
                if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
                    return Err(session.refusal(TAGS.what, refused));
                }
                if status != StatusCode::NOT_FOUND && !answer::is_unknown_repository(body) {
                    // Servers that want TLS say so, and are no less registries.
                    if status.is_client_error() && !answer::wants_tls(body) {
                        self.check_registry(&session, body).await?;
                    }
                    return Err(session.refusal(TAGS.what, refused));
                }
                self.check_registry(&session, body).await?;
                true
            }
        };
        if is_empty {
            session.cache().empty.insert(name.to_owned());
        }
        Ok(tags.ok())
    }
}
