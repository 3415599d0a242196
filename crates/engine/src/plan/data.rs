//! Data sources: read while planning, or put off until the plan is applied.

use std::sync::Arc;

use groma_model::address::{AbsInstance, ConfigResource};
use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::path::Path;
use groma_model::value::Value;
use groma_provider::api::{Private, ReadDataRequest};
use groma_state::ObjectStatus;

use super::instance::{keep_warnings, sensitive_paths, with_address};
use crate::change::{Action, Change, Reason};
use crate::events::{Event, Events, shown_id};
use crate::object::{known_only, propose::unknown_until_read};
use crate::providers::Slot;
use crate::stored::{self, Object, ObjectSchema};

/// A data source to read.
pub(super) struct DataJob {
    pub(super) address: AbsInstance,
    pub(super) kind: ObjectSchema,
    pub(super) slot: Arc<Slot>,
    /// With marks.
    pub(super) config: Value,
    pub(super) provider_meta: Option<Value>,
    /// Why it is not read now, if it is not.
    pub(super) deferred: Option<Reason>,
    /// Whether it stands in a `check` block: then it fails nothing, and is read again when the plan is applied.
    pub(super) in_check: bool,
    /// Whether nothing will be applied.
    pub(super) refresh_only: bool,
    pub(super) dependencies: Arc<[ConfigResource]>,
    pub(super) events: Arc<dyn Events>,
}

/// A data source that was read, or will be.
pub(super) struct ReadData {
    /// What is to be done, if it was not read or must be read again.
    pub(super) change: Option<Change>,
    /// The object, if it was read.
    pub(super) object: Option<Object>,
    /// As expressions see it, with marks.
    pub(super) value: Value,
    pub(super) address: AbsInstance,
    pub(super) slot: Arc<Slot>,
    pub(super) kind: ObjectSchema,
    /// Why it could not be read, if that fails only its check.
    pub(super) problem: Option<String>,
    pub(super) diagnostics: Diagnostics,
}

/// Reads a data source, or says why not now.
pub(super) async fn plan(job: DataJob) -> Result<ReadData, Diagnostics> {
    let (config, marks) = job.config.clone().unmark_deep_with_paths();
    let sensitive = sensitive_paths(&marks);
    let block = &job.kind.schema.block;
    let later = || stored::marked(&unknown_until_read(block, &config), &job.kind.schema, &sensitive);
    let nothing = Value::null(block.implied_type());
    let mut found = Found { diagnostics: Diagnostics::new(), problem: None };
    let (change, object, value) = match job.deferred {
        Some(_) if job.refresh_only => (None, None, nothing),
        Some(reason) => (Some(job.change(reason, later(), &sensitive)), None, later()),
        None => match read(&job, config.clone(), sensitive.clone(), &mut found.diagnostics).await {
            Ok(object) => {
                let value = object.marked(&job.kind.schema);
                let again = job.in_check && !job.refresh_only;
                let change = again.then(|| job.change(Reason::ReadBecauseCheckNested, value.clone(), &sensitive));
                (change, Some(object), value)
            }
            Err(errors) if job.in_check => {
                found.fail_check(errors);
                let change =
                    (!job.refresh_only).then(|| job.change(Reason::ReadBecauseCheckNested, later(), &sensitive));
                let unread = known_only(&unknown_until_read(block, &config));
                (change, Some(object_of(unread, sensitive.clone())), later())
            }
            Err(errors) => return Err(errors),
        },
    };
    let DataJob { address, slot, kind, .. } = job;
    Ok(ReadData { change, object, value, address, slot, kind, problem: found.problem, diagnostics: found.diagnostics })
}

struct Found {
    diagnostics: Diagnostics,
    problem: Option<String>,
}

impl Found {
    /// A check that cannot be made is a warning.
    fn fail_check(&mut self, errors: Diagnostics) {
        self.problem = Some(problem_text(&errors));
        self.diagnostics.extend(as_warnings(errors));
    }
}

/// Errors as what they are in a `check` block.
pub(crate) fn as_warnings(errors: Diagnostics) -> Diagnostics {
    let soften = |mut diagnostic: Diagnostic| {
        diagnostic.severity = Severity::Warning;
        diagnostic
    };
    errors.into_iter().map(soften).collect()
}

/// What went wrong, in one text.
pub(crate) fn problem_text(errors: &Diagnostics) -> String {
    let errors = errors.iter().filter(|found| found.severity == Severity::Error);
    let text = |error: &Diagnostic| match error.detail.as_str() {
        "" => error.summary.clone(),
        detail => format!("{}: {detail}", error.summary),
    };
    errors.map(text).collect::<Vec<_>>().join("\n")
}

async fn read(
    job: &DataJob,
    config: Value,
    sensitive: Vec<Path>,
    diagnostics: &mut Diagnostics,
) -> Result<Object, Diagnostics> {
    let named = |found| with_address(found, &job.address);
    let provider = job.slot.get().await?;
    provider.keep_secret(&job.config);
    let type_name = job.kind.type_name.clone();
    let found = provider.validate_data_source(&type_name, config.clone()).await;
    keep_warnings(found.map_err(|error| named(error.diagnostic().into()))?, diagnostics).map_err(named)?;
    let (address, action) = (job.address.clone(), Action::Read);
    job.events.tell(Event::ApplyStarted { address: address.clone(), deposed: None, action, id: None });
    let at = Some(job.address.to_string().into());
    let request = ReadDataRequest { type_name, config, provider_meta: job.provider_meta.clone(), address: at };
    let result = match provider.read_data(request).await {
        Ok(response) => keep_warnings(response.diagnostics, diagnostics).and_then(|()| {
            if response.object.is_null() || !response.object.is_wholly_known() {
                let detail = format!("Provider {:?} produced no complete object for {}.", provider.name(), job.address);
                return Err(Diagnostic::error("Provider produced invalid object", detail).into());
            }
            // States of others come with marks of their own.
            let (object, marks) = response.object.unmark_deep_with_paths();
            Ok(object_of(object, [sensitive, sensitive_paths(&marks)].concat()))
        }),
        Err(error) => Err(error.diagnostic().into()),
    };
    job.events.tell(match &result {
        Ok(object) => {
            let id = shown_id(&object.marked(&job.kind.schema));
            Event::ApplyDone { address, deposed: None, action, id }
        }
        Err(_) => Event::ApplyFailed { address, deposed: None, action },
    });
    result.map_err(named)
}

/// A data source that was read.
fn object_of(value: Value, sensitive: Vec<Path>) -> Object {
    Object {
        value,
        sensitive,
        private: Private::default(),
        identity: None,
        pending: None,
        status: ObjectStatus::default(),
        // It is never deleted, so nothing has to go before it.
        dependencies: Arc::default(),
        create_before_destroy: false,
        skip_destroy: false,
    }
}

impl DataJob {
    /// Reading it when the plan is applied.
    fn change(&self, reason: Reason, after: Value, sensitive: &[Path]) -> Change {
        Change {
            address: self.address.clone(),
            deposed: None,
            previous_address: None,
            provider: self.slot.instance().clone(),
            action: Action::Read,
            reason: Some(reason),
            before: Value::null(self.kind.schema.block.implied_type()),
            after,
            configured_sensitive: sensitive.to_vec(),
            before_identity: None,
            after_identity: None,
            private: Private::default(),
            replace_paths: Vec::new(),
            importing: None,
            schema: Arc::clone(&self.kind.schema),
            dependencies: Arc::clone(&self.dependencies),
            create_before_destroy: false,
            generated_config: None,
            notes: Vec::new(),
            not_ready: None,
        }
    }
}
