//! A plan as a whole, its options and its order. What names something else by number is checked.

use super::read::{Reader, stored_lists};
use super::state::{read_like, write_like};
use super::write::Writer;
use super::{PlanFileError, Stored, stored_enum, stored_struct};
use crate::change::Change;
use crate::execution::{Execution, Step, StepIndex};
use crate::plan::{Mode, Options, OutputChange, Plan, RelevantAttribute};
use crate::replacement::{Decision, Document, ModeSource, ReplaceOptions, Replacement};
use groma_rules::replace::rule::{Mode as RuleMode, Order};

stored_enum! {
    Mode { 0 => Normal, 1 => Destroy, 2 => RefreshOnly }
    RuleMode { 0 => Off, 1 => Warn, 2 => Auto }
    ModeSource { 0 => Default, 1 => Settings, 2 => Environment, 3 => CommandLine }
    Order { 0 => DeleteFirst, 1 => CreateFirst }
    Step { 0 => Gate, 1 => Declare(node), 2 => Make(change), 3 => Remove(change) }
}

stored_struct! {
    Options { mode, refresh, targets, excludes, replace, parallelism, generate_config, replacement }
    ReplaceOptions { mode, mode_source, orders, in_full }
    Replacement { rules, decisions }
    Decision { order, document }
    OutputChange { action, before, after, sensitive }
    RelevantAttribute { resource, attribute }
    Execution { steps, needs, deposed_as }
}

stored_lists!(Step, Vec<StepIndex>, StepIndex, RelevantAttribute);

impl Stored for Document {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        out.blob(self.as_bytes());
        Ok(())
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        Ok(String::read(input)?.into())
    }
}

impl Stored for Plan {
    fn write(&self, out: &mut Writer) -> Result<(), PlanFileError> {
        let Self {
            mode,
            changes,
            drift,
            outputs,
            previous_state,
            prior_state,
            data,
            execution,
            checks,
            replacement,
            relevant,
            options,
            errored,
        } = self;
        mode.write(out)?;
        errored.write(out)?;
        options.write(out)?;
        changes.write(out)?;
        drift.write(out)?;
        outputs.write(out)?;
        previous_state.write(out)?;
        write_like(prior_state, previous_state, out)?;
        data.write(out)?;
        execution.write(out)?;
        checks.write(out)?;
        replacement.write(out)?;
        relevant.write(out)
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, PlanFileError> {
        let mode = Stored::read(input)?;
        let errored = Stored::read(input)?;
        let options = Stored::read(input)?;
        let changes: Vec<Change> = Stored::read(input)?;
        let drift = Stored::read(input)?;
        let outputs = Stored::read(input)?;
        let previous_state = Stored::read(input)?;
        let prior_state = read_like(&previous_state, input)?;
        let data = Stored::read(input)?;
        let execution = Execution::read(input)?;
        check_order(&execution, changes.len()).map_err(|problem| input.malformed(problem))?;
        let checks = Stored::read(input)?;
        let replacement = Stored::read(input)?;
        let relevant = Stored::read(input)?;
        Ok(Self {
            mode,
            changes,
            drift,
            outputs,
            previous_state,
            prior_state,
            data,
            execution,
            checks,
            replacement,
            relevant,
            options,
            errored,
        })
    }
}

/// Steps name changes and steps that exist, and do not wait for each other.
fn check_order(execution: &Execution, changes: usize) -> Result<(), &'static str> {
    let Execution { steps, needs, deposed_as } = execution;
    let known = |(at, step): (usize, &Step)| match step {
        Step::Gate => true,
        Step::Declare(node) => *node == at,
        Step::Make(change) | Step::Remove(change) => *change < changes,
    };
    if !steps.iter().enumerate().all(known) || deposed_as.keys().any(|change| *change >= changes) {
        return Err("a step is about a change that is not there");
    }
    if needs.len() != steps.len() || needs.iter().flatten().any(|need| *need >= steps.len()) {
        return Err("a step waits for one that is not there");
    }
    execution.check_acyclic().map_err(|_| "steps wait for each other")
}
