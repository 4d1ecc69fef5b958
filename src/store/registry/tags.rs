//! The list of a repository's tags, page by page, and moving them.

use std::collections::HashSet;

use reqwest::header::ACCEPT;
use reqwest::{Method, StatusCode};
use url::Url;

use super::auth::Scope;
use super::manifests::{Writing, Written};
use super::objection::Objection;
use super::{At, Error, Move, ReadStore as _, Registry, Repository, Tagged, answer, wire};
use crate::json::Fault;
use crate::oci::tags::MOST_TAGS;

/// The largest page of tags ([clients: tag lists](crate::clients#tag-lists)).
const LARGEST_PAGE: u64 = 4 << 20;
/// The most pages of tags that are read: a registry that sends us in circles is not followed for ever.
const MOST_PAGES: usize = 1_000;
/// The largest list of tags, all pages together.
const LARGEST_LIST: usize = 8 << 20;
/// How often it is tried to move a tag: as often as any other request is sent.
const ATTEMPTS: u32 = 6;

impl Registry {
    /// The names of all tags; `None` if there is no such repository.
    pub(super) async fn list_tags(
        &self,
        repository: &Repository,
    ) -> Result<Option<Vec<String>>, Error> {
        let (host, name) = self.locate(repository).await?;
        let scope = Scope::pull(name);
        let mut page = Some(host.url(name, "tags/list")?);
        let mut seen = HashSet::new();
        let mut tags = Vec::new();
        let mut length = 0;
        let many = |url: &Url| Error::ManyTags {
            url: url.clone().into(),
            limit: MOST_TAGS,
        };
        while let Some(url) = page.take() {
            if !seen.insert(url.clone()) || seen.len() > MOST_PAGES {
                return Err(Error::EndlessPages { url: url.into() });
            }
            let request = || {
                host.request(Method::GET, url.clone())
                    .header(ACCEPT, "application/json")
                    .whole(LARGEST_PAGE)
            };
            let answer = self.send(&host, &scope, request).await?;
            let status = answer.status();
            if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
                return Err(self.refusal(&host, "tags", answer).await);
            }
            let next = answer::next_page(&answer).transpose()?;
            let shown = answer.url().clone();
            let body = answer.bytes(LARGEST_PAGE).await?;
            if !status.is_success() {
                if status == StatusCode::NOT_FOUND || answer::says_unknown(&body) {
                    host.seen().empty.insert(name.to_owned());
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
            let room = MOST_TAGS - tags.len();
            let page_of_tags = wire::tags(&body, room).map_err(|source| {
                let (what, url) = ("list of tags", shown.clone().into());
                match source.fault {
                    Fault::TooMany { .. } => many(&shown),
                    Fault::Repeated { .. } => Error::Repeated {
                        what,
                        url,
                        repeated: source,
                    },
                    Fault::Malformed(_) => Error::Document { what, url, source },
                }
            })?;
            length += page_of_tags.iter().map(String::len).sum::<usize>();
            if length > LARGEST_LIST {
                return Err(many(&shown));
            }
            tags.extend(page_of_tags);
            page = next;
        }
        tags.sort();
        tags.dedup();
        if tags.is_empty() {
            host.seen().empty.insert(name.to_owned());
        }
        Ok(Some(tags))
    }

    /// Moves tags one after the other, each if it still stands where it was.
    pub(super) async fn move_tags(
        &self,
        repository: &Repository,
        moves: &[Move<'_>],
    ) -> Result<Tagged, Error> {
        for wanted in moves {
            if self.move_tag(repository, wanted).await? == Tagged::Conflict {
                return Ok(Tagged::Conflict);
            }
        }
        // Most registries cannot compare and write in one step: whoever came in between is seen now.
        let Some(Move { tag, to, .. }) = moves.last() else {
            return Ok(Tagged::Moved);
        };
        let now = self.digest(repository, tag).await?;
        Ok(if now == Some(to.expected.digest) {
            Tagged::Moved
        } else {
            Tagged::Conflict
        })
    }

    /// Moves one tag. An answer that is lost leaves open whether the tag was moved, and others may have moved it on since:
    /// so it is looked at before each attempt, and never written blindly again.
    async fn move_tag(
        &self,
        repository: &Repository,
        Move { tag, to, was }: &Move<'_>,
    ) -> Result<Tagged, Error> {
        let ours = to.expected.digest;
        let mut compares = true;
        let mut attempt = 0;
        loop {
            let standing = self.standing(repository, tag).await?;
            let now = standing.as_ref().map(|standing| &standing.digest);
            // What is damaged is written again although the tag stands for it.
            if now == Some(&ours) && *was != Some(&ours) {
                return Ok(Tagged::Moved);
            }
            if now != *was {
                return Ok(Tagged::Conflict);
            }
            let etag = standing.and_then(|standing| standing.etag);
            let writing = Writing {
                what: At::Tag(tag).part(),
                reference: tag.as_str(),
                manifest: to,
                only_if: etag.as_deref().filter(|_| compares),
                is_repeatable: false,
            };
            let (wish, error) = match self.write(repository, &writing).await? {
                Written::Done => return Ok(Tagged::Moved),
                Written::Failing { wish, error } => (wish, error),
                Written::Refused { objection, error } => match objection {
                    // Somebody moved it; or the registry compares with something else than what it said.
                    Objection::Precondition if writing.only_if.is_some() => {
                        compares = false;
                        continue;
                    }
                    // Whoever sends requests again on the way makes a registry refuse what it has just done.
                    Objection::Immutable if self.digest(repository, tag).await? == Some(ours) => {
                        return Ok(Tagged::Moved);
                    }
                    _ => return Err(*error),
                },
            };
            attempt += 1;
            if attempt >= ATTEMPTS {
                return Err(*error);
            }
            let (host, name) = self.locate(repository).await?;
            let url = host.url(name, &format!("manifests/{tag}"))?;
            let pause = self.http.pause(attempt, wish, &url, error.in_short());
            if !pause.await {
                return Err(*error);
            }
        }
    }
}
