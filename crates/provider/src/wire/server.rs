//! Serving a provider of ours as a plugin, to any host that speaks protocol 5 or 6: groma, OpenTofu, Terraform.
//!
//! The calls themselves are in `provider`, what go-plugin wants beside them in `companions`; both are found by path in
//! `service`. Here are the beginning and the end.

mod answers;
mod companions;
mod handlers;
mod listen;
mod log;
mod offer;
mod schema;
mod service;
mod surroundings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

pub use log::HostLog;
pub use surroundings::Surroundings;

use self::listen::Listener;
use self::offer::Offer;
use self::service::PluginService;
use super::handshake::{CORE_PROTOCOL, ProtocolVersion};
use super::process::MAGIC_COOKIE;
use super::reattach::{Description, Place};
use super::tls::{Identity, TlsError};
use crate::api::{Provider, SchemaError};

/// Answers under way when the end is asked for may still be sent.
const FAREWELL: Duration = Duration::from_millis(100);

/// How often we look whether the host still lives.
const HOST_CHECK: Duration = Duration::from_secs(2);

/// How a provider is served.
#[derive(Debug, Clone)]
pub struct Serve {
    /// Its address, under which configurations know it: `registry.opentofu.org/example/thing`.
    pub address: String,
    /// What it can speak. A host takes the highest version that both know.
    pub protocols: Vec<ProtocolVersion>,
    /// Runs by itself until it is interrupted, and tells how hosts can reach it.
    pub debug: bool,
    /// What the host says.
    pub surroundings: Surroundings,
}

