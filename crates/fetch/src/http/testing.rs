//! A server on this machine that answers as a test says, also badly.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use url::Url;

/// What a client asked for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The path, with parameters.
    pub(crate) path: String,
    /// The headers, in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// What was sent with it.
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// An answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Promise this many bytes, whatever comes.
    pub(crate) promise: Option<usize>,
    /// Wait before answering.
    pub(crate) delay: Duration,
    /// Say nothing at all.
    pub(crate) hang_up: bool,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, body: body.into(), ..Self::default() }
    }

    pub(crate) fn json(body: &str) -> Self {
        Self::new(200, body).header("Content-Type", "application/json")
    }

    pub(crate) fn redirect(to: impl ToString) -> Self {
        Self::new(302, "").header("Location", &to.to_string())
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let length = self.promise.unwrap_or(self.body.len());
        let mut head = format!("HTTP/1.1 {} Status\r\nContent-Length: {length}\r\nConnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head += &[name, ": ", value, "\r\n"].concat();
        }
        [head.as_bytes(), b"\r\n", &self.body].concat()
    }
}

type Handler = dyn Fn(&Asked, usize) -> Reply + Send + Sync;

/// A server. It ends with the test.
pub(crate) struct Server {
    port: u16,
    scheme: &'static str,
    asked: Arc<Mutex<Vec<Asked>>>,
    stop: Arc<AtomicBool>,
    /// The certificate that clients must trust, for https.
    pub(crate) root: Vec<u8>,
}

impl Server {
    /// Answers each request by what the handler says; it is told how many came before.
    pub(crate) fn start(handler: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve("http", None, Vec::new(), Arc::new(handler))
    }

    /// The same with TLS, by a certificate that nobody knows.
    pub(crate) fn start_tls(handler: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let issued = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::Pkcs8(issued.signing_key.serialize_der().into());
        let config = rustls::ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![issued.cert.der().clone()], key)
            .unwrap();
        Self::serve("https", Some(Arc::new(config)), issued.cert.pem().into_bytes(), Arc::new(handler))
    }

    fn serve(
        scheme: &'static str,
        tls: Option<Arc<rustls::ServerConfig>>,
        root: Vec<u8>,
        handler: Arc<Handler>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (log, stopped) = (asked.clone(), stop.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (handler, log, tls) = (handler.clone(), log.clone(), tls.clone());
                let Ok(stream) = stream else { continue };
                std::thread::spawn(move || match tls {
                    None => answer(stream, &log, &handler),
                    Some(config) => {
                        let connection = rustls::ServerConnection::new(config).unwrap();
                        answer(rustls::StreamOwned::new(connection, stream), &log, &handler);
                    }
                });
            }
        });
        Self { port, scheme, asked, stop, root }
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("{}://127.0.0.1:{}{path}", self.scheme, self.port)).unwrap()
    }

    /// The same server by another name.
    pub(crate) fn alias(&self, path: &str) -> Url {
        Url::parse(&format!("{}://localhost:{}{path}", self.scheme, self.port)).unwrap()
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // So that it looks up once more.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn answer(stream: impl Read + Write, log: &Mutex<Vec<Asked>>, handler: &Arc<Handler>) {
    let mut stream = BufReader::new(stream);
    let Some(asked) = read_request(&mut stream) else { return };
    let number = {
        let mut log = log.lock().unwrap();
        log.push(asked.clone());
        log.len() - 1
    };
    let reply = handler(&asked, number);
    std::thread::sleep(reply.delay);
    if !reply.hang_up {
        let stream = stream.get_mut();
        let _ = stream.write_all(&reply.bytes()).and_then(|()| stream.flush());
    }
}

fn read_request(stream: &mut impl BufRead) -> Option<Asked> {
    let mut line = String::new();
    stream.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(Asked { path, headers, body })
}

/// A client that does not wait long before it tries again, and trusts the server.
pub(crate) fn client(server: &Server) -> super::Client {
    super::Client::new(settings(server))
}

pub(crate) fn settings(server: &Server) -> super::ClientSettings {
    let extra_roots = if server.root.is_empty() { Vec::new() } else { vec![server.root.clone()] };
    super::ClientSettings { backoff: Duration::from_millis(1), extra_roots, ..super::ClientSettings::default() }
}
