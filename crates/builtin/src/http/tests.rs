//! The `http` provider against a server that misbehaves.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::drive::Driver;
use crate::kit::outside::Outside;
use crate::served::{Reply, Server};

fn driver() -> Driver {
    // No proxy of this machine's environment may come between.
    let outside = Outside { environment: std::sync::Arc::default(), ..Outside::system(".") };
    Driver::new((super::BUILTIN.make)(&outside))
}

#[tokio::test]
async fn answers_are_taken_as_they_are() {
    let server = Server::start(|asked| {
        Reply::new(201, format!("{} {}", asked.method, asked.body)).header("x-two", "a").header("x-two", "b")
    })
    .await;
    let config = json!({
        "url": server.url, "method": "POST", "request_body": "q", "request_headers": {"X-Me": "1", "Host": "other"},
    });
    let data = driver().data("http", config).await.json();
    assert_eq!(data["status_code"], 201);
    assert_eq!(data["response_body"], "POST q");
    assert_eq!(data["body"], "POST q");
    assert_eq!(data["response_body_base64"], "UE9TVCBx");
    assert_eq!(data["response_headers"]["X-Two"], "a, b");
    assert_eq!(data["response_headers"]["Content-Length"], "6");
    assert_eq!(data["id"], server.url.as_str());
    assert_eq!(data["method"], "POST");
    assert!(data["retry"].is_null());
    let asked = &server.asked()[0];
    assert_eq!((asked.headers["x-me"].as_str(), asked.headers["host"].as_str()), ("1", "other"));
}

#[tokio::test]
async fn errors_of_servers_end_after_the_attempts() {
    let server = Server::start(|_| Reply::new(500, "")).await;
    let plain = driver().try_data("http", json!({"url": server.url})).await;
    let first = plain.diagnostics.iter().next().unwrap();
    assert_eq!(first.summary, "Error making request");
    assert_eq!(first.detail, format!("Error making request: GET {} giving up after 1 attempt(s)", server.url));
    let config = json!({"url": server.url, "retry": {"attempts": 2, "min_delay_ms": 1, "max_delay_ms": 2}});
    let retried = driver().try_data("http", config).await;
    assert!(retried.diagnostics.iter().next().unwrap().detail.ends_with("giving up after 3 attempt(s)"));
    assert_eq!(server.asked().len(), 4);
    let not_implemented = Server::start(|_| Reply::new(501, "")).await;
    assert_eq!(driver().data("http", json!({"url": not_implemented.url})).await.json()["status_code"], 501);
    let missing = Server::start(|_| Reply::new(404, "none")).await;
    assert_eq!(driver().data("http", json!({"url": missing.url})).await.json()["response_body"], "none");
}

#[tokio::test]
async fn passing_troubles_pass() {
    let count = AtomicU32::new(0);
    let server = Server::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::broken(),
        1 => Reply::new(429, "").header("retry-after", "0"),
        2 => Reply::new(503, ""),
        _ => Reply::new(200, "ok"),
    })
    .await;
    let config = json!({"url": server.url, "retry": {"attempts": 5, "min_delay_ms": 1, "max_delay_ms": 2}});
    assert_eq!(driver().data("http", config).await.text("response_body"), "ok");
    assert_eq!(server.asked().len(), 4);
}

#[tokio::test]
async fn slow_servers_are_not_waited_for() {
    let server = Server::start(|_| Reply::new(200, "late").late(Duration::from_secs(20))).await;
    let response = driver().try_data("http", json!({"url": server.url, "request_timeout_ms": 100})).await;
    let detail = &response.diagnostics.iter().next().unwrap().detail;
    assert!(detail.starts_with("request exceeded the specified timeout: 100ms, err: "), "{detail}");
}

#[tokio::test]
async fn what_is_not_text_is_a_warning() {
    let server = Server::start(|_| Reply::new(200, vec![0xff, 0xfe])).await;
    let response = driver().try_data("http", json!({"url": server.url})).await;
    assert!(!response.diagnostics.has_errors());
    assert_eq!(response.diagnostics.iter().next().unwrap().summary, "Response body is not recognized as UTF-8");
}

#[tokio::test]
async fn mistakes_are_named() {
    for (config, summary) in [
        (json!({"url": "x", "method": "PUT"}), "Invalid Attribute Value Match"),
        (json!({"url": "x", "client_key_pem": "k"}), "Invalid Attribute Combination"),
        (json!({"url": "x", "ca_cert_pem": "k", "insecure": false}), "Invalid Attribute Combination"),
        (json!({"url": "x", "retry": {"min_delay_ms": 5, "max_delay_ms": 2}}), "Invalid Attribute Value"),
        (json!({"url": "x", "ca_cert_pem": "k"}), "Error configuring TLS client"),
        (json!({"url": "x", "client_key_pem": "k", "client_cert_pem": "c"}), "error creating x509 key pair"),
        (json!({"url": "x"}), "Error creating request"),
        (json!({"url": "http://127.0.0.1:1/", "request_headers": {"a b": ""}}), "Error creating request"),
        (json!({"url": "http://127.0.0.1:1/"}), "Error making request"),
    ] {
        let response = driver().try_data("http", config.clone()).await;
        assert_eq!(response.diagnostics.iter().next().unwrap().summary, summary, "{config}");
    }
}

#[tokio::test]
async fn proxies_of_the_environment_are_used() {
    let proxy = Server::start(|asked| Reply::new(200, format!("for {}", asked.path))).await;
    let direct = Server::start(|_| Reply::new(200, "direct")).await;
    let variables = [("HTTP_PROXY", proxy.url.as_str()), ("no_proxy", "127.0.0.1")];
    let environment = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let outside = Outside { environment: std::sync::Arc::new(environment), ..Outside::system(".") };
    let driver = Driver::new((super::BUILTIN.make)(&outside));
    let data = driver.data("http", json!({"url": "http://nowhere.invalid/x"})).await;
    assert_eq!(data.text("response_body"), "for http://nowhere.invalid/x");
    assert_eq!(driver.data("http", json!({"url": direct.url})).await.text("response_body"), "direct");
}
