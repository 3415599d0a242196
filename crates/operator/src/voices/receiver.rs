//! Who has a repository tells us here that something is new: `POST /hooks/NAMESPACE/STACK`, signed. All that comes of it is that it is
//! looked; so nothing of what is sent is read but its signature, and who sends it again harms nobody.

pub(crate) mod signature;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::bundle::Content;
use signature::{Check, Event, event};

/// How long somebody may take to begin.
const PATIENCE: Duration = Duration::from_secs(10);
/// And to send everything.
const MOST_PATIENCE: Duration = Duration::from_secs(30);
/// GitHub sends no more than that. Nothing of it is kept.
const MOST_BYTES: u64 = 25 << 20;
/// How many are heard at once.
const AT_ONCE: usize = 32;

/// Who is told, and who knows the secrets.
#[async_trait]
pub(crate) trait Ears: Send + Sync + 'static {
    /// What calls about a Stack are signed with. None if nobody calls about it.
    async fn secret(&self, namespace: &str, stack: &str) -> Option<Content>;

    /// Something has happened.
    fn heard(&self, namespace: &str, stack: &str, event: Event);

    /// Somebody has called who has not the secret.
    async fn refused(&self, namespace: &str, stack: &str);
}

/// Listens until it is dropped.
pub(crate) async fn listen(address: SocketAddr, ears: Arc<dyn Ears>) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    tracing::info!(address = %listener.local_addr()?, "webhooks are heard");
    serve(listener, ears).await
}

async fn serve(listener: TcpListener, ears: Arc<dyn Ears>) -> std::io::Result<()> {
    let room = Arc::new(Semaphore::new(AT_ONCE));
    loop {
        let Ok(turn) = Arc::clone(&room).acquire_owned().await else { return Ok(()) };
        let (stream, _) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(problem) => {
                // Too many open files, and the like: that passes.
                tracing::warn!(%problem, "a call was not heard");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let ears = Arc::clone(&ears);
        tokio::spawn(async move {
            let _turn = turn;
            let service = service_fn(move |request| {
                let ears = Arc::clone(&ears);
                async move { Ok::<_, Infallible>(answer_to(request, &*ears).await) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(PATIENCE).keep_alive(false);
            // Whoever went away while we answered does not want to know.
            let _ =
                tokio::time::timeout(PATIENCE + MOST_PATIENCE, server.serve_connection(TokioIo::new(stream), service))
                    .await;
        });
    }
}

type Answer = Response<Full<Bytes>>;

async fn answer_to(request: Request<Incoming>, ears: &dyn Ears) -> Answer {
    let path = request.uri().path().to_owned();
    let Some((namespace, stack)) = path.strip_prefix("/hooks/").and_then(|rest| rest.split_once('/')) else {
        return said(StatusCode::NOT_FOUND);
    };
    if request.method() != Method::POST {
        return said(StatusCode::METHOD_NOT_ALLOWED);
    }
    if request.body().size_hint().lower() > MOST_BYTES {
        return said(StatusCode::PAYLOAD_TOO_LARGE);
    }
    // Whether there is such a Stack is nobody's business who has not its secret.
    let Some(secret) = ears.secret(namespace, stack).await else {
        ears.refused(namespace, stack).await;
        return said(StatusCode::UNAUTHORIZED);
    };
    let event = event(request.headers());
    let Some(check) = Check::new(request.headers(), &secret.0) else {
        ears.refused(namespace, stack).await;
        return said(StatusCode::UNAUTHORIZED);
    };
    match tokio::time::timeout(MOST_PATIENCE, check_all(check, request.into_body())).await {
        Err(_) => said(StatusCode::REQUEST_TIMEOUT),
        Ok(Err(status)) => said(status),
        Ok(Ok(false)) => {
            ears.refused(namespace, stack).await;
            said(StatusCode::UNAUTHORIZED)
        }
        Ok(Ok(true)) => {
            ears.heard(namespace, stack, event);
            said(if event == Event::Other { StatusCode::OK } else { StatusCode::ACCEPTED })
        }
    }
}

/// Whether a body is signed as it should be.
async fn check_all(mut check: Check, mut body: Incoming) -> Result<bool, StatusCode> {
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
        let Some(part) = frame.data_ref() else { continue };
        length += part.len() as u64;
        if length > MOST_BYTES {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        check.update(part);
    }
    Ok(check.holds())
}

/// A status, and its name: details are nobody's business.
fn said(status: StatusCode) -> Answer {
    let text = format!("{}\n", status.canonical_reason().unwrap_or_default());
    let mut answer = Response::new(Full::new(Bytes::from(text)));
    *answer.status_mut() = status;
    answer
}
