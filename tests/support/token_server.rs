//! A token server for a registry that requires tokens: a known user gets a signed statement of their permissions.
//!
//! Tokens are JSON Web Tokens signed by ES256, with the signer's certificate beside the signature (`x5c`), as the
//! distribution project specifies them.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use rcgen::{Certificate, CertificateParams, KeyPair, SigningKey as _};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

use super::docker_registry::{PASSWORD, USER};
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
pub struct TokenServer {
    desk: Arc<Desk>,
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Desk {
    key: KeyPair,
    certificate: Certificate,
    state: Mutex<State>,
}

struct State {
    manner: Manner,
    asked: Vec<String>,
    last: String,
}

impl TokenServer {
    /// Starts the server on a free port of the loopback address, with TLS if there is an identity.
    pub fn start(identity: Option<&Identity>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let scheme = if identity.is_some() { "https" } else { "http" };
        // By name: clients do not follow a registry to another loopback address.
        let port = listener.local_addr().unwrap().port();
        let url = format!("{scheme}://localhost:{port}/token");
        let desk = Arc::new(Desk::new());
        let tls = identity.map(|identity| TlsAcceptor::from(Arc::new(identity.serve(None))));
        let (stop, stopped) = oneshot::channel::<()>();
        let served = Arc::clone(&desk);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async move {
                tokio::spawn(listen(listener, tls, served));
                let _dropped = stopped.await;
            });
        });
        Self {
            desk,
            url,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The URL of the token server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The certificate that belongs to the signatures, in PEM.
    pub fn certificate(&self) -> String {
        self.desk.certificate.pem()
    }

    /// Changes how tokens are issued from now on. Returns the previous manner.
    pub fn manner(&self, manner: Manner) -> Manner {
        std::mem::replace(&mut self.desk.state().manner, manner)
    }

    /// The requested scopes, each with the user.
    pub fn asked(&self) -> Vec<String> {
        self.desk.state().asked.clone()
    }

    /// The last token that was given.
    pub fn last(&self) -> String {
        self.desk.state().last.clone()
    }
}

impl Drop for TokenServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

async fn listen(listener: TcpListener, tls: Option<TlsAcceptor>, desk: Arc<Desk>) {
    listener.set_nonblocking(true).unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    while let Ok((stream, _)) = listener.accept().await {
        let (tls, desk) = (tls.clone(), Arc::clone(&desk));
        tokio::spawn(async move {
            match tls {
                None => speak(stream, desk).await,
                Some(tls) => {
                    if let Ok(stream) = tls.accept(stream).await {
                        speak(stream, desk).await;
                    }
                }
            }
        });
    }
}

async fn speak(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, desk: Arc<Desk>) {
    let service = service_fn(move |request| {
        let answer = desk.answer(&request);
        async move { Ok::<_, Infallible>(answer) }
    });
    let _gone = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

impl Desk {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::default().self_signed(&key).unwrap();
        let state = Mutex::new(State {
            manner: Manner::Plain,
            asked: Vec::new(),
            last: String::new(),
        });
        Self {
            key,
            certificate,
            state,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<Full<bytes::Bytes>> {
        let secret = request.headers().get("authorization");
        let known = STANDARD.encode(format!("{USER}:{PASSWORD}"));
        let who = match secret.map(|secret| secret.to_str().unwrap()) {
            None => "anonymous",
            Some(secret) if secret.strip_prefix("Basic ") == Some(known.as_str()) => USER,
            Some(_) => "a stranger",
        };
        let query = request.uri().query().unwrap_or_default();
        let query = url::form_urlencoded::parse(query.as_bytes());
        let scopes: Vec<String> = query
            .filter(|(key, _)| key == "scope")
            .map(|(_, scope)| scope.into_owned())
            .collect();
        let mut state = self.state();
        state.asked.push(format!("{who}: {}", scopes.join(" ")));
        let (status, body) = if who == USER {
            let token = self.token(state.manner, &scopes);
            state.last.clone_from(&token);
            (200, json!({ "token": token, "expires_in": LIFE }))
        } else {
            let error =
                json!({ "code": "UNAUTHORIZED", "message": "incorrect username or password" });
            (401, json!({ "errors": [error] }))
        };
        let answer = Response::builder().status(status);
        let answer = answer.header("content-type", "application/json");
        answer.body(Full::from(body.to_string())).unwrap()
    }

    fn token(&self, manner: Manner, scopes: &[String]) -> String {
        let granted = if manner == Manner::Narrow {
            1
        } else {
            scopes.len()
        };
        let access: Vec<Value> = scopes
            .iter()
            .take(granted)
            .map(|scope| access(manner, scope))
            .collect();
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
    let [0x30, _, numbers @ ..] = der else {
        panic!("no sequence");
    };
    let [0x02, length, rest @ ..] = numbers else {
        panic!("no number");
    };
    let (first, rest) = rest.split_at(usize::from(*length));
    let [0x02, _, second @ ..] = rest else {
        panic!("no second number");
    };
    let fixed = |number: &[u8]| {
        let digits: Vec<u8> = number
            .iter()
            .copied()
            .skip_while(|byte| *byte == 0)
            .collect();
        [vec![0; 32 - digits.len()], digits].concat()
    };
    [fixed(first), fixed(second)].concat()
}

/// The access that a token grants for one scope.
fn access(manner: Manner, scope: &str) -> Value {
    let mut parts = scope.splitn(3, ':');
    let [kind, name, actions] = [(); 3].map(|()| parts.next().unwrap());
    let name = match manner {
        Manner::Astray => "somewhere/else",
        _ => name,
    };
    let actions: Vec<&str> = actions.split(',').collect();
    json!({ "type": kind, "name": name, "actions": actions })
}
