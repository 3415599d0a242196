//! Making one call by its path.

use http::uri::PathAndQuery;
use prost::{DecodeError, Message};
use tonic::client::Grpc;
use tonic::codec::Streaming;
use tonic::transport::Channel;
use tonic::{Request, Status};

use super::codec::{Answered, MessageCodec};

/// Messages have no limit but what gRPC can say.
const MAX_MESSAGE_BYTES: usize = i32::MAX as usize;

fn client(channel: &Channel) -> Grpc<Channel> {
    Grpc::new(channel.clone()).max_decoding_message_size(MAX_MESSAGE_BYTES).max_encoding_message_size(MAX_MESSAGE_BYTES)
}

async fn ready(client: &mut Grpc<Channel>) -> Result<(), Status> {
    client.ready().await.map_err(|error| Status::from_error(Box::new(error)))
}

/// Makes a call with one answer. The outer error is the connection's or the plugin's, the inner one says that the answer
/// is none.
pub(in crate::wire) async fn unary<Q, R>(
    channel: &Channel,
    path: &'static str,
    request: Q,
) -> Result<Result<R, DecodeError>, Status>
where
    Q: Message + 'static,
    R: Answered,
{
    let mut client = client(channel);
    ready(&mut client).await?;
    let path = PathAndQuery::from_static(path);
    let answer = client.unary(Request::new(request), path, MessageCodec::<Q, R>::default()).await?;
    Ok(answer.into_inner())
}

/// Makes a call with any number of answers.
pub(in crate::wire) async fn streaming<Q, R>(
    channel: &Channel,
    path: &'static str,
    request: Q,
) -> Result<Streaming<Result<R, DecodeError>>, Status>
where
    Q: Message + 'static,
    R: Answered,
{
    let mut client = client(channel);
    ready(&mut client).await?;
    let path = PathAndQuery::from_static(path);
    let answer = client.server_streaming(Request::new(request), path, MessageCodec::<Q, R>::default()).await?;
    Ok(answer.into_inner())
}
