//! Something that takes spans, as they are sent to it.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// Takes spans.
pub(crate) struct Collector {
    pub(crate) url: String,
    taken: Arc<Mutex<Vec<Taken>>>,
}

/// One request.
#[derive(Clone)]
pub(crate) struct Taken {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Collector {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let taken: Arc<Mutex<Vec<Taken>>> = Arc::default();
        let to = Arc::clone(&taken);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Some(request) = take(stream) {
                    to.lock().unwrap().push(request);
                }
            }
        });
        Self { url, taken }
    }

    pub(crate) fn requests(&self) -> Vec<Taken> {
        self.taken.lock().unwrap().clone()
    }

    /// All spans so far.
    pub(crate) fn spans(&self) -> Vec<Value> {
        let all = |taken: &Taken| taken.body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().cloned();
        self.requests().iter().filter_map(all).flatten().collect()
    }
}

/// An attribute of a span.
pub(crate) fn attribute(span: &Value, name: &str) -> Option<String> {
    let all = span["attributes"].as_array()?;
    let found = all.iter().find(|attribute| attribute["key"] == name)?;
    found["value"]["stringValue"].as_str().map(str::to_owned)
}

fn take(mut stream: TcpStream) -> Option<Taken> {
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    loop {
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
        let Some(end) = bytes.windows(4).position(|part| part == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
        if bytes.len() >= end + 4 + length {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").ok()?;
            return Some(Taken { head, body: serde_json::from_slice(&bytes[end + 4..]).ok()? });
        }
    }
}
