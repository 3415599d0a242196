//! For tests: a small server that speaks HTTP and answers as it is told.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::Json;
use crate::api::{Cluster, Connections};
use crate::cluster::{ClusterSpec, Given};

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// `GET /api/v1`, with the query.
    pub(crate) line: String,
    /// With names in lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Status, further lines of the head, body.
pub(crate) type Reply = (u16, Vec<String>, Json);

/// An answer without further lines.
pub(crate) fn reply(status: u16, body: Json) -> Reply {
    (status, Vec::new(), body)
}

/// A server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) url: String,
    log: Arc<Mutex<Vec<Asked>>>,
    /// How many connections there were.
    pub(crate) connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Status 0 breaks the connection.
    pub(crate) async fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let (answer, written) = (Arc::new(answer), log.clone());
        let connections = Arc::new(AtomicUsize::new(0));
        let count = connections.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (answer, written) = (answer.clone(), written.clone());
                tokio::spawn(async move {
                    let _ = serve(stream, &*answer, &written).await;
                });
            }
        });
        Self { url, log, connections, task }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.log.lock().unwrap().clone()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.line).collect()
    }

    /// How to reach it.
    pub(crate) fn spec(&self, token: &str) -> ClusterSpec {
        ClusterSpec { host: Some(self.url.clone()), token: Some(token.to_owned()), ..ClusterSpec::default() }
    }

    /// It as a cluster.
    pub(crate) async fn cluster(&self, connections: &Connections, token: &str) -> Arc<Cluster> {
        let given = Given::Here(Box::new(self.spec(token)));
        connections.open(&given).await.unwrap().unwrap()
    }
}

async fn serve(
    mut stream: TcpStream,
    answer: &(dyn Fn(&Asked) -> Reply + Send + Sync),
    log: &Mutex<Vec<Asked>>,
) -> std::io::Result<()> {
    let mut bytes = Vec::new();
    loop {
        let end = loop {
            if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
        while bytes.len() < end + length {
            if stream.read_buf(&mut bytes).await? == 0 {
                return Ok(());
            }
        }
        let line = head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
        let body = String::from_utf8_lossy(&bytes[end..end + length]).into_owned();
        let asked = Asked { line, head, body };
        bytes.drain(..end + length);
        let (status, headers, body) = answer(&asked);
        log.lock().unwrap().push(asked);
        if status == 0 {
            return Ok(());
        }
        let body = body.to_string();
        let mut out = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
        for header in headers {
            let _ = write!(out, "{header}\r\n");
        }
        stream.write_all(format!("{out}\r\n{body}").as_bytes()).await?;
    }
}
