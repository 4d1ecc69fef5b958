//! Listens, accepts connections within limits, and lets downloads complete at the end.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use url::Url;

use super::access::{AccessControl, acceptor};
use super::clients::Clients;
use super::connection::{self, HANDSHAKE};
use super::current_trust::CurrentTrust;
use super::documents;
use super::error::Error;
use super::fill::Fill;
use super::metrics::Metrics;
use super::notice::Observer;
use super::package::Packages;
use super::served_store::ServedStore;
use super::service::{PageRenderer, Service};
use super::settings::{Context, ServerSettings};
use super::watched_files::{self, WatchedFiles};

/// How long the server waits after the operating system refused a connection, for example because the process has too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// A server that has its address, and accepts connections once it runs.
pub struct Server {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    service: Arc<Service>,
    files: Vec<WatchedFiles>,
}

impl Server {
    /// Reads all files, and listens.
    ///
    /// # Errors
    /// A file cannot be used, or the address cannot be listened on.
    pub async fn start(
        mut settings: ServerSettings,
        observer: Arc<dyn Observer>,
        page: Arc<dyn PageRenderer>,
    ) -> Result<Self, Error> {
        let mut files = Vec::new();
        let url = settings.url.as_deref().and_then(|url| Url::parse(url).ok());
        // Certificates name IPv6 addresses without brackets.
        let host = url.as_ref().and_then(Url::host_str);
        let host = host.map(|host| host.trim_matches(['[', ']']).to_owned());
        let tls = settings.tls.as_ref();
        let tls = tls
            .map(|paths| acceptor(paths, host, &observer, &mut files))
            .transpose()?;
        let access = settings.access.as_ref();
        let access = access
            .map(|paths| AccessControl::open(paths, &observer, &mut files))
            .transpose()?;
        let fill = settings.fill.take();
        let origins = fill.as_ref().map(|fill| fill.http.clone());
        let http = [settings.http.clone()].into_iter().chain(origins);
        let trust_files = settings.trust_files.clone();
        let shared = Arc::new(Context {
            trust: CurrentTrust::new(settings.trust.clone()),
            clients: Clients::new(settings.connections, settings.rate, tls.is_none()),
            metrics: Metrics::new(http.collect()),
            observer,
            settings,
        });
        let fill = fill.map(|fill| Arc::new(Fill::new(fill, shared.clone())));
        let store = Arc::new(ServedStore::new(shared.clone(), fill));
        let of_policy = store.clone();
        files.extend(trust_files.watched(move |policy| of_policy.set_policy(policy))?);
        // A proxy removes the path of the public URL.
        let base = url.as_ref().filter(|_| tls.is_some());
        let base = base.map(|url| url.path().trim_end_matches('/').to_owned());
        let url = shared.settings.url.as_deref().unwrap_or_default();
        let service = Service {
            discovery: documents::discovery(url),
            store,
            access,
            base: base.unwrap_or_default(),
            packages: Packages::new(shared.clone()),
            page,
            is_draining: AtomicBool::new(false),
            shared,
        };
        let address = service.shared.settings.listen;
        let listener = TcpListener::bind(address).await;
        Ok(Self {
            listener: listener.map_err(|source| Error::Listen { address, source })?,
            tls,
            service: Arc::new(service),
            files,
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
        } = self;
        let mut background = JoinSet::new();
        let observer = service.shared.observer.clone();
        background.spawn(watched_files::watch(files, reload, observer));
        let store = service.store.clone();
        background.spawn(async move { store.ping().await });
        let (drain, draining) = watch::channel(false);
        let mut open = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                Some(_ended) = open.join_next() => continue,
                accepted = accept(&listener, &service.shared.clients) => accepted,
            };
            let Some((stream, client, permit)) = accepted else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let known = service.shared.clients.at(client).await;
            let Some(share) = known.connection() else {
                service.shared.metrics.limited_connections.inc();
                if known.may_log() {
                    let text = format!(
                        "a connection of {client}, which has half of --max-connections; further ones are not logged for a minute"
                    );
                    service.shared.warn("too-many-connections", "Closed", text);
                }
                continue;
            };
            let (service, tls, draining) = (service.clone(), tls.clone(), draining.clone());
            open.spawn(async move {
                service.shared.metrics.connections.inc();
                serve(stream, client, tls, &service, draining).await;
                service.shared.metrics.connections.dec();
                drop((permit, share));
            });
        }
        service.is_draining.store(true, Ordering::Relaxed);
        let text = "new connections; downloads may complete".to_owned();
        service.shared.tell("draining", "Refusing", text);
        drop(listener);
        let _sent = drain.send(true);
        let ended = async { while open.join_next().await.is_some() {} };
        let _in_time = tokio::time::timeout(service.shared.settings.grace, ended).await;
        if let Some(fill) = &service.store.fill {
            fill.end().await;
        }
    }
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
    service.shared.tell("handshake-failed", "Handshake", text);
}
