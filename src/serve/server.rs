//! The server: listens, accepts connections within its limits, and ends without cutting downloads.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use zeroize::Zeroizing;

use super::catalog::Catalog;
use super::connection::{self, HANDSHAKE};
use super::files::{self, Files};
use super::fill::{Fill, FillSettings};
use super::fresh::Ages;
use super::links::{self, Links};
use super::metrics::Metrics;
use super::notice::{Notice, Observer};
use super::page::Page;
use super::service::{Access, Rate, Service};
use super::tls::{self, Certificate};
use super::tokens::{self, Tokens};
use crate::address::Hostname;
use crate::disk;
use crate::error::Category;
use crate::examine::TrustOptions;
use crate::http::Http;
use crate::store::{Endpoint, Registry};

/// How long the server waits after the system refused a connection, for example because the process has too many files open.
const PAUSE: Duration = Duration::from_millis(100);
/// The requests that a client may send at once, in seconds of its rate.
const BURST: u32 = 4;

/// How a server works.
pub struct Settings {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The certificate; `None` for plain HTTP behind a proxy.
    pub tls: Option<TlsFiles>,
    /// The public URL, without a slash at its end.
    pub url: Option<String>,
    /// The host of the registry's providers; `None` for the host that the client asked.
    pub registry_host: Option<Hostname>,
    /// The only host whose providers the store has; `None` for any.
    pub only_host: Option<Hostname>,
    /// Who may ask; `None` for everybody.
    pub guard: Option<Guard>,
    /// Whether clients are sent to the place where the registry keeps a package, if it has one.
    pub redirects: bool,
    /// How long lists are used.
    pub ages: Ages,
    /// The most connections at once.
    pub connections: usize,
    /// The most requests of a client in a second; `None` for no limit.
    pub rate: Option<NonZeroU32>,
    /// How long downloads may go on when the server ends.
    pub grace: Duration,
    /// The verification of versions.
    pub trust: TrustOptions,
    /// What is mirrored when a client asks for it; `None` for nothing.
    pub fill: Option<FillSettings>,
}

/// The files of a certificate, in PEM.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// The chain of certificates.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// The files that decide who may ask.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The tokens.
    pub tokens: PathBuf,
    /// The keys of links; `None` for a key that only this process knows.
    pub signing_key: Option<PathBuf>,
    /// How long a link is valid.
    pub lifetime: Duration,
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    service: Arc<Service>,
    files: Vec<Files>,
    connections: Arc<Semaphore>,
    grace: Duration,
}

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error(transparent)]
    Disk(#[from] disk::Error),
    /// The certificate cannot be used.
    #[error("{} is no certificate for this server", crate::error::printable_path(.path))]
    Tls {
        /// The file of the certificate.
        path: PathBuf,
        /// The reason.
        source: tls::Error,
    },
    /// The tokens cannot be used.
    #[error("{} is not a file of tokens", crate::error::printable_path(.path))]
    Tokens {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: tokens::Error,
    },
    /// The keys of links cannot be used.
    #[error("{} is not a file of signing keys", crate::error::printable_path(.path))]
    Keys {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: links::KeyError,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl Error {
    /// What kind of problem it is.
    pub fn category(&self) -> Category {
        match self {
            Self::Disk(error) => error.category(),
            Self::Tls { .. } | Self::Tokens { .. } | Self::Keys { .. } => Category::Malformed,
            Self::Listen { .. } => Category::Local,
        }
    }
}

impl Server {
    /// Reads all files, and listens.
    ///
    /// # Errors
    /// A file cannot be used, or the address cannot be listened on.
    pub async fn start(
        settings: Settings,
        endpoint: Endpoint,
        registry: Registry,
        http: Http,
        observer: Arc<dyn Observer>,
        page: Arc<dyn Page>,
    ) -> Result<Self, Error> {
        let mut files = Vec::new();
        let tls = settings
            .tls
            .map(|paths| acceptor(&paths, &mut files))
            .transpose()?;
        let access = settings
            .guard
            .map(|guard| access(&guard, &mut files))
            .transpose()?;
        let metrics = Arc::new(Metrics::new(Some(http)));
        let fresh = settings.ages.fresh;
        let trust = settings.trust.clone();
        let fill = settings
            .fill
            .map(|fill| Arc::new(Fill::new(fill, trust, fresh)));
        let catalog = Catalog {
            fill,
            endpoint,
            registry,
            only_host: settings.only_host,
            trust: settings.trust,
            ages: settings.ages,
            observer: observer.clone(),
            metrics: metrics.clone(),
            known: Mutex::default(),
            all: Arc::default(),
        };
        let service = Service {
            catalog: Arc::new(catalog),
            access,
            url: settings.url,
            registry_host: settings.registry_host,
            passed: Arc::default(),
            metrics,
            observer,
            page,
            redirects: settings.redirects,
            is_draining: AtomicBool::new(false),
            rate: settings.rate.map(rate),
        };
        let address = settings.listen;
        let listener = TcpListener::bind(address).await;
        Ok(Self {
            listener: listener.map_err(|source| Error::Listen { address, source })?,
            tls,
            service: Arc::new(service),
            files,
            connections: Arc::new(Semaphore::new(settings.connections)),
            grace: settings.grace,
        })
    }

    /// The address that it listens on, with the port that the system chose if none was given.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` ends. Then idle connections end at once, and downloads within the grace. `reload` makes it read its files
    /// again.
    pub async fn run(self, stop: impl Future<Output = ()>, reload: Arc<Notify>) {
        let Self {
            listener,
            tls,
            service,
            files,
            connections,
            grace,
        } = self;
        let mut background = JoinSet::new();
        background.spawn(files::watch(files, reload, service.observer.clone()));
        let (drain, draining) = watch::channel(false);
        let mut open = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                Some(_ended) = open.join_next() => continue,
                accepted = accept(&listener, &connections) => accepted,
            };
            let Some((stream, client, permit)) = accepted else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let (service, tls, draining) = (service.clone(), tls.clone(), draining.clone());
            open.spawn(async move {
                service.metrics.connections.inc();
                serve(stream, client, tls, &service, draining).await;
                service.metrics.connections.dec();
                drop(permit);
            });
        }
        service.is_draining.store(true, Ordering::Relaxed);
        service.observer.notice(&Notice::Draining);
        drop(listener);
        let _told = drain.send(true);
        let ended = async { while open.join_next().await.is_some() {} };
        let _in_time = tokio::time::timeout(grace, ended).await;
    }
}

