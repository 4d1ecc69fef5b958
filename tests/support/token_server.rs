//! A token server for a registry that requires tokens: a known user gets a signed statement of their permissions.
//!
//! Tokens are JSON Web Tokens signed by ES256, with the signer's certificate beside the signature (`x5c`), as the
//! distribution project specifies them.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use rcgen::{Certificate, CertificateParams, KeyPair, SigningKey as _};
use serde_json::{Value, json};

use super::docker_registry::{PASSWORD, USER};
use super::server::answer::Answer;
use super::server::seen::Seen;
use super::server::{Book, Front, Running, Service};
use super::tls::Identity;

/// The name of the registry's service, and the name under which it knows this server.
pub const SERVICE: &str = "a registry";
pub const ISSUER: &str = "a token server";
/// For how many seconds after its expiry a registry still accepts a token.
const LEEWAY: u64 = 60;
/// The lifetime of tokens in seconds, real or stated.
const LIFE: u64 = 3600;

/// How tokens are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// For the requested scopes.
    Plain,
    /// Valid for a few seconds, although the server states an hour.
    Fleeting,
    /// For another repository than the requested one.
    Astray,
    /// For the first requested scope only.
    Narrow,
}

/// A token server that runs until it is dropped.
pub struct TokenServer(Running<Desk>);

struct Desk {
    book: Book,
    key: KeyPair,
    certificate: Certificate,
    manner: Manner,
    asked: Vec<String>,
    last: String,
}

impl TokenServer {
    /// Starts the server on a free port of the loopback address, with TLS if there is an identity.
    pub fn start(identity: Option<&Identity>) -> Self {
        let tls = identity.map(|identity| identity.serve(None));
        let key = KeyPair::generate().unwrap();
        // By name: clients do not follow a registry to another loopback address.
        Self(Running::start(Front::At("localhost"), tls, |_| Desk {
            book: Book::default(),
            certificate: CertificateParams::default().self_signed(&key).unwrap(),
            key,
            manner: Manner::Plain,
            asked: Vec::new(),
            last: String::new(),
        }))
    }

    /// The URL of the token server.
    pub fn url(&self) -> String {
        self.0.url("/token")
    }

    /// The certificate that belongs to the signatures, in PEM.
    pub fn certificate(&self) -> String {
        self.0.service().certificate.pem()
    }

    /// Changes how tokens are issued from now on. Returns the previous manner.
    pub fn manner(&self, manner: Manner) -> Manner {
        std::mem::replace(&mut self.0.service().manner, manner)
    }

    /// The requested scopes, each with the user.
    pub fn asked(&self) -> Vec<String> {
        self.0.service().asked.clone()
    }

    /// The last token that was given.
    pub fn last(&self) -> String {
        self.0.service().last.clone()
    }
}

impl Service for Desk {
    fn book(&mut self) -> &mut Book {
        &mut self.book
    }

    fn receive(&mut self, _: &Seen) -> Option<Answer> {
        None
    }

    fn answer(&mut self, seen: &Seen, _: Bytes) -> Answer {
        let known = format!("Basic {}", STANDARD.encode(format!("{USER}:{PASSWORD}")));
        let who = match seen.authorization() {
            None => "anonymous",
            Some(secret) if secret == known => USER,
            Some(_) => "a stranger",
        };
        let scopes = seen.query.iter().filter(|(key, _)| key == "scope");
        let scopes: Vec<&str> = scopes.map(|(_, scope)| scope.as_str()).collect();
        self.asked.push(format!("{who}: {}", scopes.join(" ")));
        if who != USER {
            return Answer::error(401, "UNAUTHORIZED", "incorrect username or password");
        }
        self.last = self.token(&scopes);
        Answer::json(200, &json!({ "token": self.last, "expires_in": LIFE }))
    }
}

impl Desk {
    fn token(&self, scopes: &[&str]) -> String {
        let manner = self.manner;
        let granted = match manner {
            Manner::Narrow => 1,
            _ => scopes.len(),
        };
        let access = scopes
            .iter()
            .take(granted)
            .map(|scope| access(manner, scope));
        let access: Vec<Value> = access.collect();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap().as_secs();
        let end = match manner {
            Manner::Fleeting => now - LEEWAY + 2,
            _ => now + LIFE,
        };
        let header = json!({
            "typ": "JWT",
            "alg": "ES256",
            "x5c": [STANDARD.encode(self.certificate.der())],
        });
        let claims = json!({
            "iss": ISSUER, "sub": USER, "aud": SERVICE, "exp": end, "nbf": now - LEEWAY, "iat": now, "jti": "1",
            "access": access,
        });
        let encode = |part: Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let signed = format!("{}.{}", encode(header), encode(claims));
        let signature = side_by_side(&self.key.sign(signed.as_bytes()).unwrap());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// The two numbers of a signature, which certificates wrap in DER and tokens do not (RFC 7518, section 3.4).
fn side_by_side(der: &[u8]) -> Vec<u8> {
    let [0x30, _, 0x02, length, rest @ ..] = der else {
        panic!("no sequence with a number");
    };
    let (first, rest) = rest.split_at(usize::from(*length));
    let [0x02, _, second @ ..] = rest else {
        panic!("no second number");
    };
    let fixed = |number: &[u8]| {
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        let digits = &number[zeros..];
        [&[0; 32][digits.len()..], digits].concat()
    };
    [fixed(first), fixed(second)].concat()
}

/// The access that a token grants for one scope.
fn access(manner: Manner, scope: &str) -> Value {
    let (kind, rest) = scope.split_once(':').unwrap();
    let (name, actions) = rest.split_once(':').unwrap();
    let name = match manner {
        Manner::Astray => "somewhere/else",
        _ => name,
    };
    let actions: Vec<&str> = actions.split(',').collect();
    json!({ "type": kind, "name": name, "actions": actions })
}
