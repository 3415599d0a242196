//! Requests against a server on this machine.

use std::io::Read;
use std::sync::Mutex;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::testing::{Reply, Server, client, settings};
use super::*;
use crate::credentials::Token;
use crate::progress::{Progress, Silent};

fn get(server: &Server, path: &str) -> Request {
    Request::get(server.url(path)).plain_http(true)
}

fn secret() -> Token {
    Token::new("hunter2")
}

#[tokio::test]
async fn an_answer_is_read() {
    let server = Server::start(|_, _| Reply::json(r#"{"a":1}"#));
    let answer: serde_json::Value = client(&server).get_json(&get(&server, "/x?y=1"), 100).await.unwrap();
    assert_eq!(answer["a"], 1);
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/x?y=1");
    assert!(asked.header("user-agent").unwrap().starts_with("groma/"));
    assert_eq!(asked.header("authorization"), None);
}

#[tokio::test]
async fn the_token_is_sent_and_never_shown() {
    let server = Server::start(|_, _| Reply::new(401, "who are you?"));
    let error = client(&server).get_bytes(&get(&server, "/x").bearer(Some(secret())), 100).await.unwrap_err();
    assert_eq!(server.asked()[0].header("authorization"), Some("Bearer hunter2"));
    assert_eq!(error.status(), Some(StatusCode::UNAUTHORIZED));
    let shown = format!("{error} {error:?}");
    assert!(shown.contains("/x") && shown.contains("401") && shown.contains("who are you?"), "{shown}");
    assert!(!shown.contains("hunter2"));
    let request = get(&server, "/x").bearer(Some(Token::new("hunter2\n")));
    let error = client(&server).get_bytes(&request, 100).await.unwrap_err().to_string();
    assert!(!error.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn credentials_stay_with_their_host() {
    let other = Server::start(|_, _| Reply::new(200, "other"));
    let target = other.url("/leak");
    let server = Server::start(move |asked, _| match asked.path.as_str() {
        "/same" => Reply::redirect("/end"),
        "/other" => Reply::redirect(&target),
        _ => Reply::new(200, "end"),
    });
    let client = client(&server);
    client.get_bytes(&get(&server, "/same").bearer(Some(secret())), 100).await.unwrap();
    assert!(server.asked().iter().all(|asked| asked.header("authorization").is_some()));
    client.get_bytes(&get(&server, "/other").bearer(Some(secret())), 100).await.unwrap();
    assert_eq!(other.asked()[0].header("authorization"), None);
}

#[tokio::test]
async fn another_name_of_the_same_machine_is_another_host() {
    let server = Server::start(|asked, _| Reply::new(200, asked.path.clone()));
    let alias = server.alias("/end");
    let first = Server::start(move |_, _| Reply::redirect(&alias));
    client(&first).get_bytes(&get(&first, "/x").bearer(Some(secret())), 100).await.unwrap();
    assert_eq!(server.asked()[0].header("authorization"), None);
}

#[tokio::test]
async fn redirects_end() {
    let server = Server::start(|_, number| Reply::redirect(format!("/{number}")));
    let error = client(&server).get(&get(&server, "/x"), 100).await.unwrap_err();
    assert!(matches!(error, HttpError::Redirect { .. }), "{error}");
    assert_eq!(server.asked().len(), 11);
}

#[tokio::test]
async fn strange_redirects_are_refused() {
    for location in ["file:///etc/passwd", "ftp://example.com/x", "http://[", "gopher:x"] {
        let server = Server::start(move |_, _| Reply::redirect(location));
        assert!(client(&server).get(&get(&server, "/x"), 100).await.is_err(), "{location}");
    }
    let server = Server::start(|_, _| Reply::new(302, ""));
    assert!(client(&server).get(&get(&server, "/x"), 100).await.is_err());
}

#[tokio::test]
async fn https_does_not_lead_to_http_and_http_needs_leave() {
    let plain = Server::start(|_, _| Reply::new(200, ""));
    let target = plain.url("/x");
    let server = Server::start_tls(move |_, _| Reply::redirect(&target));
    let request = Request::get(server.url("/x")).plain_http(true);
    let error = client(&server).get(&request, 100).await.unwrap_err();
    assert!(matches!(error, HttpError::Redirect { .. }), "{error}");
    let error = client(&plain).get(&Request::get(plain.url("/x")), 100).await.unwrap_err();
    assert!(matches!(error, HttpError::Address { .. }), "{error}");
    assert!(plain.asked().is_empty());
}

#[tokio::test]
async fn unknown_certificates_are_refused() {
    let server = Server::start_tls(|_, _| Reply::new(200, "ok"));
    let request = Request::get(server.url("/x")).retries(0);
    assert_eq!(client(&server).get_bytes(&request, 100).await.unwrap(), "ok");
    let strict = Client::new(ClientSettings::default());
    let error = strict.get(&request, 100).await.unwrap_err();
    assert!(error.is_unreachable() && error.to_string().contains("certificate"), "{error}");
}

#[tokio::test]
async fn what_fails_for_a_moment_is_tried_again() {
    for bad in [
        Reply::new(500, ""),
        Reply::new(429, "").header("Retry-After", "0"),
        Reply { hang_up: true, ..Reply::default() },
    ] {
        let server = Server::start(move |_, number| if number == 0 { bad.clone() } else { Reply::new(200, "ok") });
        assert_eq!(client(&server).get_bytes(&get(&server, "/x"), 100).await.unwrap(), "ok");
        assert_eq!(server.asked().len(), 2);
    }
}

#[tokio::test]
async fn what_keeps_failing_is_given_up_and_what_is_certain_is_not_tried_again() {
    let server = Server::start(|_, _| Reply::new(503, "busy"));
    let error = client(&server).get_bytes(&get(&server, "/x").retries(2), 100).await.unwrap_err();
    assert_eq!((error.status().unwrap().as_u16(), server.asked().len()), (503, 3));
    let server = Server::start(|_, _| Reply::new(404, ""));
    assert!(client(&server).get_bytes(&get(&server, "/x"), 100).await.is_err());
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn slow_servers_are_given_up() {
    let server = Server::start(|_, _| Reply { delay: Duration::from_secs(5), ..Reply::new(200, "late") });
    let request = get(&server, "/x").timeout(Duration::from_millis(50)).retries(0);
    let error = client(&server).get(&request, 100).await.unwrap_err();
    assert!(matches!(error, HttpError::Timeout { .. }), "{error}");
}

#[tokio::test]
async fn large_answers_are_refused() {
    let server = Server::start(|_, _| Reply::new(200, vec![b'x'; 101]));
    let error = client(&server).get(&get(&server, "/x"), 100).await.unwrap_err();
    assert!(matches!(error, HttpError::TooLarge { limit: 100, .. }), "{error}");
    let file = tempfile::tempfile().unwrap();
    let error = client(&server).download(&get(&server, "/x"), &file, 100, &Silent).await.unwrap_err();
    assert!(matches!(error, HttpError::TooLarge { limit: 100, .. }), "{error}");
    assert_eq!(file.metadata().unwrap().len(), 0);
}

#[tokio::test]
async fn nobody_there_is_an_error_that_names_the_address() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = url::Url::parse(&format!("http://user:hunter2@127.0.0.1:{port}/x")).unwrap();
    let error = Client::new(ClientSettings { retries: 0, ..ClientSettings::default() })
        .get(&Request::get(url).plain_http(true), 1)
        .await
        .unwrap_err();
    assert!(error.is_unreachable());
    let shown = error.to_string();
    assert!(shown.contains(&format!("127.0.0.1:{port}/x")) && !shown.contains("hunter2"), "{shown}");
}

#[derive(Default)]
struct Recorded(Mutex<Vec<String>>);

impl Progress for Recorded {
    fn started(&self, what: &str, total: Option<u64>) {
        self.0.lock().unwrap().push(format!("{what} {total:?}"));
    }
    fn advanced(&self, bytes: u64) {
        self.0.lock().unwrap().push(bytes.to_string());
    }
    fn finished(&self) {
        self.0.lock().unwrap().push("end".to_owned());
    }
}

#[tokio::test]
async fn a_download_is_hashed_on_its_way() {
    let body: Vec<u8> = (0..300_000_u32).map(|n| n as u8).collect();
    let sent = body.clone();
    let server = Server::start(move |_, _| Reply::new(200, sent.clone()));
    let mut file = tempfile::tempfile().unwrap();
    let progress = Recorded::default();
    let done = client(&server).download(&get(&server, "/dir/a.zip"), &file, 1 << 20, &progress).await.unwrap();
    assert_eq!((done.size, done.sha256), (300_000, Sha256::digest(&body).into()));
    let mut written = Vec::new();
    std::io::Seek::rewind(&mut file).unwrap();
    file.read_to_end(&mut written).unwrap();
    assert_eq!(written, body);
    let told = progress.0.lock().unwrap().clone();
    assert_eq!(told.first().unwrap(), "a.zip Some(300000)");
    assert_eq!(told.last().unwrap(), "end");
    let sum: u64 = told.iter().filter_map(|told| told.parse::<u64>().ok()).sum();
    assert_eq!(sum, 300_000);
}

#[tokio::test]
async fn a_broken_download_starts_again() {
    let server = Server::start(|_, number| match number {
        0 => Reply { promise: Some(1000), ..Reply::new(200, "the first half") },
        1 => Reply::new(502, ""),
        _ => Reply::new(200, "whole"),
    });
    let file = tempfile::tempfile().unwrap();
    let done = client(&server).download(&get(&server, "/x"), &file, 1 << 20, &Silent).await.unwrap();
    assert_eq!((done.size, file.metadata().unwrap().len()), (5, 5));
}

#[tokio::test]
async fn a_server_that_asks_for_a_pause_gets_it() {
    let server = Server::start(|_, number| match number {
        0 => Reply::new(429, "").header("Retry-After", "0"),
        _ => Reply::new(200, "whole"),
    });
    // Without having been asked, it would wait longer than the test does.
    let slow =
        ClientSettings { backoff: Duration::from_hours(1), max_backoff: Duration::from_hours(1), ..settings(&server) };
    let file = tempfile::tempfile().unwrap();
    let request = get(&server, "/x");
    let (slow, file) = (Client::new(slow), file);
    let download = slow.download(&request, &file, 100, &Silent);
    let done = tokio::time::timeout(Duration::from_mins(1), download).await.unwrap().unwrap();
    assert_eq!(done.size, 5);
}

#[tokio::test]
async fn a_download_that_stays_broken_is_an_error() {
    let server = Server::start(|_, _| Reply { promise: Some(1000), ..Reply::new(200, "half") });
    let file = tempfile::tempfile().unwrap();
    assert!(client(&server).download(&get(&server, "/x"), &file, 1 << 20, &Silent).await.is_err());
    assert_eq!(server.asked().len(), 3);
    let server = Server::start(|_, _| Reply::new(404, "gone"));
    let error = client(&server).download(&get(&server, "/x"), &file, 1 << 20, &Silent).await.unwrap_err();
    assert_eq!((error.status(), server.asked().len()), (Some(StatusCode::NOT_FOUND), 1));
}

#[tokio::test]
async fn a_download_that_stands_still_is_given_up() {
    let server = Server::start(|_, _| Reply { promise: Some(1000), ..Reply::new(200, "half") });
    // The server closes; one that does not would be given up by the idle time, which is tested by a listener alone.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = url::Url::parse(&format!("http://{}/x", listener.local_addr().unwrap())).unwrap();
    let quick = ClientSettings {
        request_timeout: Duration::from_millis(50),
        connect_timeout: Duration::from_millis(50),
        idle_timeout: Duration::from_millis(50),
        download_retries: 0,
        ..settings(&server)
    };
    let file = tempfile::tempfile().unwrap();
    let request = Request::get(url).plain_http(true);
    let error = Client::new(quick).download(&request, &file, 100, &Silent).await.unwrap_err();
    assert!(matches!(error, HttpError::Timeout { .. }), "{error}");
}

#[tokio::test]
async fn a_proxy_is_used_for_others_but_not_for_this_machine() {
    let proxy = Server::start(|asked, _| Reply::new(200, format!("proxied {}", asked.path)));
    let server = Server::start(|_, _| Reply::new(200, "direct"));
    let address = proxy.url("").to_string();
    let client = Client::new(ClientSettings {
        proxy: ProxySettings { http: Some(address), https: None, no_proxy: Some("internal.test".to_owned()) },
        retries: 0,
        ..ClientSettings::default()
    });
    let outside = Request::get(url::Url::parse("http://example.test/x").unwrap()).plain_http(true);
    assert_eq!(client.get_bytes(&outside, 100).await.unwrap(), "proxied http://example.test/x");
    assert_eq!(client.get_bytes(&get(&server, "/x"), 100).await.unwrap(), "direct");
    let bad = ProxySettings { http: Some("::".to_owned()), ..ProxySettings::default() };
    let error = Client::new(ClientSettings { proxy: bad, ..ClientSettings::default() }).get(&outside, 1).await;
    assert!(matches!(error, Err(HttpError::Setup(_))));
}

#[tokio::test]
async fn nothing_is_done_before_the_first_request() {
    let broken = ClientSettings { extra_roots: vec![b"-----BEGIN CERTIFICATE-----\nx".to_vec()], ..Default::default() };
    let client = Client::new(broken);
    assert_eq!(client.settings().retries, 1);
}
