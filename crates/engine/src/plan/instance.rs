//! Planning one instance of a managed resource: upgraded, read, and asked about.

use std::sync::Arc;

use groma_lang::config::IgnoreChanges;
use groma_model::address::{AbsInstance, ConfigResource, DeposedKey};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::Mark;
use groma_model::path::Path;
use groma_model::value::{PathMarks, Value};
use groma_provider::api::{ImportTarget, PlanRequest, PlanResponse, Private, Provider, ReadRequest};
use groma_state::{ObjectState, ObjectStatus};

use super::dependencies::union;
use super::ignore::{ignored_differences, ignoring, ignoring_planned, sensitive_after};
use super::replace::Candidate;
use super::requires_replace;
use crate::change::{Action, Change, Note, Reason};
use crate::events::{Event, Events, shown_id};
use crate::object::{legacy, plan_valid, propose::proposed_new};
use crate::plan::listing::{Adopted, Candidate as Adoptable, Listing};
use crate::providers::Slot;
use crate::stored::{Marking, Object, ObjectSchema, Origin};

/// What is to be planned.
pub(super) struct Job {
    /// Which instance.
    pub(super) address: AbsInstance,
    /// Which of its objects, if not the current one.
    pub(super) deposed: Option<DeposedKey>,
    /// Where the object was before it was moved.
    pub(super) previous_address: Option<AbsInstance>,
    /// What the object was before, if it was moved from another type or provider.
    pub(super) origin: Option<Origin>,
    /// What its objects are like.
    pub(super) kind: ObjectSchema,
    /// The provider that looks after it.
    pub(super) slot: Arc<Slot>,
    /// The object in the state.
    pub(super) stored: Option<ObjectState>,
    /// Whether it is read anew.
    pub(super) refresh: bool,
    /// Whether nothing but reading is wanted.
    pub(super) refresh_only: bool,
    /// To be taken in.
    pub(super) import: Option<ImportTarget>,
    /// For the provider, from the module.
    pub(super) provider_meta: Option<Value>,
    /// Who is told how it goes.
    pub(super) events: Arc<dyn Events>,
    /// What is wanted.
    pub(super) wanted: Wanted,
    /// What the configuration still says about an object that is to go, as far as that can be told.
    pub(super) last_words: Option<Value>,
    /// What is listed besides.
    pub(super) listing: Option<Arc<Listing>>,
    /// An object that was found by listing, and that is taken in without being asked for by a name.
    pub(super) adopted: Option<Value>,
}

/// What is wanted of an instance.
pub(super) enum Wanted {
    /// An object like this.
    Present(Box<Present>),
    /// What is imported, whatever that is like.
    AsImported,
    /// None, for that reason.
    Absent {
        /// Why.
        reason: Option<Reason>,
        /// What the configuration says about forgetting it.
        forget: Forgetting,
    },
}

/// What the configuration says about forgetting an object rather than deleting it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Forgetting {
    /// A `removed` block says so, or says not. Its word is the last.
    pub(super) removed: Option<bool>,
    /// The block of the resource says `destroy = false`.
    pub(super) by_lifecycle: bool,
}

/// An object that is wanted.
pub(super) struct Present {
    /// The configuration, with marks.
    pub(super) config: Value,
    /// What is left as it is.
    pub(super) ignore: IgnoreChanges,
    /// Whether it is replaced in any case.
    pub(super) force: Option<Reason>,
    /// Whether a replacement is made first.
    pub(super) create_before_destroy: bool,
    /// Whether it is forgotten rather than deleted.
    pub(super) skip_destroy: bool,
    /// What it depends on, by configuration.
    pub(super) dependencies: Arc<[ConfigResource]>,
    /// What was decided about it already.
    pub(super) notes: Vec<Note>,
    /// Whether rules are asked about the order of its replacement.
    pub(super) has_rules: bool,
}

/// What came of it.
pub(super) struct Planned {
    /// Which instance.
    pub(super) address: AbsInstance,
    /// Which of its objects, if not the current one.
    pub(super) deposed: Option<DeposedKey>,
    /// Where the object was before it was moved.
    pub(super) previous_address: Option<AbsInstance>,
    /// What its objects are like.
    pub(super) kind: ObjectSchema,
    /// The provider that looks after it.
    pub(super) slot: Arc<Slot>,
    /// The object as it was stored, by the current schema.
    pub(super) previous: Option<Object>,
    /// The object as it is.
    pub(super) refreshed: Option<Object>,
    /// What rules may ask, if it is replaced and there are any.
    pub(super) candidate: Option<Arc<Candidate>>,
    /// What is to be done. None if it is gone and not wanted, or if only reading was.
    pub(super) change: Option<Change>,
    /// Warnings; and errors, if it could be looked at and not planned.
    pub(super) diagnostics: Diagnostics,
}

