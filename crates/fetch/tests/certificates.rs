//! Whom we trust is said by `SSL_CERT_FILE`, as everywhere. The variable is read once, so each case is a process.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;

use groma_fetch::http::{Client, ClientSettings, Request};

const ADDRESS: &str = "GROMA_TEST_ADDRESS";

/// Answers every request over TLS, and returns its address and certificate.
fn serve() -> (String, String) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let issued = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(issued.signing_key.serialize_der().into());
    let config = rustls::ServerConfig::builder().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![issued.cert.der().clone()], key).unwrap());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = rustls::ServerConnection::new(config.clone()).unwrap();
            let mut stream = BufReader::new(rustls::StreamOwned::new(connection, stream));
            let mut line = String::new();
            while stream.read_line(&mut line).is_ok_and(|count| count > 2) {
                line.clear();
            }
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
            let _ = stream.get_mut().write_all(answer).and_then(|()| stream.get_mut().flush());
        }
    });
    (address, issued.cert.pem())
}

/// Runs this program again, to do nothing but ask.
fn ask(address: &str, trusted: &std::path::Path) -> bool {
    let program = std::env::current_exe().unwrap();
    let status = std::process::Command::new(program)
        .args(["--exact", "the_other_process", "--quiet"])
        .env(ADDRESS, address)
        .env("SSL_CERT_FILE", trusted)
        .env_remove("SSL_CERT_DIR")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    status.unwrap().success()
}

#[test]
fn the_variable_says_whom_to_trust() {
    let (address, certificate) = serve();
    let (_, other) = serve();
    let directory = tempfile::tempdir().unwrap();
    let (right, wrong) = (directory.path().join("right.pem"), directory.path().join("wrong.pem"));
    std::fs::write(&right, certificate).unwrap();
    std::fs::write(&wrong, other).unwrap();
    assert!(ask(&address, &right));
    assert!(!ask(&address, &wrong));
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the variable is how the other process is told what to do")]
async fn the_other_process() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    let client = Client::new(ClientSettings { retries: 0, ..ClientSettings::default() });
    let request = Request::get(url::Url::parse(&address).unwrap());
    assert_eq!(client.get_bytes(&request, 10).await.unwrap(), "ok");
}