/// The next connection; `None` if the system refused it.
async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> Option<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    // Connections above the limit wait in the system's queue. The semaphore is never closed.
    let permit = connections.clone().acquire_owned().await.ok()?;
    let (stream, client) = listener.accept().await.ok()?;
    // Small answers must not wait for acknowledgements.
    let _without = stream.set_nodelay(true);
    Some((stream, client.ip(), permit))
}

async fn serve(
    stream: TcpStream,
    client: IpAddr,
    tls: Option<TlsAcceptor>,
    service: &Arc<Service>,
    draining: watch::Receiver<bool>,
) {
    let Some(tls) = tls else {
        return connection::serve(stream, client, service.clone(), draining).await;
    };
    let mut draining_now = draining.clone();
    let handshake = tokio::select! {
        handshake = tokio::time::timeout(HANDSHAKE, tls.accept(stream)) => handshake,
        _ = draining_now.changed() => return,
    };
    let reason = match handshake {
        Ok(Ok(stream)) => {
            return connection::serve(stream, client, service.clone(), draining).await;
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it took too long".to_owned(),
    };
    service.observer.notice(&Notice::Handshake {
        client,
        reason: &reason,
    });
}

fn rate(requests: NonZeroU32) -> Rate {
    let burst = requests.saturating_mul(NonZeroU32::MIN.saturating_add(BURST - 1));
    let quota = governor::Quota::per_second(requests).allow_burst(burst);
    governor::RateLimiter::hashmap(quota)
}

fn acceptor(paths: &TlsFiles, files: &mut Vec<Files>) -> Result<TlsAcceptor, Error> {
    let wrong = |source| Error::Tls {
        path: paths.certificate.clone(),
        source,
    };
    let contents = [files::read(&paths.certificate)?, files::read(&paths.key)?];
    let [chain, key] = &contents;
    let certificate = Certificate::new(chain, key).map_err(wrong)?;
    let config = certificate.config().map_err(wrong)?;
    let watched = vec![paths.certificate.clone(), paths.key.clone()];
    files.push(Files::new(watched, &contents, move |contents| {
        let [chain, key] = contents else {
            return Ok(());
        };
        certificate
            .replace(chain, key)
            .map_err(|error| error.to_string())
    }));
    Ok(TlsAcceptor::from(config))
}

fn access(guard: &Guard, files: &mut Vec<Files>) -> Result<Arc<Access>, Error> {
    let content = files::read(&guard.tokens)?;
    let tokens = tokens_of(&content).map_err(|source| Error::Tokens {
        path: guard.tokens.clone(),
        source,
    })?;
    let links = match &guard.signing_key {
        None => Links::of_this_process(guard.lifetime),
        Some(path) => keys_of(&files::read(path)?, guard.lifetime),
    };
    let shown = guard
        .signing_key
        .as_deref()
        .unwrap_or(Path::new("the system"));
    let links = links.map_err(|source| Error::Keys {
        path: shown.to_owned(),
        source,
    })?;
    let access = Arc::new(Access {
        tokens: ArcSwap::from_pointee(tokens),
        links: ArcSwap::from_pointee(links),
    });
    let shared = access.clone();
    files.push(Files::new(
        vec![guard.tokens.clone()],
        &[content],
        move |contents| {
            let Some(content) = contents.first() else {
                return Ok(());
            };
            let tokens = tokens_of(content).map_err(|error| error.to_string())?;
            shared.tokens.store(Arc::new(tokens));
            Ok(())
        },
    ));
    if let Some(path) = &guard.signing_key {
        let (shared, lifetime) = (access.clone(), guard.lifetime);
        let content = files::read(path)?;
        files.push(Files::new(
            vec![path.clone()],
            &[content],
            move |contents| {
                let Some(content) = contents.first() else {
                    return Ok(());
                };
                let links = keys_of(content, lifetime).map_err(|error| error.to_string())?;
                shared.links.store(Arc::new(links));
                Ok(())
            },
        ));
    }
    Ok(access)
}

fn tokens_of(content: &Zeroizing<Vec<u8>>) -> Result<Tokens, tokens::Error> {
    Tokens::parse(&String::from_utf8_lossy(content))
}

fn keys_of(content: &Zeroizing<Vec<u8>>, lifetime: Duration) -> Result<Links, links::KeyError> {
    Links::parse(&String::from_utf8_lossy(content), lifetime)
}