/// Has a provider hear what the configuration says about an object that is to go. It may know a way to the object from that which still
/// works, where the one that is stored does not. Whether it is in order does not matter any more.
pub(crate) async fn hear(provider: &dyn Provider, type_name: &str, config: &Value) {
    provider.keep_secret(config);
    let _ = provider.validate_resource(type_name, config.clone().unmark_deep().0).await;
}

/// Plans an instance.
pub(super) async fn plan(mut job: Job) -> Result<Planned, Diagnostics> {
    let provider = job.slot.get().await?;
    let mut found = Diagnostics::new();
    let looked = look_around(&mut job, provider.as_ref(), &mut found).await;
    looked.map_err(|found| with_address(found, &job.address))?;
    let planner = Planner { job: &job, provider: provider.as_ref() };
    let mut planned = planner.run().await.map_err(|found| with_address(found, &job.address))?;
    planned.diagnostics.extend(with_address(found, &job.address));
    Ok(planned)
}

/// Looks whether what is to be made is there already, and notes what else is to be looked for.
async fn look_around(job: &mut Job, provider: &dyn Provider, diagnostics: &mut Diagnostics) -> Result<(), Diagnostics> {
    let Some(listing) = job.listing.clone() else { return Ok(()) };
    let config = match &job.wanted {
        Wanted::Present(present) => {
            provider.keep_secret(&present.config);
            Some(present.config.clone().unmark_deep().0)
        }
        _ => None,
    };
    if let (Some(config), None, None, false) = (&config, &job.stored, &job.import, job.refresh_only) {
        let candidate = Adoptable { address: &job.address, kind: &job.kind, slot: &job.slot, provider, config };
        if let Some(Adopted { target, object }) = listing.adopt(&candidate, diagnostics).await? {
            (job.import, job.adopted) = (Some(target), object);
        }
    }
    let stored = job.stored.as_ref().and_then(|stored| crate::import::decoded(stored, &job.kind.schema));
    let stored = stored.map(|stored| stored.unmark_deep().0);
    for like in [stored, config].into_iter().flatten() {
        listing.note(&job.slot, provider, &job.kind.type_name, &like);
    }
    Ok(())
}

pub(super) struct Planner<'j> {
    pub(super) job: &'j Job,
    provider: &'j dyn Provider,
}

