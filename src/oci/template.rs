//! Repository templates.

use crate::address::ProviderAddr;
use crate::oci::Repository;

/// A repository template.
#[derive(Clone, Debug)]
pub struct RepositoryTemplate(String);

/// Text that is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a repository template", crate::error::printable(.text))]
pub struct Error {
    /// What was given.
    pub text: String,
}

impl RepositoryTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// None yet.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Ok(Self(text.to_owned()))
    }

    /// The repository of a provider.
    ///
    /// # Errors
    /// None yet.
    pub fn repository(&self, provider: &ProviderAddr) -> Result<Repository, Error> {
        let text = self.0.replace("{hostname}", provider.hostname().as_ascii());
        let text = text
            .replace("{namespace}", provider.namespace())
            .replace("{type}", provider.type_name());
        Ok(Repository::in_registry(&text))
    }
}
