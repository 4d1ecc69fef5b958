//! The desk of a registry: its state, and the dispatch of requests.

use bytes::Bytes;

use super::access::{Access, Issued};
use super::answer::Answer;
use super::content::Content;
use super::quirks::{Creation, Location, Quirks};
use super::route::Route;
use super::seen::{Door, Seen};
use crate::support::server::{Book, Doors, Service};

/// The state of a registry.
pub struct Desk {
    pub quirks: Quirks,
    pub access: Access,
    pub doors: Doors,
    pub content: Content,
    /// The repositories that exist beforehand, or their first levels.
    pub created: Vec<String>,
    pub(super) issued: Issued,
    book: Book,
}

impl Desk {
    pub fn new(quirks: Quirks, access: Access, doors: Doors) -> Self {
        Self {
            quirks,
            access,
            doors,
            content: Content::default(),
            created: Vec::new(),
            issued: Issued::default(),
            book: Book::default(),
        }
    }

    /// A number that was not used before.
    pub(super) fn number(&mut self) -> u64 {
        self.book.number()
    }

    /// Whether the name has as many levels as it must have.
    pub(super) fn has_good_levels(&self, route: &Route) -> bool {
        let levels = |name: &str| name.split('/').count();
        match (self.quirks.levels, route.name()) {
            (Some(wanted), Some(name)) => levels(name) == wanted,
            _ => true,
        }
    }

    /// Refuses a repository that cannot exist or cannot be created.
    fn refuse_name(&self, route: &Route) -> Option<Answer> {
        let name = route.name()?;
        let known = match self.quirks.creation {
            Creation::ByPush => true,
            Creation::Whole => self.created.iter().any(|created| created == name),
            Creation::Levels(count) => {
                let first: Vec<&str> = name.split('/').take(count).collect();
                self.created.contains(&first.join("/")) && name.split('/').count() > count
            }
        };
        if !name.split('/').all(is_component) {
            return Some(Answer::error(400, "NAME_INVALID", "invalid name"));
        }
        (!known).then(|| self.unknown_name(name))
    }

    pub(super) fn unknown_name(&self, name: &str) -> Answer {
        let message = format!("repository {name} not found");
        Answer::error(404, self.quirks.unknown, &message)
    }

    /// A URL of this registry in the form of its `Location` headers, for a request of the path `asked`.
    pub(super) fn location(&self, asked: &str, path: &str) -> String {
        match self.quirks.location {
            Location::Absolute => format!("{}{path}", self.doors.front),
            Location::Path => path.to_owned(),
            Location::Relative => {
                let up = asked.matches('/').count() - 1;
                format!("{}{}", "../".repeat(up), &path[1..])
            }
        }
    }
}

impl Service for Desk {
    fn book(&mut self) -> &mut Book {
        &mut self.book
    }

    fn receive(&mut self, seen: &Seen) -> Option<Answer> {
        let route = Route::of(&seen.path);
        match (seen.door, &route) {
            (_, Route::Token) => None,
            // As cloud storage, which refuses requests that authenticate in two ways.
            (_, Route::Storage(..)) => seen
                .authorization()
                .map(|_| Answer::new(400).body("only one way to authenticate is allowed")),
            (Door::Front, _) => self.admit(seen, &route),
            (Door::Elsewhere, Route::Upload(..)) if self.quirks.uploads_elsewhere => None,
            _ => Some(Answer::new(404)),
        }
    }

    fn answer(&mut self, seen: &Seen, body: Bytes) -> Answer {
        let route = Route::of(&seen.path);
        if let Some(refusal) = self.refuse_name(&route) {
            return refusal;
        }
        match (seen.method.as_str(), &route) {
            ("GET" | "POST", Route::Token) => self.give_token(seen, &body),
            ("GET" | "HEAD", Route::Ping) => Answer::json(200, &serde_json::json!({}))
                .header("docker-distribution-api-version", "registry/2.0"),
            ("GET", Route::Catalog) => self.list_repositories(seen),
            ("GET", Route::Tags(name)) => self.list_tags(seen, name),
            ("GET" | "HEAD", Route::Manifest(name, at)) => self.serve_manifest(seen, name, at),
            ("PUT", Route::Manifest(name, at)) => self.put_manifest(seen, name, at, body),
            ("DELETE", Route::Manifest(name, at)) if self.quirks.deletes => {
                self.delete_manifest(name, at)
            }
            ("GET" | "HEAD", Route::Blob(name, digest)) => self.serve_blob(seen, name, digest),
            ("GET", Route::Storage(name, digest)) => self.serve_stored_blob(seen, name, digest),
            ("POST", Route::Uploads(name)) => self.begin_upload(seen, name, body),
            ("PATCH", Route::Upload(name, id)) => self.patch(seen, name, id, &body),
            ("PUT", Route::Upload(name, id)) => self.finish(seen, name, id, &body),
            ("GET", Route::Upload(name, id)) => self.upload_status(seen, name, id),
            ("DELETE", Route::Upload(name, id)) => self.cancel_upload(name, id),
            ("GET", Route::Referrers(name, digest)) => self.list_referrers(name, digest),
            (_, Route::Unknown | Route::Storage(..)) => Answer::new(404),
            _ => Answer::error(405, "UNSUPPORTED", "the operation is unsupported"),
        }
    }

    fn limit(&self, seen: &Seen) -> u64 {
        let upload = seen.method == "PUT" && matches!(Route::of(&seen.path), Route::Upload(..));
        let limit = self.quirks.largest_put.filter(|_| upload);
        limit.unwrap_or(u64::MAX)
    }

    fn keep_partial(&mut self, seen: &Seen, bytes: &Bytes) {
        self.keep_upload(&Route::of(&seen.path), bytes);
    }

    fn revoke(&mut self, seen: &Seen) {
        self.withdraw_token(seen);
    }

    fn redirect_to(&mut self, seen: &Seen, door: Door) -> Option<Answer> {
        let (Route::Blob(name, digest) | Route::Storage(name, digest)) = Route::of(&seen.path)
        else {
            return None;
        };
        let door = self.doors.of(door).to_owned();
        Some(self.redirect(&door, &name, &digest))
    }
}

/// Whether a text is one level of a repository's name.
fn is_component(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.starts_with(plain)
        && text.ends_with(plain)
        && text.chars().all(|c| plain(c) || "._-".contains(c))
}
