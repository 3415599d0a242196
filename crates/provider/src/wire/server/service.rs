//! Finds who answers a call, by its path.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::Stream;
use prost::Message;
use tokio::sync::Notify;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::body::Body;
use tonic::server::Grpc;
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::service_fn;

use super::answers::Answered;
use super::companions;
use super::handlers::{Handlers, list};
use super::offer::Offer;
use crate::api::Provider;
use crate::wire::calls::Rpc;

/// Messages have no limit but what gRPC can say.
const MAX_MESSAGE_BYTES: usize = i32::MAX as usize;

/// Everything that a plugin answers.
#[derive(Clone)]
pub(super) struct PluginService {
    handlers: Arc<Handlers>,
    end: Arc<Notify>,
}

impl PluginService {
    pub(super) fn new(provider: Arc<dyn Provider>, offer: Offer, end: Arc<Notify>) -> Self {
        Self { handlers: Arc::new(Handlers { provider, offer }), end }
    }

    async fn answer(self, request: http::Request<Body>) -> http::Response<Body> {
        match Rpc::at_path(request.uri().path()) {
            Some((rpc, protocol)) if protocol == self.handlers.offer.protocol => {
                provider_call(self.handlers, rpc, request).await
            }
            _ => match companions::answer(&self.end, request).await {
                Ok(response) => response,
                Err(request) => Status::unimplemented(format!("unknown method {}", request.uri().path())).into_http(),
            },
        }
    }
}

impl tower::Service<http::Request<Body>> for PluginService {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}

async fn provider_call(handlers: Arc<Handlers>, rpc: Rpc, request: http::Request<Body>) -> http::Response<Body> {
    macro_rules! by_name {
        ($($call:ident => $method:ident,)*) => {
            match rpc {
                $(Rpc::$call => {
                    unary(request, move |message| {
                        let handlers = Arc::clone(&handlers);
                        async move { handlers.$method(message).await }
                    })
                    .await
                })*
                Rpc::ListResource => {
                    streaming(request, move |message| {
                        list(Arc::clone(&handlers), message).map(UnboundedReceiverStream::new)
                    })
                    .await
                }
            }
        };
    }
    by_name! {
        GetMetadata => get_metadata,
        GetProviderSchema => get_provider_schema,
        GetResourceIdentitySchemas => get_resource_identity_schemas,
        GetFunctions => get_functions,
        ValidateProviderConfig => validate_provider_config,
        ValidateResourceConfig => validate_resource_config,
        ValidateDataResourceConfig => validate_data_resource_config,
        ValidateEphemeralResourceConfig => validate_ephemeral_resource_config,
        ValidateListResourceConfig => validate_list_resource_config,
        ConfigureProvider => configure_provider,
        UpgradeResourceState => upgrade_resource_state,
        UpgradeResourceIdentity => upgrade_resource_identity,
        ReadResource => read_resource,
        PlanResourceChange => plan_resource_change,
        ApplyResourceChange => apply_resource_change,
        ImportResourceState => import_resource_state,
        MoveResourceState => move_resource_state,
        GenerateResourceConfig => generate_resource_config,
        ReadDataSource => read_data_source,
        OpenEphemeralResource => open_ephemeral_resource,
        RenewEphemeralResource => renew_ephemeral_resource,
        CloseEphemeralResource => close_ephemeral_resource,
        CallFunction => call_function,
        StopProvider => stop_provider,
    }
}

fn grpc<Q, R>() -> Grpc<ProstCodec<R, Q>>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    Grpc::new(ProstCodec::default())
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES)
}

/// One question, one answer. The work goes on if the host hangs up: half an apply is worse than one without an audience.
pub(super) async fn unary<Q, R, F>(
    request: http::Request<Body>,
    answer: impl Fn(Q) -> F + Send + Sync + Clone + 'static,
) -> http::Response<Body>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
    F: Future<Output = Answered<R>> + Send + 'static,
{
    let service = service_fn(move |request: Request<Q>| {
        let work = tokio::spawn(answer(request.into_inner()));
        async move { work.await.map_err(|error| panicked(&error))?.map(Response::new) }
    });
    grpc::<Q, R>().unary(service, request).await
}

fn panicked(error: &tokio::task::JoinError) -> Status {
    Status::internal(format!("the provider failed: {error}"))
}

/// One question, any number of answers.
pub(super) async fn streaming<Q, R, S>(
    request: http::Request<Body>,
    answer: impl Fn(Q) -> Answered<S> + Send + Sync + Clone + 'static,
) -> http::Response<Body>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
    S: Stream<Item = Answered<R>> + Send + 'static,
{
    let service =
        service_fn(move |request: Request<Q>| std::future::ready(answer(request.into_inner()).map(Response::new)));
    grpc::<Q, R>().server_streaming(service, request).await
}

/// Any number of questions, which nobody reads, and of answers.
pub(super) async fn bidirectional<Q, R>(
    request: http::Request<Body>,
    answers: impl Stream<Item = Answered<R>> + Send + Clone + 'static,
) -> http::Response<Body>
where
    Q: Message + Default + 'static,
    R: Message + 'static,
{
    let service =
        service_fn(move |_: Request<Streaming<Q>>| std::future::ready(Ok::<_, Status>(Response::new(answers.clone()))));
    grpc::<Q, R>().streaming(service, request).await
}
