//! Looking at a state with everything that belongs to it, and mending what can be mended: locks, journals, damaged files, changes that
//! nobody knows the outcome of. Nothing is changed without being told to.

use groma_engine::pending;
use groma_model::address::AbsInstance;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::journal::{Action, Condition, Damage, FoldError, Folded};
use groma_state::{LedgerError, State, StoreError};

use super::{LockWish, StateAccess, findings};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What sort of thing, for machines.
    pub kind: FindingKind,
    /// In words.
    pub text: String,
    /// Which object it is about, if it is about one.
    pub address: Option<String>,
    /// What to do.
    pub remedy: Option<String>,
}

/// What sort of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// Somebody holds the lock.
    Locked,
    /// The state cannot be read.
    DamagedState,
    /// The state is not the one that was stored last.
    ForeignState,
    /// A run did not end.
    UnfinishedRun,
    /// Its journal is damaged.
    DamagedJournal,
    /// An object may exist that nobody knows.
    PossiblyCreated,
    /// Two tools have made an object at the same address, or otherwise disagree.
    Conflict,
    /// An object is there and not ready.
    NotReady,
}

impl FindingKind {
    /// For machines.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Locked => "locked",
            FindingKind::DamagedState => "damaged_state",
            FindingKind::ForeignState => "foreign_state",
            FindingKind::UnfinishedRun => "unfinished_run",
            FindingKind::DamagedJournal => "damaged_journal",
            FindingKind::PossiblyCreated => "possibly_created",
            FindingKind::Conflict => "conflict",
            FindingKind::NotReady => "not_ready",
        }
    }
}

/// What is to be done about it.
#[derive(Debug, Clone, Default)]
pub struct Treatment {
    /// Store what unfinished runs have done, as far as their journals can be read.
    pub repair: bool,
    /// Go on from the state that is there, though it is not the one that was stored last.
    pub accept_state: bool,
    /// Objects that were looked for and do not exist.
    pub not_created: Vec<AbsInstance>,
}

impl Treatment {
    fn is_none(&self) -> bool {
        !self.repair && !self.accept_state && self.not_created.is_empty()
    }
}

/// Looks at a state. Nothing is changed.
pub fn examine(access: &mut StateAccess) -> Vec<Finding> {
    let mut found = Vec::new();
    match access.lock("doctor", LockWish::default()) {
        Ok(()) => {}
        Err(problems) => found.extend(problems.iter().map(locked)),
    }
    found.extend(look(access));
    let _ = access.unlock();
    found
}

fn look(access: &mut StateAccess) -> Vec<Finding> {
    let mut found = Vec::new();
    let state = match access.recover(Damage::Refuse) {
        Ok(state) => {
            found.extend(access.folded().map(left_over).unwrap_or_default());
            state
        }
        Err(error) => {
            found.push(unusable(access, &error));
            // What can be read of it all the same.
            let state = access.recover(Damage::TakeTheRest).ok().flatten();
            found.extend(access.folded().map(left_over).unwrap_or_default());
            state
        }
    };
    found.extend(state.as_deref().map(not_ready).unwrap_or_default());
    found
}

/// Does what it is told. Gives what was done, in words.
pub fn treat(access: &mut StateAccess, treatment: &Treatment) -> Result<Vec<String>, Diagnostics> {
    let mut done = Vec::new();
    if treatment.is_none() {
        return Ok(done);
    }
    access.lock("doctor", LockWish::default())?;
    let treated = carry_out(access, treatment, &mut done);
    let mut problems = access.unlock();
    problems.extend(treated.err().unwrap_or_default());
    if problems.has_errors() { Err(problems) } else { Ok(done) }
}

