//! Something between us and the API server that loses, delays and refuses what a test says it should. It speaks plain HTTP to us.

use std::io::{self, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use groma_testkit::servers::kube::ADMIN_TOKEN;

use crate::api::{Api, read_to_end};

/// A request on its way.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    headers: String,
    body: Vec<u8>,
}

impl Request {
    /// Whether it changes something.
    pub(crate) fn writes(&self) -> bool {
        self.method != "GET" && !self.path.contains("dryRun=")
    }

    /// Whether it is about an object with this name.
    pub(crate) fn is_about(&self, name: &str) -> bool {
        self.path.split(['?', '/']).any(|part| part == name)
    }
}

/// What becomes of a request.
#[derive(Debug, Clone)]
pub(crate) enum Fate {
    Pass,
    /// It does not arrive; this comes back.
    Answer(u16, &'static str),
    /// It does not arrive, and nothing comes back.
    Lost,
    /// It arrives, and nothing comes back.
    Unanswered,
    /// A watch that does not arrive: what it would go on from is not known any more, as API servers say it.
    Expired,
}

type Rule = Box<dyn FnMut(&Request) -> Fate + Send>;

struct Inner {
    api: Api,
    rule: Mutex<Rule>,
    seen: Mutex<Vec<String>>,
    /// Connections that watches are answered through.
    watches: Mutex<Vec<TcpStream>>,
    ended: AtomicBool,
}

/// A proxy that ends with this.
pub(crate) struct Proxy {
    port: u16,
    inner: Arc<Inner>,
}

impl Proxy {
    pub(crate) fn new(api: &Api, rule: impl FnMut(&Request) -> Fate + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let inner = Inner {
            api: api.clone(),
            rule: Mutex::new(Box::new(rule)),
            seen: Mutex::default(),
            watches: Mutex::default(),
            ended: AtomicBool::new(false),
        };
        let inner = Arc::new(inner);
        let shared = Arc::clone(&inner);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if shared.ended.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || {
                    let _ = serve(&connection, &shared);
                });
            }
        });
        Self { port, inner }
    }

    /// From now on.
    pub(crate) fn now(&self, rule: impl FnMut(&Request) -> Fate + Send + 'static) {
        *self.inner.rule.lock().unwrap() = Box::new(rule);
    }

    /// Nothing is disturbed any more.
    pub(crate) fn heal(&self) {
        self.now(|_| Fate::Pass);
    }

    /// What has come so far, and forgets it: `PATCH /api/…`.
    pub(crate) fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.inner.seen.lock().unwrap())
    }

    /// Ends the watches that there are.
    pub(crate) fn cut_watches(&self) {
        for watch in self.inner.watches.lock().unwrap().drain(..) {
            let _ = watch.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How to get here, with the token of who may do everything.
    pub(crate) fn kubeconfig(&self) -> String {
        self.kubeconfig_with(ADMIN_TOKEN)
    }

    pub(crate) fn kubeconfig_with(&self, token: &str) -> String {
        format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: test\nclusters:\n- {{name: test, cluster: {{server: '{}'}}}}\n\
             contexts:\n- {{name: test, context: {{cluster: test, user: me}}}}\nusers:\n- {{name: me, user: {{token: '{token}'}}}}\n",
            self.url()
        )
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.inner.ended.store(true, Ordering::SeqCst);
        // It waits for somebody to come.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

/// One connection is one request, so that each can be lost alone.
fn serve(connection: &TcpStream, inner: &Inner) -> io::Result<()> {
    let Some(request) = read_request(&mut BufReader::new(connection))? else { return Ok(()) };
    inner.seen.lock().unwrap().push(format!("{} {}", request.method, request.path));
    let fate = (inner.rule.lock().unwrap())(&request);
    let mut connection = connection;
    match fate {
        Fate::Pass if request.path.contains("watch=") => {
            inner.watches.lock().unwrap().push(connection.try_clone()?);
            let passed = forward(&request, &inner.api, Some(connection));
            let _ = connection.shutdown(Shutdown::Both);
            passed
        }
        Fate::Pass => forward(&request, &inner.api, Some(connection)),
        Fate::Unanswered => forward(&request, &inner.api, None),
        Fate::Lost => Ok(()),
        Fate::Answer(status, reason) => {
            let body = format!(
                "{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{{}},\"status\":\"Failure\",\"message\":\"the proxy says so\",\
                 \"reason\":\"{reason}\",\"code\":{status}}}"
            );
            // Real ones say so, too.
            let later = if status == 429 { "\r\nRetry-After: 1" } else { "" };
            let head = format!(
                "HTTP/1.1 {status} Status\r\nContent-Type: application/json{later}\r\nContent-Length: {}",
                body.len()
            );
            connection.write_all(format!("{head}\r\nConnection: close\r\n\r\n{body}").as_bytes())
        }
        Fate::Expired => {
            let body = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\
                        \"message\":\"too old resource version\",\"reason\":\"Expired\",\"code\":410}}\n";
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
            connection.write_all(format!("{head}{body}").as_bytes())
        }
    }
}

fn read_request(reader: &mut impl io::BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or("/").to_owned());
    let (mut length, mut headers) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            // What is said about this connection is not for the next.
            "connection" | "host" | "accept-encoding" | "transfer-encoding" => continue,
            _ => {}
        }
        headers.push_str(header.trim_end());
        headers.push_str("\r\n");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request { method, path, headers, body }))
}

/// Passes a request on, and perhaps what comes back, piece by piece.
fn forward(request: &Request, api: &Api, back: Option<&TcpStream>) -> io::Result<()> {
    let Request { method, path, headers, body } = request;
    let mut server = api.connect()?;
    server.write_all(format!("{method} {path} HTTP/1.0\r\n{headers}\r\n").as_bytes())?;
    server.write_all(body)?;
    let Some(mut back) = back else {
        read_to_end(&mut server)?;
        return Ok(());
    };
    let mut piece = vec![0; 64 * 1024];
    loop {
        match server.read(&mut piece) {
            Ok(0) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
            Ok(length) => back.write_all(&piece[..length])?,
        }
    }
}
