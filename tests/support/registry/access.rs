//! Authentication: the registry requires no credentials, a password, or a token that its token server issues for a password.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::answer::Answer;
use super::desk::Desk;
use super::quirks::Personality;
use super::route::Route;
use super::seen::Seen;

/// The password that is accepted.
pub const PASSWORD: &str = "correct horse: battery";
/// The identity token that is accepted.
pub const IDENTITY: &str = "identity-of-the-robot";

/// How a registry authenticates requests.
#[derive(Clone, Debug)]
pub enum Access {
    /// No credentials.
    Open,
    /// A name and [`PASSWORD`] with every request.
    Basic { user: &'static str },
    /// A token with every request.
    Bearer(Tokens),
}

/// How tokens are issued.
#[derive(Clone, Debug)]
pub struct Tokens {
    /// The user name for [`PASSWORD`].
    pub user: &'static str,
    pub service: &'static str,
    /// Whether the token server is another host.
    pub elsewhere: bool,
    /// The names of the answer's members with the token.
    pub fields: &'static [&'static str],
    /// The lifetime of a token in seconds; with `None` 60, which the answer does not state.
    pub expires_in: Option<u64>,
    /// For how many requests a token is valid.
    pub uses: Option<u32>,
    /// Whether anonymous reads are allowed.
    pub public: bool,
    /// Whether [`IDENTITY`] is accepted by POST.
    pub identity: bool,
    /// Whether tokens without a repository are issued.
    pub empty: bool,
}

/// The issued tokens.
#[derive(Debug, Default)]
pub struct Issued(BTreeMap<String, Token>);

#[derive(Debug)]
struct Token {
    /// `REPOSITORY:ACTION`
    grants: Vec<String>,
    until: Instant,
    uses: Option<u32>,
}

impl Access {
    /// How a kind of registry is usually set up.
    pub fn of(personality: Personality) -> Self {
        let tokens = Tokens {
            user: "robot",
            service: "registry",
            elsewhere: false,
            fields: &["token"],
            expires_in: Some(300),
            uses: None,
            public: false,
            identity: false,
            empty: true,
        };
        Self::Bearer(match personality {
            Personality::Plain
            | Personality::Distribution2
            | Personality::Distribution3
            | Personality::Zot => return Self::Open,
            Personality::Ecr => return Self::Basic { user: "AWS" },
            Personality::Ghcr => Tokens {
                service: "ghcr.io",
                expires_in: None,
                public: true,
                ..tokens
            },
            Personality::Acr => Tokens {
                fields: &["access_token"],
                expires_in: None,
                identity: true,
                ..tokens
            },
            Personality::Gar => Tokens {
                user: "oauth2accesstoken",
                ..tokens
            },
            Personality::Hub => Tokens {
                service: "registry.docker.io",
                elsewhere: true,
                fields: &["token", "access_token"],
                public: true,
                identity: true,
                ..tokens
            },
            Personality::Harbor => Tokens {
                service: "harbor-registry",
                empty: false,
                ..tokens
            },
            Personality::Gitlab => Tokens {
                service: "container_registry",
                elsewhere: true,
                ..tokens
            },
            Personality::Quay => tokens,
        })
    }

    /// The user name for [`PASSWORD`].
    pub fn user(&self) -> Option<&'static str> {
        match self {
            Self::Open => None,
            Self::Basic { user } => Some(user),
            Self::Bearer(tokens) => Some(tokens.user),
        }
    }
}

impl Desk {
    /// Admits a request, or returns the refusal.
    pub(super) fn admit(&mut self, seen: &Seen, route: &Route) -> Option<Answer> {
        let wanted = wanted(seen, route);
        match self.access.clone() {
            Access::Open => None,
            Access::Basic { user } => {
                let good = seen.authorization() == Some(&basic(user));
                (!good).then(|| self.challenge(&wanted, "UNAUTHORIZED"))
            }
            Access::Bearer(tokens) => {
                let Some(token) = bearer(seen).and_then(|token| self.issued.0.get_mut(token))
                else {
                    return Some(self.challenge(&wanted, "UNAUTHORIZED"));
                };
                let spent = token.uses == Some(0) || token.until <= Instant::now();
                token.uses = token.uses.map(|left| left.saturating_sub(1));
                let worthless = !tokens.empty && token.grants.is_empty();
                let granted = wanted.iter().all(|want| token.grants.contains(want));
                let levels = self.has_good_levels(route);
                (spent || worthless || !granted || !levels)
                    .then(|| self.challenge(&wanted, "DENIED"))
            }
        }
    }

    /// Revokes the token of a request.
    pub(super) fn withdraw_token(&mut self, seen: &Seen) {
        if let Some(token) = bearer(seen) {
            self.issued.0.remove(token);
        }
    }

