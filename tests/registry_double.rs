use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, redirect};
use serde_json::Value;

use crate::support::layout::digest;
use crate::support::registry::{Access, Personality, Quirks, Registry, Setup};

/// Authentication and token servers.
mod access;

/// Faults on demand.
mod faults;

/// Comparisons with an independent client and an independent registry.
mod peers;

/// The quirks of each kind of registry.
mod quirks;

/// A relay in front of a registry that is far away.
mod relay;

/// The OCI distribution specification.
mod specification;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// A plain HTTP client: one request, one answer.
struct Raw {
    client: Client,
    base: String,
}

/// An answer.
pub struct Said {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Raw {
    fn at(base: impl Into<String>) -> Self {
        let client = Client::builder().no_proxy();
        let client = client.redirect(redirect::Policy::none());
        Self {
            client: client.build().unwrap(),
            base: base.into(),
        }
    }

    fn of(registry: &Registry) -> Self {
        Self::at(registry.url(""))
    }

    /// Sends `METHOD PATH`, or `METHOD URL`.
    async fn try_send(
        &self,
        line: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> reqwest::Result<Said> {
        let (method, target) = line.split_once(' ').unwrap();
        let base = reqwest::Url::parse(&self.base).unwrap();
        let url = base.join(target).unwrap();
        let method: Method = method.parse().unwrap();
        let body = body.into();
        let mut request = self.client.request(method, url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if !body.is_empty() {
            request = request.body(body);
        }
        Said::of(request.send().await?).await
    }

    async fn send(&self, line: &str, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Said {
        self.try_send(line, headers, body).await.expect(line)
    }

    async fn ask(&self, line: &str) -> Said {
        self.send(line, &[], Bytes::new()).await
    }

    /// The same with this secret.
    async fn with(&self, line: &str, secret: &str) -> Said {
        self.send(line, &[("authorization", secret)], "").await
    }

    /// Asserts the status and the code of the first error.
    async fn gets(&self, line: &str, error: &str) {
        assert_eq!(self.ask(line).await.error(), error, "{line}");
    }

    /// Begins an upload. Returns its URL.
    async fn begin(&self, name: &str) -> String {
        let said = self.ask(&format!("POST /v2/{name}/blobs/uploads/")).await;
        assert_eq!(said.status, 202, "{}", said.text());
        said.header("location").to_owned()
    }

    /// Uploads a blob by POST and PUT.
    async fn push_blob(&self, name: &str, bytes: &'static [u8]) -> Said {
        let location = self.begin(name).await;
        self.finish(&location, &digest(bytes), bytes).await
    }

    async fn finish(&self, location: &str, digest: &str, bytes: &'static [u8]) -> Said {
        let between = if location.contains('?') { '&' } else { '?' };
        let line = format!("PUT {location}{between}digest={digest}");
        self.send(&line, &[], bytes).await
    }

    async fn push_manifest(&self, name: &str, at: &str, media_type: &str, text: &str) -> Said {
        let line = format!("PUT /v2/{name}/manifests/{at}");
        let typed = [("content-type", media_type)];
        self.send(&line, &typed, text.to_owned()).await
    }
}

impl Said {
    pub async fn of(response: reqwest::Response) -> reqwest::Result<Self> {
        Ok(Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.bytes().await?,
        })
    }

    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The document of a success.
    #[track_caller]
    pub fn json(&self) -> Value {
        self.is(200);
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Asserts the status.
    #[track_caller]
    pub fn is(&self, status: u16) {
        assert_eq!(self.status, status, "{}", self.text());
    }

    /// The status, and the code of the first error.
    fn error(&self) -> String {
        let document: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let code = document["errors"][0]["code"].as_str().unwrap_or_default();
        format!("{} {code}", self.status)
    }
}

/// A registry with the quirks of a kind, that asks for no credentials.
fn open(personality: Personality) -> Setup {
    Setup::of(personality).access(Access::Open)
}

/// A manifest with one layer only.
fn manifest(layer: &[u8]) -> String {
    let (digest, size) = (digest(layer), layer.len());
    format!(
        r#"{{"schemaVersion":2,"mediaType":"{MANIFEST}","artifactType":"application/vnd.opentofu.provider-target","config":{{"mediaType":"application/vnd.oci.empty.v1+json","digest":"{digest}","size":{size}}},"layers":[{{"mediaType":"archive/zip","digest":"{digest}","size":{size}}}]}}"#
    )
}

/// An index of one manifest.
fn index(manifest: &str) -> String {
    let (digest, size) = (digest(manifest.as_bytes()), manifest.len());
    format!(
        r#"{{"schemaVersion":2,"mediaType":"{INDEX}","manifests":[{{"mediaType":"{MANIFEST}","digest":"{digest}","size":{size}}}]}}"#
    )
}

/// Pushes a blob, a manifest and its index by tag, as specified.
async fn push_index(raw: &Raw, name: &str, tag: &str) -> String {
    raw.push_blob(name, b"{}").await.is(201);
    let manifest = manifest(b"{}");
    let at = digest(manifest.as_bytes());
    let pushed = raw.push_manifest(name, &at, MANIFEST, &manifest);
    pushed.await.is(201);
    let index = index(&manifest);
    raw.push_manifest(name, tag, INDEX, &index).await.is(201);
    index
}

#[test]
fn every_personality_differs_from_every_other_one() {
    let mut seen = Vec::new();
    for kind in Personality::ALL {
        let text = format!("{:?} {:?}", Quirks::of(kind), Access::of(kind));
        assert!(!seen.contains(&text), "{kind:?}");
        seen.push(text);
    }
}
