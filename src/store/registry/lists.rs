//! Lists that a registry serves page by page: its repositories, the tags of a repository, and what is attached to a manifest.

use std::collections::HashSet;

use reqwest::header::ACCEPT;
use reqwest::{Method, StatusCode};
use serde_json::value::RawValue;
use url::Url;

use super::scope::Scope;
use super::session::Session;
use super::{Error, Registry, answer};
use crate::digest::Digest;
use crate::http::{Answer, Request, Retry, Shown};
use crate::json::{self, Fault, Object};
use crate::oci::tags::MOST_TAGS;
use crate::oci::{MOST_ENTRIES, Repository};
use crate::store::{Breach, Declined, Requested};

/// The largest page in bytes ([clients: tag lists](crate::clients#tag-lists)).
const LARGEST_PAGE: u64 = 4 << 20;
/// The most pages of a list that are read, because a registry can name another page for ever. With pages of 20 items, these are 20,000 items: more
/// than any provider has versions, and any registry providers.
const MOST_PAGES: usize = 1_000;
/// The largest list in bytes, all pages together. 20,000 of the longest tags have 2.5 MB.
const LARGEST_LIST: usize = 8 << 20;
/// The most repositories of a registry that are read, ten times as many as large company registries have. Their names together are limited
/// too.
const MOST_REPOSITORIES: usize = 100_000;

/// A list to read.
struct List {
    what: Requested,
    /// The member of each page that has the items.
    member: &'static str,
    item: fn(&RawValue) -> Result<String, json::Error>,
    most: usize,
}

const TAGS: List = List {
    what: Requested::Tags,
    member: "tags",
    item: text,
    most: MOST_TAGS,
};

const REPOSITORIES: List = List {
    what: Requested::Repositories,
    member: "repositories",
    item: text,
    most: MOST_REPOSITORIES,
};

/// Its items are descriptors, as JSON.
const REFERRERS: List = List {
    what: Requested::Referrers,
    member: "manifests",
    item: |item| Ok(item.get().to_owned()),
    most: MOST_ENTRIES,
};

fn text(item: &RawValue) -> Result<String, json::Error> {
    Ok(serde_json::from_str(item.get())?)
}

impl List {
    /// The items of a page. An object without the list, such as an error that came with status 200, is not an empty page.
    fn items(&self, page: &[u8], most: usize) -> Result<Vec<String>, json::Error> {
        let mut object = Object::parse(page)?;
        object.must_have(self.member)?;
        object.list(self.member, most, self.item)
    }

    fn too_long(&self, url: Shown) -> Error {
        Error::Protocol {
            breach: Breach::Other,
            expected: format!(
                "a {} with at most {} items and an end",
                self.what, self.most
            ),
            received: "more".to_owned(),
            url,
        }
    }
}

impl Session {
    /// All tags, sorted; `None` if there is no such repository.
    pub(in crate::store) async fn tags(&self) -> Result<Option<Vec<String>>, Error> {
        let scope = Scope::pull(self.name());
        let tags = self.pages(&scope, self.url("tags/list")?, &TAGS).await?;
        let is_empty = match &tags {
            Ok(tags) => tags.is_empty(),
            Err(refused) if answer::is_refusal(refused) => {
                return Err(self.refusal(TAGS.what, refused));
            }
            Err(refused) => {
                let (status, body) = (refused.status(), refused.body());
                let is_absent =
                    status == StatusCode::NOT_FOUND || answer::is_unknown_repository(body);
                // Servers that want TLS say so, and are no less registries.
                if is_absent || status.is_client_error() && !answer::wants_tls(body) {
                    self.check_registry(body).await?;
                }
                if !is_absent {
                    return Err(self.refusal(TAGS.what, refused));
                }
                true
            }
        };
        if is_empty {
            self.cache().empty.insert(self.name().to_owned());
        }
        Ok(tags.ok())
    }

