//! Who waits for whom while a plan is carried out. Only for those who watch: the run has its own books.

use std::collections::{BTreeMap, BTreeSet};

use groma_model::address::AbsInstance;
use groma_run::engine::execution::{Step, StepIndex};
use groma_run::engine::plan::Plan;

/// So many steps are looked at to find out who waits. A picture need not be complete.
const LOOK_AT: usize = 1000;

/// The order of a plan, the other way round.
#[derive(Default)]
pub(super) struct Waits {
    /// What waits for each step.
    needed_by: Vec<Vec<StepIndex>>,
    /// Which object a step is about, by its place in `objects`.
    object_of: Vec<Option<usize>>,
    objects: Vec<AbsInstance>,
    steps_of: BTreeMap<AbsInstance, Vec<StepIndex>>,
    /// Objects of which some step is over.
    done: BTreeSet<AbsInstance>,
}

/// Those who wait for something.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Waiting {
    /// The first of them.
    pub(super) names: Vec<String>,
    /// How many there are.
    pub(super) count: usize,
    /// Whether there may be more.
    pub(super) and_more: bool,
}

impl Waits {
    /// Those of a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        let steps = &plan.execution.steps;
        let mut waits = Self { needed_by: vec![Vec::new(); steps.len()], ..Self::default() };
        for (step, needs) in plan.execution.needs.iter().enumerate() {
            for need in needs {
                if let Some(waiting) = waits.needed_by.get_mut(*need) {
                    waiting.push(step);
                }
            }
        }
        for (at, step) in steps.iter().enumerate() {
            let change = match step {
                Step::Make(change) | Step::Remove(change) => plan.changes.get(*change),
                _ => None,
            };
            waits.object_of.push(change.map(|_| waits.objects.len()));
            if let Some(change) = change {
                waits.objects.push(change.address.clone());
                waits.steps_of.entry(change.address.clone()).or_default().push(at);
            }
        }
        waits
    }

    /// A step of that object is over.
    pub(super) fn over(&mut self, address: &AbsInstance) {
        if !self.steps_of.is_empty() {
            self.done.insert(address.clone());
        }
    }

    /// Who waits for an object, and names of at most so many.
    pub(super) fn for_object(&self, address: &AbsInstance, names: usize) -> Waiting {
        let mut waiting = Waiting::default();
        let mut left: Vec<StepIndex> = Vec::new();
        for step in self.steps_of.get(address).into_iter().flatten() {
            left.extend(self.needed_by.get(*step).into_iter().flatten());
        }
        let mut seen: BTreeSet<StepIndex> = BTreeSet::new();
        let mut found: BTreeSet<&AbsInstance> = BTreeSet::new();
        while let Some(step) = left.pop() {
            if !seen.insert(step) {
                continue;
            }
            if seen.len() > LOOK_AT {
                waiting.and_more = true;
                break;
            }
            match self.object_of.get(step).copied().flatten().and_then(|object| self.objects.get(object)) {
                Some(object) if object != address && !self.done.contains(object) => {
                    found.insert(object);
                }
                Some(_) => {}
                // Others wait behind it.
                None => left.extend(self.needed_by.get(step).into_iter().flatten()),
            }
        }
        waiting.count = found.len();
        waiting.names = found.into_iter().take(names).map(ToString::to_string).collect();
        waiting
    }
}

#[cfg(test)]
pub(super) mod tests {
    use groma_model::address::Traversal;

    use super::*;

    fn address(text: &str) -> AbsInstance {
        AbsInstance::from_traversal(&Traversal::parse(text).unwrap()).unwrap()
    }

    /// `b[0]` to `b[3]` wait for `a`, some of them behind a gate; `c` waits for `b[0]`.
    pub(in crate::watch) fn waits() -> Waits {
        let names = ["t_x.a", "", "t_x.b[0]", "t_x.b[1]", "t_x.b[2]", "t_x.b[3]", "t_x.c"];
        let mut waits = Waits { needed_by: vec![Vec::new(); names.len()], ..Waits::default() };
        waits.needed_by[0] = vec![1, 2];
        waits.needed_by[1] = vec![3, 4, 5];
        waits.needed_by[2] = vec![6];
        for (at, name) in names.iter().enumerate() {
            waits.object_of.push((!name.is_empty()).then_some(waits.objects.len()));
            if !name.is_empty() {
                waits.objects.push(address(name));
                waits.steps_of.insert(address(name), vec![at]);
            }
        }
        waits
    }

    #[test]
    fn those_behind_a_gate_wait_too() {
        let mut waits = waits();
        let waiting = waits.for_object(&address("t_x.a"), 2);
        assert_eq!(waiting.count, 4);
        assert_eq!(waiting.names, ["t_x.b[0]", "t_x.b[1]"]);
        waits.over(&address("t_x.b[0]"));
        assert_eq!(waits.for_object(&address("t_x.a"), 9).count, 3);
        assert_eq!(waits.for_object(&address("t_x.c"), 9), Waiting::default());
    }
}
