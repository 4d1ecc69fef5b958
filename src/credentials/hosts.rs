//! What the user told clients about the hosts that providers come from
//! ([clients: host blocks](crate::clients#host-blocks), [registry tokens](crate::clients#registry-tokens)).
//!
//! A **token** is looked for in the clients' order: in the environment; in `credentials.tfrc.json`, which `login` of the
//! clients writes; in `credentials` blocks of the CLI configuration; with the token helper. A source that cannot be used hides no
//! other. **Services** of `host` blocks take the place of what a host says about itself. A **login** for packages
//! is in `.netrc`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use url::Url;

use super::discover::{self, LARGEST};
use super::error::Error;
use super::helper::PATIENCE;
use super::netrc::Netrc;
use super::token_helper::TokenHelper;
use super::{Consideration, Places, State, tokens};
use crate::address::Hostname;
use crate::config::Hidden;
use crate::config::cli::{CliConfig, HostToken};
use crate::disk;
use crate::error::{printable, printable_path};
use crate::http::Secret;

/// A token, and where it was found. It is never printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The token, as it is sent.
    pub secret: Secret,
    /// Where it was found.
    pub origin: String,
}

/// A name and password, and where they were found. They are never printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The name and password, as they are sent.
    pub secret: Secret,
    /// Where they were found.
    pub origin: String,
}

/// What is known about hosts. Cloning shares it, and what the helper told.
#[derive(Clone, Debug, Default)]
pub struct Hosts(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    /// In the order in which they count.
    tokens: Vec<Candidate>,
    helper: Option<TokenHelper>,
    services: HashMap<Hostname, BTreeMap<String, String>>,
    logins: Option<(PathBuf, Netrc)>,
    sources: Vec<Consideration>,
    /// Who we were to whom, as far as it was told.
    told: Mutex<HashSet<(String, Option<String>)>>,
}

#[derive(Debug)]
struct Candidate {
    host: Hostname,
    token: Hidden,
    origin: String,
}

impl Hosts {
    /// Reads every source.
    ///
    /// # Errors
    /// A CLI configuration that the user named cannot be used.
    pub fn discover(places: &Places) -> Result<Self, Error> {
        Self::with_patience(places, PATIENCE)
    }

    /// Reads every source; the helper will be given `patience`.
    pub(super) fn with_patience(places: &Places, patience: Duration) -> Result<Self, Error> {
        let mut known = Known::default();
        known.environment(places);
        for path in places.token_files() {
            known.token_file(path);
        }
        known.cli_config(places, patience)?;
        if let Some(path) = places.netrc() {
            known.netrc(path);
        }
        Ok(Self(Arc::new(known)))
    }