fn carry_out(access: &mut StateAccess, treatment: &Treatment, done: &mut Vec<String>) -> Result<(), Diagnostics> {
    if treatment.accept_state {
        access.forget_witness();
        done.push(format!("{} is gone on from as it is.", access.name()));
    }
    if !treatment.repair && treatment.not_created.is_empty() {
        return Ok(());
    }
    let damage = if treatment.repair { Damage::TakeTheRest } else { Damage::Refuse };
    let kept = if treatment.repair { access.keep_damaged_journal()? } else { None };
    let state = access.recover(damage).map_err(|error| error.diagnostic())?;
    for address in &treatment.not_created {
        if access.settle_object(&address.object(None)) == 0 {
            let detail = format!("No run has left a creation of {address} without an answer.");
            return Err(Diagnostic::error("Nothing to clear up", detail).into());
        }
        done.push(format!("{address} counts as not created."));
    }
    if access.folded().is_none() {
        return Ok(());
    }
    let mut state = state.map(|state| State::clone(&state)).unwrap_or_default();
    access.save(&mut state)?;
    done.push("What unfinished runs have done is in the state now.".to_owned());
    done.extend(kept.map(|place| format!("The damaged journal was kept as {place}.")));
    Ok(())
}

fn locked(problem: &Diagnostic) -> Finding {
    let remedy = problem
        .hints
        .first()
        .cloned()
        .unwrap_or_else(|| "If whoever holds it is gone, take it away with \"groma force-unlock ID\".".to_owned());
    Finding { kind: FindingKind::Locked, text: problem.detail.clone(), address: None, remedy: Some(remedy) }
}

fn unusable(access: &StateAccess, error: &LedgerError) -> Finding {
    let diagnostic = error.diagnostic();
    let newest = access.history().last().map(|entry| entry.path.display().to_string());
    let restore =
        newest.map(|path| format!("The newest earlier state is {path}: \"groma state restore\" puts one back."));
    let (kind, remedy) = match error {
        LedgerError::Witness(_) => {
            let accept = "If the state is right as it is, say so with \"groma doctor -accept-state\".";
            (
                FindingKind::ForeignState,
                Some([restore.as_deref().unwrap_or_default(), accept].join(" ").trim().to_owned()),
            )
        }
        // A wrong key is likelier than damage.
        LedgerError::Store(StoreError::Encryption { .. }) => (FindingKind::DamagedState, None),
        LedgerError::Store(_) => (FindingKind::DamagedState, restore),
        LedgerError::Fold(FoldError::Damaged { .. } | FoldError::Missing(_)) => {
            let repair = "\"groma doctor -repair\" stores what can be read of it.";
            (FindingKind::DamagedJournal, Some(repair.to_owned()))
        }
        _ => (FindingKind::DamagedJournal, None),
    };
    let remedy = remedy.or_else(|| diagnostic.hints.first().cloned());
    Finding { kind, text: format!("{}: {}", diagnostic.summary, diagnostic.detail), address: None, remedy }
}

fn left_over(folded: &Folded) -> Vec<Finding> {
    let mut found = Vec::new();
    let torn = match &folded.condition {
        Condition::Torn(_) => " Its last lines were never finished, and were of no account.",
        _ => "",
    };
    let changed =
        if folded.changed { "has done things that are not in the state yet" } else { "has left nothing undone" };
    found.push(Finding {
        kind: FindingKind::UnfinishedRun,
        text: format!("A run did not end; it {changed}.{torn}"),
        address: None,
        remedy: Some("The next apply stores it, or \"groma doctor -repair\" does.".to_owned()),
    });
    let described = findings::of(folded);
    for diagnostic in described.iter().filter(|diagnostic| diagnostic.address.is_some()) {
        let in_doubt = folded.in_flight.iter().any(|intent| {
            intent.action == Action::Create && diagnostic.address.as_deref() == Some(&intent.object.to_string())
        });
        found.push(Finding {
            kind: if in_doubt { FindingKind::PossiblyCreated } else { FindingKind::Conflict },
            text: diagnostic.detail.clone(),
            address: diagnostic.address.clone(),
            remedy: diagnostic.hints.first().cloned(),
        });
    }
    found
}

fn not_ready(state: &State) -> Vec<Finding> {
    let describe = |(address, pending): (AbsInstance, pending::Pending)| {
        let seen = pending.seen_in_brief().map(|seen| format!("; last seen: {seen}")).unwrap_or_default();
        Finding {
            kind: FindingKind::NotReady,
            text: format!("{address} is there and not ready: waiting for {}{seen}.", pending.waiting_for),
            address: Some(address.to_string()),
            remedy: Some("The next apply goes on waiting for it.".to_owned()),
        }
    };
    pending::of_state(state).into_iter().map(describe).collect()
}
