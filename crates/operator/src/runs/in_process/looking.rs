//! Looks at Stacks, which wait for their turns among runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use groma_run::engine::interrupt::Interrupt;
use groma_run::session::LockManners;

use super::{InProcess, Key, Left, News, Watchdog};
use crate::api::run::Action;
use crate::api::shared::Length;
use crate::api::stack::Stack;
use crate::runs::looks::{Known, Looked, Looker, Looking, Wish};
use crate::runs::verify;
use crate::work::{Task, Work};

impl InProcess {
    /// Looks at a Stack, and tells whether all is as it should be.
    pub(super) async fn look_into(&self, key: &Key, wish: Wish, interrupt: Interrupt) {
        let Wish { stack, bundle, action, known, around, limits } = wish;
        // Both phases of a run together.
        let Watchdog { deadline: _deadline, expired, let_go } =
            Self::watchdog(Length(limits.init.0 + limits.plan.0), interrupt.clone());
        let brief = known == Known::Nothing;
        let unlocked = (interrupt, LockManners::default(), Left::default());
        let task = Task::Look { destroy: action == Action::Destroy, brief };
        let look = move |work: &Work<'_>| work.perform(&task, &Looking);
        // Who was let go of has seen nothing, and touches nothing.
        let ended = self.on_a_thread(key.clone(), bundle, unlocked, let_go, look).await.unwrap_or_default();
        let mut is_well = !expired.load(Ordering::SeqCst) && known.covers(&ended) && around.covers(&ended);
        if is_well && action != Action::Plan {
            let networks = self.workshop.premises.networks.as_ref();
            is_well = verify::verify(&*self.store, &stack, action, &ended.outputs, networks).await.is_ok();
        }
        let uid = stack.metadata.uid.as_deref().unwrap_or_default();
        {
            let mut state = self.state();
            // Whoever was told to stop has seen nothing.
            if !state.closed {
                state.looks.end(uid, (self.clock)(), is_well);
            }
        }
        let name = stack.metadata.name.as_deref().unwrap_or_default();
        (self.told)(News::Look { namespace: &key.0, name, is_well });
    }
}

/// What a look is known by among runs, whose names have no such character.
fn look_key(stack: &Stack) -> Key {
    let metadata = &stack.metadata;
    (metadata.namespace.clone().unwrap_or_default(), format!("{}?", metadata.name.as_deref().unwrap_or_default()))
}

/// Whether it is the key of a look, and not of a run.
pub(super) fn is_look(key: &Key) -> bool {
    key.1.ends_with('?')
}

impl Looker for Arc<InProcess> {
    fn looked(&self, uid: &str) -> Looked {
        self.state().looks.of(uid)
    }

    fn look(&self, wish: Wish) {
        let key = look_key(&wish.stack);
        {
            let mut state = self.state();
            if state.closed {
                return;
            }
            state.looks.begin(wish.stack.metadata.uid.as_deref().unwrap_or_default());
            state.turns.wait(&key.0, key.clone());
            state.wishes.insert(key, wish);
        }
        self.go_on();
    }

    fn forget(&self, uid: &str) {
        self.state().looks.forget(uid);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn looks_are_told_from_runs() {
        let stack = json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": "app-b", "namespace": "team"},
            "spec": {"source": {"inline": {}}},
        });
        let key = look_key(&serde_json::from_value(stack).unwrap());
        assert!(is_look(&key), "{key:?}");
        assert!(!is_look(&("team".to_owned(), "app-1".to_owned())));
    }
}