/// Why a provider is not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Somebody ran it by hand.
    #[error(
        "this program is a provider plugin: it is started by a host like groma, OpenTofu or Terraform, not by hand.\n\
         To attach a host to it while it runs under a debugger, start it with -debug"
    )]
    NotAHost,
    /// The host speaks other versions.
    #[error("the host speaks provider protocol {host}, this plugin {ours}")]
    Protocol {
        /// What the host speaks.
        host: String,
        /// What we speak.
        ours: String,
    },
    /// One of the schemas cannot be told.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// There is no socket.
    #[error("no socket to listen at: {0}")]
    Listen(#[source] std::io::Error),
    /// There is no secure connection.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The connection to the host broke.
    #[error("the connection to the host broke: {0}")]
    Transport(#[from] tonic::transport::Error),
    /// The host cannot be told where we are.
    #[error("the handshake could not be printed: {0}")]
    Handshake(#[source] std::io::Error),
}

impl Serve {
    /// A provider at an address, in both protocols, as the host wants it.
    pub fn new(address: impl Into<String>, surroundings: Surroundings) -> Self {
        Self {
            address: address.into(),
            protocols: vec![ProtocolVersion::V5, ProtocolVersion::V6],
            debug: false,
            surroundings,
        }
    }

    /// Serves until the host has had enough. The handshake goes to `out`.
    pub async fn run(self, provider: Arc<dyn Provider>, out: &mut (dyn Write + Send)) -> Result<(), ServeError> {
        if !self.debug && self.surroundings.cookie.as_deref() != Some(MAGIC_COOKIE.1) {
            return Err(ServeError::NotAHost);
        }
        let protocol = self.negotiated()?;
        let offer = Offer::of(&*provider, protocol)?;
        let identity = self.identity()?;
        let tls = match (&identity, &self.surroundings.client_certificate) {
            (Some(identity), Some(client)) => Some(identity.server_config(client)?),
            _ => None,
        };
        let listener = Listener::bind(&self.surroundings).map_err(ServeError::Listen)?;
        let announced = if self.debug {
            self.announce_to_people(protocol, &listener, out)
        } else {
            self.announce_to_host(protocol, &listener, identity.as_ref(), out)
        };
        announced.map_err(ServeError::Handshake)?;

        let end = Arc::new(Notify::new());
        let service = PluginService::new(Arc::clone(&provider), offer, Arc::clone(&end));
        let (incoming, _socket) = listener.incoming(tls).map_err(ServeError::Listen)?;
        let serve = tonic::transport::Server::builder()
            .initial_stream_window_size(super::connection::WINDOW)
            .initial_connection_window_size(super::connection::WINDOW)
            .serve_with_incoming(service, incoming);
        tokio::select! {
            served = serve => served?,
            () = self.until_the_end(&end) => tokio::time::sleep(FAREWELL).await,
        }
        // There is nobody left to tell.
        let _ = provider.shutdown().await;
        Ok(())
    }

    fn negotiated(&self) -> Result<ProtocolVersion, ServeError> {
        let ours = &self.protocols;
        let host = &self.surroundings.protocols;
        let common = ours.iter().filter(|version| self.debug || host.contains(&version.number())).max();
        common.copied().ok_or_else(|| ServeError::Protocol {
            host: listed(host.iter().copied()),
            ours: listed(ours.iter().map(|version| version.number())),
        })
    }

    /// A certificate, if the host has one. Nobody has given one to a plugin that runs by itself.
    fn identity(&self) -> Result<Option<Identity>, ServeError> {
        let wanted = !self.debug && self.surroundings.client_certificate.is_some();
        Ok(if wanted { Some(Identity::generate()?) } else { None })
    }

    fn announce_to_host(
        &self,
        protocol: ProtocolVersion,
        listener: &Listener,
        identity: Option<&Identity>,
        out: &mut (dyn Write + Send),
    ) -> std::io::Result<()> {
        use base64::Engine as _;
        use base64::engine::general_purpose::STANDARD_NO_PAD;

        let certificate = identity.map(|identity| STANDARD_NO_PAD.encode(identity.der())).unwrap_or_default();
        let (version, socket) = (protocol.number(), listener.path().display());
        // Old hosts take a seventh field for a part of the sixth.
        let multiplexing = if self.surroundings.asks_for_multiplexing { "|false" } else { "" };
        writeln!(out, "{CORE_PROTOCOL}|{version}|unix|{socket}|grpc|{certificate}{multiplexing}")?;
        out.flush()
    }

    fn announce_to_people(
        &self,
        protocol: ProtocolVersion,
        listener: &Listener,
        out: &mut (dyn Write + Send),
    ) -> std::io::Result<()> {
        let description = Description {
            protocol: "grpc".to_owned(),
            protocol_version: protocol.number(),
            pid: std::process::id().into(),
            test: true,
            addr: Place { network: "unix".to_owned(), string: listener.path().display().to_string() },
        };
        let all = BTreeMap::from([(self.address.as_str(), description)]);
        let json = serde_json::to_string(&all)?.replace('\'', r#"'"'"'"#);
        writeln!(out, "The provider runs. A host uses it when its environment has this variable:\n")?;
        writeln!(out, "\tTF_REATTACH_PROVIDERS='{json}'\n")?;
        out.flush()
    }

    /// Waits until the host says so, or is gone; by itself, until somebody interrupts.
    async fn until_the_end(&self, end: &Notify) {
        tokio::select! {
            () = signals(self.debug) => {}
            () = host_is_gone(self.debug) => {}
            () = end.notified() => {}
        }
    }
}

fn listed(versions: impl Iterator<Item = u32>) -> String {
    let versions: Vec<String> = versions.map(|version| version.to_string()).collect();
    if versions.is_empty() { "of no version".to_owned() } else { versions.join(", ") }
}

/// Waits for the signals that end us. An interrupt at the terminal is for the host, which decides what becomes of us.
async fn signals(by_itself: bool) {
    use tokio::signal::unix::{SignalKind, signal};

    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    loop {
        tokio::select! {
            _ = terminate.recv() => return,
            _ = interrupt.recv() => {
                if by_itself {
                    return;
                }
                tracing::trace!("interrupted, which is for the host");
            }
        }
    }
}

/// Waits until our parent is another one: the host has died without a word.
async fn host_is_gone(by_itself: bool) {
    if by_itself {
        return std::future::pending().await;
    }
    let host = std::os::unix::process::parent_id();
    loop {
        tokio::time::sleep(HOST_CHECK).await;
        if std::os::unix::process::parent_id() != host {
            tracing::warn!("the host is gone");
            return;
        }
    }
}

/// The whole `main` of a plugin: reads arguments and environment, logs to the host, serves, and says what went wrong.
pub fn plugin_main(
    address: &str,
    protocols: &[ProtocolVersion],
    provider: impl FnOnce() -> Arc<dyn Provider>,
) -> ExitCode {
    let mut serve = Serve::new(address, Surroundings::from_environment());
    serve.protocols = Vec::from(protocols);
    serve.debug = std::env::args_os().skip(1).any(|arg| arg == "-debug" || arg == "--debug");
    if !serve.debug {
        HostLog::install();
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error),
    };
    let served = runtime.block_on(async move {
        let provider = provider();
        serve.run(provider, &mut std::io::stdout()).await
    });
    // Calls under way belong to a host that is gone.
    runtime.shutdown_background();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &dyn std::error::Error) -> ExitCode {
    // If even this cannot be written, the exit code must do.
    let _ = writeln!(std::io::stderr(), "{error}");
    ExitCode::FAILURE
}
