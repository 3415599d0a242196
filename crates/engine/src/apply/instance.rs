//! Carrying out the change of one object.

use std::sync::Arc;

use groma_lang::config::IgnoreChanges;
use groma_model::address::{AbsInstance, ConfigResource};
use groma_model::codec::{json, msgpack};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::secrets::Secrets;
use groma_model::value::Value;
use groma_provider::api::{
    ApplyRequest, ApplyResponse, Effects, Outcome, Patience, Pending, PlanRequest, PlanResponse, Private, Provider,
    ReadDataRequest,
};
use groma_state::journal::{Action as LoggedAction, Operation};
use groma_state::{Digest, ObjectState, ObjectStatus};

use super::logbook::{Intended, Logbook};
use super::record::object_of;
use crate::change::{Action, Change};
use crate::object::{compatible, known_only, legacy, propose::proposed_new, settled};
use crate::plan::data::as_warnings;
use crate::plan::ignore::{ignoring, ignoring_planned};
use crate::plan::instance::{hear, keep_warnings, sensitive_paths, with_address};
use crate::providers::Slot;
use crate::stored::{Object, ObjectSchema};

/// What is to be carried out.
pub(super) struct Job {
    pub(super) change: Change,
    pub(super) kind: ObjectSchema,
    pub(super) slot: Arc<Slot>,
    /// The object in the state, if there is one that this is about.
    pub(super) stored: Option<ObjectState>,
    /// What is wanted. None to remove.
    pub(super) wanted: Option<Wanted>,
    /// What the configuration still says about an object that is to go, as far as that can be told.
    pub(super) last_words: Option<Value>,
    /// What the module tells the provider about itself.
    pub(super) provider_meta: Option<Value>,
    pub(super) dependencies: Arc<[ConfigResource]>,
}

/// An object that is wanted.
pub(super) struct Wanted {
    /// The configuration, with marks.
    pub(super) config: Value,
    /// What is left as it is.
    pub(super) ignore: IgnoreChanges,
    /// Whether it will be forgotten rather than deleted.
    pub(super) skip_destroy: bool,
}

/// What there is after a change.
pub(super) enum Left {
    /// What was there before, as it is stored.
    AsStored,
    /// Nobody knows: the provider was asked and gave no answer. What is stored stays.
    InDoubt,
    /// Nothing.
    Nothing,
    /// This object.
    Object(Box<Object>),
}

/// What came of it.
pub(super) struct Done {
    /// The object that there is now.
    pub(super) left: Left,
    /// Errors and warnings. An object may exist in spite of errors.
    pub(super) diagnostics: Diagnostics,
    /// Whether its end is not told: nothing was to be changed after all, or a check looked in vain.
    pub(super) quiet: bool,
    /// What it is called in the log.
    pub(super) operation: Option<Operation>,
    /// Nothing was done, and it may work later.
    pub(super) again: Option<Patience>,
}

/// Carries a change out. Whatever goes wrong, an object that is known to exist is in the result. `begun` is told when it is
/// sure that there is something to do.
pub(super) async fn apply(job: &Job, logbook: &dyn Logbook, begun: impl Fn() + Send + Sync) -> Done {
    let provider = match job.slot.get().await {
        Ok(provider) => provider,
        Err(diagnostics) => return Done::unchanged(diagnostics),
    };
    let run = Run { job, provider: provider.as_ref(), logbook };
    let done = match (&job.wanted, job.change.action) {
        (Some(wanted), Action::Read) => {
            begun();
            run.read(&wanted.config).await
        }
        (Some(wanted), _) => run.make(wanted, begun).await,
        (None, _) => {
            begun();
            run.remove().await
        }
    };
    Done { diagnostics: with_address(done.diagnostics, &job.change.address), ..done }
}

impl Done {
    /// Nothing was done.
    fn unchanged(diagnostics: impl Into<Diagnostics>) -> Self {
        Self { left: Left::AsStored, diagnostics: diagnostics.into(), quiet: false, operation: None, again: None }
    }

    /// The provider gave no answer.
    fn in_doubt(diagnostics: impl Into<Diagnostics>) -> Self {
        Self { left: Left::InDoubt, ..Self::unchanged(diagnostics) }
    }

    fn object(object: Object, diagnostics: Diagnostics) -> Self {
        Self { left: Left::Object(Box::new(object)), ..Self::unchanged(diagnostics) }
    }
}

struct Run<'j> {
    job: &'j Job,
    provider: &'j dyn Provider,
    logbook: &'j dyn Logbook,
}

