//! A question to the API server, for those who have no client.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::Reach;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the API server says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// JSON, usually.
    pub body: String,
}

pub(super) fn ask(reach: &Reach, token: &str, method: &str, path: &str, body: Option<&str>) -> io::Result<Answer> {
    let mut stream = connect(reach)?;
    let (path, kind) = match method {
        "PATCH" => (format!("{path}?fieldManager=test&force=true"), "application/apply-patch+yaml"),
        _ => (path.to_owned(), "application/json"),
    };
    let body = body.unwrap_or_default();
    // With the old version the answer comes in one piece, and the end of it is the end of the connection.
    let request = format!(
        "{method} {path} HTTP/1.0\r\nAuthorization: Bearer {token}\r\nAccept: application/json\r\n\
         Content-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
        _ => {}
    }
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.split_whitespace().nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("the API server gave no answer"))?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default();
    Ok(Answer { status, body })
}

fn connect(reach: &Reach) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&fs::read(&reach.certificate)?) {
        roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(io::Error::other)?.with_root_certificates(roots).with_no_client_auth();
    let address = reach.url.trim_start_matches("https://");
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host).to_owned();
    let name = ServerName::try_from(host).map_err(io::Error::other)?;
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(connection, stream))
}
