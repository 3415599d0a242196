//! As much of HTTP as the servers here need: requests are read, whoever serves them answers, and what was asked is counted.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One request.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `GET` and the like.
    pub method: String,
    /// Up to the question mark.
    pub path: String,
    /// Behind it.
    pub query: String,
    headers: Vec<(String, String)>,
    /// What was sent, whole.
    pub body: Vec<u8>,
}

impl Request {
    /// A header, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Path and query, as they were asked for.
    pub fn target(&self) -> String {
        if self.query.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, self.query) }
    }
}

/// What is answered.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers besides those about the length.
    pub headers: Vec<(String, String)>,
    /// What is sent.
    pub body: Body,
}

/// What is sent.
pub enum Body {
    /// All of it at once.
    Whole(Vec<u8>),
    /// As it comes; the connection ends with it.
    Stream(Box<dyn Read>),
    /// Nothing at all: the connection ends as if the answer were lost.
    Lost,
}

impl Answer {
    /// With a status and nothing else.
    pub fn status(status: u16) -> Self {
        Self::bytes(status, "text/plain", Vec::new())
    }

    /// Some bytes of a kind.
    pub fn bytes(status: u16, kind: &str, body: Vec<u8>) -> Self {
        Self { status, headers: vec![("Content-Type".to_owned(), kind.to_owned())], body: Body::Whole(body) }
    }

    /// A document.
    pub fn json(status: u16, document: &serde_json::Value) -> Self {
        Self::bytes(status, "application/json", document.to_string().into_bytes())
    }

    /// Nothing, as if it had been lost on its way.
    pub fn lost() -> Self {
        Self { status: 0, headers: Vec::new(), body: Body::Lost }
    }

    /// That somebody has to say who they are.
    pub fn unauthorized() -> Self {
        let mut answer = Self::status(401);
        answer.headers.push(("WWW-Authenticate".to_owned(), "Basic realm=\"tests\"".to_owned()));
        answer
    }
}

/// A server on loopback that ends with this.
pub struct WebServer {
    port: u16,
    ended: Arc<AtomicBool>,
}

impl WebServer {
    /// Starts one that answers every request by asking `answer`, each connection on a thread of its own.
    pub fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (ended, answer) = (Arc::new(AtomicBool::new(false)), Arc::new(answer));
        let seen = Arc::clone(&ended);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if seen.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
                std::thread::spawn(move || {
                    let _ = serve(connection, answer.as_ref(), &seen);
                });
            }
        });
        Self { port, ended }
    }

    /// Where it is, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // It waits for somebody to come.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

/// Serves one connection until the other side has enough, or until nobody is to be served any more.
fn serve(connection: TcpStream, answer: &impl Fn(&Request) -> Answer, ended: &AtomicBool) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection);
    while let Some(request) = read_request(&mut reader)? {
        if ended.load(Ordering::SeqCst) {
            break;
        }
        let Answer { status, headers, body } = answer(&request);
        let mut head = format!("HTTP/1.1 {status} Status\r\n");
        for (name, value) in headers {
            head.extend([name.as_str(), ": ", value.as_str(), "\r\n"]);
        }
        let writer = reader.get_mut();
        match body {
            Body::Whole(bytes) => {
                head.extend(["Content-Length: ", &bytes.len().to_string(), "\r\n\r\n"]);
                writer.write_all(head.as_bytes())?;
                // What is asked about with HEAD is described, not sent.
                if request.method != "HEAD" {
                    writer.write_all(&bytes)?;
                }
                writer.flush()?;
            }
            Body::Stream(mut stream) => {
                writer.write_all((head + "Connection: close\r\n\r\n").as_bytes())?;
                io::copy(&mut stream, writer)?;
                return writer.shutdown(Shutdown::Both);
            }
            Body::Lost => return writer.shutdown(Shutdown::Both),
        }
    }
    Ok(())
}

/// Reads the next request. None if there is none any more.
pub(super) fn read_request<C: Read + Write>(reader: &mut BufReader<C>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or("/").to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let mut request = Request { method, path: path.to_owned(), query: query.to_owned(), ..Request::default() };
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        request.headers.push((name.to_owned(), value.trim().to_owned()));
    }
    if request.header("expect").is_some_and(|wish| wish.eq_ignore_ascii_case("100-continue")) {
        reader.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        reader.get_mut().flush()?;
    }
    if request.header("transfer-encoding").is_some_and(|how| how.eq_ignore_ascii_case("chunked")) {
        request.body = read_chunks(reader)?;
    } else {
        request.body = vec![0; request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut request.body)?;
    }
    Ok(Some(request))
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = line.trim().split(';').next().unwrap_or_default();
        let size = u64::from_str_radix(size, 16).map_err(io::Error::other)?;
        reader.by_ref().take(size).read_to_end(&mut body)?;
        let mut end = String::new();
        reader.read_line(&mut end)?;
        if size == 0 {
            return Ok(body);
        }
    }
}
