//! Registries that are known by their hosts: what to expect of them before they have answered anything.
//!
//! The table only seeds defaults, where being wrong first costs an upload or a message that nobody understands. Every other
//! registry is treated by the OCI distribution specification, and shows what it takes.

use crate::error::Category;
use crate::oci::Repository;

/// A registry, as far as its host tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Docker Hub.
    DockerHub,
    /// GitHub's.
    Ghcr,
    /// Amazon's, private.
    Ecr,
    /// Amazon's, public.
    EcrPublic,
    /// Azure's, in any of its clouds.
    Acr,
    /// Google's Artifact Registry.
    ArtifactRegistry,
    /// The hosts of Google's earlier registry.
    Gcr,
    /// GitLab's own, not one that somebody runs.
    Gitlab,
    /// quay.io.
    Quay,
    /// Any other.
    Other,
}

/// How the bytes of a blob may go to a registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Uploads {
    /// In one piece; in chunks if that does not get through.
    Any,
    /// In one piece only.
    Whole,
    /// Whatever is longer than so many bytes goes in chunks of this length.
    Chunks(usize),
}

/// Docker Hub's API, which is not at the host that references name
/// ([clients: repository addresses](crate::clients#repository-addresses)).
const HUB: &str = "registry-1.docker.io";

impl Known {
    /// Looks at a host, with or without a port.
    pub fn of(host: &str) -> Self {
        let host = host.to_ascii_lowercase();
        let host = host.split(':').next().unwrap_or_default();
        let ends = |ends: &[&str]| ends.iter().any(|end| host.ends_with(end));
        let is_ecr = [".dkr.ecr.", ".dkr.ecr-fips.", ".dkr-ecr.", ".dkr-ecr-fips."]
            .iter()
            .any(|middle| host.contains(middle));
        match host {
            "docker.io" | "index.docker.io" | HUB => Self::DockerHub,
            "ghcr.io" => Self::Ghcr,
            "public.ecr.aws" => Self::EcrPublic,
            "gcr.io" => Self::Gcr,
            "registry.gitlab.com" => Self::Gitlab,
            "quay.io" => Self::Quay,
            _ if is_ecr && ends(&[".amazonaws.com", ".amazonaws.com.cn", ".on.aws"]) => Self::Ecr,
            _ if ends(&[".azurecr.io", ".azurecr.cn", ".azurecr.us"]) => Self::Acr,
            _ if ends(&[".pkg.dev"]) => Self::ArtifactRegistry,
            _ if ends(&[".gcr.io"]) => Self::Gcr,
            _ => Self::Other,
        }
    }

    /// Where the registry is spoken to.
    pub(super) fn api_host(self, host: &str) -> &str {
        match self {
            Self::DockerHub => HUB,
            _ => host,
        }
    }

    pub(super) fn uploads(self) -> Uploads {
        match self {
            // Of several PATCHes the last one wins.
            Self::Ghcr
            // They are answered with 405.
            | Self::ArtifactRegistry | Self::Gcr
            // What they say of how far they have come cannot be relied on.
            | Self::Ecr | Self::EcrPublic => Uploads::Whole,
            // A PUT is cut near 20 MB; this is the length of Azure's own clients.
            Self::Acr => Uploads::Chunks(4 << 20),
            Self::DockerHub | Self::Gitlab | Self::Quay | Self::Other => Uploads::Any,
        }
    }

    /// The shape of its repositories' names: the least levels, the most, and what they are called.
    fn shape(self) -> Option<(usize, Option<usize>, &'static str)> {
        Some(match self {
            Self::DockerHub => (2, Some(2), "NAMESPACE/NAME"),
            Self::Ghcr => (2, None, "OWNER/NAME"),
            Self::EcrPublic => (2, None, "ALIAS/NAME"),
            Self::ArtifactRegistry => (3, None, "PROJECT/REPOSITORY/NAME"),
            Self::Gcr => (2, None, "PROJECT/NAME"),
            Self::Gitlab => (2, None, "GROUP/PROJECT"),
            Self::Quay => (2, None, "NAMESPACE/NAME"),
            Self::Ecr | Self::Acr | Self::Other => return None,
        })
    }
}

/// Checks whether a registry can have a repository of this name at all.
///
/// # Errors
/// It is known to have none with so many levels.
pub fn check(repository: &Repository) -> Result<(), Levels> {
    let text = repository.as_str();
    let (host, name) = text.split_once('/').unwrap_or((text, ""));
    let registry = Known::of(host);
    let Some((least, most, shape)) = registry.shape() else {
        return Ok(());
    };
    let received = name.split('/').count();
    if received >= least && most.is_none_or(|most| received <= most) {
        return Ok(());
    }
    Err(Levels {
        registry,
        repository: text.to_owned(),
        expected: format!("{host}/{shape}"),
        is_exact: most == Some(least),
    })
}

