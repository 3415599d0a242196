//! The way to a machine: straight, or through a proxy.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groma_network::{Networks, Unreachable};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::provisioners::connection::{Login, Proxy};

/// How long one attempt may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// How much a proxy may say before it lets us through.
const LONGEST_ANSWER: usize = 16 << 10;

/// Opens a connection to a machine.
pub(super) async fn connect(
    proxy: Option<&Proxy>,
    login: &Login,
    networks: Option<&Networks>,
) -> Result<TcpStream, String> {
    let opening = async {
        match proxy {
            Some(proxy) => tunnel(proxy, login, networks).await,
            None => reach(&login.host, login.port, networks).await,
        }
    };
    let opened = tokio::time::timeout(PATIENCE, opening).await;
    opened.unwrap_or_else(|_| Err(format!("{} does not answer", login.place())))
}

async fn reach(host: &str, port: u16, networks: Option<&Networks>) -> Result<TcpStream, String> {
    let stream = match networks {
        Some(networks) => networks.connect(host, port).await,
        None => TcpStream::connect((host, port)).await.map_err(Unreachable::from),
    };
    stream.map_err(|problem| format!("connecting to {host} at port {port}: {problem}"))
}

async fn tunnel(proxy: &Proxy, login: &Login, networks: Option<&Networks>) -> Result<TcpStream, String> {
    let failed = |problem: std::io::Error| format!("Error connecting to proxy: {problem}");
    if let Some(networks) = networks {
        networks.check_host(&login.host).map_err(|refused| refused.to_string())?;
    }
    let mut stream = reach(&proxy.host, proxy.port, networks).await?;
    let place = login.place();
    let authorization = proxy.user.as_ref().map(|user| {
        let secret = STANDARD.encode(format!("{user}:{}", proxy.password.as_deref().unwrap_or_default()));
        format!("Proxy-Authorization: Basic {secret}\r\n")
    });
    let authorization = authorization.unwrap_or_default();
    let request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{authorization}\r\n");
    stream.write_all(request.as_bytes()).await.map_err(failed)?;
    // Byte by byte: what follows belongs to the machine behind it.
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() >= LONGEST_ANSWER {
            return Err("Error connecting to proxy: its answer does not end".to_owned());
        }
        answer.push(stream.read_u8().await.map_err(failed)?);
    }
    let answer = String::from_utf8_lossy(&answer);
    match answer.split_whitespace().nth(1) {
        Some("200") => Ok(stream),
        status => Err(format!("Connection Error: StatusCode: {}", status.unwrap_or("none"))),
    }
}
