//! One call to a plugin, and everything that can go wrong with it.

use std::error::Error as _;
use std::future::Future;
use std::time::Duration;

use groma_model::diag::Diagnostics;
use groma_model::value::Value;
use prost::{DecodeError, Message};
use tonic::codec::Streaming;
use tonic::{Code, Status};

use crate::api::{Answer, CallError};
use crate::wire::calls::{self, Answered, Rpc};
use crate::wire::connection::Connection;
use crate::wire::convert;
use crate::wire::generated::tfplugin as wire;
use crate::wire::plugin::schema::Typed;

/// An answer may still be on its way when its sender is already dead.
const LAST_ANSWER: Duration = Duration::from_millis(250);

impl Rpc {
    /// Whether it reaches no further than the plugin itself.
    fn is_quick(self) -> bool {
        match self {
            Self::GetMetadata
            | Self::GetProviderSchema
            | Self::GetResourceIdentitySchemas
            | Self::GetFunctions
            | Self::ValidateProviderConfig
            | Self::ValidateResourceConfig
            | Self::ValidateDataResourceConfig
            | Self::ValidateEphemeralResourceConfig
            | Self::ValidateListResourceConfig
            | Self::UpgradeResourceState
            | Self::UpgradeResourceIdentity
            | Self::MoveResourceState
            | Self::GenerateResourceConfig
            | Self::CallFunction
            | Self::StopProvider => true,
            Self::ConfigureProvider
            | Self::ReadResource
            | Self::PlanResourceChange
            | Self::ApplyResourceChange
            | Self::ImportResourceState
            | Self::ReadDataSource
            | Self::OpenEphemeralResource
            | Self::RenewEphemeralResource
            | Self::CloseEphemeralResource
            | Self::ListResource => false,
        }
    }
}

/// Makes calls over a connection.
#[derive(Clone, Copy)]
pub(super) struct Caller<'a> {
    connection: &'a Connection,
    rpc: Rpc,
    /// For which resource type or function.
    about: &'a str,
}

impl<'a> Caller<'a> {
    pub(super) fn new(connection: &'a Connection, rpc: Rpc, about: &'a str) -> Self {
        Self { connection, rpc, about }
    }

    /// Remembers what of a value the schema hides.
    pub(super) fn learn(self, value: &Value, typed: &Typed) {
        if typed.has_secrets {
            self.connection.secrets.learn_declared(value, &typed.schema.block);
        }
    }

