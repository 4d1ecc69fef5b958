//! A plain web server for the files of a directory, such as one that serves a site.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio_rustls::rustls::ServerConfig;

use super::server::answer::Answer;
use super::server::seen::Seen;
use super::server::{Book, Front, Running, Service};
use super::tls::Authority;

/// The files of a directory.
pub struct Files {
    root: PathBuf,
    book: Book,
}

impl Files {
    /// Serves a directory with TLS, with a certificate of the shared authority.
    pub fn serve(root: &Path) -> Running<Self> {
        Self::start(root, Some(Authority::shared().server().serve(None)))
    }

    /// Serves a directory without TLS.
    pub fn plain(root: &Path) -> Running<Self> {
        Self::start(root, None)
    }

    fn start(root: &Path, tls: Option<ServerConfig>) -> Running<Self> {
        Running::start(Front::At("127.0.0.1"), tls, |_| Self {
            root: root.to_owned(),
            book: Book::default(),
        })
    }
}

impl Service for Files {
    fn book(&mut self) -> &mut Book {
        &mut self.book
    }

    fn receive(&mut self, _: &Seen) -> Option<Answer> {
        None
    }

    fn answer(&mut self, seen: &Seen, _: Bytes) -> Answer {
        let path = self.root.join(seen.path.trim_start_matches('/'));
        let kind = match path.extension().and_then(|end| end.to_str()) {
            Some("json") => "application/json",
            _ => "application/octet-stream",
        };
        match fs::read(&path) {
            Ok(bytes) => Answer::new(200).header("content-type", kind).body(bytes),
            Err(_) => Answer::new(404),
        }
    }
}
