//! A way out for git that leads only where connections may: git is told to go through a proxy (SOCKS 5, by names), and that is here, in this
//! process. So whatever it asks for on its way (redirects, repositories inside) is judged at the address that is connected to.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use groma_network::{Networks, Refused, Unreachable};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

const VERSION: u8 = 5;
const NO_PASSWORD: u8 = 0;
const CONNECT: u8 = 1;

/// What a proxy answers.
#[derive(Debug, Clone, Copy)]
enum Reply {
    Done = 0,
    NotAllowed = 2,
    Unreachable = 4,
    NotSupported = 7,
}

/// What was refused first.
type Told = Arc<Mutex<Option<Refused>>>;

/// A proxy for one repository. It ends when this is dropped.
pub(super) struct Guard {
    address: SocketAddr,
    refused: Told,
    serving: JoinHandle<()>,
}

impl Guard {
    pub(super) async fn start(networks: Networks) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let refused = Told::default();
        let tell = Arc::clone(&refused);
        let serving = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            loop {
                tokio::select! {
                    accepted = listener.accept() => {
                        let Ok((client, _)) = accepted else { return };
                        connections.spawn(serve(client, networks.clone(), Arc::clone(&tell)));
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Ok(Self { address, refused, serving })
    }

    /// What git is told about it.
    pub(super) fn setting(&self) -> String {
        format!("http.proxy=socks5h://{}", self.address)
    }

    /// What was refused so far: git itself only says that there was no way.
    pub(super) fn refused(&self) -> Option<Refused> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(mut client: TcpStream, networks: Networks, told: Told) {
    // Who breaks off is heard from no more, and needs no answer.
    let Ok((host, port)) = asked(&mut client).await else { return };
    match networks.connect(&host, port).await {
        Ok(mut server) => {
            if reply(&mut client, Reply::Done).await.is_ok() {
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        }
        Err(Unreachable::Refused(refused)) => {
            told.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(refused);
            let _ = reply(&mut client, Reply::NotAllowed).await;
        }
        Err(Unreachable::Failed(_)) => {
            let _ = reply(&mut client, Reply::Unreachable).await;
        }
    }
}

/// Greets, and reads where to connect to (RFC 1928).
async fn asked(client: &mut TcpStream) -> io::Result<(String, u16)> {
    let [version, methods] = read(client).await?;
    let mut offered = vec![0; usize::from(methods)];
    client.read_exact(&mut offered).await?;
    if version != VERSION {
        return Err(io::Error::other("another protocol"));
    }
    client.write_all(&[VERSION, NO_PASSWORD]).await?;
    let [_, command, _, kind] = read(client).await?;
    let host = match kind {
        1 => Ipv4Addr::from(read::<4>(client).await?).to_string(),
        4 => Ipv6Addr::from(read::<16>(client).await?).to_string(),
        _ => {
            let [length] = read(client).await?;
            let mut name = vec![0; usize::from(length)];
            client.read_exact(&mut name).await?;
            String::from_utf8(name).map_err(io::Error::other)?
        }
    };
    let port = u16::from_be_bytes(read(client).await?);
    if command != CONNECT {
        reply(client, Reply::NotSupported).await?;
        return Err(io::Error::other("another command"));
    }
    Ok((host, port))
}

async fn read<const LENGTH: usize>(client: &mut TcpStream) -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

async fn reply(client: &mut TcpStream, reply: Reply) -> io::Result<()> {
    // From where it is connected is of no use to anybody.
    client.write_all(&[VERSION, reply as u8, 0, 1, 0, 0, 0, 0, 0, 0]).await
}
