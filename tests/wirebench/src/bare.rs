//! A client with nothing but what is needed: no checks, no logs, no types.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, Result};
use http::uri::PathAndQuery;
use hyper_util::rt::TokioIo;
use prost::Message;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tonic::Request;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic_prost::ProstCodec;

use crate::messages::{
    Applied, Apply, Configure, DynamicValue, Empty, IdentitySchemas, Object, Plan, Planned, Prepare, Read, Schemas,
    Upgrade, Validate,
};

/// A started plugin.
pub(crate) struct Client {
    calls: Calls,
    child: Child,
    _sockets: tempfile::TempDir,
}

impl Client {
    pub(crate) async fn start(program: &Path) -> Result<Self> {
        let sockets = tempfile::tempdir()?;
        let mut child = Command::new(program)
            .env("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2")
            .env("PLUGIN_PROTOCOL_VERSIONS", "5")
            .env("PLUGIN_UNIX_SOCKET_DIR", sockets.path())
            // What plugins write about every call would cost more than the calls.
            .env("TF_LOG_SDK", "WARN")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut stderr = child.stderr.take().context("no stderr")?;
        tokio::spawn(async move { tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await });
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("no stdout")?).read_line(&mut line).await?;
        let socket = line.split('|').nth(3).context("no handshake")?.to_owned();
        let connector = tower::service_fn(move |_: Uri| {
            let socket = socket.clone();
            async move { UnixStream::connect(socket).await.map(TokioIo::new) }
        });
        let channel = Endpoint::from_static("http://localhost").connect_with_connector(connector).await?;
        let grpc = Grpc::new(channel).max_decoding_message_size(256 << 20);
        Ok(Self { calls: Calls { grpc }, child, _sockets: sockets })
    }

    /// The way to it. Several can be used at a time.
    pub(crate) fn calls(&self) -> Calls {
        self.calls.clone()
    }

    pub(crate) async fn end(mut self) {
        let _ = self.calls.call::<_, Empty>("/plugin.GRPCController/Shutdown", Empty {}).await;
        let _ = self.child.wait().await;
    }
}

/// The calls of the protocol.
#[derive(Clone)]
pub(crate) struct Calls {
    grpc: Grpc<Channel>,
}

impl Calls {
    async fn call<Q, R>(&mut self, path: &'static str, request: Q) -> Result<R>
    where
        Q: Message + Send + Sync + 'static,
        R: Message + Default + Send + Sync + 'static,
    {
        self.grpc.ready().await?;
        let codec = ProstCodec::<Q, R>::default();
        Ok(self.grpc.unary(Request::new(request), PathAndQuery::from_static(path), codec).await?.into_inner())
    }

    pub(crate) async fn schemas(&mut self) -> Result<Schemas> {
        self.call("/tfplugin5.Provider/GetSchema", Empty {}).await
    }

    pub(crate) async fn identity_schemas(&mut self) -> Result<IdentitySchemas> {
        self.call("/tfplugin5.Provider/GetResourceIdentitySchemas", Empty {}).await
    }

    pub(crate) async fn configure(&mut self) -> Result<()> {
        let config = Some(DynamicValue { msgpack: vec![0x80], json: Vec::new() });
        let request = Configure { terraform_version: "1.12.0".to_owned(), config };
        self.call::<_, Empty>("/tfplugin5.Provider/Configure", request).await.map(drop)
    }

    pub(crate) async fn read(&mut self, type_name: &str, packed: &[u8]) -> Result<Object> {
        let current_state = Some(DynamicValue { msgpack: packed.to_vec(), json: Vec::new() });
        let request = Read { type_name: type_name.to_owned(), current_state, private: Vec::new() };
        self.call("/tfplugin5.Provider/ReadResource", request).await
    }

    pub(crate) async fn prepare(&mut self) -> Result<()> {
        let config = Some(DynamicValue { msgpack: vec![0x80], json: Vec::new() });
        self.call::<_, Empty>("/tfplugin5.Provider/PrepareProviderConfig", Prepare { config }).await.map(drop)
    }

    pub(crate) async fn validate(&mut self, request: Validate) -> Result<()> {
        self.call::<_, Empty>("/tfplugin5.Provider/ValidateResourceTypeConfig", request).await.map(drop)
    }

    pub(crate) async fn upgrade(&mut self, request: Upgrade) -> Result<Object> {
        self.call("/tfplugin5.Provider/UpgradeResourceState", request).await
    }

    pub(crate) async fn plan(&mut self, request: Plan) -> Result<Planned> {
        self.call("/tfplugin5.Provider/PlanResourceChange", request).await
    }

    pub(crate) async fn apply(&mut self, request: Apply) -> Result<Applied> {
        self.call("/tfplugin5.Provider/ApplyResourceChange", request).await
    }
}
