//! Requests to a registry by path.

/// A request, with the name of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// `/v2/`
    Ping,
    /// `/v2/NAME/tags/list`
    Tags(String),
    /// `/v2/NAME/manifests/REFERENCE`
    Manifest(String, String),
    /// `/v2/NAME/blobs/DIGEST`
    Blob(String, String),
    /// `/v2/NAME/blobs/uploads/`
    Uploads(String),
    /// `/v2/NAME/blobs/uploads/ID`
    Upload(String, String),
    /// `/v2/NAME/referrers/DIGEST`
    Referrers(String, String),
    /// `/v2/_catalog`
    Catalog,
    /// `/token`
    Token,
    /// `/storage/NAME/blobs/DIGEST`: where blobs are redirected to.
    Storage(String, String),
    /// Nothing that is known.
    Unknown,
}

impl Route {
    pub fn of(path: &str) -> Self {
        let two = |rest: &str, middle: &str| {
            let (name, last) = rest.rsplit_once(middle)?;
            Some((name.to_owned(), last.to_owned()))
        };
        if path == "/token" {
            return Self::Token;
        }
        if let Some(rest) = path.strip_prefix("/storage/") {
            return two(rest, "/blobs/").map_or(Self::Unknown, |(n, d)| Self::Storage(n, d));
        }
        let Some(rest) = path.strip_prefix("/v2/") else {
            return Self::Unknown;
        };
        if rest.is_empty() {
            return Self::Ping;
        }
        if rest == "_catalog" {
            return Self::Catalog;
        }
        if let Some(name) = rest.strip_suffix("/tags/list") {
            return Self::Tags(name.to_owned());
        }
        if let Some((name, id)) = two(rest, "/blobs/uploads/") {
            return if id.is_empty() {
                Self::Uploads(name)
            } else {
                Self::Upload(name, id)
            };
        }
        let blob = two(rest, "/blobs/").map(|(name, digest)| Self::Blob(name, digest));
        let manifest = || two(rest, "/manifests/").map(|(name, at)| Self::Manifest(name, at));
        let referrers = || two(rest, "/referrers/").map(|(name, at)| Self::Referrers(name, at));
        blob.or_else(manifest)
            .or_else(referrers)
            .unwrap_or(Self::Unknown)
    }

    /// The repository.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Ping | Self::Catalog | Self::Token | Self::Unknown => None,
            Self::Tags(name)
            | Self::Manifest(name, _)
            | Self::Blob(name, _)
            | Self::Uploads(name)
            | Self::Upload(name, _)
            | Self::Referrers(name, _)
            | Self::Storage(name, _) => Some(name),
        }
    }
}
