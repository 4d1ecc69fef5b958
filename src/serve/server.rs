//! The server: listens, accepts connections within its limits, and ends without cutting downloads.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use url::Url;

use super::access::{acceptor, access};
use super::catalog::Catalog;
use super::client_quota::ClientQuota;
use super::connection::{self, HANDSHAKE};
use super::error::Error;
use super::fill::Fill;
use super::log_limit::LogLimit;
use super::metrics::Metrics;
use super::notice::{Notice, Observer};
use super::page::Page;
use super::rate_limit::RateLimit;
use super::service::{MOST_PACKAGES, Service};
use super::settings::ServerSettings;
use super::store_health::StoreHealth;
use super::watched_files::{self, WatchedFiles};
use crate::http::Http;
use crate::store::{Endpoint, Registry};

/// How long the server waits after the system refused a connection, for example because the process has too many files open.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    service: Arc<Service>,
    files: Vec<WatchedFiles>,
    connections: Arc<Semaphore>,
    /// How many of them are for one client; `None` behind a proxy.
    shares: Option<ClientQuota>,
    /// The clients that wanted more.
    logged: LogLimit,
    grace: Duration,
}

impl Server {
    /// Reads all files, and listens.
    ///
    /// # Errors
    /// A file cannot be used, or the address cannot be listened on.
    pub async fn start(
        settings: ServerSettings,
        endpoint: Endpoint,
        registry: Registry,
        http: Http,
        observer: Arc<dyn Observer>,
        page: Arc<dyn Page>,
    ) -> Result<Self, Error> {
        let mut files = Vec::new();
        let host = settings.url.as_deref().and_then(host);
        let tls = settings
            .tls
            .map(|paths| acceptor(&paths, host, &observer, &mut files))
            .transpose()?;
        let access = settings
            .access
            .map(|paths| access(&paths, &mut files))
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
            store_health: StoreHealth::default(),
            known: Mutex::default(),
            all: Arc::default(),
        };
        let base = settings
            .url
            .as_deref()
            .filter(|_| tls.is_some())
            .and_then(path);
        let service = Service {
            catalog: Arc::new(catalog),
            access,
            base: base.unwrap_or_default(),
            url: settings.url,
            registry_host: settings.registry_host,
            verified: Arc::default(),
            metrics,
            observer,
            page,
            redirects: settings.redirects,
            is_draining: AtomicBool::new(false),
            rate: settings.rate.map(RateLimit::new),
            packages: Arc::new(Semaphore::new(MOST_PACKAGES)),
            refusals_logged: LogLimit::default(),
            shares: tls.is_some().then(|| ClientQuota::half_of(MOST_PACKAGES)),
        };
        let address = settings.listen;
        let listener = TcpListener::bind(address).await;
        Ok(Self {
            listener: listener.map_err(|source| Error::Listen { address, source })?,
            // A proxy sends all clients from its address.
            shares: tls
                .is_some()
                .then(|| ClientQuota::half_of(settings.connections)),
            logged: LogLimit::default(),
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
            shares,
            logged,
            grace,
        } = self;
        let mut background = JoinSet::new();
        background.spawn(watched_files::watch(
            files,
            reload,
            service.observer.clone(),
        ));
        let catalog = service.catalog.clone();
        background.spawn(async move { catalog.ping().await });
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
            let left = shares.as_ref().map(|shares| shares.of(client));
            let Ok(share) = left.map(Semaphore::try_acquire_owned).transpose() else {
                service.metrics.limited_connections.inc();
                if logged.admits(client) {
                    let notice = Notice::TooManyConnections { client };
                    service.observer.notice(&notice);
                }
                continue;
            };
            let (service, tls, draining) = (service.clone(), tls.clone(), draining.clone());
            open.spawn(async move {
                service.metrics.connections.inc();
                serve(stream, client, tls, &service, draining).await;
                service.metrics.connections.dec();
                drop((permit, share));
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

/// The host of a URL, without its port.
fn host(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    // As certificates name an address of version 6.
    Some(host.trim_matches(['[', ']']).to_owned())
}

/// The path of a URL, without a slash at its end.
fn path(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    Some(url.path().trim_end_matches('/').to_owned())
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
