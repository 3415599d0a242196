//! A connection to a plugin: one that we have started, or one that runs by itself.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;
use tonic::Request;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic_prost::ProstCodec;
use tower::service_fn;

use super::generated::plugin::Empty;
use super::handshake::{Address, Handshake, HandshakeError, ProtocolVersion};
use super::launch::{Launch, Settings};
use super::process::{Process, StartError};
use super::stdio;
use super::tls::{self, Identity};
use crate::api::KnownSecrets;

/// What may be under way without an acknowledgement. Objects and schemas have megabytes.
pub(super) const WINDOW: u32 = 8 << 20;

/// The call that ends a plugin.
pub(super) const SHUTDOWN: &str = "/plugin.GRPCController/Shutdown";

/// How long the end of a process may take to be noticed after its connection broke.
const NOTICE: Duration = Duration::from_secs(1);

/// How long a killed process may take to go.
const REAPED: Duration = Duration::from_secs(2);

/// A connection to a plugin. Dropping it ends a process that we have started.
#[derive(Debug)]
pub(super) struct Connection {
    /// How the provider is named in messages.
    pub(super) name: String,
    /// What it speaks.
    pub(super) protocol: ProtocolVersion,
    /// For the calls. Cloning is cheap.
    pub(super) channel: Channel,
    /// How to talk to it.
    pub(super) settings: Settings,
    /// What it was told and must not tell.
    pub(super) secrets: KnownSecrets,
    /// None if somebody else started it.
    process: Option<Process>,
    /// Ending happens once.
    ended: Mutex<bool>,
}

/// What is known about a plugin that stopped answering.
#[derive(Debug)]
pub(super) struct Autopsy {
    /// How it ended, or none if it still runs, as far as we know.
    pub(super) death: Option<String>,
    /// What it printed last.
    pub(super) last_output: Vec<String>,
}

impl Connection {
    /// Connects to a process of ours.
    pub(super) async fn to_process(
        launch: &Launch,
        process: Process,
        handshake: Handshake,
        identity: Option<Identity>,
    ) -> Result<Self, StartError> {
        let name = launch.name.clone();
        let tls = match tls_config(&process, &handshake, identity) {
            Ok(tls) => tls,
            Err(Refused::Handshake(source)) => {
                return Err(StartError::Handshake { name, source, last_output: process.last_output() });
            }
            Err(Refused::Tls(source)) => return Err(StartError::Tls { name, source }),
        };
        match connect(handshake.address, tls).await {
            Ok(channel) => {
                stdio::follow(channel.clone(), name.clone(), process.output());
                Ok(Self {
                    name,
                    protocol: handshake.protocol,
                    channel,
                    settings: launch.settings,
                    secrets: process.output().secrets(),
                    process: Some(process),
                    ended: Mutex::default(),
                })
            }
            Err(source) => {
                let died = tokio::time::timeout(NOTICE, process.died()).await;
                let message = died.map_or_else(|_| chain(&source), |death| format!("it {death}"));
                Err(StartError::Connect { name, message, last_output: process.last_output() })
            }
        }
    }

    /// Connects to a process that somebody else has started, and will end.
    pub(super) async fn to_running(
        name: String,
        protocol: ProtocolVersion,
        address: Address,
        settings: Settings,
    ) -> Result<Self, StartError> {
        let failed = |message| StartError::Connect { name: name.clone(), message, last_output: Vec::new() };
        let connected = tokio::time::timeout(settings.timeouts.start, connect(address, None)).await;
        let connected = connected.map_err(|_| failed("it does not answer".to_owned()))?;
        let channel = connected.map_err(|source| failed(chain(&source)))?;
        let secrets = KnownSecrets::default();
        Ok(Self { name, protocol, channel, settings, secrets, process: None, ended: Mutex::default() })
    }

    /// Waits until the process has ended; for ever if it is not ours.
    pub(super) async fn died(&self) -> String {
        match &self.process {
            Some(process) => process.died().await.to_string(),
            None => std::future::pending().await,
        }
    }

    /// What it printed last.
    pub(super) fn last_output(&self) -> Vec<String> {
        self.process.as_ref().map(Process::last_output).unwrap_or_default()
    }

    /// Ends it now, if it is ours.
    pub(super) fn kill(&self) {
        if let Some(process) = &self.process {
            process.kill();
        }
    }

    /// Finds out what became of a plugin whose connection broke. Takes a second at most.
    pub(super) async fn autopsy(&self) -> Autopsy {
        let death = match &self.process {
            Some(process) => tokio::time::timeout(NOTICE, process.died()).await.ok().map(|death| death.to_string()),
            None => None,
        };
        Autopsy { death, last_output: self.last_output() }
    }

    /// Asks it to end, waits a little, and kills it. Leaves a process alone that is not ours.
    pub(super) async fn end(&self) {
        let mut ended = self.ended.lock().await;
        let Some(process) = self.process.as_ref().filter(|_| !*ended) else { return };
        let patience = self.settings.timeouts.shutdown;
        let asked = async {
            // The answer is lost when the process ends at once.
            let _ = ask_to_end(self.channel.clone()).await;
            process.died().await
        };
        if tokio::time::timeout(patience, asked).await.is_err() {
            tracing::warn!(target: "groma::plugin", provider = self.name, "plugin failed to exit gracefully");
            process.kill();
            let _ = tokio::time::timeout(REAPED, process.died()).await;
        }
        *ended = true;
    }
}

async fn ask_to_end(channel: Channel) -> Result<(), tonic::Status> {
    let mut client = Grpc::new(channel);
    client.ready().await.map_err(|error| tonic::Status::unavailable(error.to_string()))?;
    let codec: ProstCodec<Empty, Empty> = ProstCodec::default();
    client.unary(Request::new(Empty {}), PathAndQuery::from_static(SHUTDOWN), codec).await.map(drop)
}

enum Refused {
    Handshake(HandshakeError),
    Tls(tls::TlsError),
}

fn tls_config(
    process: &Process,
    handshake: &Handshake,
    identity: Option<Identity>,
) -> Result<Option<Arc<ClientConfig>>, Refused> {
    let private = match &handshake.address {
        Address::Unix(socket) => process.is_private(socket),
        // Anybody on this machine can use a port.
        Address::Tcp(_) => false,
    };
    match (identity, &handshake.certificate) {
        (Some(identity), Some(server)) => identity.client_config(server.clone()).map(Some).map_err(Refused::Tls),
        (None, _) if private => Ok(None),
        _ => Err(Refused::Handshake(HandshakeError::NoCertificate)),
    }
}

/// An error with all its causes: the outermost of a transport says nothing.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

async fn connect(address: Address, tls: Option<Arc<ClientConfig>>) -> Result<Channel, tonic::transport::Error> {
    let connector = service_fn(move |_: Uri| {
        let (address, tls) = (address.clone(), tls.clone());
        async move { open(address, tls).await.map(TokioIo::new) }
    });
    // The address is not used, but there must be one.
    Endpoint::from_static("http://localhost")
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .connect_with_connector(connector)
        .await
}

async fn open(address: Address, tls: Option<Arc<ClientConfig>>) -> io::Result<Box<dyn Stream>> {
    let stream: Box<dyn Stream> = match address {
        Address::Unix(path) => Box::new(UnixStream::connect(path).await?),
        Address::Tcp(address) => {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
    };
    match tls {
        None => Ok(stream),
        Some(config) => Ok(Box::new(TlsConnector::from(config).connect(tls::server_name(), stream).await?)),
    }
}
