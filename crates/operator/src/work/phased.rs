//! Runs that plan with other inputs than they apply with: credentials that can only read, say. A plan that is carried out at once is kept, and
//! carried out as one that was agreed to later is: by providers that are begun anew. If something else was changed in between, it is not
//! carried out, as always.

use std::sync::{Mutex, PoisonError};

use super::{Ended, Overseer, Planned, Stopped, Task, Verdict, Work};
use crate::api::stack::InputPhase;
use crate::api::upkeep::Orphan;
use crate::bundle::Bundle;

/// Does what is to be done, each part with what is there for it.
pub(super) fn perform(work: &Work<'_>, task: &Task<'_>, overseer: &dyn Overseer) -> Ended {
    let with = |phase: InputPhase| work.bundle.during(phase);
    match task {
        Task::Look { .. } => alike(work, &with(InputPhase::Plan)).at_once(task, overseer),
        Task::Apply { .. } => alike(work, &with(InputPhase::Apply)).at_once(task, overseer),
        Task::Plan { destroy } => {
            let keeping = Keeping { overseer, plan: Mutex::default() };
            let ended = alike(work, &with(InputPhase::Plan)).at_once(task, &keeping);
            let Some(plan) = keeping.plan.into_inner().unwrap_or_else(PoisonError::into_inner) else { return ended };
            let task = Task::Apply { plan: &plan, destroy: *destroy };
            let applied = alike(work, &with(InputPhase::Apply)).at_once(&task, overseer);
            Ended { orphans: ended.orphans, ..applied }
        }
    }
}

/// The same work with another bundle.
fn alike<'b>(work: &Work<'b>, bundle: &'b Bundle) -> Work<'b> {
    Work {
        workshop: work.workshop,
        bundle,
        name: work.name,
        namespace: work.namespace,
        interrupt: work.interrupt.clone(),
        lock: work.lock.clone(),
        state: work.state.clone(),
        delete_orphans: work.delete_orphans.clone(),
    }
}

/// Keeps a plan that is to be carried out, and has it left for now.
struct Keeping<'o> {
    overseer: &'o dyn Overseer,
    plan: Mutex<Option<Vec<u8>>>,
}

impl Overseer for Keeping<'_> {
    fn backend_overridden(&self, block: &str) {
        self.overseer.backend_overridden(block);
    }

    fn state_moved(&self, from: u64, to: u64) {
        self.overseer.state_moved(from, to);
    }

    fn orphan_deleted(&self, orphan: &Orphan, problem: Option<&str>) {
        self.overseer.orphan_deleted(orphan, problem);
    }

    fn planning(&self) -> Result<(), Stopped> {
        self.overseer.planning()
    }

    fn planned(&self, plan: &Planned) -> Result<Verdict, Stopped> {
        if self.overseer.planned(plan)? == Verdict::CarryOut {
            *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan.bytes.clone());
        }
        Ok(Verdict::Leave)
    }
}