/// A name with more or fewer levels than its registry takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the registry takes no name with so {} levels\n  expected {expected}{}\n  received {repository}", self.how(), if self.is_exact { "" } else { ", or deeper" })]
pub struct Levels {
    /// The registry.
    pub registry: Known,
    /// The repository that it cannot have.
    pub repository: String,
    /// What its repositories are called.
    pub expected: String,
    /// Whether more levels than those are too many.
    pub is_exact: bool,
}

impl Levels {
    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        Category::Unsupported
    }

    fn how(&self) -> &'static str {
        let count = |text: &str| text.matches('/').count();
        if count(&self.repository) > count(&self.expected) {
            "many"
        } else {
            "few"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_are_known_by_their_hosts() {
        for (host, known) in [
            ("docker.io", Known::DockerHub),
            ("index.docker.io", Known::DockerHub),
            ("registry-1.docker.io:443", Known::DockerHub),
            ("GHCR.io", Known::Ghcr),
            ("123.dkr.ecr.eu-west-1.amazonaws.com", Known::Ecr),
            ("123.dkr.ecr.cn-north-1.amazonaws.com.cn", Known::Ecr),
            ("123.dkr.ecr-fips.us-east-1.amazonaws.com", Known::Ecr),
            ("123.dkr-ecr.eu-west-1.on.aws", Known::Ecr),
            ("public.ecr.aws", Known::EcrPublic),
            ("acme.azurecr.io", Known::Acr),
            ("acme.azurecr.us", Known::Acr),
            ("acme.azurecr.cn", Known::Acr),
            ("europe-docker.pkg.dev", Known::ArtifactRegistry),
            ("gcr.io", Known::Gcr),
            ("eu.gcr.io", Known::Gcr),
            ("registry.gitlab.com", Known::Gitlab),
            ("quay.io", Known::Quay),
            ("azurecr.io.example.com", Known::Other),
            ("notgcr.io", Known::Other),
            ("notghcr.io", Known::Other),
            ("dkr.ecr.example.com", Known::Other),
            ("gitlab.example.com", Known::Other),
            ("127.0.0.1:5000", Known::Other),
            ("[::1]:5000", Known::Other),
        ] {
            assert_eq!(Known::of(host), known, "{host}");
        }
    }

    #[test]
    fn only_docker_hub_is_spoken_to_elsewhere() {
        for host in ["docker.io", "index.docker.io", "registry-1.docker.io"] {
            assert_eq!(Known::of(host).api_host(host), "registry-1.docker.io");
        }
        let host = "ghcr.io:443";
        assert_eq!(Known::of(host).api_host(host), host);
    }

    /// Names, and what is said of them.
    const REFUSED: [(&str, &str); 6] = [
        (
            "docker.io/acme/tofu/demo",
            "many levels | expected docker.io/NAMESPACE/NAME",
        ),
        (
            "docker.io/demo",
            "few levels | expected docker.io/NAMESPACE/NAME",
        ),
        (
            "ghcr.io/demo",
            "few levels | expected ghcr.io/OWNER/NAME, or deeper",
        ),
        (
            "us-docker.pkg.dev/p/q",
            "few levels | expected us-docker.pkg.dev/PROJECT/REPOSITORY/NAME, or deeper",
        ),
        (
            "gcr.io/p",
            "few levels | expected gcr.io/PROJECT/NAME, or deeper",
        ),
        (
            "quay.io/p",
            "few levels | expected quay.io/NAMESPACE/NAME, or deeper",
        ),
    ];

    #[test]
    fn names_with_other_levels_are_refused() {
        for (name, says) in REFUSED {
            let error = check(&Repository::in_registry(name).unwrap()).unwrap_err();
            let text = error.to_string().replace("\n ", " |");
            let wanted = format!("the registry takes no name with so {says} | received {name}");
            assert_eq!(text, wanted);
        }
        for name in [
            "docker.io/acme/demo",
            "ghcr.io/acme/a/b/c/d",
            "us-docker.pkg.dev/p/q/r/s",
            "acme.azurecr.io/demo",
            "123.dkr.ecr.eu-west-1.amazonaws.com/demo",
            "registry.example.net/a",
        ] {
            assert_eq!(check(&Repository::in_registry(name).unwrap()), Ok(()));
        }
    }
}
