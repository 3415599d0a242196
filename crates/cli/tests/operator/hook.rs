//! A server that webhooks are sent to: over TLS with a certificate of its own, or without; it answers as it is told, and remembers what it
//! was sent.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) signature: Option<String>,
    pub(crate) text: String,
    pub(crate) body: Value,
}

/// How it answers.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
    pub(crate) after: Duration,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl ToString) -> Self {
        Self { status, headers: String::new(), body: body.to_string(), after: Duration::ZERO }
    }
}

/// A server that runs until the program ends.
#[derive(Clone)]
pub(crate) struct Hook {
    pub(crate) url: String,
    /// By which it is known, as PEM.
    pub(crate) certificate: String,
    /// What it wants to be shown: certificate and key, as PEM.
    pub(crate) client: (String, String),
    asked: Arc<Mutex<Vec<Asked>>>,
    replies: Arc<Mutex<Vec<Reply>>>,
}

impl Hook {
    /// Without TLS.
    pub(crate) fn plain() -> Self {
        Self::start("http", None)
    }

    /// With TLS. Who asks shows a certificate, if that is wanted.
    pub(crate) fn secure(wants_certificate: bool) -> Self {
        Self::start("https", Some(wants_certificate))
    }

    fn start(scheme: &str, tls: Option<bool>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("{scheme}://localhost:{}/check", listener.local_addr().unwrap().port());
        let made = || {
            let key = rcgen::KeyPair::generate().unwrap();
            let params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
            (params.self_signed(&key).unwrap(), key)
        };
        let ((own, own_key), (client, client_key)) = (made(), made());
        let config = tls.map(|wants_certificate| {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let mut roots = RootCertStore::empty();
            roots.add(client.der().clone()).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build().unwrap();
            let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
            let config = if wants_certificate {
                config.with_client_cert_verifier(verifier)
            } else {
                config.with_no_client_auth()
            };
            let secret = PrivatePkcs8KeyDer::from(own_key.serialize_der());
            Arc::new(config.with_single_cert(vec![own.der().clone()], secret.into()).unwrap())
        });
        let hook = Self {
            url,
            certificate: own.pem(),
            client: (client.pem(), client_key.serialize_pem()),
            asked: Arc::default(),
            replies: Arc::default(),
        };
        let server = hook.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (server, config) = (server.clone(), config.clone());
                std::thread::spawn(move || server.serve(connection, config));
            }
        });
        hook
    }

    /// From now on it answers like this, one after the other; the last one always.
    pub(crate) fn answers(&self, replies: &[Reply]) {
        *self.replies.lock().unwrap() = replies.to_vec();
    }

    /// What it was sent.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    fn serve(&self, connection: TcpStream, config: Option<Arc<ServerConfig>>) -> io::Result<()> {
        match config {
            None => self.talk(connection),
            Some(config) => {
                let session = ServerConnection::new(config).map_err(io::Error::other)?;
                self.talk(StreamOwned::new(session, connection))
            }
        }
    }

    fn talk(&self, stream: impl Read + Write) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        let (mut length, mut signature) = (0, None);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let (name, value) = line.split_once(':').unwrap_or((line.trim(), ""));
            match name.to_lowercase().as_str() {
                "content-length" => length = value.trim().parse().unwrap_or(0),
                "x-groma-signature-256" => signature = Some(value.trim().to_owned()),
                "" => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let text = String::from_utf8_lossy(&body).into_owned();
        let parsed = serde_json::from_slice(&body).unwrap_or_default();
        self.asked.lock().unwrap().push(Asked { signature, text, body: parsed });
        let reply = {
            let mut replies = self.replies.lock().unwrap();
            if replies.len() > 1 { replies.remove(0) } else { replies[0].clone() }
        };
        std::thread::sleep(reply.after);
        let Reply { status, headers, body, .. } = reply;
        let head =
            format!("HTTP/1.1 {status} It\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n", body.len());
        reader.get_mut().write_all(format!("{head}{body}").as_bytes())?;
        reader.get_mut().flush()
    }
}
