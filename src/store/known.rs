//! Registries that are known by their host names, and what they deviate in from the OCI distribution specification.
//!
//! The table only holds deviations that would otherwise cost an upload or end in a confusing message. All other registries are
//! expected to follow the specification.

use crate::template::DOCKER_HUB;

/// The registry behind a host name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownRegistry {
    /// Docker Hub, which has the host name `docker.io` but is asked at another one.
    DockerHub,
    /// GitHub Container Registry.
    Ghcr,
    /// Amazon Elastic Container Registry, private.
    Ecr,
    /// Amazon Elastic Container Registry, public.
    EcrPublic,
    /// Azure Container Registry, in any of the Azure clouds.
    Acr,
    /// Google Artifact Registry, which also answers for its predecessor, Container Registry.
    ArtifactRegistry,
    /// Any other.
    Other,
}

/// How a registry supports uploads of blobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UploadSupport {
    /// In one request, and in chunks if that fails.
    Any,
    /// In one request only.
    Whole,
    /// In chunks of this many bytes, if the blob is longer.
    Chunks(usize),
}

/// The host of Docker Hub's API, which differs from the host in references
/// ([clients: repository addresses](crate::clients#repository-addresses)).
const HUB: &str = "registry-1.docker.io";

impl KnownRegistry {
    /// The registry behind a host name with or without a port.
    pub fn of(host: &str) -> Self {
        let host = host.to_ascii_lowercase();
        let host = host.split(':').next().unwrap_or_default();
        let ends = |ends: &[&str]| ends.iter().any(|end| host.ends_with(end));
        let is_ecr = [".dkr.ecr.", ".dkr.ecr-fips.", ".dkr-ecr.", ".dkr-ecr-fips."]
            .iter()
            .any(|middle| host.contains(middle));
        match host {
            _ if DOCKER_HUB.contains(&host) => Self::DockerHub,
            "ghcr.io" => Self::Ghcr,
            "public.ecr.aws" => Self::EcrPublic,
            "gcr.io" => Self::ArtifactRegistry,
            _ if is_ecr && ends(&[".amazonaws.com", ".amazonaws.com.cn", ".on.aws"]) => Self::Ecr,
            _ if ends(&[".azurecr.io", ".azurecr.cn", ".azurecr.us"]) => Self::Acr,
            _ if ends(&[".pkg.dev", ".gcr.io"]) => Self::ArtifactRegistry,
            _ => Self::Other,
        }
    }

    /// The host of the registry's API.
    pub(super) fn api_host(self, host: &str) -> &str {
        match self {
            Self::DockerHub => HUB,
            _ => host,
        }
    }

    pub(super) fn upload_support(self) -> UploadSupport {
        match self {
            // Of several PATCH requests, only the last one takes effect.
            Self::Ghcr
            // PATCH is answered with 405.
            | Self::ArtifactRegistry
            // The offsets in the answers to PATCH are unreliable.
            | Self::Ecr | Self::EcrPublic => UploadSupport::Whole,
            // A PUT is aborted near 20 MB. 4 MiB is the length of chunks of Azure's own clients.
            Self::Acr => UploadSupport::Chunks(4 << 20),
            Self::DockerHub | Self::Other => UploadSupport::Any,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_are_known_by_their_hosts() {
        for (host, known) in [
            ("docker.io", KnownRegistry::DockerHub),
            ("index.docker.io", KnownRegistry::DockerHub),
            ("registry-1.docker.io:443", KnownRegistry::DockerHub),
            ("GHCR.io", KnownRegistry::Ghcr),
            ("123.dkr.ecr.eu-west-1.amazonaws.com", KnownRegistry::Ecr),
            (
                "123.dkr.ecr.cn-north-1.amazonaws.com.cn",
                KnownRegistry::Ecr,
            ),
            (
                "123.dkr.ecr-fips.us-east-1.amazonaws.com",
                KnownRegistry::Ecr,
            ),
            ("123.dkr-ecr.eu-west-1.on.aws", KnownRegistry::Ecr),
            ("public.ecr.aws", KnownRegistry::EcrPublic),
            ("acme.azurecr.io", KnownRegistry::Acr),
            ("acme.azurecr.us", KnownRegistry::Acr),
            ("acme.azurecr.cn", KnownRegistry::Acr),
            ("europe-docker.pkg.dev", KnownRegistry::ArtifactRegistry),
            ("gcr.io", KnownRegistry::ArtifactRegistry),
            ("eu.gcr.io", KnownRegistry::ArtifactRegistry),
            ("registry.gitlab.com", KnownRegistry::Other),
            ("quay.io", KnownRegistry::Other),
            ("azurecr.io.example.com", KnownRegistry::Other),
            ("notgcr.io", KnownRegistry::Other),
            ("notghcr.io", KnownRegistry::Other),
            ("dkr.ecr.example.com", KnownRegistry::Other),
            ("gitlab.example.com", KnownRegistry::Other),
            ("127.0.0.1:5000", KnownRegistry::Other),
            ("[::1]:5000", KnownRegistry::Other),
        ] {
            assert_eq!(KnownRegistry::of(host), known, "{host}");
        }
    }

    #[test]
    fn only_docker_hub_has_its_api_on_another_host() {
        for host in ["docker.io", "index.docker.io", "registry-1.docker.io"] {
            assert_eq!(
                KnownRegistry::of(host).api_host(host),
                "registry-1.docker.io"
            );
        }
        let host = "ghcr.io:443";
        assert_eq!(KnownRegistry::of(host).api_host(host), host);
    }
}