    /// The descriptors of what is attached to a manifest, as JSON; `None` if the registry has no such lists.
    pub(in crate::store) async fn referrers(
        &self,
        subject: &Digest,
    ) -> Result<Option<Vec<String>>, Error> {
        if self.cache().lists_no_referrers {
            return Ok(None);
        }
        let first = self.url(&format!("referrers/{subject}"))?;
        let scope = Scope::pull(self.name());
        match self.pages(&scope, first, &REFERRERS).await? {
            Ok(listed) => Ok(Some(listed)),
            Err(refused) => match refused.status().as_u16() {
                // No credentials and no patience would help.
                400 | 404..=428 | 430..=499 | 501 => {
                    self.cache().lists_no_referrers = true;
                    Ok(None)
                }
                _ => Err(self.refusal(REFERRERS.what, &refused)),
            },
        }
    }

    /// All items of a list, or the answer to the first request if that is no page of it.
    async fn pages(
        &self,
        scope: &Scope,
        first: Url,
        list: &List,
    ) -> Result<Result<Vec<String>, Answer>, Error> {
        let mut page = Some((Shown::from(first.clone()), first));
        let mut seen = HashSet::new();
        let mut items = Vec::new();
        let mut length = 0;
        while let Some((shown, url)) = page.take() {
            if !seen.insert(url.clone()) || seen.len() > MOST_PAGES {
                return Err(list.too_long(shown));
            }
            let request = || {
                Request::new(Method::GET, url.clone(), &self.base)
                    .header(ACCEPT, "application/json")
                    .whole(LARGEST_PAGE)
            };
            let answer = self.send(scope, request).await?;
            match answer.status().is_success() {
                true => {}
                false if seen.len() == 1 => return Ok(Err(answer)),
                // The list exists, since it has begun.
                false => return Err(self.refusal(list.what, &answer)),
            }
            let next = answer::next_page(&answer)?;
            if answer::is_page(&answer) {
                return Err(Error::NoRegistry {
                    host: self.host(),
                    answered: answer::PAGE.to_owned(),
                });
            }
            let read = list.items(answer.body(), list.most - items.len());
            let read = read.map_err(|source| match source.fault {
                Fault::TooMany { .. } => list.too_long(answer.shown()),
                _ => Error::Unread {
                    what: list.what.to_string(),
                    from: answer.shown().to_string(),
                    source,
                },
            })?;
            length += answer.body().len();
            if length > LARGEST_LIST {
                return Err(list.too_long(answer.shown()));
            }
            items.extend(read);
            page = next.map(|url| (answer.shown_reference(url.as_str()), url));
        }
        items.sort();
        items.dedup();
        Ok(Ok(items))
    }
}

impl Registry {
    /// All repositories of a host that it lists, sorted. Names that no repository can have are left out.
    ///
    /// # Errors
    /// The registry fails, or it does not list its repositories.
    pub(in crate::store) async fn catalog(&self, host: &str) -> Result<Vec<Repository>, Error> {
        // Sessions belong to repositories; this one has no name, as the list has none.
        let session = self.session(&Repository::of_registry(host)).await?;
        // The registry may name its scheme before: zot shows anonymous users a part of the list.
        if session.credential().is_some() && !session.was_challenged() {
            let root = session.root()?;
            let request = || Request::new(Method::GET, root.clone(), &session.base);
            let answer = self.http.retrying(Retry::default(), request).await?;
            session.learn(&answer, &Scope::none(), None).await?;
        }
        let (scope, first) = (Scope::catalog(), session.join("v2/_catalog")?);
        let refused = match session.pages(&scope, first.clone(), &REPOSITORIES).await {
            Ok(Ok(names)) => {
                let named = |name: String| Repository::in_registry(&format!("{host}/{name}")).ok();
                return Ok(names.into_iter().filter_map(named).collect());
            }
            Ok(Err(refused)) => refused,
            // Credentials that a registry accepts elsewhere are often not enough for its list. A token server may give nobody this token.
            Err(Error::Unauthorized {
                tried,
                status,
                answer,
                ..
            }) if tried.is_some() || status == 403 => {
                return Err(Error::Declined {
                    declined: Declined::Catalog,
                    url: first.into(),
                    status,
                    answer,
                });
            }
            Err(error) => return Err(error),
        };
        let status = refused.status().as_u16();
        if status == 404 {
            session.check_registry(refused.body()).await?;
        }
        Err(match session.refusal(REPOSITORIES.what, &refused) {
            error @ Error::Unauthorized { tried: None, .. } => error,
            _ if matches!(status, 401 | 403..=405) => answer::declined(Declined::Catalog, &refused),
            error => error,
        })
    }
}
