//! Listing the tags of a repository, page by page.

use std::collections::HashSet;

use reqwest::header::ACCEPT;
use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::Scope;
use super::{Error, Registry, Repository, answer, wire};
use crate::json::{self, Fault};
use crate::oci::tags::MOST_TAGS;
use crate::store::Action;

/// The largest page of tags in bytes ([clients: tag lists](crate::clients#tag-lists)).
const LARGEST_PAGE: u64 = 4 << 20;
/// The most pages of tags that are read. With pages of 20 tags, these are [`MOST_TAGS`].
const MOST_PAGES: usize = 1_000;
/// The largest list of tags in bytes, all pages together. [`MOST_TAGS`] of the longest tags have 2.5 MB.
const LARGEST_LIST: usize = 8 << 20;

impl Registry {
    /// All tags, sorted; `None` if there is no such repository.
    pub(in crate::store) async fn tags(
        &self,
        repository: &Repository,
    ) -> Result<Option<Vec<String>>, Error> {
        let (session, name) = self.locate(repository).await?;
        let scope = Scope::pull(name);
        let mut page = Some(session.url(name, "tags/list")?);
        let mut seen = HashSet::new();
        let mut tags = Vec::new();
        let mut length = 0;
        while let Some(url) = page.take() {
            if !seen.insert(url.clone()) || seen.len() > MOST_PAGES {
                return Err(Error::EndlessPages { url: url.into() });
            }
            let request = || {
                session
                    .request(Method::GET, url.clone())
                    .header(ACCEPT, "application/json")
                    .whole(LARGEST_PAGE)
            };
            let answer = self.send(&session, &scope, request).await?;
            let status = answer.status();
            if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
                return Err(self.refusal(&session, Action::Pull, "tags", answer).await);
            }
            let next = answer::next_page(&answer).transpose()?;
            let shown = answer.url().clone();
            let body = answer.bytes(LARGEST_PAGE).await?;
            if !status.is_success() {
                if status == StatusCode::NOT_FOUND || answer::is_unknown_repository(&body) {
                    self.check_registry(&session, &body).await?;
                    session.cache().empty.insert(name.to_owned());
                    return Ok(None);
                }
                let text = answer::text(&body);
                return Err(Error::Registry {
                    what: "tags",
                    url: shown.into(),
                    status: status.as_u16(),
                    answer: text,
                });
            }
            let most = MOST_TAGS - tags.len();
            let page_of_tags =
                wire::tags(&body, most).map_err(|source| unreadable(source, &shown))?;
            length += page_of_tags.iter().map(String::len).sum::<usize>();
            if length > LARGEST_LIST {
                return Err(too_many(&shown));
            }
            tags.extend(page_of_tags);
            page = next;
        }
        tags.sort();
        tags.dedup();
        if tags.is_empty() {
            session.cache().empty.insert(name.to_owned());
        }
        Ok(Some(tags))
    }
}

/// The error for a page that cannot be read.
fn unreadable(source: json::Error, url: &Url) -> Error {
    let (what, shown) = ("list of tags", url.clone().into());
    match source.fault {
        Fault::TooMany { .. } => too_many(url),
        Fault::Repeated { .. } => Error::Repeated {
            what,
            url: shown,
            repeated: source,
        },
        Fault::Malformed(_) => Error::Document {
            what,
            url: shown,
            source,
        },
    }
}

fn too_many(url: &Url) -> Error {
    Error::ManyTags {
        url: url.clone().into(),
        limit: MOST_TAGS,
    }
}