impl Run<'_> {
    fn address(&self) -> &AbsInstance {
        &self.job.change.address
    }

    fn nothing(&self) -> Value {
        Value::null(self.job.kind.schema.block.implied_type())
    }

    async fn prior(&self) -> Result<Option<Object>, Diagnostics> {
        match &self.job.stored {
            Some(stored) => Object::upgraded(stored, &self.job.kind, self.provider).await.map(Some),
            None => Ok(None),
        }
    }

    async fn read(&self, config: &Value) -> Done {
        self.provider.keep_secret(config);
        let (config, marks) = config.clone().unmark_deep_with_paths();
        let type_name = self.job.kind.type_name.clone();
        let address = Some(self.job.change.address.to_string().into());
        let request = ReadDataRequest { type_name, config, provider_meta: None, address };
        let mut diagnostics = Diagnostics::new();
        let response = match self.provider.read_data(request).await {
            Ok(response) => response,
            Err(error) => return Done::unchanged(error.diagnostic()),
        };
        if let Err(found) = keep_warnings(response.diagnostics, &mut diagnostics) {
            return Done::unchanged(found);
        }
        if response.object.is_null() || !response.object.is_wholly_known() {
            let name = self.provider.name();
            let detail = format!("Provider {name:?} produced no complete object for {}.", self.address());
            return Done::unchanged(Diagnostic::error("Provider produced invalid object", detail));
        }
        let (object, more) = response.object.unmark_deep_with_paths();
        let sensitive = [sensitive_paths(&marks), sensitive_paths(&more)].concat();
        let object = self.object(object, Private::default(), None, sensitive);
        // It is never deleted, so nothing has to go before it.
        Done::object(Object { dependencies: Arc::default(), ..object }, diagnostics)
    }

    async fn make(&self, wanted: &Wanted, begun: impl Fn() + Send + Sync) -> Done {
        let mut diagnostics = Diagnostics::new();
        let prior = match self.prior().await {
            Ok(prior) => prior,
            Err(found) => return Done::unchanged(found),
        };
        let (config, marks) = wanted.config.clone().unmark_deep_with_paths();
        self.provider.keep_secret(&wanted.config);
        // More is known now than when the plan was made.
        let found = self.provider.validate_resource(&self.job.kind.type_name, config.clone()).await;
        let found = found.unwrap_or_else(|error| error.diagnostic().into());
        if let Err(found) = keep_warnings(found, &mut diagnostics) {
            return Done::unchanged(found);
        }
        let planned = match self.final_plan(prior.as_ref(), &config, &wanted.ignore, &mut diagnostics).await {
            Ok(planned) => planned,
            Err(found) => return Done::unchanged(found),
        };
        if let Some(prior) = prior.as_ref().filter(|prior| prior.value == planned.planned) {
            // At most what must not be shown has changed, which is nothing to a provider.
            let identity = prior.identity.clone();
            let mut object = self.object(prior.value.clone(), prior.private.clone(), identity, sensitive_paths(&marks));
            object.status = prior.status;
            object.pending.clone_from(&prior.pending);
            let schema = &self.job.kind.schema;
            let quiet = object.marked(schema) == prior.marked(schema);
            if !quiet {
                begun();
            }
            return Done { quiet, ..Done::object(object, diagnostics) };
        }
        begun();
        let request = ApplyRequest {
            type_name: self.job.kind.type_name.clone(),
            prior: prior.as_ref().map_or_else(|| self.nothing(), |object| object.value.clone()),
            planned: planned.planned.clone(),
            config,
            planned_private: planned.private,
            planned_identity: planned.identity,
            provider_meta: self.job.provider_meta.clone(),
        };
        let operation = match self.intend(&request).await {
            Ok(operation) => operation,
            Err(found) => return Done::unchanged(found),
        };
        let response = match self.provider.apply(request).await {
            Ok(response) => response,
            Err(error) => {
                diagnostics.push(error.diagnostic());
                return Done { operation, ..Done::in_doubt(diagnostics) };
            }
        };
        let done = self.made(prior, &planned.planned, response, sensitive_paths(&marks), diagnostics);
        Done { operation, ..done }
    }

    /// Writes down what is about to be asked, if it has effects that would have to be looked for.
    async fn intend(&self, request: &ApplyRequest) -> Result<Option<Operation>, Diagnostics> {
        let effects = self.provider.effects();
        if effects == Effects::None {
            return Ok(None);
        }
        let action = match (request.prior.is_null(), request.planned.is_null()) {
            (true, _) => LoggedAction::Create,
            (false, true) => LoggedAction::Delete,
            (false, false) => LoggedAction::Update,
        };
        let ty = self.job.kind.schema.block.implied_type();
        let identity = request.planned_identity.as_ref().filter(|identity| identity.is_wholly_known());
        let id = request.planned.as_entries().and_then(|entries| entries.get("id")?.as_str().map(str::to_owned));
        // It is told to whoever has to look for the object.
        let mut secrets = Secrets::default();
        secrets.learn_marked(&self.job.change.after);
        let can_be_told = |text: &String| secrets.hide(text).is_none();
        let intended = Intended {
            object: object_of(&self.job.change),
            action,
            provider: self.job.slot.instance().clone(),
            planned: msgpack::encode(&request.planned, &ty).ok().map(|bytes| Digest::of(&bytes)),
            identity: identity.and_then(|identity| json::encode_plain(identity).ok()).filter(can_be_told),
            import_id: id.filter(|_| action == LoggedAction::Create).filter(can_be_told),
            repeatable: effects == Effects::Repeatable,
        };
        self.logbook.intend(intended).await
    }

    /// What was planned, if asking again would give just that: the provider says so of itself, and nothing is known that was not known then.
    fn settled_plan(&self, prior: Option<&Object>, config: &Value) -> Option<PlanResponse> {
        if !self.provider.schema().capabilities.steady_plans {
            return None;
        }
        let change = &self.job.change;
        let planned = change.after.clone().unmark_deep().0;
        let is_settled = prior.is_none_or(|prior| prior.value == change.before.clone().unmark_deep().0)
            && settled::is_settled(&self.job.kind.schema.block, config, &planned);
        is_settled.then(|| PlanResponse {
            planned,
            private: change.private.clone(),
            identity: change.after_identity.clone(),
            requires_replace: Vec::new(),
            legacy_type_system: false,
            deferred: None,
            diagnostics: Diagnostics::new(),
        })
    }

    /// Asks again, now that everything is known. The answer must agree with the plan.
    async fn final_plan(
        &self,
        prior: Option<&Object>,
        config: &Value,
        ignore: &IgnoreChanges,
        diagnostics: &mut Diagnostics,
    ) -> Result<PlanResponse, Diagnostics> {
        let block = &self.job.kind.schema.block;
        let before = prior.map_or_else(|| self.nothing(), |object| object.value.clone());
        let config = &match prior {
            Some(object) => ignoring(ignore, block, &object.value, config),
            None => config.clone(),
        };
        if let Some(settled) = self.settled_plan(prior, config) {
            return Ok(settled);
        }
        let request = PlanRequest {
            type_name: self.job.kind.type_name.clone(),
            prior: before.clone(),
            proposed: proposed_new(block, &before, config),
            config: config.clone(),
            prior_private: prior.map(|object| object.private.clone()).unwrap_or_default(),
            prior_identity: prior.and_then(|object| object.identity.clone()),
            provider_meta: self.job.provider_meta.clone(),
        };
        let mut response = self.provider.plan(request).await.map_err(|error| error.diagnostic())?;
        keep_warnings(std::mem::take(&mut response.diagnostics), diagnostics)?;
        if response.legacy_type_system {
            response.planned = legacy::normalised(&response.planned, block);
            if let Some(object) = prior {
                response.planned = ignoring_planned(ignore, block, &object.value, &response.planned);
            }
        }
        let planned = self.job.change.after.clone().unmark_deep().0;
        let wrong = compatible::contradictions(block, &planned, &response.planned);
        if wrong.is_empty() {
            return Ok(response);
        }
        Err(wrong.iter().map(|wrong| self.inconsistent("Provider produced inconsistent final plan", wrong)).collect())
    }

    fn made(
        &self,
        prior: Option<Object>,
        planned: &Value,
        response: ApplyResponse,
        sensitive: Vec<groma_model::path::Path>,
        mut diagnostics: Diagnostics,
    ) -> Done {
        let block = &self.job.kind.schema.block;
        if let Outcome::NotYet(patience) = response.outcome {
            diagnostics.extend(response.diagnostics);
            return Done { again: Some(patience), ..Done::unchanged(diagnostics) };
        }
        let (not_ready, found) = match response.outcome {
            // What is there as planned has not failed, whatever is said beside that.
            Outcome::NotReady(not_ready) => (Some(Pending::said(not_ready, None)), as_warnings(response.diagnostics)),
            _ => (None, response.diagnostics),
        };
        let failed = found.has_errors();
        diagnostics.extend(found);
        if response.object.is_null() {
            if !failed {
                let detail = format!(
                    "After applying, provider {:?} returned no object for {} although one was planned.",
                    self.provider.name(),
                    self.address()
                );
                diagnostics.push(Diagnostic::error("Provider produced inconsistent result after apply", detail));
            }
            return Done::unchanged(diagnostics);
        }
        let mut value = legacy::normalised(&response.object, block);
        if !value.is_wholly_known() {
            let detail = format!(
                "After applying, provider {:?} returned unknown values for {}. They are stored as null.",
                self.provider.name(),
                self.address()
            );
            diagnostics.push(Diagnostic::error("Provider returned invalid result object after apply", detail));
            value = known_only(&value);
        } else if !failed && !response.legacy_type_system {
            let wrong = compatible::contradictions(block, planned, &value);
            let describe = |wrong| self.inconsistent("Provider produced inconsistent result after apply", wrong);
            diagnostics.extend(wrong.iter().map(describe).collect::<Diagnostics>());
        }
        let identity = response.identity.or_else(|| prior.as_ref().and_then(|object| object.identity.clone()));
        let mut object = self.object(value, response.private, identity, sensitive);
        object.pending = not_ready;
        match &prior {
            // An object that was changed half way is as good as it was, and may still hold on to what it was made with.
            Some(prior) => {
                object.status = prior.status;
                if diagnostics.has_errors() {
                    object.pending.clone_from(&prior.pending);
                    object.dependencies = Arc::clone(&prior.dependencies);
                }
            }
            None if diagnostics.has_errors() => object.status = ObjectStatus::Tainted,
            None => {}
        }
        Done::object(object, diagnostics)
    }

    async fn remove(&self) -> Done {
        if let Some(config) = &self.job.last_words {
            hear(self.provider, &self.job.kind.type_name, config).await;
        }
        let prior = match self.prior().await {
            Ok(Some(prior)) => prior,
            Ok(None) => return Done { left: Left::Nothing, ..Done::unchanged(Diagnostics::new()) },
            Err(found) => return Done::unchanged(found),
        };
        let planned_private = match self.deletion_private(&prior).await {
            Ok(private) => private,
            Err(found) => return Done::unchanged(found),
        };
        let request = ApplyRequest {
            type_name: self.job.kind.type_name.clone(),
            prior: prior.value.clone(),
            planned: self.nothing(),
            config: self.nothing(),
            planned_private,
            planned_identity: prior.identity.clone(),
            provider_meta: self.job.provider_meta.clone(),
        };
        let operation = match self.intend(&request).await {
            Ok(operation) => operation,
            Err(found) => return Done::unchanged(found),
        };
        let response = match self.provider.apply(request).await {
            Ok(response) => response,
            Err(error) => return Done { operation, ..Done::in_doubt(error.diagnostic()) },
        };
        let mut diagnostics = response.diagnostics;
        let failed = diagnostics.has_errors();
        if response.object.is_null() {
            let left = if failed { Left::AsStored } else { Left::Nothing };
            return Done { left, operation, ..Done::unchanged(diagnostics) };
        }
        if !failed {
            let detail = format!(
                "After applying, provider {:?} still has an object for {} although it was to be destroyed.",
                self.provider.name(),
                self.address()
            );
            diagnostics.push(Diagnostic::error("Provider returned invalid result object after apply", detail));
        }
        let object = Object {
            value: known_only(&response.object),
            private: response.private,
            create_before_destroy: false,
            skip_destroy: false,
            ..prior
        };
        Done { operation, ..Done::object(object, diagnostics) }
    }

    /// What the provider is handed with a deletion. Where the new object is there already, the plan of the replacement is about
    /// that one, so providers that want to have a say about the old one are asked now.
    async fn deletion_private(&self, prior: &Object) -> Result<Private, Diagnostics> {
        if !self.job.change.action.is_replace() || self.job.change.action == Action::DeleteThenCreate {
            return Ok(self.job.change.private.clone());
        }
        if !self.provider.schema().capabilities.plan_destroy {
            return Ok(prior.private.clone());
        }
        let request = PlanRequest {
            type_name: self.job.kind.type_name.clone(),
            prior: prior.value.clone(),
            proposed: self.nothing(),
            config: self.nothing(),
            prior_private: prior.private.clone(),
            prior_identity: prior.identity.clone(),
            provider_meta: self.job.provider_meta.clone(),
        };
        let response = self.provider.plan(request).await.map_err(|error| error.diagnostic())?;
        if response.diagnostics.has_errors() { Err(response.diagnostics) } else { Ok(response.private) }
    }

    fn object(
        &self,
        value: Value,
        private: Private,
        identity: Option<Value>,
        sensitive: Vec<groma_model::path::Path>,
    ) -> Object {
        Object {
            value,
            sensitive,
            private,
            identity,
            pending: None,
            status: ObjectStatus::Ready,
            dependencies: if self.job.change.action == Action::Read {
                Arc::from([])
            } else {
                Arc::clone(&self.job.dependencies)
            },
            create_before_destroy: self.job.change.create_before_destroy,
            skip_destroy: self.job.wanted.as_ref().is_some_and(|wanted| wanted.skip_destroy),
        }
    }

    fn inconsistent(&self, summary: &str, wrong: &crate::object::Mismatch) -> Diagnostic {
        let detail = format!(
            "When applying changes to {}, provider {:?} produced an unexpected new value{}: {}.\n\nThis is a bug in the \
             provider, which should be reported in the provider's own issue tracker.",
            self.address(),
            self.provider.name(),
            if wrong.path.is_empty() { String::new() } else { format!(" at {}", wrong.path) },
            wrong.message
        );
        Diagnostic::error(summary, detail)
    }
}
