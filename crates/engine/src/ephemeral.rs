//! Ephemeral resources: opened when a walk comes to them, kept alive while it goes on, closed when it is over. Nothing of them is
//! ever stored.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use groma_model::address::AbsInstance;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::value::Value;
use groma_provider::api::{OpenRequest, Private, Provider};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::events::{EphemeralAction, Event, Events};
use crate::object::propose::unknown_until_read;
use crate::plan::instance::{keep_warnings, sensitive_paths, with_address};
use crate::providers::Slot;
use crate::stored::{self, ObjectSchema};

/// How long closing one may take.
const CLOSE_WITHIN: Duration = Duration::from_secs(10);

/// One to open.
pub(crate) struct OpenJob {
    pub(crate) address: AbsInstance,
    pub(crate) kind: ObjectSchema,
    pub(crate) slot: Arc<Slot>,
    /// With marks.
    pub(crate) config: Value,
    /// Whether it is opened when the plan is applied, not now.
    pub(crate) later: bool,
    pub(crate) events: Arc<dyn Events>,
}

/// One that was opened, or will be.
pub(crate) struct Opened {
    /// As expressions see it, with marks but the ephemeral one.
    pub(crate) value: Value,
    /// What is to be given back. None if it was not opened yet.
    pub(crate) lease: Option<Lease>,
    pub(crate) diagnostics: Diagnostics,
}

/// Something that is open.
pub(crate) struct Lease {
    address: AbsInstance,
    type_name: groma_model::text::Str,
    provider: Arc<dyn Provider>,
    private: Private,
    renew_at: Option<SystemTime>,
    events: Arc<dyn Events>,
}

/// Opens one, or says what is known without.
pub(crate) async fn open(job: OpenJob) -> Result<Opened, Diagnostics> {
    let named = |found| with_address(found, &job.address);
    let (config, marks) = job.config.clone().unmark_deep_with_paths();
    let sensitive = sensitive_paths(&marks);
    let block = &job.kind.schema.block;
    let mut diagnostics = Diagnostics::new();
    if job.later {
        let value = stored::marked(&unknown_until_read(block, &config), &job.kind.schema, &sensitive);
        return Ok(Opened { value, lease: None, diagnostics });
    }
    let provider = job.slot.get().await?;
    provider.keep_secret(&job.config);
    let type_name = job.kind.type_name.clone();
    let found = provider.validate_ephemeral(&type_name, config.clone()).await;
    keep_warnings(found.map_err(|error| named(error.diagnostic().into()))?, &mut diagnostics).map_err(named)?;
    job.events.tell(Event::EphemeralStarted(job.address.clone(), EphemeralAction::Open));
    let request = OpenRequest { type_name: type_name.clone(), config };
    let response = provider.open_ephemeral(request).await.map_err(|error| named(error.diagnostic().into()))?;
    keep_warnings(response.diagnostics, &mut diagnostics).map_err(named)?;
    if response.object.is_null() || !response.object.is_wholly_known() {
        let detail = format!("Provider {:?} produced no complete object for {}.", provider.name(), job.address);
        return Err(named(Diagnostic::error("Provider produced invalid object", detail).into()));
    }
    job.events.tell(Event::EphemeralDone(job.address.clone(), EphemeralAction::Open));
    let value = stored::marked(&response.object, &job.kind.schema, &sensitive);
    let (address, private, renew_at) = (job.address, response.private, response.renew_at);
    let lease = Lease { address, type_name, provider, private, renew_at, events: job.events };
    Ok(Opened { value, lease: Some(lease), diagnostics })
}

/// Everything that is open during a walk.
pub(crate) struct Leases {
    over: watch::Sender<bool>,
    kept: JoinSet<Diagnostics>,
}

impl Leases {
    /// Nothing is open.
    pub(crate) fn new() -> Self {
        Self { over: watch::Sender::new(false), kept: JoinSet::new() }
    }

    /// Keeps one alive from now on.
    pub(crate) fn keep(&mut self, lease: Lease, now: (i64, u32)) {
        let now = SystemTime::UNIX_EPOCH + Duration::new(u64::try_from(now.0).unwrap_or_default(), now.1);
        self.kept.spawn(lease.hold(now, self.over.subscribe()));
    }

    /// Gives everything back.
    pub(crate) async fn close(&mut self) -> Diagnostics {
        self.over.send_replace(true);
        let mut diagnostics = Diagnostics::new();
        while let Some(closed) = self.kept.join_next().await {
            match closed {
                Ok(found) => diagnostics.extend(found),
                Err(error) => diagnostics.push(Diagnostic::error("Internal error", error.to_string())),
            }
        }
        diagnostics
    }
}

impl Lease {
    /// Renews it as often as its provider asks for, until the walk is over; then closes it.
    async fn hold(mut self, now: SystemTime, mut over: watch::Receiver<bool>) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        let mut from = now;
        while let Some(at) = self.renew_at {
            let wait = at.duration_since(from).unwrap_or_default();
            tokio::select! {
                _ = over.wait_for(|over| *over) => break,
                () = tokio::time::sleep(wait) => {}
            }
            from = at;
            let found = self.renew().await;
            let failed = found.has_errors();
            diagnostics.extend(with_address(found, &self.address));
            if failed {
                break;
            }
        }
        // The sender outlives this.
        let _ = over.wait_for(|over| *over).await;
        diagnostics.extend(with_address(self.close().await, &self.address));
        diagnostics
    }

    async fn renew(&mut self) -> Diagnostics {
        self.events.tell(Event::EphemeralStarted(self.address.clone(), EphemeralAction::Renew));
        match self.provider.renew_ephemeral(&self.type_name, self.private.clone()).await {
            Ok(renewed) => {
                self.private = renewed.private;
                self.renew_at = renewed.renew_at;
                self.events.tell(Event::EphemeralDone(self.address.clone(), EphemeralAction::Renew));
                renewed.diagnostics
            }
            Err(error) => error.diagnostic().into(),
        }
    }

    async fn close(&self) -> Diagnostics {
        self.events.tell(Event::EphemeralStarted(self.address.clone(), EphemeralAction::Close));
        let closing = self.provider.close_ephemeral(&self.type_name, self.private.clone());
        let found = match tokio::time::timeout(CLOSE_WITHIN, closing).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => error.diagnostic().into(),
            Err(_) => {
                let detail =
                    format!("The provider did not close {} within {} seconds.", self.address, CLOSE_WITHIN.as_secs());
                Diagnostic::warning("Ephemeral resource was not closed", detail).into()
            }
        };
        self.events.tell(Event::EphemeralDone(self.address.clone(), EphemeralAction::Close));
        found
    }
}
