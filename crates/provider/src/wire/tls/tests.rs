//! Handshakes between both sides.

use std::io;

use rustls::ServerConfig;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::*;

async fn greet(client: Arc<ClientConfig>, server: Arc<ServerConfig>) -> io::Result<String> {
    let (near, far) = tokio::io::duplex(64 << 10);
    let serve = async move {
        let mut stream = TlsAcceptor::from(server).accept(far).await?;
        stream.write_all(b"hello").await?;
        stream.shutdown().await
    };
    let ask = async move {
        let mut stream = TlsConnector::from(client).connect(server_name(), near).await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        Ok(text)
    };
    let (served, asked) = tokio::join!(serve, ask);
    served.and(asked)
}

#[tokio::test]
async fn both_sides_know_each_other() {
    let (client, server) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let client_config = client.client_config(server.der().to_owned()).unwrap();
    let server_config = server.server_config(client.pem()).unwrap();
    assert_eq!(greet(client_config, server_config).await.unwrap(), "hello");
}

#[tokio::test]
async fn nobody_else_is_let_in() {
    let (client, server, other) =
        (Identity::generate().unwrap(), Identity::generate().unwrap(), Identity::generate().unwrap());
    let server_config = server.server_config(client.pem()).unwrap();
    let stranger = other.client_config(server.der().to_owned()).unwrap();
    assert!(greet(stranger, Arc::clone(&server_config)).await.is_err());
    let misled = client.client_config(other.der().to_owned()).unwrap();
    assert!(greet(misled, server_config).await.is_err());
}

#[test]
fn what_is_no_certificate_is_refused() {
    let server = Identity::generate().unwrap();
    assert!(matches!(server.server_config("hello"), Err(TlsError::NotPem)));
}