    /// The challenge: 401 with the required scope.
    pub(super) fn challenge(&self, wanted: &[String], code: &str) -> Answer {
        let answer = Answer::error(401, code, "authentication required");
        let header = match &self.access {
            Access::Open | Access::Basic { .. } => {
                "Basic realm=\"the registry\",charset=\"UTF-8\"".to_owned()
            }
            Access::Bearer(tokens) => {
                let door = match tokens.elsewhere {
                    true => &self.doors.elsewhere,
                    false => &self.doors.front,
                };
                let service = tokens.service;
                let scope = match wanted {
                    [] => String::new(),
                    wanted => format!(",scope=\"{}\"", scopes(wanted)),
                };
                format!("Bearer realm=\"{door}/token\",service=\"{service}\"{scope}")
            }
        };
        answer.header("www-authenticate", &header)
    }

    /// The token server.
    pub(super) fn give_token(&mut self, seen: &Seen, body: &[u8]) -> Answer {
        let Access::Bearer(tokens) = self.access.clone() else {
            return Answer::new(404);
        };
        let form: Vec<(String, String)> = url::form_urlencoded::parse(body).into_owned().collect();
        let asked = if seen.method == "POST" {
            &form
        } else {
            &seen.query
        };
        let said = |name: &'static str| {
            let found = asked.iter().filter(move |(key, _)| key == name);
            found.map(|(_, value)| value.as_str())
        };
        let known = match (seen.method.as_str(), seen.authorization()) {
            ("GET", Some(secret)) if secret == basic(tokens.user) => true,
            ("GET", None) => false,
            ("POST", None) if tokens.identity => {
                let refresh = said("grant_type").eq(["refresh_token"]);
                if !refresh || !said("refresh_token").eq([IDENTITY]) {
                    return Answer::error(401, "UNAUTHORIZED", "the identity token is not good");
                }
                true
            }
            ("POST", _) => return Answer::new(405),
            _ => return Answer::error(401, "UNAUTHORIZED", "incorrect username or password"),
        };
        if !said("service").eq([tokens.service]) {
            return Answer::error(400, "UNSUPPORTED", "another service");
        }
        let mut grants = Vec::new();
        for scope in said("scope").flat_map(|text| text.split(' ')) {
            let scope = scope.strip_prefix("repository:").unwrap_or_default();
            let Some((name, actions)) = scope.rsplit_once(':') else {
                continue;
            };
            let may = |action: &&str| known || (tokens.public && *action == "pull");
            let actions = actions.split(',').filter(may);
            grants.extend(actions.map(|action| format!("{name}:{action}")));
        }
        if !known && grants.is_empty() && said("scope").next().is_some() {
            return Answer::error(401, "UNAUTHORIZED", "authentication required");
        }
        self.issue(&tokens, grants)
    }

    fn issue(&mut self, tokens: &Tokens, grants: Vec<String>) -> Answer {
        let text = format!("token-{}", self.number());
        let life = Duration::from_secs(tokens.expires_in.unwrap_or(60));
        let token = Token {
            grants,
            until: Instant::now() + life,
            uses: tokens.uses,
        };
        self.issued.0.insert(text.clone(), token);
        let mut answer = serde_json::Map::new();
        for field in tokens.fields {
            answer.insert((*field).to_owned(), text.clone().into());
        }
        if let Some(seconds) = tokens.expires_in {
            answer.insert("expires_in".to_owned(), seconds.into());
        }
        Answer::json(200, &answer.into())
    }
}

/// `Authorization` for a name and [`PASSWORD`].
pub fn basic(user: &str) -> String {
    let pair = STANDARD.encode(format!("{user}:{PASSWORD}"));
    format!("Basic {pair}")
}

/// The token of a request.
fn bearer(seen: &Seen) -> Option<&str> {
    seen.authorization()?.strip_prefix("Bearer ")
}

/// The scope that a request needs, as `REPOSITORY:ACTION`.
fn wanted(seen: &Seen, route: &Route) -> Vec<String> {
    let Some(name) = route.name() else {
        return Vec::new();
    };
    let mut wanted = vec![format!("{name}:pull")];
    if seen.method != "GET" && seen.method != "HEAD" {
        wanted.push(format!("{name}:push"));
    }
    // A mount reads the other repository.
    if let (Route::Uploads(_), Some(from)) = (route, seen.parameter("from")) {
        wanted.push(format!("{from}:pull"));
    }
    wanted
}

/// The same in the form of a challenge.
fn scopes(wanted: &[String]) -> String {
    let mut names: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, action) in wanted.iter().filter_map(|want| want.rsplit_once(':')) {
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, actions)) => actions.push(action),
            None => names.push((name, vec![action])),
        }
    }
    let names = names.into_iter();
    let texts = names.map(|(name, actions)| format!("repository:{name}:{}", actions.join(",")));
    texts.collect::<Vec<_>>().join(" ")
}
