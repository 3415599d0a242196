//! What go-plugin wants of every plugin beside its own service. Providers need none of it, but hosts open the streams and
//! complain if there are none.

use std::sync::Arc;

use futures_util::stream::{self, Pending};
use tokio::sync::Notify;
use tonic::Status;
use tonic::body::Body;

use super::service::{bidirectional, streaming, unary};
use crate::wire::generated::plugin::{
    ConnInfo, Empty, HealthCheckRequest, HealthCheckResponse, StdioData, health_check_response::ServingStatus,
};

/// How the provider is called in questions about its health.
const SERVICE: &str = "plugin";

/// Answers a call, if it is one of these.
pub(super) async fn answer(
    end: &Arc<Notify>,
    request: http::Request<Body>,
) -> Result<http::Response<Body>, http::Request<Body>> {
    match request.uri().path() {
        crate::wire::connection::SHUTDOWN => {
            let end = Arc::clone(end);
            Ok(unary(request, move |_: Empty| {
                let end = Arc::clone(&end);
                async move {
                    end.notify_one();
                    Ok(Empty {})
                }
            })
            .await)
        }
        // What we print goes to the log, so nothing ever comes.
        "/plugin.GRPCStdio/StreamStdio" => Ok(streaming(request, |_: Empty| Ok(never::<StdioData>())).await),
        "/plugin.GRPCBroker/StartStream" => Ok(bidirectional::<ConnInfo, ConnInfo>(request, never()).await),
        "/grpc.health.v1.Health/Check" => Ok(unary(request, |asked| async move { health(&asked) }).await),
        _ => Err(request),
    }
}

fn never<T>() -> Pending<Result<T, Status>> {
    stream::pending()
}

fn health(asked: &HealthCheckRequest) -> Result<HealthCheckResponse, Status> {
    if asked.service.is_empty() || asked.service == SERVICE {
        Ok(HealthCheckResponse { status: ServingStatus::Serving.into() })
    } else {
        Err(Status::not_found(format!("there is no service {:?}", asked.service)))
    }
}
