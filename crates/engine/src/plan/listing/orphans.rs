//! Objects that are there, and that no state knows; and how they go.

use std::sync::{Arc, PoisonError};

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_model::value::Value;
use groma_provider::api::{ApplyRequest, ImportRequest, ImportTarget, ListedObject, Private, Provider, ReadRequest};
use groma_state::State;

use super::{Asked, Found, Known, Listing, required, shown_id};
use crate::plan::instance::keep_warnings;
use crate::providers::Slot;

/// An object that is there, and that no state knows.
pub struct Orphan {
    /// The type of resource that it would be.
    pub kind: Str,
    /// What it is imported by.
    pub id: String,
    /// What people know it by.
    pub name: String,
    found: ListedObject,
    slot: Arc<Slot>,
}

impl Listing {
    /// Objects like this one are asked for when the plan is made, if somebody wants to know which of them are not known.
    pub(crate) fn note(&self, slot: &Arc<Slot>, provider: &dyn Provider, type_name: &Str, like: &Value) {
        if self.wishes.orphans {
            self.question(slot, provider, type_name, like);
        }
    }

    /// Objects that are there and that the state does not know: of all kinds that were noted. What could not be listed is a warning.
    pub async fn orphans(&self, state: &State) -> (Vec<Orphan>, Diagnostics) {
        let questions: Vec<Arc<Asked>> = {
            let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.values().cloned().collect()
        };
        let (mut orphans, mut diagnostics) = (Vec::new(), Diagnostics::new());
        for question in questions {
            let Ok(provider) = question.slot.get().await else { continue };
            let listed = match question.answer(provider.as_ref()).await {
                Found::Objects(listed) => listed,
                Found::Unlistable => continue,
                Found::Failed(problems) => {
                    for problem in problems.iter().filter(|problem| problem.is_error()) {
                        let detail = format!("{}: {}", problem.summary, problem.detail);
                        let summary = "Objects could not be listed";
                        diagnostics.push(Diagnostic::warning(summary, format!("{}: {detail}", question.type_name)));
                    }
                    continue;
                }
            };
            let identity = provider.schema().identities.get(&question.type_name).map(|schema| schema.implied_type());
            let beside = required(provider.as_ref(), &question.type_name);
            let known = Known::of(state, &question.type_name, identity.as_ref(), beside);
            orphans.extend(listed.iter().filter(|found| !known.has(found)).map(|found| Orphan {
                kind: question.type_name.clone(),
                id: shown_id(found),
                name: found.display_name.clone(),
                found: found.clone(),
                slot: Arc::clone(&question.slot),
            }));
        }
        orphans.sort_by(|one, other| (&one.kind, &one.id, &one.name).cmp(&(&other.kind, &other.id, &other.name)));
        orphans.dedup_by(|one, other| one.kind == other.kind && one.id == other.id && one.name == other.name);
        (orphans, diagnostics)
    }
}

impl Orphan {
    /// Deletes it, by its provider. Gives warnings.
    pub async fn delete(&self) -> Result<Diagnostics, Diagnostics> {
        let mut diagnostics = Diagnostics::new();
        let provider = self.slot.get().await?;
        let Some((object, private)) = self.whole(provider.as_ref(), &mut diagnostics).await? else {
            // It is gone already.
            return Ok(diagnostics);
        };
        let nothing = Value::null(object.ty());
        let request = ApplyRequest {
            type_name: self.kind.clone(),
            prior: object,
            planned: nothing.clone(),
            config: nothing,
            planned_private: private,
            planned_identity: None,
            provider_meta: None,
        };
        let response = provider.apply(request).await.map_err(|error| error.diagnostic())?;
        keep_warnings(response.diagnostics, &mut diagnostics)?;
        Ok(diagnostics)
    }

    /// The object, as its provider reads it now. None if there is none any more.
    async fn whole(
        &self,
        provider: &dyn Provider,
        diagnostics: &mut Diagnostics,
    ) -> Result<Option<(Value, Private)>, Diagnostics> {
        let has_identity = provider.schema().identities.contains_key(&self.kind);
        let (object, private, identity) = if let Some(object) = self.found.object.clone().filter(|_| !has_identity) {
            (object, Private::default(), None)
        } else {
            let target = ImportTarget::Identity(self.found.identity.clone());
            let request = ImportRequest { type_name: self.kind.clone(), target };
            let response = provider.import(request).await.map_err(|error| error.diagnostic())?;
            keep_warnings(response.diagnostics, diagnostics)?;
            let own = response.imported.into_iter().find(|imported| imported.type_name == self.kind);
            let Some(own) = own else { return Ok(None) };
            (own.object, own.private, own.identity)
        };
        let request =
            ReadRequest { type_name: self.kind.clone(), current: object, private, identity, provider_meta: None };
        let response = provider.read(request).await.map_err(|error| error.diagnostic())?;
        keep_warnings(response.diagnostics, diagnostics)?;
        Ok((!response.object.is_null()).then_some((response.object, response.private)))
    }
}
