//! The data sources of the built-in `http` and `external` providers against the oldest published plugins, the only ones
//! that can be built.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use groma_builtin::Outside;
use groma_interchange::Driven;
use serde_json::json;

/// Answers every request with the same text.
fn serve(count: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/path", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(count) {
            let mut stream = stream.unwrap();
            let mut buffer = [0; 4096];
            let length = stream.read(&mut buffer).unwrap();
            let asked = String::from_utf8_lossy(&buffer[..length]).to_lowercase();
            let body = if asked.contains("x-me: yes") { "told" } else { "untold" };
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\nx-two: a\r\nconnection: close";
            write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    url
}

#[tokio::test]
async fn both_get_the_same_answer() {
    let outside = Outside { environment: std::sync::Arc::default(), ..Outside::system(".") };
    let ours = Driven::builtin("http", &outside).await;
    let old = Driven::plugin("GROMA_PROVIDER_HTTP").await;
    let given = json!({"url": serve(2), "request_headers": {"X-Me": "yes"}});
    let ((mine, told), (theirs, _)) = (ours.data("http", &given).await, old.data("http", &given).await);
    assert!(told.is_empty(), "{told:?}");
    for name in ["url", "request_headers", "body"] {
        assert_eq!(mine[name], theirs[name], "{name}");
    }
    assert_eq!(mine["id"], mine["url"]);
    assert_eq!(mine["response_headers"]["Content-Type"], "text/plain; charset=utf-8");
}

#[tokio::test]
async fn both_run_the_same_programs() {
    let ours = Driven::builtin("external", &Outside::system(".")).await;
    let old = Driven::plugin("GROMA_PROVIDER_EXTERNAL").await;
    for given in [
        json!({"program": ["cat"], "query": {"a": "1", "b": "<&>"}}),
        json!({"program": ["sh", "-c", "pwd | sed 's/.*/{\"at\": \"&\"}/'"], "working_dir": "/", "query": {}}),
    ] {
        let ((mine, told), (theirs, _)) = (ours.data("external", &given).await, old.data("external", &given).await);
        assert!(told.is_empty(), "{told:?}");
        assert_eq!(mine["result"], theirs["result"], "{given}");
        assert_eq!(mine["program"], theirs["program"], "{given}");
    }
    for given in
        [json!({"program": ["false"]}), json!({"program": ["echo", "nonsense"]}), json!({"program": ["no-such"]})]
    {
        let (mine, theirs) = (ours.data("external", &given).await.1, old.data("external", &given).await.1);
        assert_eq!((mine.len(), theirs.len()), (1, 1), "{given}");
    }
}
