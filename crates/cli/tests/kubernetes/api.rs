//! What other actors do to a cluster: a bare client of its API.

use std::fs;
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use groma_testkit::servers::kube::{ADMIN_TOKEN, Reach};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_mins(1);

const MERGE: &str = "application/merge-patch+json";
const OPERATIONS: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const PLAIN: &str = "application/json";

pub(crate) type Stream = StreamOwned<ClientConnection, TcpStream>;

/// Somebody who may do everything.
#[derive(Clone)]
pub(crate) struct Api {
    url: String,
    certificate: PathBuf,
}

impl Api {
    pub(crate) fn new(reach: &Reach) -> Self {
        Self { url: reach.url.clone(), certificate: reach.certificate.clone() }
    }

    pub(crate) fn certificate(&self) -> &Path {
        &self.certificate
    }

    /// A fresh connection.
    pub(crate) fn connect(&self) -> io::Result<Stream> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&fs::read(&self.certificate)?) {
            roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(io::Error::other)?.with_root_certificates(roots).with_no_client_auth();
        let address = self.url.trim_start_matches("https://");
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host).to_owned();
        let name = ServerName::try_from(host).map_err(io::Error::other)?;
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        Ok(StreamOwned::new(connection, stream))
    }

    /// The status and what was said.
    pub(crate) fn ask(&self, method: &str, path: &str, kind: &str, body: Option<&Value>) -> io::Result<(u16, Value)> {
        let body = body.map(Value::to_string).unwrap_or_default();
        // With the old version the end of the answer is the end of the connection.
        let request = format!(
            "{method} {path} HTTP/1.0\r\nAuthorization: Bearer {ADMIN_TOKEN}\r\nAccept: application/json\r\n\
             Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = self.connect()?;
        stream.write_all(request.as_bytes())?;
        let (status, body) = split(&read_to_end(&mut stream)?)?;
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    #[track_caller]
    fn done(&self, method: &str, path: &str, kind: &str, body: Option<&Value>) -> Value {
        let (status, said) = self.ask(method, path, kind, body).unwrap();
        assert!((200..300).contains(&status), "{method} {path}: {status} {said}");
        said
    }

    /// An object, if it is there.
    #[track_caller]
    pub(crate) fn find(&self, path: &str) -> Option<Value> {
        let (status, said) = self.ask("GET", path, PLAIN, None).unwrap();
        assert!(status == 200 || status == 404, "GET {path}: {status} {said}");
        (status == 200).then_some(said)
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        self.done("GET", path, PLAIN, None)
    }

    /// How many objects a list has.
    #[track_caller]
    pub(crate) fn count(&self, path: &str) -> usize {
        self.get(path)["items"].as_array().unwrap().len()
    }

    #[track_caller]
    pub(crate) fn uid(&self, path: &str) -> String {
        self.get(path)["metadata"]["uid"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn create(&self, path: &str, object: &Value) -> Value {
        self.done("POST", &format!("{path}?fieldManager=kubectl-create"), PLAIN, Some(object))
    }

    /// As `kubectl edit` does it.
    #[track_caller]
    pub(crate) fn edit(&self, path: &str, merged: &Value) -> Value {
        self.done("PATCH", &format!("{path}?fieldManager=kubectl-edit"), MERGE, Some(merged))
    }

    #[track_caller]
    pub(crate) fn edit_by(&self, path: &str, operations: &Value) -> Value {
        self.done("PATCH", &format!("{path}?fieldManager=kubectl-edit"), OPERATIONS, Some(operations))
    }

    /// Applies as another manager, by force.
    #[track_caller]
    pub(crate) fn apply_as(&self, manager: &str, path: &str, object: &Value) -> Value {
        self.done("PATCH", &format!("{path}?fieldManager={manager}&force=true"), APPLY, Some(object))
    }

    /// What a controller does.
    #[track_caller]
    pub(crate) fn set_status(&self, path: &str, status: &Value) -> Value {
        let body = json!({"status": status});
        self.done("PATCH", &format!("{path}/status?fieldManager=controller"), MERGE, Some(&body))
    }

    #[track_caller]
    pub(crate) fn delete(&self, path: &str) {
        self.done("DELETE", path, PLAIN, None);
    }

    /// Whether it is there within a while.
    pub(crate) fn appears(&self, path: &str) -> bool {
        eventually(|| self.find(path).is_some())
    }

    /// Whether it goes within a while.
    pub(crate) fn disappears(&self, path: &str) -> bool {
        eventually(|| self.find(path).is_none())
    }
}

/// Whether something comes true within a while.
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    for _ in 0..300 {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

/// All that comes until the other side has enough. It need not say so.
pub(crate) fn read_to_end(stream: &mut impl io::Read) -> io::Result<Vec<u8>> {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
        _ => Ok(answer),
    }
}

fn split(answer: &[u8]) -> io::Result<(u16, Vec<u8>)> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or_else(|| io::Error::other("the API server gave no answer"))?;
    let (head, body) = answer.split_at(end);
    let status = String::from_utf8_lossy(head).split_whitespace().nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("the answer has no status"))?;
    Ok((status, body[4..].to_vec()))
}
