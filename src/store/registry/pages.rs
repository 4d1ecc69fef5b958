//! Lists that a registry serves page by page.

use std::collections::HashSet;

use reqwest::Method;
use reqwest::header::ACCEPT;
use serde_json::value::RawValue;
use url::Url;

use super::auth::Scope;
use super::session::RepositorySession;
use super::{Error, Registry, answer};
use crate::http::{Answer, Request, Shown};
use crate::json::{self, Fault, Object};
use crate::store::Requested;

/// The largest page in bytes ([clients: tag lists](crate::clients#tag-lists)).
const LARGEST_PAGE: u64 = 4 << 20;
/// The most pages of a list that are read, because a registry can name another page for ever. With pages of 20 items, these are 20,000 items: more
/// than any provider has versions, and any registry providers.
const MOST_PAGES: usize = 1_000;
/// The largest list in bytes, all pages together. 20,000 of the longest tags have 2.5 MB.
const LARGEST_LIST: usize = 8 << 20;

/// A list to read.
pub(super) struct List {
    pub(super) what: Requested,
    /// The member of each page that has the items.
    pub(super) member: &'static str,
    /// Reads an item.
    pub(super) item: fn(&RawValue) -> Result<String, json::Error>,
    /// The most items.
    pub(super) most: usize,
}

impl List {
    fn too_long(&self, url: Shown) -> Error {
        Error::LongList {
            what: self.what,
            url,
            limit: self.most,
        }
    }
}

impl Registry {
    /// All items of a list, or the answer to the first request if that is no page of it.
    pub(super) async fn pages(
        &self,
        session: &RepositorySession,
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
                Request::new(Method::GET, url.clone(), &session.base)
                    .header(ACCEPT, "application/json")
                    .whole(LARGEST_PAGE)
            };
            let answer = self.send(session, scope, request).await?;
            match answer.status().is_success() {
                true => {}
                false if seen.len() == 1 => return Ok(Err(answer)),
                // The list exists, since it has begun.
                false => return Err(session.refusal(list.what, &answer)),
            }
            let next = answer::next_page(&answer, list.what)?;
            if answer::is_page(&answer) {
                return Err(Error::NoRegistry {
                    host: session.auth.host(),
                    answered: answer::PAGE.to_owned(),
                });
            }
            let most = list.most - items.len();
            let read = items_of(answer.body(), list, most);
            let read = read.map_err(|source| match source.fault {
                Fault::TooMany { .. } => list.too_long(answer.shown()),
                _ => Error::Document {
                    what: list.what,
                    url: answer.shown(),
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

/// An item that is a text.
pub(super) fn text(item: &RawValue) -> Result<String, json::Error> {
    Ok(serde_json::from_str(item.get())?)
}

/// The items of a page. An object without the list, such as an error that came with status 200, is not an empty page.
fn items_of(body: &[u8], list: &List, most: usize) -> Result<Vec<String>, json::Error> {
    let mut object = Object::parse(body)?;
    object.must_have(list.member)?;
    object.list(list.member, most, list.item)
}
