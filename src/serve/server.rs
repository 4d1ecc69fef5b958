//! Listens, accepts connections within limits, and lets downloads complete at the end.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, watch};
use tokio::task::JoinSet;

use super::access::{self, AccessControl, Tls};
use super::answer::Document;
use super::clients::Clients;
use super::connection::{self, HANDSHAKE};
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
    tls: Option<Tls>,
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
        let tls = settings.tls.as_ref();
        let tls = tls
            .map(|paths| access::tls(paths, &mut files))
            .transpose()?;
        let access = settings.access.as_ref();
        let access = access
            .map(|paths| AccessControl::open(paths, &mut files))
            .transpose()?;
        let fill = settings.fill.take();
        let trust_files = settings.trust_files.clone();
        let shared = Arc::new(Context {
            trust: watch::Sender::new(Arc::new(settings.trust.clone())),
            clients: Clients::new(settings.connections, settings.rate, tls.is_none()),
            metrics: Metrics::new(),
            observer,
            settings,
        });
        let fill = fill.map(|fill| Arc::new(Fill::new(fill, shared.clone())));
        let store = Arc::new(ServedStore::new(shared.clone(), fill));
        let of_policy = store.clone();
        let watched =
            WatchedFiles::of_policy(trust_files, move |policy| of_policy.set_policy(policy));
        files.extend(watched?);
        let url = shared.settings.url.as_deref().unwrap_or_default();
        let registry = format!("{url}/v1/providers/");
        let service = Service {
            discovery: Document::json(&json!({"providers.v1": registry})),
            store,
            access,
            packages: Packages::new(shared.clone()),
            page,
            draining: watch::Sender::new(false),
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
        let shared = service.shared.clone();
        let Context {
            clients, metrics, ..
        } = &*shared;
        let mut background = JoinSet::new();
        background.spawn(watched_files::watch(files, reload, shared.observer.clone()));
        let store = service.store.clone();
        background.spawn(async move { store.ping().await });
        let mut open = JoinSet::new();
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                Some(_ended) = open.join_next() => continue,
                accepted = accept(&listener, clients) => accepted,
            };
            let Some((stream, client, permit)) = accepted else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let known = clients.at(client).await;
            let Some(share) = known.connection() else {
                metrics.limited_connections.inc();
                continue;
            };
            let (service, tls) = (service.clone(), tls.clone());
            open.spawn(async move {
                let connections = &service.shared.metrics.connections;
                connections.inc();
                serve(stream, client, tls, &service).await;
                connections.dec();
                drop((permit, share));
            });
        }
        service.draining.send_replace(true);
        let text = "new connections; downloads may complete".to_owned();
        shared.observer.tell("draining", "Refusing", text);
        drop(listener);
        let ended = async { while open.join_next().await.is_some() {} };
        let _in_time = tokio::time::timeout(shared.settings.grace, ended).await;
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

async fn serve(stream: TcpStream, client: IpAddr, tls: Option<Tls>, service: &Arc<Service>) {
    let Some(tls) = tls else {
        return connection::serve(stream, client, service.clone()).await;
    };
    let Some(tls) = tls.borrow().clone() else {
        return;
    };
    let mut draining = service.draining.subscribe();
    let handshake = tokio::select! {
        handshake = tokio::time::timeout(HANDSHAKE, tls.accept(stream)) => handshake,
        _ = draining.wait_for(|is_draining| *is_draining) => return,
    };
    let reason = match handshake {
        Ok(Ok(stream)) => return connection::serve(stream, client, service.clone()).await,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it took too long".to_owned(),
    };
    let (observer, text) = (&service.shared.observer, format!("{client}: {reason}"));
    observer.tell("handshake-failed", "Handshake", text);
}
