//! Calls as servers make them, over a real connection.

use std::sync::Mutex;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::voices::webhooks::call::signature as signed;

const SECRET: &str = "It's a Secret to Everybody";
const BODY: &str = r#"{"ref":"refs/heads/main","after":"aaaa","repository":{"full_name":"acme/infra"}}"#;

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

#[async_trait]
impl Ears for Heard {
    async fn secret(&self, namespace: &str, stack: &str) -> Option<Content> {
        ((namespace, stack) == ("team", "app")).then(|| Content(SECRET.as_bytes().to_vec()))
    }

    fn heard(&self, namespace: &str, stack: &str, event: Event) {
        self.0.lock().unwrap().push(format!("{namespace}/{stack} {event:?}"));
    }

    async fn refused(&self, namespace: &str, stack: &str) {
        self.0.lock().unwrap().push(format!("{namespace}/{stack} refused"));
    }
}

async fn call(head: &str, headers: &[(&str, &str)], body: &str) -> (String, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Arc::new(Heard::default());
    let server = tokio::spawn(serve(listener, Arc::clone(&heard) as Arc<dyn Ears>));
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut text = format!("{head} HTTP/1.1\r\nHost: hooks\r\n");
    for (name, value) in headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    if !headers.iter().any(|(name, _)| *name == "Content-Length") {
        text.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
    }
    stream.write_all(format!("{text}\r\n{body}").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    server.abort();
    let heard = heard.0.lock().unwrap().clone();
    (answer.lines().next().unwrap_or_default().trim_start_matches("HTTP/1.1 ").to_owned(), heard)
}

const HOOK: &str = "POST /hooks/team/app";

#[tokio::test]
async fn calls_with_the_secret_are_heard() {
    let signature = signed(SECRET.as_bytes(), BODY.as_bytes());
    let plain = signature.trim_start_matches("sha256=");
    for (headers, event, status) in [
        (vec![("X-GitHub-Event", "push"), ("X-Hub-Signature-256", signature.as_str())], "Push", "202 Accepted"),
        (vec![("X-GitHub-Event", "ping"), ("X-Hub-Signature-256", signature.as_str())], "Other", "200 OK"),
        (vec![("X-Gitea-Event", "pull_request"), ("X-Gitea-Signature", plain)], "PullRequest", "202 Accepted"),
        (vec![("X-Forgejo-Event", "push"), ("X-Forgejo-Signature", plain)], "Push", "202 Accepted"),
        (vec![("X-Gitlab-Event", "Merge Request Hook"), ("X-Gitlab-Token", SECRET)], "PullRequest", "202 Accepted"),
    ] {
        let (said, heard) = call(HOOK, &headers, BODY).await;
        assert_eq!((said.as_str(), heard), (status, vec![format!("team/app {event}")]), "{headers:?}");
    }
}

#[tokio::test]
async fn calls_without_the_secret_are_refused_in_the_same_words() {
    let signature = signed(b"another", BODY.as_bytes());
    let other_body = signed(SECRET.as_bytes(), b"{}");
    for headers in [
        vec![("X-GitHub-Event", "push"), ("X-Hub-Signature-256", signature.as_str())],
        vec![("X-GitHub-Event", "push"), ("X-Hub-Signature-256", other_body.as_str())],
        vec![("X-GitHub-Event", "push")],
        vec![("X-Gitlab-Event", "Push Hook"), ("X-Gitlab-Token", "It's a Secret")],
    ] {
        let (said, heard) = call(HOOK, &headers, BODY).await;
        assert_eq!((said.as_str(), heard), ("401 Unauthorized", vec!["team/app refused".to_owned()]), "{headers:?}");
    }
    let right = signed(SECRET.as_bytes(), BODY.as_bytes());
    let (said, _) = call("POST /hooks/team/unknown", &[("X-Hub-Signature-256", &right)], BODY).await;
    assert_eq!(said, "401 Unauthorized", "nobody learns which Stacks there are");
}

#[tokio::test]
async fn nothing_else_is_answered() {
    assert_eq!(call("GET /hooks/team/app", &[], "").await.0, "405 Method Not Allowed");
    assert_eq!(call("POST /metrics", &[], "").await.0, "404 Not Found");
    let large = (MOST_BYTES + 1).to_string();
    let (said, heard) = call(HOOK, &[("Content-Length", &large), ("X-Gitlab-Token", SECRET)], "").await;
    assert_eq!((said.as_str(), heard.len()), ("413 Payload Too Large", 0));
}