    /// The token for a host; `None` where there is none.
    ///
    /// # Errors
    /// There is none, and something that might have had one cannot be used.
    pub async fn token(&self, host: &Hostname) -> Result<Option<Token>, Error> {
        let known = &*self.0;
        let mut failure = None;
        let candidates = known.tokens.iter().filter(|one| one.host == *host);
        for Candidate { token, origin, .. } in candidates {
            match sendable(token, origin) {
                Ok(token) => return Ok(Some(token)),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if let Some(helper) = &known.helper {
            let told = helper.get(host).await;
            let told = told.map(|token| token.filter(|token| !token.reveal().is_empty()));
            let told = told.and_then(|token| {
                let token = token.map(|token| sendable(&token, helper.name()));
                token.transpose()
            });
            match told {
                Ok(Some(token)) => return Ok(Some(token)),
                Ok(None) => {}
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// The services of a host by a `host` block, if there is one: then the host itself is not asked.
    pub fn services(&self, host: &Hostname) -> Option<&BTreeMap<String, String>> {
        self.0.services.get(host)
    }

    /// The login for the host of a URL.
    pub fn login(&self, url: &Url) -> Option<Login> {
        let (path, netrc) = self.0.logins.as_ref()?;
        let machine = netrc.find(url)?;
        Some(Login {
            secret: Secret::basic(&machine.login, machine.password.reveal()),
            origin: format!(
                "{} (machine {})",
                printable_path(path),
                printable(&machine.host)
            ),
        })
    }

    /// Every source in its order, and what was found there.
    pub fn considered(&self) -> &[Consideration] {
        &self.0.sources
    }

    /// Whether nobody was told yet who we are to a host; from now on somebody was.
    pub(crate) fn is_news(&self, host: &str, origin: Option<&str>) -> bool {
        let told = self.0.told.lock();
        let mut told = told.unwrap_or_else(PoisonError::into_inner);
        told.insert((host.to_owned(), origin.map(str::to_owned)))
    }
}

/// The token, if a header can hold it.
fn sendable(token: &Hidden, origin: &str) -> Result<Token, Error> {
    let secret = Secret::bearer(token.reveal());
    if !secret.can_be_sent() {
        return Err(Error::Token {
            origin: origin.to_owned(),
        });
    }
    Ok(Token {
        secret,
        origin: origin.to_owned(),
    })
}

impl Known {
    fn environment(&mut self, places: &Places) {
        let given = places.environment.tokens.iter();
        for (name, token) in given.filter(|(_, token)| !token.reveal().is_empty()) {
            let origin = format!("{}{}", tokens::PREFIX, printable(name));
            let host = tokens::host_of(name);
            self.tokens.extend(host.map(|host| Candidate {
                host,
                token: token.clone(),
                origin,
            }));
        }
    }

    /// The file in which `login` of the clients keeps tokens: a CLI configuration that holds nothing else.
    fn token_file(&mut self, path: PathBuf) {
        let state = match discover::read_config(&path) {
            Ok(None) => State::Absent,
            Ok(Some(config)) => self.blocks(&path, config.tokens),
            Err(error) => State::Broken(error),
        };
        self.consider(path, state);
    }

    /// The first CLI configuration that is there.
    fn cli_config(&mut self, places: &Places, patience: Duration) -> Result<(), Error> {
        for path in places.cli_configs() {
            match discover::read_config(&path) {
                Ok(Some(config)) => {
                    self.configured(path, config, places, patience);
                    break;
                }
                Err(error) if places.cli_config.is_some() => return Err(error),
                Err(error) => {
                    self.consider(path, State::Broken(error));
                    break;
                }
                Ok(None) if places.cli_config.is_some() => {
                    // Read again for the system's own words.
                    disk::read_regular(&path, LARGEST)?;
                }
                Ok(None) => self.consider(path, State::Absent),
            }
        }
        Ok(())
    }

    fn configured(
        &mut self,
        path: PathBuf,
        config: CliConfig,
        places: &Places,
        patience: Duration,
    ) {
        let services = config.hosts.into_iter();
        self.services
            .extend(services.map(|block| (block.host, block.services)));
        self.helper = config
            .token_helper
            .map(|said| TokenHelper::new(said, &places.token_helpers(), patience));
        let state = self.blocks(&path, config.tokens);
        self.consider(path, state);
    }

    /// Takes the tokens of `credentials` blocks. Of several for one host the last counts for clients.
    fn blocks(&mut self, path: &Path, blocks: Vec<HostToken>) -> State {
        let entries = blocks.len();
        let mut passed_over = Vec::new();
        for HostToken { host: text, token } in blocks.into_iter().rev() {
            let origin = format!(
                "{} (credentials \"{}\")",
                printable_path(path),
                printable(&text)
            );
            match text.parse() {
                Ok(host) if !token.reveal().is_empty() => self.tokens.push(Candidate {
                    host,
                    token,
                    origin,
                }),
                _ => passed_over.push(text),
            }
        }
        State::Read {
            entries: entries - passed_over.len(),
            global: self.helper.is_some(),
            passed_over,
        }
    }

    fn netrc(&mut self, path: PathBuf) {
        let state = match read_netrc(&path) {
            Ok(None) => State::Absent,
            Ok(Some(netrc)) => {
                let entries = netrc.machines().len();
                self.logins = Some((path.clone(), netrc));
                State::Read {
                    entries,
                    global: false,
                    passed_over: Vec::new(),
                }
            }
            Err(error) => State::Broken(error),
        };
        self.consider(path, state);
    }

    fn consider(&mut self, path: PathBuf, state: State) {
        self.sources.push(Consideration {
            path,
            state,
            clients: true,
            used: false,
            failures: Vec::new(),
        });
    }
}

fn read_netrc(path: &Path) -> Result<Option<Netrc>, Error> {
    let Some(bytes) = disk::if_exists(disk::read_regular(path, LARGEST))? else {
        return Ok(None);
    };
    let netrc = Netrc::parse(&String::from_utf8_lossy(&bytes));
    let netrc = netrc.map_err(|source| Error::Netrc {
        path: path.to_owned(),
        source,
    })?;
    Ok(Some(netrc))
}
