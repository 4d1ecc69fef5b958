use reqwest::{Client, redirect};

use crate::registry_double::Said;
use crate::support::origin::Origin;
use crate::support::tls::Authority;

/// Unmodified clients install from the double and mirror it.
mod clients;

/// The protocols and their authentication.
mod protocols;

/// The double as a separate program.
mod serve;

/// Faults of the connection on demand.
mod wire;

const LINUX: &str = "linux_amd64";
const DARWIN: &str = "darwin_arm64";
const VERSIONS: &str = "/v1/providers/acme/demo/versions";
const DOWNLOAD: &str = "/v1/providers/acme/demo/1.0.0/download/linux/amd64";

/// A plain HTTP client that trusts the tests' authority: one request, one answer.
struct Raw {
    client: Client,
}

impl Raw {
    fn new() -> Self {
        let certificate = reqwest::Certificate::from_pem(Authority::shared().pem.as_bytes());
        let client = Client::builder().tls_certs_only([certificate.unwrap()]);
        let client = client.no_proxy().redirect(redirect::Policy::none());
        Self {
            client: client.build().unwrap(),
        }
    }

    async fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
    ) -> reqwest::Result<Said> {
        let mut request = self.client.request(method.parse().unwrap(), url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Said::of(request.send().await?).await
    }

    async fn get(&self, url: &str, headers: &[(&str, &str)]) -> Said {
        self.send("GET", url, headers).await.expect(url)
    }

    /// The answer of an origin at a path of its front door.
    async fn ask(&self, origin: &Origin, path: &str) -> Said {
        self.get(&origin.url(path), &[]).await
    }

    /// The package that an origin names for `acme/demo` 1.0.0 on Linux.
    async fn package(&self, origin: &Origin, headers: &[(&str, &str)]) -> Said {
        let download = self.ask(origin, DOWNLOAD).await.json();
        self.get(download["download_url"].as_str().unwrap(), headers)
            .await
    }
}
