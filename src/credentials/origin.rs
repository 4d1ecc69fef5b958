//! Credentials for origins: tokens for provider registries and network mirrors, usernames and passwords for hosts of packages, and the
//! services of `host` blocks.
//!
//! Tokens are searched in the [clients' order](crate::clients#host-tokens): environment variables; `credentials.tfrc.json`, which the
//! clients' `login` writes; `credentials` blocks of the CLI configuration; the token helper.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use url::Url;
use zeroize::Zeroizing;

use super::locations::{CliConfigFile, LARGEST, Locations, read_for_credentials};
use super::netrc::Netrc;
use super::token_helper::TokenHelper;
use super::{Credential, CredentialKind, Error, FoundIn, Readers, SourceReport, tokens};
use crate::address::Hostname;
use crate::config::cli::{CliConfig, HostToken};
use crate::disk;
use crate::secret::Secret;

/// All tokens, `.netrc` entries and services, by host.
#[derive(Debug, Default)]
pub(super) struct OriginCredentials {
    /// Tokens in order of precedence.
    tokens: Vec<(Hostname, Credential)>,
    helper: Option<TokenHelper>,
    services: HashMap<Hostname, BTreeMap<String, String>>,
    netrc: Option<(PathBuf, Netrc)>,
    unread: Vec<SourceReport>,
}

impl OriginCredentials {
    /// Reads all sources.
    pub(super) fn read(locations: &Locations, config: &CliConfigFile) -> Self {
        let mut all = Self::default();
        all.add_environment(locations);
        for path in locations.token_files() {
            all.read_token_file(path);
        }
        all.unread.extend(config.unread.iter().cloned());
        if let Some((path, config)) = &config.found {
            all.add_cli_config(path, config, locations);
        }
        if let Some(path) = locations.netrc() {
            match parse_netrc(&path) {
                Ok(netrc) => all.netrc = Some((path, netrc)),
                Err(error) => all.add_unread(path, error),
            }
        }
        all
    }

    /// The token for a host. See [`super::Credentials::for_origin`].
    pub(super) async fn token(&self, host: &Hostname) -> Result<Option<Credential>, Error> {
        let mut failure = None;
        let own = self.tokens.iter().filter(|(of, _)| of == host);
        for (_, credential) in own {
            match sendable(credential.clone()) {
                Err(error) => failure = failure.or(Some(error)),
                found => return found.map(Some),
            }
        }
        let Some(helper) = &self.helper else {
            return failure.map_or(Ok(None), Err);
        };
        let answer = helper.get(host).await.and_then(|token| {
            let token = token.filter(|token| !token.is_empty());
            let found_in = FoundIn::program(helper.name(), None);
            let found = token.map(|token| of_token(token, found_in));
            found.map(sendable).transpose()
        });
        match (answer, failure) {
            (Ok(None), Some(failure)) | (Err(_), Some(failure)) => Err(failure),
            (answer, _) => answer,
        }
    }

    /// The services in the `host` block of this host; `None` if there is none.
    pub(super) fn services(&self, host: &Hostname) -> Option<&BTreeMap<String, String>> {
        self.services.get(host)
    }

    /// The username and password for the host of a URL.
    pub(super) fn login(&self, url: &Url) -> Option<Credential> {
        let (path, netrc) = self.netrc.as_ref()?;
        let entry = netrc.find(url)?;
        Some(Credential {
            kind: CredentialKind::Password {
                username: entry.login.clone(),
                password: entry.password.clone(),
            },
            found_in: FoundIn::entry(path, &format!("machine {}", entry.host)),
        })
    }

    /// The sources that cannot be used, in order.
    pub(super) fn unread(&self) -> &[SourceReport] {
        &self.unread
    }

    fn add_environment(&mut self, locations: &Locations) {
        let given = locations.environment.tokens.iter();
        for (name, token) in given.filter(|(_, token)| !token.is_empty()) {
            let host = tokens::host_of(name);
            let found_in = FoundIn::named(&format!("{}{name}", tokens::PREFIX));
            self.tokens
                .extend(host.map(|host| (host, of_token(token.clone(), found_in))));
        }
    }

    /// Reads a token file, which the clients' `login` writes: a CLI configuration that consists of `credentials` blocks.
    fn read_token_file(&mut self, path: PathBuf) {
        match read_for_credentials(&path) {
            Ok(config) => self.add_tokens(&path, config.tokens),
            Err(error) => self.add_unread(path, error),
        }
    }

    fn add_cli_config(&mut self, path: &Path, config: &CliConfig, locations: &Locations) {
        let services = config.hosts.iter().cloned();
        self.services
            .extend(services.map(|block| (block.host, block.services)));
        let helper = config.token_helper.clone();
        self.helper = helper.map(|block| TokenHelper::new(block, &locations.helper_directories()));
        self.add_tokens(path, config.tokens.clone());
    }

    /// Adds the tokens of `credentials` blocks. Like clients, this uses the last of several blocks for a host.
    fn add_tokens(&mut self, path: &Path, blocks: Vec<HostToken>) {
        for HostToken { host: text, token } in blocks.into_iter().rev() {
            let found_in = FoundIn::entry(path, &format!("credentials \"{text}\""));
            let host = text.parse().ok().filter(|_| !token.is_empty());
            self.tokens
                .extend(host.map(|host| (host, of_token(token, found_in))));
        }
    }

    fn add_unread(&mut self, path: PathBuf, error: Error) {
        let report = SourceReport::unread(path, error, Readers::Clients);
        self.unread.extend(report);
    }
}

fn of_token(token: Secret, found_in: FoundIn) -> Credential {
    let kind = CredentialKind::AccessToken(token);
    Credential { kind, found_in }
}

/// The token, if an HTTP header can contain it.
fn sendable(token: Credential) -> Result<Credential, Error> {
    match token.bearer().is_some_and(|header| header.can_be_sent()) {
        true => Ok(token),
        false => Err(Error::UnsendableToken {
            found_in: token.found_in,
        }),
    }
}

fn parse_netrc(path: &Path) -> Result<Netrc, Error> {
    let bytes = Zeroizing::new(disk::read_regular(path, LARGEST)?);
    Netrc::parse(&bytes).map_err(|source| Error::Netrc {
        path: path.to_owned(),
        source,
    })
}
