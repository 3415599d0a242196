//! Whether the operator is well, and its figures, over http: `/healthz`, `/readyz` and `/metrics`. Nothing else is answered.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;

use crate::metrics::Metrics;

/// How long somebody may take to ask.
const PATIENCE: Duration = Duration::from_secs(10);

type Answer = Response<http_body_util::Full<Bytes>>;

/// Answers until it is dropped.
pub(crate) async fn answer(address: SocketAddr, metrics: Arc<Metrics>) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    tracing::info!(address = %listener.local_addr()?, "figures are told");
    loop {
        let (stream, _) = listener.accept().await?;
        let metrics = Arc::clone(&metrics);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let answer = answer_to(&request, &metrics);
                async move { Ok::<_, Infallible>(answer) }
            });
            let mut server = http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(PATIENCE).keep_alive(false);
            // Whoever went away while we answered does not want to know.
            let _ = server.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

fn answer_to(request: &Request<Incoming>, metrics: &Metrics) -> Answer {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return said(StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET\n".to_owned());
    }
    match request.uri().path() {
        "/healthz" | "/readyz" => said(StatusCode::OK, "text/plain", "ok\n".to_owned()),
        "/metrics" => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            said(StatusCode::OK, kind, metrics.text())
        }
        _ => said(StatusCode::NOT_FOUND, "text/plain", "not here\n".to_owned()),
    }
}

fn said(status: StatusCode, kind: &'static str, text: String) -> Answer {
    let mut answer = Response::new(http_body_util::Full::new(Bytes::from(text)));
    *answer.status_mut() = status;
    answer.headers_mut().insert(hyper::header::CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    answer
}
