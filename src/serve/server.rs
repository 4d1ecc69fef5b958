//! Listens, accepts connections within limits, and lets downloads complete at the end.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use url::Url;

use super::access::{AccessControl, acceptor};
use super::answer::Document;
use super::cached::{Cached, LONGEST_REFRESH};
use super::clients::Clients;
use super::connection::{self, HANDSHAKE};
use super::current_trust::CurrentTrust;
use super::documents;
use super::error::Error;
use super::fill::Fill;
use super::metrics::Metrics;
use super::notice::{Notice, Observer};
use super::package::Packages;
use super::page::PageRenderer;
use super::served_store::{ServedStore, no_lists};
use super::service::Service;
use super::settings::{ServerSettings, ServerStore};
use super::store_health::StoreHealth;
use super::watched_files::{self, WatchedFiles};

/// The most versions that are read concurrently, the same as requests for documents at one registry.
const MOST_READS: usize = 16;
/// How long the server waits after the operating system refused a connection, for example because the process has too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that has its address, and accepts connections once it runs.
pub struct Server {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    service: Arc<Service>,
    files: Vec<WatchedFiles>,
    grace: Duration,
}

impl Server {
    /// Reads all files, and listens.
    ///
    /// # Errors
    /// A file cannot be used, or the address cannot be listened on.
    pub async fn start(
        settings: ServerSettings,
        store: ServerStore,
        observer: Arc<dyn Observer>,
        page: Arc<dyn PageRenderer>,
    ) -> Result<Self, Error> {
        let mut files = Vec::new();
        let host = settings.url.as_deref().and_then(host);
        let tls = settings.tls.as_ref();
        let tls = tls
            .map(|paths| acceptor(paths, host, &observer, &mut files))
            .transpose()?;
        let access = settings.access.as_ref();
        let access = access
            .map(|paths| AccessControl::open(paths, &observer, &mut files))
            .transpose()?;
        let grace = settings.grace;
        let address = settings.listen;
        let trust_files = settings.trust_files.clone();
        let service = service(settings, access, store, observer, page);
        let store = service.store.clone();
        files.extend(trust_files.watched(move |policy| store.set_policy(policy))?);
        let listener = TcpListener::bind(address).await;
        Ok(Self {
            listener: listener.map_err(|source| Error::Listen { address, source })?,
            tls,
            service: Arc::new(service),
            files,
            grace,
        })
    }

    /// The address that the server listens on, with the port that the operating system chose for port 0.
    ///
    /// # Errors
    /// The operating system reported an error.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` completes. Idle connections are then closed at once, and downloads have the grace to complete. A notification of
    /// `reload` makes the server read its files again.
    pub async fn run(self, stop: impl Future<Output = ()>, reload: Arc<Notify>) {
        let Self {
            listener,
            tls,
            service,
            files,
            grace,
        } = self;
        let mut background = JoinSet::new();
        background.spawn(watched_files::watch(
            files,
            reload,
            service.observer.clone(),
        ));
        let store = service.store.clone();
        background.spawn(async move { store.ping().await });
        let (drain, draining) = watch::channel(false);
        let mut open = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                Some(_ended) = open.join_next() => continue,
                accepted = accept(&listener, &service.clients) => accepted,
            };
            let Some((stream, client, permit)) = accepted else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let known = service.clients.at(client).await;
            let Some(share) = known.connection() else {
                service.metrics.limited_connections.inc();
                if known.may_log() {
                    service.observer.notice(Notice::warning(
                        "too-many-connections",
                        "Closed",
                        format!("a connection of {client}, which has half of --max-connections; further ones are not logged for a minute"),
                    ));
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
        let text = "new connections; downloads may complete".to_owned();
        let notice = Notice::new("draining", "Refusing", text);
        service.observer.notice(notice);
        drop(listener);
        let _sent = drain.send(true);
        let ended = async { while open.join_next().await.is_some() {} };
        let _in_time = tokio::time::timeout(grace, ended).await;
        if let Some(fill) = &service.store.fill {
            fill.end().await;
        }
    }
}

/// The state of a server that all requests share.
fn service(
    settings: ServerSettings,
    access: Option<Arc<AccessControl>>,
    store: ServerStore,
    observer: Arc<dyn Observer>,
    page: Arc<dyn PageRenderer>,
) -> Service {
    let has_tls = settings.tls.is_some();
    let origins = settings.fill.as_ref().map(|fill| fill.http.clone());
    let http = [store.http].into_iter().chain(origins);
    let metrics = Arc::new(Metrics::new(http.collect()));
    let trust = Arc::new(CurrentTrust::new(settings.trust));
    let (ages, filling) = (settings.ages, observer.clone());
    let fill = settings.fill;
    let fill = fill.map(|fill| Fill::new(fill, trust.clone(), ages, filling, metrics.clone()));
    let clients = Arc::new(Clients::new(settings.connections, settings.rate, !has_tls));
    let served_store = ServedStore {
        fill: fill.map(Arc::new),
        endpoint: store.endpoint,
        registry: store.registry,
        only_host: settings.only_host,
        trust,
        ages: settings.ages,
        observer: observer.clone(),
        metrics: metrics.clone(),
        store_health: StoreHealth::default(),
        lists: no_lists(),
        clients: clients.clone(),
        reads: Semaphore::new(MOST_READS),
        listed_providers: Cached::new(1, LONGEST_REFRESH, |(), _| 0),
    };
    let base = settings.url.as_deref().filter(|_| has_tls).and_then(path);
    Service {
        store: Arc::new(served_store),
        access,
        base: base.unwrap_or_default(),
        discovery: Document::new(documents::discovery(
            settings.url.as_deref().unwrap_or_default(),
        )),
        clients,
        url: settings.url,
        provider_host: settings.provider_host,
        packages: Packages::new(observer.clone(), metrics.clone()),
        metrics,
        observer,
        page,
        redirects: settings.redirects,
        is_draining: AtomicBool::new(false),
        has_proxy: !has_tls,
    }
}

/// The host of a URL, without its port.
fn host(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    // Certificates name IPv6 addresses without brackets.
    Some(host.trim_matches(['[', ']']).to_owned())
}

/// The path of a URL, without a slash at its end.
fn path(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    Some(url.path().trim_end_matches('/').to_owned())
}

/// The next connection; `None` if the operating system refused it.
async fn accept(
    listener: &TcpListener,
    clients: &Clients,
) -> Option<(TcpStream, IpAddr, OwnedSemaphorePermit)> {
    // Connections above the limit wait in the queue of the operating system. The semaphore is never closed.
    let permit = clients.connection().await.ok()?;
    let (stream, client) = listener.accept().await.ok()?;
    // Small answers must not wait for acknowledgements of earlier ones.
    let _set = stream.set_nodelay(true);
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
    let text = format!("{client}: {reason}");
    let notice = Notice::new("handshake-failed", "Handshake", text);
    service.observer.notice(notice);
}