    /// How messages name the call.
    pub(super) fn call(self) -> &'static str {
        self.rpc.name(self.connection.protocol)
    }

    fn path(self) -> &'static str {
        self.rpc.path(self.connection.protocol)
    }

    fn provider(self) -> String {
        self.connection.name.clone()
    }

    /// Makes the call and waits for its answer.
    pub(super) async fn ask<Q: Message + 'static, R: Answered>(self, request: Q) -> Answer<R> {
        let answer = self.patiently(calls::unary(&self.connection.channel, self.path(), request)).await?;
        answer.map_err(|error| self.nonsense(&error))
    }

    /// Makes a call that is answered bit by bit.
    pub(super) async fn open_stream<Q: Message + 'static, R: Answered>(self, request: Q) -> Answer<Answers<'a, R>> {
        let opened = calls::streaming(&self.connection.channel, self.path(), request);
        let stream = self.patiently(opened).await?;
        Ok(Answers { caller: self, stream })
    }

    /// Waits for an answer, but not for one that cannot come any more.
    async fn patiently<T>(self, answer: impl Future<Output = Result<T, Status>>) -> Answer<T> {
        let timeouts = self.connection.settings.timeouts;
        let limit = if self.rpc.is_quick() { timeouts.quick } else { timeouts.slow };
        let watched = self.while_alive(answer);
        let answered = match limit {
            None => watched.await,
            Some(limit) => match tokio::time::timeout(limit, watched).await {
                Ok(answered) => answered,
                Err(_) => return Err(self.timed_out(limit)),
            },
        };
        match answered {
            Some(Ok(answer)) => Ok(answer),
            Some(Err(status)) => Err(self.failed(&status).await),
            None => Err(self.gone("it ended without an answer".to_owned()).await),
        }
    }

    /// None if the process dies first. The transport may not notice that for a long time.
    async fn while_alive<T>(self, answer: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(answer);
        tokio::select! {
            biased;
            answered = &mut answer => return Some(answered),
            _ = self.connection.died() => {}
        }
        tokio::time::timeout(LAST_ANSWER, answer).await.ok()
    }

    /// A plugin that does not answer in time is of no more use to anybody: what it does next, nobody has asked for.
    fn timed_out(self, limit: Duration) -> CallError {
        let last_output = self.connection.last_output();
        self.connection.kill();
        CallError::Timeout { provider: self.provider(), call: self.call(), seconds: limit.as_secs(), last_output }
    }

    async fn failed(self, status: &Status) -> CallError {
        let (provider, call) = (self.provider(), self.call());
        // A status that the plugin has sent has no cause; one that the transport has made does.
        if status.code() == Code::Unavailable || status.source().is_some() {
            return self.gone(self.connection.secrets.hidden(shown(status))).await;
        }
        match status.code() {
            Code::Unimplemented => CallError::Unsupported { provider, call, about: self.about.into() },
            Code::Cancelled => CallError::Cancelled { provider, call },
            _ => CallError::Refused { provider, call, message: self.connection.secrets.hidden(shown(status)) },
        }
    }

    async fn gone(self, seen: String) -> CallError {
        let autopsy = self.connection.autopsy().await;
        CallError::Gone {
            provider: self.provider(),
            call: self.call(),
            message: autopsy.death.map_or(seen, |death| format!("the plugin {death}")),
            last_output: autopsy.last_output,
        }
    }

    fn nonsense(self, error: &DecodeError) -> CallError {
        self.malformed(error.to_string())
    }

    /// What the provider reports, without what it must not tell.
    pub(super) fn told(self, given: Vec<wire::Diagnostic>) -> Diagnostics {
        self.connection.secrets.hidden_in(convert::diagnostics(given))
    }

    /// The answer does not fit.
    pub(super) fn malformed(self, message: impl Into<String>) -> CallError {
        CallError::Malformed { provider: self.provider(), call: self.call(), message: message.into() }
    }

    /// The question does not fit.
    pub(super) fn unfit(self, message: impl Into<String>) -> CallError {
        CallError::Unfit { provider: self.provider(), call: self.call(), message: message.into() }
    }

    /// The provider does not want to.
    pub(super) fn refused(self, message: impl Into<String>) -> CallError {
        let message = self.connection.secrets.hidden(message.into());
        CallError::Refused { provider: self.provider(), call: self.call(), message }
    }

    /// For which resource type or function.
    pub(super) fn about(self) -> &'a str {
        self.about
    }

    /// The provider has no such thing.
    pub(super) fn unsupported(self) -> CallError {
        CallError::Unsupported { provider: self.provider(), call: self.call(), about: self.about.into() }
    }
}

/// Answers that come one by one. Dropping it tells the plugin that no more are wanted.
pub(super) struct Answers<'a, R> {
    caller: Caller<'a>,
    stream: Streaming<Result<R, DecodeError>>,
}

impl<R: Answered> Answers<'_, R> {
    /// The next one, if there is one. Each may take as long as a call.
    pub(super) async fn next(&mut self) -> Answer<Option<R>> {
        let next = self.caller.patiently(self.stream.message()).await?;
        next.transpose().map_err(|error| self.caller.nonsense(&error))
    }
}

fn shown(status: &Status) -> String {
    let code = status.code();
    let mut text = match status.message() {
        "" => code.description().to_owned(),
        message => message.to_owned(),
    };
    let mut source = status.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    if code == Code::Unknown { text } else { format!("{code:?}: {text}") }
}
