//! What waits for what, by address: gates and declarations in between are looked through.

use groma_model::address::{AbsInstance, DeposedKey};

use crate::change::{Action, Change};
use crate::execution::{Step, StepIndex};
use crate::plan::Plan;

/// Something that is done before or after something else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Neighbour {
    /// To which instance.
    pub address: AbsInstance,
    /// To which of its objects, if not the current one.
    pub deposed: Option<DeposedKey>,
    /// What.
    pub step: StepKind,
}

/// Half of a replacement, or all of another change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// It is created.
    Create,
    /// It is changed.
    Update,
    /// It is read.
    Read,
    /// It is deleted.
    Delete,
    /// It is forgotten.
    Forget,
}

impl StepKind {
    fn of(step: &Step, action: Action) -> Self {
        match (step, action) {
            (Step::Remove(_), Action::Forget | Action::ForgetThenCreate) => Self::Forget,
            (Step::Remove(_), _) => Self::Delete,
            (_, Action::Update) => Self::Update,
            (_, Action::Read) => Self::Read,
            _ => Self::Create,
        }
    }

    /// As in "it waits until x is …".
    pub fn done(self) -> &'static str {
        match self {
            Self::Create => "created",
            Self::Update => "updated",
            Self::Read => "read",
            Self::Delete => "destroyed",
            Self::Forget => "forgotten",
        }
    }
}

/// The order of a plan, both ways.
pub struct Order<'p> {
    plan: &'p Plan,
    needed_by: Vec<Vec<StepIndex>>,
    /// The steps of each change.
    steps: Vec<Vec<StepIndex>>,
}

impl<'p> Order<'p> {
    /// Of a plan.
    pub fn new(plan: &'p Plan) -> Self {
        let execution = &plan.execution;
        let mut needed_by = vec![Vec::new(); execution.steps.len()];
        for (step, needs) in execution.needs.iter().enumerate() {
            for need in needs {
                needed_by[*need].push(step);
            }
        }
        let mut steps = vec![Vec::new(); plan.changes.len()];
        for (at, step) in execution.steps.iter().enumerate() {
            if let Step::Make(change) | Step::Remove(change) = step {
                steps[*change].push(at);
            }
        }
        Self { plan, needed_by, steps }
    }

    /// What must be done before a change can be carried out.
    pub(super) fn before(&self, change: usize) -> Vec<Neighbour> {
        self.neighbours(change, &self.plan.execution.needs)
    }

    /// What is done only when a change has been carried out.
    pub(super) fn after(&self, change: usize) -> Vec<Neighbour> {
        self.neighbours(change, &self.needed_by)
    }

    /// The nearest steps that do something. Every step is looked at once.
    fn neighbours(&self, change: usize, edges: &[Vec<StepIndex>]) -> Vec<Neighbour> {
        let execution = &self.plan.execution;
        let mut seen = vec![false; execution.steps.len()];
        let mut open: Vec<StepIndex> = Vec::new();
        for &own in &self.steps[change] {
            seen[own] = true;
            open.push(own);
        }
        let mut found = Vec::new();
        while let Some(step) = open.pop() {
            for &next in &edges[step] {
                if std::mem::replace(&mut seen[next], true) {
                    continue;
                }
                match &execution.steps[next] {
                    Step::Make(other) | Step::Remove(other) => {
                        found.push(neighbour(&execution.steps[next], &self.plan.changes[*other]));
                    }
                    Step::Declare(_) | Step::Gate => open.push(next),
                }
            }
        }
        found.sort();
        found
    }
}

fn neighbour(step: &Step, change: &Change) -> Neighbour {
    let Change { address, deposed, action, .. } = change;
    Neighbour { address: address.clone(), deposed: deposed.clone(), step: StepKind::of(step, *action) }
}
