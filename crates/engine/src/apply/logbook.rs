//! What is written down while a plan is carried out, so that nothing is lost whatever happens: what is about to be done, what came
//! of it, and now and then the whole state. Where, and how it is made safe, is the business of whoever hands one in.

use std::collections::BTreeMap;

use async_trait::async_trait;
use groma_model::address::{AbsObject, ProviderInstance};
use groma_model::diag::Diagnostics;
use groma_state::journal::{Action, After, Operation, Ticket};
use groma_state::{Digest, State};

use crate::change::Change;

/// A change that is about to be asked of a provider.
#[derive(Debug, Clone)]
pub struct Intended {
    /// Of which object.
    pub object: AbsObject,
    /// What is done to it.
    pub action: Action,
    /// By whom.
    pub provider: ProviderInstance,
    /// Of what is planned to come out of it.
    pub planned: Option<Digest>,
    /// What will identify the object, as compact JSON, if that is known already.
    pub identity: Option<String>,
    /// What it could be imported by, if that is known already.
    pub import_id: Option<String>,
    /// Whether it comes out the same when it is done twice.
    pub repeatable: bool,
}

/// Keeps a log of an apply.
#[async_trait]
pub trait Logbook: Send + Sync {
    /// Writes down that a change is about to begin. Once this returns, it may.
    async fn intend(&self, change: Intended) -> Result<Option<Operation>, Diagnostics>;

    /// Takes what came of a change: of one that was intended, or of one that has no effects outside. What depends on it may begin
    /// once [`Self::safe`] returns; at once if there is no ticket.
    fn conclude(
        &self,
        operation: Option<Operation>,
        object: AbsObject,
        after: After,
    ) -> Result<Option<Ticket>, Diagnostics>;

    /// An object has another address now, or was put aside, or came back.
    fn moved(&self, from: &AbsObject, to: &AbsObject) -> Result<(), Diagnostics>;

    /// Waits until everything is safe up to there.
    async fn safe(&self, ticket: Ticket) -> Result<(), Diagnostics>;

    /// Something in the state has changed. How often a whole state is worth storing is decided here.
    fn changed(&self, state: &State);

    /// Waits until [`Self::changed`] should be called again although nothing else has changed.
    async fn due(&self);
}

/// Nothing is written down: what counts is the state in the end.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLogbook;

#[async_trait]
impl Logbook for NoLogbook {
    async fn intend(&self, _: Intended) -> Result<Option<Operation>, Diagnostics> {
        Ok(None)
    }

    fn conclude(&self, _: Option<Operation>, _: AbsObject, _: After) -> Result<Option<Ticket>, Diagnostics> {
        Ok(None)
    }

    fn moved(&self, _: &AbsObject, _: &AbsObject) -> Result<(), Diagnostics> {
        Ok(())
    }

    async fn safe(&self, _: Ticket) -> Result<(), Diagnostics> {
        Ok(())
    }

    fn changed(&self, _: &State) {}

    async fn due(&self) {
        std::future::pending::<()>().await;
    }
}

/// Where objects were and are that a plan has moved, in an order in which no place is taken before it was left.
pub(super) fn moves(changes: &[Change]) -> Vec<(AbsObject, AbsObject)> {
    let moved = changes.iter().filter_map(|change| {
        let from = change.previous_address.as_ref()?.object(change.deposed.clone());
        Some((from, change.address.object(change.deposed.clone())))
    });
    let mut open: BTreeMap<AbsObject, AbsObject> = moved.collect();
    let mut ordered = Vec::with_capacity(open.len());
    while let Some((from, to)) = open.pop_first() {
        let mut chain = vec![(from, to)];
        while let Some((from, to)) = chain.last().and_then(|(_, to)| open.remove_entry(to)) {
            chain.push((from, to));
        }
        ordered.extend(chain.into_iter().rev());
    }
    ordered
}
