//! A webhook that refuses everything, as others run one beside their cluster.

use std::io::{self, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;

use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// A webhook that runs until the program ends.
pub(crate) struct Webhook {
    pub(crate) url: String,
    /// By which it is known, as PEM.
    pub(crate) certificate: String,
}

impl Webhook {
    /// Starts one that says why it refuses.
    pub(crate) fn refusing(message: &'static str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("https://127.0.0.1:{}/", listener.local_addr().unwrap().port());
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let secret = PrivatePkcs8KeyDer::from(key.serialize_der());
        let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], secret.into());
        let config = Arc::new(config.unwrap());
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let config = Arc::clone(&config);
                std::thread::spawn(move || {
                    let _ = serve(connection, config, message);
                });
            }
        });
        Self { url, certificate: certificate.pem() }
    }
}

fn serve(connection: TcpStream, config: Arc<ServerConfig>, message: &str) -> io::Result<()> {
    let session = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(session, connection));
    while let Some(review) = read_review(&mut reader)? {
        let response = json!({"uid": review["request"]["uid"], "allowed": false, "status": {"message": message}});
        let body =
            json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}).to_string();
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        let writer = reader.get_mut();
        writer.write_all(format!("{head}{body}").as_bytes())?;
        writer.flush()?;
    }
    Ok(())
}

fn read_review(reader: &mut impl io::BufRead) -> io::Result<Option<Value>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body).ok())
}
