//! The socket of a plugin, and the connections that come in.

use std::io;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::net::UnixListener as StdListener;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ServerConfig;
use tempfile::{NamedTempFile, TempPath};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_stream::Stream;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::server::Connected;

use super::surroundings::Surroundings;

/// A socket that is removed with this value.
pub(super) struct Listener(NamedTempFile<StdListener>);

impl Listener {
    /// Makes one where the host wants it.
    pub(super) fn bind(surroundings: &Surroundings) -> io::Result<Self> {
        let dir = surroundings.socket_dir.clone().unwrap_or_else(std::env::temp_dir);
        let socket = tempfile::Builder::new().prefix("plugin").make_in(dir, |path| StdListener::bind(path))?;
        let mode = match surroundings.socket_group {
            Some(group) => {
                chown(socket.path(), None, Some(group))?;
                0o660
            }
            None => 0o600,
        };
        std::fs::set_permissions(socket.path(), std::fs::Permissions::from_mode(mode))?;
        Ok(Self(socket))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The connections, and what keeps the socket in its place.
    pub(super) fn incoming(self, tls: Option<Arc<ServerConfig>>) -> io::Result<(Incoming, TempPath)> {
        let (listener, path) = self.0.into_parts();
        listener.set_nonblocking(true)?;
        let listener = UnixListener::from_std(listener)?;
        let incoming = match tls {
            None => Incoming::Plain(UnixListenerStream::new(listener)),
            Some(config) => Incoming::Tls(accept_tls(listener, TlsAcceptor::from(config))),
        };
        Ok((incoming, path))
    }
}

/// Connections as they come in.
pub(super) enum Incoming {
    Plain(UnixListenerStream),
    Tls(mpsc::Receiver<io::Result<TlsStream<UnixStream>>>),
}

/// Handshakes take place side by side: one that never ends holds nobody up.
fn accept_tls(listener: UnixListener, acceptor: TlsAcceptor) -> mpsc::Receiver<io::Result<TlsStream<UnixStream>>> {
    let (ready, accepted) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, ready) = (acceptor.clone(), ready.clone());
            tokio::spawn(async move {
                match acceptor.accept(stream).await {
                    Ok(stream) => drop(ready.send(Ok(stream)).await),
                    Err(error) => tracing::warn!(%error, "somebody failed to connect"),
                }
            });
        }
    });
    accepted
}

impl Stream for Incoming {
    type Item = io::Result<Connection>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.get_mut() {
            Self::Plain(listener) => {
                Pin::new(listener).poll_next(context).map(|next| next.map(|next| next.map(Connection::Plain)))
            }
            Self::Tls(accepted) => accepted
                .poll_recv(context)
                .map(|next| next.map(|next| next.map(|stream| Connection::Tls(Box::new(stream))))),
        }
    }
}

/// A connection of a host.
pub(super) enum Connection {
    Plain(UnixStream),
    Tls(Box<TlsStream<UnixStream>>),
}

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) -> Self::ConnectInfo {}
}

impl AsyncRead for Connection {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
