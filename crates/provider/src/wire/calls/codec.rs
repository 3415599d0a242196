//! Messages in and out of a gRPC stream. Unlike the usual codec, this one gives bytes that are no message to the caller as
//! such, so that a nonsensical answer is not mistaken for a broken connection.

use std::marker::PhantomData;

use bytes::{Buf as _, Bytes};
use prost::{DecodeError, Message};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// What an answer is read as.
pub(in crate::wire) trait Answered: Sized + Send + Sync + 'static {
    /// Reads it.
    fn read(bytes: &mut DecodeBuf<'_>) -> Result<Self, DecodeError>;
}

impl<M: Message + Default + 'static> Answered for M {
    fn read(bytes: &mut DecodeBuf<'_>) -> Result<Self, DecodeError> {
        M::decode(bytes)
    }
}

/// An answer as it is, not read at all.
#[derive(Debug, Clone)]
pub(in crate::wire) struct Raw(pub(in crate::wire) Bytes);

impl Answered for Raw {
    fn read(bytes: &mut DecodeBuf<'_>) -> Result<Self, DecodeError> {
        Ok(Self(bytes.copy_to_bytes(bytes.remaining())))
    }
}

/// Sends `Q`, gets `R`.
pub(in crate::wire) struct MessageCodec<Q, R>(PhantomData<fn() -> (Q, R)>);

impl<Q, R> Default for MessageCodec<Q, R> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<Q: Message + 'static, R: Answered> Codec for MessageCodec<Q, R> {
    type Encode = Q;
    type Decode = Result<R, DecodeError>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self::Encoder {
        Self::default()
    }

    fn decoder(&mut self) -> Self::Decoder {
        Self::default()
    }
}

impl<Q: Message + 'static, R: Answered> Encoder for MessageCodec<Q, R> {
    type Item = Q;
    type Error = Status;

    fn encode(&mut self, item: Q, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        // Large objects would make the buffer grow again and again.
        into.reserve(item.encoded_len());
        item.encode(into).map_err(|error| Status::internal(error.to_string()))
    }
}

impl<Q: Message + 'static, R: Answered> Decoder for MessageCodec<Q, R> {
    type Item = Result<R, DecodeError>;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Self::Item>, Status> {
        let read = R::read(from);
        if read.is_err() {
            // What was not read must not be taken for the next message.
            from.advance(from.remaining());
        }
        Ok(Some(read))
    }
}
