//! Whether a state is the one that was left: a plan that was made from another one would make everything again, or forget what there is.

use groma_run::state::State;

use super::result::{instances, number};
use crate::api::upkeep::{DoubtReason, StateDoubt, StateSeen};

/// What was found where a state is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// What was left, or nothing was known about it.
    AsLeft,
    /// Somebody else has written it since, and it is the same state.
    MovedOn {
        /// The serial that was left.
        from: u64,
        /// The serial that was found.
        to: u64,
    },
    /// It is not to be trusted.
    Doubt(StateDoubt),
}

/// A state, in brief. None if there is none.
pub(super) fn seen(state: &State) -> Option<StateSeen> {
    (!state.lineage.is_empty()).then(|| StateSeen {
        lineage: state.lineage.clone(),
        serial: state.serial,
        resources: number(instances(state)),
        unsure: false,
    })
}

/// Compares a state with the one that was left. `destroys`: everything is to go, so that nothing can be made again.
pub fn judge(left: Option<&StateSeen>, found: Option<&StateSeen>, destroys: bool) -> Judgement {
    let Some(left) = left else { return Judgement::AsLeft };
    let known = format!("lineage {}, serial {}, {}", left.lineage, left.serial, resources(left.resources));
    let doubt = |reason, message| Judgement::Doubt(StateDoubt { reason, message });
    let Some(found) = found else {
        if left.resources == 0 {
            return Judgement::AsLeft;
        }
        return doubt(DoubtReason::StateLost, format!("The state that was left ({known}) is not there any more."));
    };
    if left.resources == 0 && found.resources == 0 {
        return Judgement::AsLeft;
    }
    let is_emptied = left.resources > 0 && found.resources == 0;
    if found.lineage != left.lineage {
        if is_emptied {
            let message = format!("The state that was left ({known}) is gone, and an empty one is in its place.");
            return doubt(DoubtReason::StateLost, message);
        }
        let message = format!(
            "The state is another one than the one that was left ({known}): lineage {}, serial {}, {}.",
            found.lineage,
            found.serial,
            resources(found.resources)
        );
        return doubt(DoubtReason::StateLineageMismatch, message);
    }
    if found.serial < left.serial {
        let message = format!(
            "The state is older than the one that was left ({known}): serial {}, {}.",
            found.serial,
            resources(found.resources)
        );
        return doubt(DoubtReason::StateRegressed, message);
    }
    if found.serial == left.serial || left.unsure {
        return Judgement::AsLeft;
    }
    // Whoever has emptied it may have destroyed everything, or only forgotten it.
    if is_emptied && !destroys {
        let message = format!(
            "Nothing is in the state any more, which had {} when it was left; somebody else has written it since (serial {} to {}).",
            resources(left.resources),
            left.serial,
            found.serial
        );
        return doubt(DoubtReason::StateLost, message);
    }
    Judgement::MovedOn { from: left.serial, to: found.serial }
}

fn resources(count: u32) -> String {
    if count == 1 { "1 resource".to_owned() } else { format!("{count} resources") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(lineage: &str, serial: u64, resources: u32) -> StateSeen {
        StateSeen { lineage: lineage.to_owned(), serial, resources, unsure: false }
    }

    /// In one word.
    fn judged(left: Option<StateSeen>, found: Option<StateSeen>, destroys: bool) -> String {
        match judge(left.as_ref(), found.as_ref(), destroys) {
            Judgement::AsLeft => "as left".to_owned(),
            Judgement::MovedOn { from, to } => format!("{from} to {to}"),
            Judgement::Doubt(doubt) => doubt.reason.word().to_owned(),
        }
    }

    #[test]
    fn what_is_not_as_it_was_left_is_told() {
        let left = || Some(state("a", 5, 2));
        for (found, expected) in [
            (Some(state("a", 5, 2)), "as left"),
            (Some(state("a", 6, 3)), "5 to 6"),
            (Some(state("a", 4, 2)), "StateRegressed"),
            (Some(state("b", 9, 2)), "StateLineageMismatch"),
            (Some(state("b", 1, 0)), "StateLost"),
            (Some(state("a", 6, 0)), "StateLost"),
            (None, "StateLost"),
        ] {
            assert_eq!(judged(left(), found.clone(), false), expected, "{found:?}");
        }
    }

    #[test]
    fn where_nothing_was_nothing_is_lost() {
        assert_eq!(judged(None, Some(state("a", 1, 1)), false), "as left");
        assert_eq!(judged(Some(state("a", 5, 0)), None, false), "as left");
        assert_eq!(judged(Some(state("a", 5, 0)), Some(state("b", 1, 0)), false), "as left");
        assert_eq!(judged(Some(state("a", 5, 0)), Some(state("a", 4, 0)), false), "as left");
        assert_eq!(judged(Some(state("a", 5, 0)), Some(state("b", 1, 1)), false), "StateLineageMismatch");
    }

    #[test]
    fn what_somebody_has_destroyed_need_not_be_destroyed() {
        assert_eq!(judged(Some(state("a", 5, 2)), Some(state("a", 6, 0)), true), "5 to 6");
        assert_eq!(judged(Some(state("a", 5, 2)), None, true), "StateLost");
    }

    #[test]
    fn a_run_that_was_interrupted_may_have_written() {
        let left = StateSeen { unsure: true, ..state("a", 5, 2) };
        assert_eq!(judged(Some(left.clone()), Some(state("a", 7, 0)), false), "as left");
        assert_eq!(judged(Some(left.clone()), Some(state("a", 4, 2)), false), "StateRegressed");
        assert_eq!(judged(Some(left), Some(state("b", 7, 2)), false), "StateLineageMismatch");
    }
}
