//! Discovery against a server on this machine.

use super::*;
use crate::credentials::{Anonymous, StaticCredentials};
use crate::http::testing::{Reply, Server, client};

fn host_of(server: &Server) -> Host {
    Host::of_url(&server.url("/")).unwrap()
}

fn discovery(server: &Server) -> Discovery {
    Discovery::new(client(server), Arc::new(Anonymous))
}

async fn found(document: &'static str, service: &str) -> Result<String, String> {
    let server = Server::start_tls(move |_, _| Reply::json(document));
    let url = discovery(&server).service_url(&host_of(&server), service).await;
    let port = server.url("/").port().unwrap().to_string();
    url.map(|url| url.to_string())
        .map_err(|error| error.to_string())
        .map_err(|text| text.replace(&port, "PORT"))
        .map(|text| text.replace(&port, "PORT"))
}

#[tokio::test]
async fn addresses_are_relative_or_absolute() {
    let document = r#"{"modules.v1":"/api/modules/","providers.v1":"https://example.com/p","login.v1":{"client":"x"}}"#;
    assert_eq!(found(document, MODULES).await.unwrap(), "https://127.0.0.1:PORT/api/modules/");
    assert_eq!(found(document, PROVIDERS).await.unwrap(), "https://example.com/p/");
    assert_eq!(found(r#"{"modules.v1":"m"}"#, MODULES).await.unwrap(), "https://127.0.0.1:PORT/.well-known/m/");
    assert!(found(document, "login.v1").await.unwrap_err().contains("no string"));
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let error = found("{}", PROVIDERS).await.unwrap_err();
    assert_eq!(error, "host 127.0.0.1:PORT does not provide a providers service");
    let error = found(r#"{"providers.v2":"/x"}"#, PROVIDERS).await.unwrap_err();
    assert_eq!(error, "host 127.0.0.1:PORT does not support providers version 1");
    for bad in
        [r#"{"providers.v1":"ftp://x/y"}"#, r#"{"providers.v1":"https://u:p@x/y"}"#, r#"{"providers.v1":"https://["}"#]
    {
        assert!(found(bad, PROVIDERS).await.unwrap_err().starts_with("failed to parse service URL"), "{bad}");
    }
    for bad in ["", "[]", "nonsense"] {
        assert!(found(bad, PROVIDERS).await.unwrap_err().contains("as a JSON object"), "{bad}");
    }
}

#[tokio::test]
async fn a_host_without_the_document_offers_nothing() {
    let server = Server::start_tls(|_, _| Reply::new(404, ""));
    let error = discovery(&server).service_url(&host_of(&server), MODULES).await.unwrap_err();
    assert!(matches!(error, DiscoveryError::NotProvided { .. }), "{error}");
    let server = Server::start_tls(|_, _| Reply::new(500, ""));
    let error = discovery(&server).service_url(&host_of(&server), MODULES).await.unwrap_err();
    assert!(error.to_string().contains("500"), "{error}");
    let server = Server::start_tls(|_, _| Reply::new(200, "{}").header("Content-Type", "text/html; charset=utf-8"));
    let error = discovery(&server).service_url(&host_of(&server), MODULES).await.unwrap_err();
    assert_eq!(error.to_string(), "discovery URL returned an unsupported Content-Type \"text/html; charset=utf-8\"");
}

#[tokio::test]
async fn a_host_is_asked_once_with_its_token() {
    let server = Server::start_tls(|_, _| Reply::json(r#"{"modules.v1":"/m/","providers.v1":"/p/"}"#));
    let host = host_of(&server);
    let tokens = StaticCredentials(BTreeMap::from([(host.clone(), Token::new("hunter2"))]));
    let discovery = Discovery::new(client(&server), Arc::new(tokens));
    discovery.service_url(&host, MODULES).await.unwrap();
    discovery.clone().service_url(&host, PROVIDERS).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].path, "/.well-known/terraform.json");
    assert_eq!(asked[0].header("authorization"), Some("Bearer hunter2"));
    assert_eq!(asked[0].header("accept"), Some("application/json"));
}

#[tokio::test]
async fn the_document_may_be_elsewhere() {
    let server = Server::start_tls(|asked, _| match asked.path.as_str() {
        "/deep/er/terraform.json" => Reply::json(r#"{"modules.v1":"m/"}"#),
        _ => Reply::redirect("/deep/er/terraform.json"),
    });
    let url = discovery(&server).service_url(&host_of(&server), MODULES).await.unwrap();
    assert_eq!(url, server.url("/deep/er/m/"));
}

#[tokio::test]
async fn a_configured_host_is_not_asked() {
    let server = Server::start_tls(|_, _| Reply::json("{}"));
    let host = Host::parse("example.test").unwrap();
    let services = BTreeMap::from([(MODULES.to_owned(), "http://127.0.0.1:1/m".to_owned())]);
    let discovery = discovery(&server).with_services(host.clone(), services);
    assert_eq!(discovery.service_url(&host, MODULES).await.unwrap().as_str(), "http://127.0.0.1:1/m/");
    let error = discovery.service_url(&host, PROVIDERS).await.unwrap_err().to_string();
    assert_eq!(error, "host example.test does not provide a providers service");
    assert!(server.asked().is_empty());
}
