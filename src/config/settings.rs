//! The files of settings: `config.toml` of a user, and `tfoci.toml` of a working directory.
//!
//! ```toml
//! store = "ghcr.io/acme/providers/${hostname}/${namespace}/${type}"
//! trust = "trust.toml"
//! ca_file = "ca.pem"
//! default_host = "registry.opentofu.org"
//! mirror_file = "mirror.toml"
//! ```

use serde::Deserialize;

use super::mirror::Parsed;
use crate::address::Hostname;
use crate::toml;

/// What holds where no option says it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    store: Option<String>,
    trust: Option<String>,
    ca_file: Option<String>,
    default_host: Option<Parsed<Hostname>>,
    mirror_file: Option<String>,
}

impl Settings {
    /// Parses a file.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown field, or a host that is none.
    pub fn parse(text: &str) -> Result<Self, toml::Error> {
        toml::parse(text)
    }

    /// The settings in the order of the documentation, by name: `None` for those that the file does not have.
    pub fn values(&self) -> [(&'static str, Option<String>); 5] {
        let host = self.default_host.as_ref();
        [
            ("store", self.store.clone()),
            ("trust", self.trust.clone()),
            ("ca_file", self.ca_file.clone()),
            ("default_host", host.map(|Parsed(host)| host.to_string())),
            ("mirror_file", self.mirror_file.clone()),
        ]
    }
}
