//! A small web server on the loopback interface that answers what it was told to, one thread for each connection.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// How long a client may take to ask.
const PATIENCE: Duration = Duration::from_secs(30);
/// No request is longer.
const MAX_REQUEST: usize = 64 << 10;

/// An answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// What kind of content.
    pub content_type: String,
    /// More headers.
    pub headers: Vec<(String, String)>,
    /// The content.
    pub body: Vec<u8>,
    /// How long to wait before answering.
    pub delay: Duration,
    /// After how many bytes of the content to hang up.
    pub cut_at: Option<usize>,
    /// How many times it is given, before the one that was there; none is for ever.
    pub times: Option<u32>,
}

/// A request that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What was asked for.
    pub path: String,
    /// The header `Authorization`.
    pub authorization: Option<String>,
}

#[derive(Default)]
struct State {
    replies: BTreeMap<String, Vec<Reply>>,
    seen: Vec<Seen>,
}

/// A running server. It stops when it is dropped.
pub struct Loopback {
    address: SocketAddr,
    certificate: Option<String>,
    state: Arc<Mutex<State>>,
    stop: Arc<AtomicBool>,
}

impl Reply {
    /// Content.
    pub fn ok(content_type: &str, body: Vec<u8>) -> Self {
        Self {
            status: 200,
            content_type: content_type.to_owned(),
            headers: Vec::new(),
            body,
            delay: Duration::ZERO,
            cut_at: None,
            times: None,
        }
    }

    /// JSON.
    pub fn json(value: &serde_json::Value) -> Self {
        Self::ok("application/json", value.to_string().into_bytes())
    }

    /// An error.
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::ok("text/plain", format!("this is {status}").into_bytes()) }
    }

    /// Given a few times only; then again what was there before.
    pub fn times(self, times: u32) -> Self {
        Self { times: Some(times), ..self }
    }

    /// Given late.
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// Broken off.
    pub fn cut_at(self, bytes: usize) -> Self {
        Self { cut_at: Some(bytes), ..self }
    }
}

impl Loopback {
    /// Without encryption.
    pub fn start() -> std::io::Result<Self> {
        Self::run(None)
    }

    /// With TLS, and a certificate of its own for `localhost` and `127.0.0.1`.
    pub fn start_tls() -> std::io::Result<Self> {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
        let own = rcgen::generate_simple_self_signed(names).map_err(std::io::Error::other)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(vec![own.cert.der().clone()], key))
            .map_err(std::io::Error::other)?;
        Self::run(Some((Arc::new(config), own.cert.pem())))
    }

    fn run(tls: Option<(Arc<ServerConfig>, String)>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (config, certificate) = tls.unzip();
        let state = Arc::<Mutex<State>>::default();
        let stop = Arc::new(AtomicBool::new(false));
        let (thread_state, thread_stop) = (state.clone(), stop.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if thread_stop.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), state, config) = (stream, thread_state.clone(), config.clone()) else { continue };
                std::thread::spawn(move || {
                    // A client that gives up is no problem of the server's.
                    let _ = serve(stream, config, &state);
                });
            }
        });
        Ok(Self { address, certificate, state, stop })
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.authority())
    }

    /// The host and port.
    pub fn authority(&self) -> String {
        format!("localhost:{}", self.address.port())
    }

    /// The certificate to trust, in PEM.
    pub fn certificate(&self) -> Option<&str> {
        self.certificate.as_deref()
    }

    /// Says what is answered for a path. An answer that is given a few times only comes before what was there.
    pub fn set(&self, path: &str, reply: Reply) {
        let mut state = self.state();
        let replies = state.replies.entry(path.to_owned()).or_default();
        if reply.times.is_none() {
            replies.clear();
        }
        replies.push(reply);
    }

    /// Answers `404 Not Found` for a path.
    pub fn remove(&self, path: &str) {
        self.state().replies.remove(path);
    }

    /// What was asked for so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.state().seen.clone()
    }

    /// How often something was asked for whose path ends like this.
    pub fn count(&self, ending: &str) -> usize {
        self.state().seen.iter().filter(|seen| seen.path.ends_with(ending)).count()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(stream: TcpStream, config: Option<Arc<ServerConfig>>, state: &Mutex<State>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    match config {
        None => answer(stream, state),
        Some(config) => {
            let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
            answer(StreamOwned::new(connection, stream), state)
        }
    }
}

fn answer(mut stream: impl Read + Write, state: &Mutex<State>) -> std::io::Result<()> {
    let Some(seen) = read_request(&mut stream)? else { return Ok(()) };
    let reply = {
        let mut state = lock(state);
        let reply = next_reply(&mut state, &seen.path);
        state.seen.push(seen);
        reply
    };
    std::thread::sleep(reply.delay);
    let mut head = format!(
        "HTTP/1.1 {} Answer\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
        reply.status,
        reply.content_type,
        reply.body.len()
    );
    for (name, value) in &reply.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(&reply.body[..reply.cut_at.unwrap_or(reply.body.len()).min(reply.body.len())])?;
    stream.flush()
}

fn next_reply(state: &mut State, path: &str) -> Reply {
    let Some(replies) = state.replies.get_mut(path) else { return Reply::status(404) };
    let Some(last) = replies.last_mut() else { return Reply::status(404) };
    let reply = last.clone();
    if let Some(times) = &mut last.times {
        *times = times.saturating_sub(1);
        if *times == 0 {
            replies.pop();
        }
    }
    reply
}

fn read_request(stream: &mut impl Read) -> std::io::Result<Option<Seen>> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        let count = stream.read(&mut buffer)?;
        if count == 0 || request.len() > MAX_REQUEST {
            return Ok(None);
        }
        request.extend_from_slice(&buffer[..count]);
    }
    let text = String::from_utf8_lossy(&request);
    let mut lines = text.lines();
    let path = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
    let authorization = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        .map(|(_, value)| value.trim().to_owned());
    Ok(Some(Seen { path, authorization }))
}