impl Planner<'_> {
    async fn run(&self) -> Result<Planned, Diagnostics> {
        let mut diagnostics = Diagnostics::new();
        if let Some(config) = &self.job.last_words {
            hear(self.provider, &self.job.kind.type_name, config).await;
        }
        let previous = match (&self.job.stored, &self.job.origin) {
            (Some(stored), None) => Some(Object::upgraded(stored, &self.job.kind, self.provider).await?),
            (Some(stored), Some(origin)) => {
                Some(Object::taken_over(stored, origin, &self.job.kind, self.provider).await?)
            }
            (None, _) => None,
        };
        let mut refreshed = match (&previous, &self.job.import) {
            (Some(object), _) if self.job.refresh => self.read(object, &mut diagnostics).await?,
            (None, Some(target)) => Some(self.import(target, &mut diagnostics).await?),
            (object, _) => object.clone(),
        };
        let mut candidate = None;
        let change = match &self.job.wanted {
            _ if self.job.refresh_only => None,
            Wanted::Present(present) => {
                // An object that is gone is still known by what identified it.
                let known = refreshed.as_ref().or(previous.as_ref()).and_then(|object| object.identity.as_ref());
                match self.present(present, refreshed.as_ref(), known, &mut diagnostics).await {
                    Ok((change, replaced)) => {
                        candidate = replaced;
                        Some(change)
                    }
                    // What was seen of it is told all the same.
                    Err(found) => {
                        diagnostics.extend(with_address(found, &self.job.address));
                        None
                    }
                }
            }
            Wanted::AsImported => match &refreshed {
                Some(object) => Some(self.as_imported(object, &mut diagnostics).await),
                None => None,
            },
            Wanted::Absent { reason, forget } => match &refreshed {
                Some(object) => Some(self.absent(object, *reason, *forget, &mut diagnostics).await?),
                // That an object that had been left over is gone is told as well.
                None => self.job.deposed.as_ref().map(|_| self.change()),
            },
        };
        if let (Wanted::Present(present), Some(object)) = (&self.job.wanted, refreshed.as_mut()) {
            let was_read = self.job.refresh && self.job.import.is_none();
            note_configuration(object, present, change.as_ref(), was_read);
        }
        let Job { address, deposed, kind, slot, .. } = self.job;
        Ok(Planned {
            address: address.clone(),
            deposed: deposed.clone(),
            previous_address: self.job.previous_address.clone(),
            kind: kind.clone(),
            slot: Arc::clone(slot),
            previous,
            refreshed,
            candidate,
            change,
            diagnostics,
        })
    }

    async fn read(&self, object: &Object, diagnostics: &mut Diagnostics) -> Result<Option<Object>, Diagnostics> {
        let request = ReadRequest {
            type_name: self.job.kind.type_name.clone(),
            current: object.value.clone(),
            private: object.private.clone(),
            identity: object.identity.clone(),
            provider_meta: self.job.provider_meta.clone(),
        };
        let address = &self.job.address;
        let id = || shown_id(&object.marked(&self.job.kind.schema));
        self.job.events.tell(Event::RefreshStarted(address.clone(), id()));
        let failed = |found: Diagnostics| {
            self.job.events.tell(Event::RefreshFailed(address.clone()));
            found
        };
        let mut response = self.provider.read(request).await.map_err(|error| failed(error.diagnostic().into()))?;
        keep_warnings(std::mem::take(&mut response.diagnostics), diagnostics).map_err(failed)?;
        if response.object.is_null() {
            self.job.events.tell(Event::RefreshDone(address.clone(), None));
            return Ok(None);
        }
        let id = shown_id(&crate::stored::marked(&response.object, &self.job.kind.schema, &object.sensitive));
        self.job.events.tell(Event::RefreshDone(address.clone(), id));
        if !response.object.is_wholly_known() {
            let detail = format!(
                "Provider {:?} returned an object with unknown values when {} was read.",
                self.provider.name(),
                self.job.address
            );
            return Err(Diagnostic::error("Provider produced invalid object", detail).into());
        }
        Ok(Some(object.read_again(response, &self.job.kind.schema.block)))
    }

    async fn import(&self, target: &ImportTarget, diagnostics: &mut Diagnostics) -> Result<Object, Diagnostics> {
        if let Some(value) = &self.job.adopted {
            return self.taken_in(value.clone(), (Private::default(), None), diagnostics).await;
        }
        let request =
            groma_provider::api::ImportRequest { type_name: self.job.kind.type_name.clone(), target: target.clone() };
        let id = import_text(target);
        self.job.events.tell(Event::ImportStarted(self.job.address.clone(), id.clone()));
        let response = self.provider.import(request).await.map_err(|error| error.diagnostic())?;
        keep_warnings(response.diagnostics, diagnostics)?;
        self.job.events.tell(Event::ImportDone(self.job.address.clone(), id));
        let mut own = response.imported.into_iter().filter(|found| found.type_name == self.job.kind.type_name);
        let (Some(found), None) = (own.next(), own.next()) else {
            let detail = format!(
                "The provider did not return exactly one object of type {:?} for {}.",
                self.job.kind.type_name.as_str(),
                self.job.address
            );
            return Err(Diagnostic::error("Import returned no resources", detail).into());
        };
        self.taken_in(found.object, (found.private, found.identity), diagnostics).await
    }

    /// Reads what was found.
    async fn taken_in(
        &self,
        value: Value,
        (private, identity): (Private, Option<Value>),
        diagnostics: &mut Diagnostics,
    ) -> Result<Object, Diagnostics> {
        let object = Object {
            value,
            sensitive: Vec::new(),
            private,
            identity,
            pending: None,
            status: ObjectStatus::Ready,
            dependencies: Arc::from([]),
            create_before_destroy: false,
            skip_destroy: false,
        };
        self.read(&object, diagnostics).await?.ok_or_else(|| {
            let detail = format!(
                "While attempting to import an existing object to {:?}, the provider detected that no object exists with \
                 the given id. Only pre-existing objects can be imported; check that the id is correct and that it is \
                 associated with the provider's configured region or endpoint, or use a plan to create a new object.",
                self.job.address.to_string()
            );
            Diagnostic::error("Cannot import non-existent remote object", detail).into()
        })
    }

    pub(super) async fn present(
        &self,
        present: &Present,
        object: Option<&Object>,
        identity: Option<&Value>,
        diagnostics: &mut Diagnostics,
    ) -> Result<(Change, Option<Arc<Candidate>>), Diagnostics> {
        let (config, config_marks) = present.config.clone().unmark_deep_with_paths();
        self.provider.keep_secret(&present.config);
        let found = self.provider.validate_resource(&self.job.kind.type_name, config.clone()).await;
        keep_warnings(found.map_err(|error| error.diagnostic())?, diagnostics)?;
        let tainted = object.is_some_and(|object| object.status == ObjectStatus::Tainted);
        let prior = object.filter(|_| !tainted);
        let prior_identity = identity.filter(|_| !tainted).cloned();
        let first = self.first_plan(present, prior, prior_identity, &config, diagnostics).await?;
        let reason = match (tainted, present.force) {
            // Others that change are told as the reason whatever else there is, even where nothing was there before.
            (_, Some(Reason::ReplaceByTriggers)) => Some(Reason::ReplaceByTriggers),
            (true, _) => Some(Reason::ReplaceBecauseTainted),
            (false, Some(force)) if prior.is_some() => Some(force),
            (false, _) if !first.replace_paths.is_empty() => Some(Reason::ReplaceBecauseCannotUpdate),
            _ => None,
        };
        let replace = reason.is_some() && object.is_some();
        let update = object.filter(|_| replace && present.has_rules).map(|object| match prior {
            Some(_) => first.response.planned.clone(),
            None => proposed_new(&self.job.kind.schema.block, &object.value, &config),
        });
        let legacy_type_system = first.response.legacy_type_system;
        let second = match prior {
            Some(_) if replace => self.second_plan(&config, &first, diagnostics).await?,
            _ => first.response,
        };
        let marking = Marking::of(&self.job.kind.schema);
        let before = object.map(|object| marking.marked(&object.value, &object.sensitive));
        let mut sensitive = sensitive_paths(&config_marks);
        let mut notes = present.notes.clone();
        if let Some(prior) = prior {
            sensitive = sensitive_after(&present.ignore, &prior.sensitive, sensitive);
            let ignored = ignored_differences(&present.ignore, &prior.value, &config);
            notes.extend(ignored.into_iter().map(Note::Ignored));
        }
        let after = marking.marked(&second.planned, &sensitive);
        let action = match (&before, replace) {
            (None, _) => Action::Create,
            (Some(_), true) if present.skip_destroy => Action::ForgetThenCreate,
            (Some(_), true) if present.create_before_destroy => Action::CreateThenDelete,
            (Some(_), true) => Action::DeleteThenCreate,
            (Some(before), false) if *before == after => Action::NoOp,
            (Some(_), false) => Action::Update,
        };
        let before = before.unwrap_or_else(|| self.nothing());
        let candidate = update.map(|update| {
            let update = marking.marked(&update, &sensitive);
            let views = (&update, &present.config);
            Arc::new(Candidate::new(views, (&before, &after), legacy_type_system))
        });
        let change = Change {
            action,
            reason,
            before,
            after,
            configured_sensitive: sensitive,
            before_identity: identity.cloned(),
            after_identity: second.identity,
            private: second.private,
            replace_paths: first.replace_paths,
            importing: self.job.import.clone(),
            dependencies: Arc::clone(&present.dependencies),
            create_before_destroy: present.create_before_destroy,
            notes: if action == Action::Create { Vec::new() } else { notes },
            ..self.change()
        };
        Ok((change, candidate))
    }

    async fn first_plan(
        &self,
        present: &Present,
        prior: Option<&Object>,
        prior_identity: Option<Value>,
        config: &Value,
        diagnostics: &mut Diagnostics,
    ) -> Result<FirstPlan, Diagnostics> {
        let block = &self.job.kind.schema.block;
        let before = prior.map_or_else(|| self.nothing(), |object| object.value.clone());
        let config = match prior {
            Some(object) => ignoring(&present.ignore, block, &object.value, config),
            None => config.clone(),
        };
        let request = PlanRequest {
            type_name: self.job.kind.type_name.clone(),
            prior: before.clone(),
            proposed: proposed_new(block, &before, &config),
            config: config.clone(),
            prior_private: prior.map(|object| object.private.clone()).unwrap_or_default(),
            prior_identity,
            provider_meta: self.job.provider_meta.clone(),
        };
        let mut response = self.asked(request, diagnostics).await?;
        let wrong = plan_valid::violations(block, &before, &config, &response.planned);
        if response.legacy_type_system {
            if let Some(object) = prior {
                response.planned = ignoring_planned(&present.ignore, block, &object.value, &response.planned);
            }
        } else if !wrong.is_empty() {
            return Err(wrong.iter().map(|wrong| self.invalid_plan(wrong)).collect());
        }
        let replace_paths = match prior {
            None => Vec::new(),
            Some(_) => requires_replace::needed(&response.requires_replace, block, &before, &response.planned)
                .map_err(|wrong| {
                    let address = self.job.address.to_string();
                    let describe = |wrong| requires_replace::diagnostic(&address, self.provider.name(), wrong);
                    wrong.iter().map(describe).collect::<Diagnostics>()
                })?,
        };
        Ok(FirstPlan { response, replace_paths })
    }

    /// What a new object will be, planned as if there were none. The configuration counts as it is written.
    async fn second_plan(
        &self,
        config: &Value,
        first: &FirstPlan,
        diagnostics: &mut Diagnostics,
    ) -> Result<PlanResponse, Diagnostics> {
        let request = PlanRequest {
            type_name: self.job.kind.type_name.clone(),
            prior: self.nothing(),
            proposed: proposed_new(&self.job.kind.schema.block, &self.nothing(), config),
            config: config.clone(),
            prior_private: first.response.private.clone(),
            prior_identity: None,
            provider_meta: self.job.provider_meta.clone(),
        };
        self.asked(request, diagnostics).await
    }

    async fn asked(&self, request: PlanRequest, diagnostics: &mut Diagnostics) -> Result<PlanResponse, Diagnostics> {
        let mut response = self.provider.plan(request).await.map_err(|error| error.diagnostic())?;
        keep_warnings(std::mem::take(&mut response.diagnostics), diagnostics)?;
        if response.planned.is_null() {
            let detail = format!(
                "Provider {:?} planned no object for {} although one is wanted. This is a bug in the provider, which \
                 should be reported in the provider's own issue tracker.",
                self.provider.name(),
                self.job.address
            );
            return Err(Diagnostic::error("Provider produced invalid plan", detail).into());
        }
        if response.legacy_type_system {
            response.planned = legacy::normalised(&response.planned, &self.job.kind.schema.block);
        }
        Ok(response)
    }

    async fn absent(
        &self,
        object: &Object,
        reason: Option<Reason>,
        forget: Forgetting,
        diagnostics: &mut Diagnostics,
    ) -> Result<Change, Diagnostics> {
        let forgets = forget.removed.unwrap_or(forget.by_lifecycle || object.skip_destroy);
        // Who takes everything down knows that it goes.
        if forgets && reason.is_some() {
            diagnostics.push(forgotten(&self.job.address));
        }
        let reason = match (forgets, forget.by_lifecycle, object.skip_destroy) {
            (true, true, _) => Some(Reason::ForgotBecauseLifecycleDestroyInConfig),
            (true, false, true) => Some(Reason::ForgotBecauseLifecycleDestroyInState),
            _ => reason,
        };
        let (private, after_identity) =
            if forgets { (object.private.clone(), None) } else { self.planned_deletion(object, diagnostics).await? };
        Ok(Change {
            action: if forgets { Action::Forget } else { Action::Delete },
            reason,
            notes: if forgets { vec![Note::NotDestroyed] } else { Vec::new() },
            before: object.marked(&self.job.kind.schema),
            before_identity: object.identity.clone(),
            after_identity,
            private,
            dependencies: Arc::clone(&object.dependencies),
            create_before_destroy: object.create_before_destroy,
            ..self.change()
        })
    }

    /// Providers that want to have a say are asked before a deletion. What identifies the object stays with it.
    async fn planned_deletion(
        &self,
        object: &Object,
        diagnostics: &mut Diagnostics,
    ) -> Result<(Private, Option<Value>), Diagnostics> {
        if !self.provider.schema().capabilities.plan_destroy {
            return Ok((object.private.clone(), None));
        }
        let request = PlanRequest {
            type_name: self.job.kind.type_name.clone(),
            prior: object.value.clone(),
            proposed: self.nothing(),
            config: self.nothing(),
            prior_private: object.private.clone(),
            prior_identity: object.identity.clone(),
            provider_meta: self.job.provider_meta.clone(),
        };
        let response = self.provider.plan(request).await.map_err(|error| error.diagnostic())?;
        keep_warnings(response.diagnostics, diagnostics)?;
        if response.planned.is_null() {
            return Ok((response.private, response.identity));
        }
        let detail = format!(
            "Provider {:?} planned an object for {} although it is to be destroyed. This is a bug in the provider, which \
             should be reported in the provider's own issue tracker.",
            self.provider.name(),
            self.job.address
        );
        Err(Diagnostic::error("Provider produced invalid plan", detail).into())
    }

    /// A change of this instance that does nothing yet.
    pub(super) fn change(&self) -> Change {
        Change {
            address: self.job.address.clone(),
            deposed: self.job.deposed.clone(),
            previous_address: self.job.previous_address.clone(),
            provider: self.job.slot.instance().clone(),
            action: Action::NoOp,
            reason: None,
            before: self.nothing(),
            after: self.nothing(),
            configured_sensitive: Vec::new(),
            before_identity: None,
            after_identity: None,
            private: Private::default(),
            replace_paths: Vec::new(),
            importing: None,
            schema: Arc::clone(&self.job.kind.schema),
            dependencies: Arc::from([]),
            create_before_destroy: false,
            generated_config: None,
            notes: Vec::new(),
            not_ready: None,
        }
    }

    fn nothing(&self) -> Value {
        Value::null(self.job.kind.schema.block.implied_type())
    }

    fn invalid_plan(&self, wrong: &crate::object::Mismatch) -> Diagnostic {
        let detail = format!(
            "Provider {:?} planned an invalid value for {}{}: {}.\n\nThis is a bug in the provider, which should be \
             reported in the provider's own issue tracker.",
            self.provider.name(),
            self.job.address,
            wrong.path,
            wrong.message
        );
        Diagnostic::error("Provider produced invalid plan", detail)
    }
}

