//! The desk of an origin: authentication and answers.

use bytes::Bytes;
use serde_json::json;

use super::call::Call;
use super::provider::{Provider, Release};
use super::{SECRET, Setup, basic};
use crate::support::release::sha256;
use crate::support::server::answer::Answer;
use crate::support::server::seen::{Door, Seen};
use crate::support::server::{Book, Doors, Service};

/// The state of an origin.
pub struct Desk {
    pub(super) setup: Setup,
    doors: Doors,
    book: Book,
}

impl Desk {
    pub(super) fn new(setup: Setup, doors: Doors) -> Self {
        Self {
            setup,
            doors,
            book: Book::default(),
        }
    }

    /// The provider of an address.
    pub(super) fn provider(&self, address: &str) -> Option<&Provider> {
        let mut providers = self.setup.providers.iter();
        providers.find(|provider| provider.address == address)
    }

    fn release(&self, call: &Call) -> Option<&Release> {
        self.provider(call.provider.as_ref()?)?
            .find(call.version.as_ref()?)
    }

    /// The URL of a file of a release. Signed URLs have a secret in them.
    fn file_url(&self, call: &Call, file: &str) -> Option<String> {
        let door = self.doors.of(self.setup.files_at);
        let (provider, version) = (call.provider.as_ref()?, call.version.as_ref()?);
        let query = match self.setup.signed_urls {
            true => format!("?X-Signature={SECRET}"),
            false => String::new(),
        };
        Some(format!("{door}/files/{provider}/{version}/{file}{query}"))
    }

    fn discover(&self) -> Answer {
        let path = "/v1/providers/";
        let service = match self.setup.service_at {
            Door::Front => path.to_owned(),
            door => format!("{}{path}", self.doors.of(door)),
        };
        Answer::json(
            200,
            &json!({ "modules.v1": "/v1/modules/", "providers.v1": service }),
        )
    }

    fn reply(&self, seen: &Seen, call: &Call) -> Option<Answer> {
        let found = match call.kind {
            "discovery" => self.discover(),
            "versions" => {
                let provider = self.provider(call.provider.as_ref()?)?;
                Answer::json(200, &provider.versions())
            }
            "download" => {
                let release = self.release(call)?;
                let url = |file: &str| self.file_url(call, file).unwrap();
                Answer::json(200, &release.download(call.platform.as_ref()?, url)?)
            }
            "document" => {
                let bytes = self.release(call)?.document()?;
                file(seen, "text/plain", bytes, &sha256(bytes))
            }
            "signature" => {
                let bytes = self.release(call)?.signature()?;
                file(seen, "application/pgp-signature", bytes, &sha256(bytes))
            }
            "package" => {
                let package = self.release(call)?.package(call.platform.as_ref()?)?;
                file(seen, "application/zip", &package.bytes, package.sha256())
            }
            "mirror-index" => {
                let provider = self.provider(call.provider.as_ref()?)?;
                let versions = provider.releases.iter();
                let versions = versions.map(|release| (release.listed.clone(), json!({})));
                let versions: serde_json::Map<_, _> = versions.collect();
                Answer::json(200, &json!({ "versions": versions }))
            }
            "mirror-version" => self.mirror_version(call)?,
            _ => return None,
        };
        Some(found)
    }

    fn mirror_version(&self, call: &Call) -> Option<Answer> {
        let (_, name) = call.provider.as_ref()?.split_once('/')?;
        let version = call.version.as_ref()?;
        let archives = self.release(call)?.packages().iter().map(|package| {
            let platform = &package.platform;
            let url = format!("terraform-provider-{name}_{version}_{platform}.zip");
            let schemes = &self.setup.mirror_schemes;
            let listed = |hash: &&String| schemes.iter().any(|scheme| hash.starts_with(scheme));
            let hashes: Vec<_> = package.hashes.iter().filter(listed).collect();
            (platform.clone(), json!({ "hashes": hashes, "url": url }))
        });
        let archives: serde_json::Map<_, _> = archives.collect();
        Some(Answer::json(200, &json!({ "archives": archives })))
    }

    /// The `Authorization` that a request needs.
    fn wanted(&self, kind: &str) -> Option<String> {
        let setup = &self.setup;
        let bearer = |token: &String| format!("Bearer {token}");
        match kind {
            "versions" | "download" => setup.token.as_ref().map(bearer),
            "mirror-index" | "mirror-version" => setup.mirror_token.as_ref().map(bearer),
            "package" => {
                let login = setup.login.as_ref();
                login.map(|(user, password)| basic(user, password))
            }
            _ => None,
        }
    }

    /// Whether a request sends a secret or the client's version where it must not.
    pub(super) fn leaks(&self, seen: &Seen) -> bool {
        let Some(call) = Call::of(&seen.path) else {
            return seen.authorization().is_some();
        };
        let metadata = matches!(call.kind, "versions" | "download");
        let mirror = matches!(call.kind, "mirror-index" | "mirror-version");
        let secret = match seen.authorization() {
            None => false,
            Some(_) if seen.door == Door::Plain => true,
            Some(secret) if call.kind == "package" => secret.starts_with("Bearer"),
            Some(_) if call.kind == "discovery" || mirror => seen.door != Door::Front,
            Some(_) => !(metadata && [Door::Front, self.setup.service_at].contains(&seen.door)),
        };
        secret || (seen.header("x-terraform-version").is_some() && !metadata && !mirror)
    }
}

impl Service for Desk {
    fn book(&mut self) -> &mut Book {
        &mut self.book
    }

    fn receive(&mut self, seen: &Seen) -> Option<Answer> {
        let call = Call::of(&seen.path)?;
        let file = matches!(call.kind, "document" | "signature" | "package");
        let mirrored = seen.path.starts_with("/mirror/");
        let signed = seen.parameter("X-Signature") == Some(SECRET);
        if file && self.setup.signed_urls && !mirrored && !signed {
            return Some(Answer::new(403).body("<Error><Code>AccessDenied</Code></Error>"));
        }
        let wanted = self.wanted(call.kind)?;
        let (status, text) = match seen.authorization() {
            Some(secret) if secret == wanted => return None,
            Some(_) => (403, "forbidden"),
            None => (401, "unauthorized"),
        };
        Some(Answer::json(status, &json!({ "errors": [text] })))
    }

    fn answer(&mut self, seen: &Seen, _body: Bytes) -> Answer {
        if !["GET", "HEAD"].contains(&seen.method.as_str()) {
            return Answer::new(405);
        }
        let answer = Call::of(&seen.path).and_then(|call| self.reply(seen, &call));
        answer.unwrap_or_else(|| Answer::json(404, &json!({ "errors": ["Not Found"] })))
    }

    fn redirect_to(&mut self, seen: &Seen, door: Door) -> Option<Answer> {
        let url = format!("{}{}?X-Signature={SECRET}", self.doors.of(door), seen.path);
        Some(Answer::new(302).header("location", &url))
    }
}

/// A file, or the requested range of it if the `If-Range` still matches.
fn file(seen: &Seen, content_type: &str, bytes: &Bytes, sha256: &str) -> Answer {
    let etag = format!("\"{sha256}\"");
    let answer = Answer::new(200)
        .header("content-type", content_type)
        .header("etag", &etag)
        .body(bytes.clone());
    match seen.header("if-range") {
        Some(begun) if begun != etag => answer,
        _ => answer.ranged(seen),
    }
}
