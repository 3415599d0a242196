//! What was done, counted from what is told while it is done.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use groma_engine::change::Action;
use groma_engine::events::{Event, Events};
use groma_engine::plan::Plan;
use groma_model::address::AbsInstance;
use groma_state::State;

/// How many objects were made, changed and so on. A replacement is one made and one destroyed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Made.
    pub added: usize,
    /// Changed in place.
    pub changed: usize,
    /// Destroyed.
    pub destroyed: usize,
    /// Taken in.
    pub imported: usize,
    /// Let go without being destroyed.
    pub forgotten: usize,
    /// Data sources that were read.
    pub read: usize,
}

/// Counts, and passes on what it is told.
pub(super) struct Counting {
    inner: Arc<dyn Events>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    counts: Counts,
    /// Replacements whose first half is done.
    half_done: BTreeSet<AbsInstance>,
}

impl Counting {
    pub(super) fn new(inner: Arc<dyn Events>) -> Self {
        Self { inner, seen: Mutex::default() }
    }

    /// The counts. What happens without a word is seen in the state.
    pub(super) fn counts(&self, plan: &Plan, state: &State) -> Counts {
        let counts = self.seen.lock().unwrap_or_else(PoisonError::into_inner).counts;
        let is_there = |address: &AbsInstance| {
            let found = state.resources.get(&address.resource());
            found.is_some_and(|resource| resource.instances.contains_key(address.key()))
        };
        // Of an object that is let go for another one only that one is counted.
        let forgotten =
            plan.changes.iter().filter(|change| change.action == Action::Forget && !is_there(&change.address));
        let imported = plan.changes.iter().filter(|change| change.importing.is_some() && is_there(&change.address));
        Counts { imported: imported.count(), forgotten: forgotten.count(), ..counts }
    }
}

impl Seen {
    fn done(&mut self, address: &AbsInstance, is_deposed: bool, action: Action) {
        let counts = &mut self.counts;
        match action {
            Action::NoOp | Action::Forget => {}
            Action::Read => counts.read += 1,
            Action::Update => counts.changed += 1,
            Action::Delete => counts.destroyed += 1,
            Action::Create | Action::ForgetThenCreate => counts.added += 1,
            Action::CreateThenDelete if is_deposed => counts.destroyed += 1,
            Action::CreateThenDelete => counts.added += 1,
            Action::DeleteThenCreate if self.half_done.insert(address.clone()) => counts.destroyed += 1,
            Action::DeleteThenCreate => counts.added += 1,
        }
    }
}

impl Events for Counting {
    fn tell(&self, event: Event) {
        let done = match &event {
            Event::ApplyDone { address, deposed, action, .. } => Some((address, deposed.is_some(), *action)),
            Event::ApplyKept { address, action, .. } => Some((address, false, *action)),
            _ => None,
        };
        if let Some((address, is_deposed, action)) = done {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.done(address, is_deposed, action);
        }
        self.inner.tell(event);
    }
}
