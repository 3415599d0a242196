//! Looking up names and connecting: to what was judged, and to nothing else.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpStream, lookup_host};

use crate::{Networks, Refused};

/// Why nothing is connected to.
#[derive(Debug, thiserror::Error)]
pub enum Unreachable {
    /// It must not be.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It cannot be.
    #[error(transparent)]
    Failed(#[from] io::Error),
}

impl Networks {
    /// The addresses of a host that may be connected to. There is at least one.
    pub async fn find(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, Unreachable> {
        let mut refused = None;
        let mut allowed = Vec::new();
        for address in lookup_host((host.trim_matches(['[', ']']), port)).await? {
            match self.check(address.ip()) {
                Ok(()) => allowed.push(address),
                Err(problem) => refused = refused.or(Some(problem)),
            }
        }
        match (allowed.is_empty(), refused) {
            (false, _) => Ok(allowed),
            (true, Some(refused)) => Err(refused.called(host).into()),
            (true, None) => Err(io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address")).into()),
        }
    }

    /// Connects to a host, at one of the addresses that may be.
    pub async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, Unreachable> {
        let found = self.find(host, port).await?;
        Ok(TcpStream::connect(found.as_slice()).await?)
    }
}
