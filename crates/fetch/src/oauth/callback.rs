//! A port of this machine that the browser is sent to at the end of a login. Whoever can reach it may connect, so only an answer
//! that knows the secret of this login counts.

use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use url::Url;

use super::{OauthError, printable};

/// The head of a request that is not whole by then is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// No browser sends more.
const MAX_HEAD: usize = 64 << 10;

const DONE: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>groma login</title></head>\n\
                    <body><p>The login was successful. You can close this page and go back to the terminal.</p></body></html>\n";

/// A port that waits for the browser.
pub(super) struct Callback {
    listener: TcpListener,
    port: u16,
}

/// What a request to the port means.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    Code(String),
    Refusal(String),
    Nothing,
}

impl Callback {
    /// Takes a free port. Where to begin is left to chance, so that two logins are not after the same one.
    pub(super) async fn listen(ports: RangeInclusive<u16>) -> Result<Self, OauthError> {
        let (first, last) = (*ports.start(), *ports.end());
        let mut bytes = [0; 4];
        getrandom::fill(&mut bytes).map_err(|error| OauthError::NoRandom(error.to_string()))?;
        let count = u32::from(last - first) + 1;
        let start = u32::from_ne_bytes(bytes) % count;
        for step in 0..count {
            let Ok(offset) = u16::try_from((start + step) % count) else { continue };
            let port = first + offset;
            if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                return Ok(Self { listener, port });
            }
        }
        Err(OauthError::NoPort { first, last })
    }

    /// What the host is told. Some hosts want no slash at the end.
    pub(super) fn url(&self) -> String {
        format!("http://localhost:{}/login", self.port)
    }

    /// Waits for the code. Connections are served side by side: browsers open some that they never use.
    pub(super) async fn wait(self, state: &str) -> Result<String, OauthError> {
        let (sender, mut meanings) = mpsc::channel(1);
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let (stream, _) = accepted.map_err(|error| OauthError::Callback(error.to_string()))?;
                    let (state, sender) = (state.to_owned(), sender.clone());
                    tokio::spawn(async move {
                        if let Ok(Some(meaning)) = tokio::time::timeout(PATIENCE, serve(stream, &state)).await {
                            let _ = sender.send(meaning).await;
                        }
                    });
                }
                meaning = meanings.recv() => match meaning {
                    Some(Meaning::Code(code)) => return Ok(code),
                    Some(Meaning::Refusal(reason)) => return Err(OauthError::Refused(reason)),
                    Some(Meaning::Nothing) | None => {}
                },
            }
        }
    }
}

/// Answers one request. None if it is not ours.
async fn serve(mut stream: TcpStream, state: &str) -> Option<Meaning> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await.ok()?;
        if count == 0 || head.len() + count > MAX_HEAD {
            return None;
        }
        head.extend_from_slice(&buffer[..count]);
    }
    let line = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
    let meaning = meaning(&line, state);
    let (status, body) = match &meaning {
        Meaning::Code(_) => ("200 OK", DONE.to_owned()),
        Meaning::Refusal(_) => ("200 OK", "The login was refused. You can close this page.\n".to_owned()),
        Meaning::Nothing => ("400 Bad Request", String::new()),
    };
    let kind = if matches!(meaning, Meaning::Code(_)) { "text/html" } else { "text/plain" };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await.ok()?;
    stream.flush().await.ok()?;
    (meaning != Meaning::Nothing).then_some(meaning)
}

/// `GET /login?state=…&code=… HTTP/1.1`
fn meaning(line: &str, state: &str) -> Meaning {
    let target = line.split(' ').nth(1).unwrap_or_default();
    let Ok(url) = Url::parse("http://localhost/").and_then(|base| base.join(target)) else { return Meaning::Nothing };
    let field = |wanted: &str| {
        let mut pairs = url.query_pairs();
        pairs.find(|(name, value)| name == wanted && !value.is_empty()).map(|(_, value)| value.into_owned())
    };
    if field("state").as_deref() != Some(state) {
        tracing::warn!("login: a request without the secret of this login was refused");
        return Meaning::Nothing;
    }
    match (field("code"), field("error")) {
        (Some(code), _) => Meaning::Code(code),
        (None, Some(error)) => {
            let reason = field("error_description").map_or(error.clone(), |more| format!("{error}: {more}"));
            Meaning::Refusal(printable(&reason))
        }
        (None, None) => Meaning::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_answers_with_the_secret_count() {
        assert_eq!(meaning("GET /login?state=s&code=c%20d HTTP/1.1", "s"), Meaning::Code("c d".to_owned()));
        assert_eq!(meaning("GET /login?state=x&code=c HTTP/1.1", "s"), Meaning::Nothing);
        assert_eq!(meaning("GET /login?code=c HTTP/1.1", "s"), Meaning::Nothing);
        assert_eq!(meaning("GET /login?state=s&code= HTTP/1.1", "s"), Meaning::Nothing);
        assert_eq!(
            meaning("GET /login?state=s&error=access_denied&error_description=no HTTP/1.1", "s"),
            Meaning::Refusal("access_denied: no".to_owned())
        );
        assert_eq!(meaning("garbage", "s"), Meaning::Nothing);
        assert_eq!(meaning("", "s"), Meaning::Nothing);
    }
}