/// What the configuration says about an object beside its attributes is kept with it.
fn note_configuration(object: &mut Object, present: &Present, change: Option<&Change>, was_read: bool) {
    object.create_before_destroy = present.create_before_destroy;
    object.skip_destroy = present.skip_destroy;
    if change.is_none_or(|change| change.action == Action::NoOp) {
        object.dependencies = Arc::clone(&present.dependencies);
    } else if was_read {
        object.dependencies = union(&object.dependencies, present.dependencies.iter()).into();
    }
}

fn forgotten(address: &AbsInstance) -> Diagnostic {
    let detail = format!(
        "Once this plan is applied, {address} is not managed any more. The object itself stays as it is; to manage it again, \
         import it."
    );
    Diagnostic::warning("Resource will be removed from the state", detail)
}

/// What an import is asked for by, as people read it.
fn import_text(target: &ImportTarget) -> String {
    match target {
        ImportTarget::Id(id) => id.clone(),
        ImportTarget::Identity(identity) => groma_lang::display::compact(identity),
    }
}

struct FirstPlan {
    response: PlanResponse,
    replace_paths: Vec<Path>,
}

/// The places of a configuration that must not be shown.
pub(crate) fn sensitive_paths(marks: &[PathMarks]) -> Vec<Path> {
    marks.iter().filter(|at| at.marks.contains(&Mark::Sensitive)).map(|at| at.path.clone()).collect()
}

/// Errors end the planning of an instance; warnings are kept.
pub(crate) fn keep_warnings(found: Diagnostics, kept: &mut Diagnostics) -> Result<(), Diagnostics> {
    if found.has_errors() {
        let mut all = std::mem::take(kept);
        all.extend(found);
        return Err(all);
    }
    kept.extend(found);
    Ok(())
}

pub(crate) fn with_address(found: Diagnostics, address: &AbsInstance) -> Diagnostics {
    let name = |mut diagnostic: Diagnostic| {
        diagnostic.address.get_or_insert_with(|| address.to_string());
        diagnostic
    };
    found.into_iter().map(name).collect()
}
