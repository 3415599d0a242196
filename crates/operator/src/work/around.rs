//! What is around a plan: objects that are there already, and objects that no state knows. The latter go only if somebody has agreed to
//! exactly those that are there.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::engine::plan::Plan;
use groma_run::engine::plan::listing::{Adoption as Wanted, AdoptionMode as Mode, Orphan as Found, Wishes};
use groma_run::operate::Operation;
use sha2::{Digest as _, Sha256};

use super::{Overseer, Work};
use crate::api::upkeep::{Adoption, AdoptionMode, Orphan, OrphanReport};
use crate::bundle::{Bundle, part};

/// No report names more.
const MOST_NAMED: usize = 100;

/// What is to be found out when a plan is made.
pub(super) fn wishes(bundle: &Bundle, destroy: bool) -> Wishes {
    // What goes takes nothing in.
    let adoption = bundle.adoption.as_ref().filter(|_| !destroy).map(wanted);
    Wishes { adoption, orphans: bundle.orphans && !destroy }
}

fn wanted(given: &Adoption) -> Wanted {
    let match_by = if given.match_by.is_empty() { vec!["name".to_owned()] } else { given.match_by.clone() };
    let mode = match given.mode {
        AdoptionMode::Warn => Mode::Warn,
        AdoptionMode::Fail => Mode::Fail,
        AdoptionMode::IfExists => Mode::IfExists,
    };
    Wanted { mode, match_by, types: given.types.clone() }
}

impl Work<'_> {
    /// Objects that no state knows, if somebody wants to know. Those that somebody has agreed to are deleted.
    pub(super) fn orphans(
        &self,
        operation: &Operation,
        plan: &Plan,
        overseer: &dyn Overseer,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Orphan>> {
        if !wishes(self.bundle, false).orphans {
            return None;
        }
        let (mut found, problems) = operation.orphans(plan);
        diagnostics.extend(problems);
        let listed: Vec<Orphan> = found.iter().map(named).collect();
        if listed.is_empty() || self.delete_orphans.as_deref() != Some(id(&listed).as_str()) {
            return Some(listed);
        }
        found.retain(|orphan| !self.delete(operation, orphan, overseer, diagnostics));
        Some(found.iter().map(named).collect())
    }

    /// Whether it is gone.
    fn delete(
        &self,
        operation: &Operation,
        orphan: &Found,
        overseer: &dyn Overseer,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        if self.stop_if_asked().is_err() {
            return false;
        }
        let problems = operation.delete_orphan(orphan);
        let failed = problems.has_errors();
        let why = problems.iter().find(|problem| problem.is_error());
        let why = why.map(|problem| format!("{}: {}", problem.summary, problem.detail));
        for problem in &problems {
            let detail = format!("{} {}: {}", orphan.kind, orphan.id, problem.detail);
            diagnostics.push(Diagnostic::warning(problem.summary.clone(), detail));
        }
        overseer.orphan_deleted(&named(orphan), why.as_deref());
        !failed
    }
}

fn named(orphan: &Found) -> Orphan {
    Orphan { kind: orphan.kind.to_string(), id: orphan.id.clone(), name: orphan.name.clone() }
}

/// What stands for exactly these objects.
pub fn id(orphans: &[Orphan]) -> String {
    let mut hash = Sha256::new();
    for orphan in orphans {
        for text in [&orphan.kind, &orphan.id] {
            part(&mut hash, text.as_bytes());
        }
    }
    format!("orphans-{}", &hex::encode(hash.finalize())[..32])
}

/// What is said about them.
pub fn report(orphans: &[Orphan]) -> OrphanReport {
    OrphanReport {
        id: id(orphans),
        objects: orphans.iter().take(MOST_NAMED).cloned().collect(),
        count: u32::try_from(orphans.len()).unwrap_or(u32::MAX),
        since: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orphan(id: &str) -> Orphan {
        Orphan { kind: "rest_object".to_owned(), id: id.to_owned(), name: String::new() }
    }

    #[test]
    fn other_objects_have_another_id() {
        let one = report(&[orphan("a"), orphan("b")]);
        assert_eq!((one.count, one.objects.len()), (2, 2));
        assert_eq!(one.id, id(&[orphan("a"), orphan("b")]));
        for other in [vec![orphan("a")], vec![orphan("ab")], vec![orphan("a"), orphan("c")]] {
            assert_ne!(one.id, id(&other));
        }
        // What people call it does not matter.
        assert_eq!(id(&[Orphan { name: "x".to_owned(), ..orphan("a") }]), id(&[orphan("a")]));
    }

    #[test]
    fn what_goes_takes_nothing_in() {
        let bundle = Bundle { adoption: Some(Adoption::default()), orphans: true, ..Bundle::default() };
        assert_eq!(wishes(&bundle, true), Wishes::default());
        let wanted = wishes(&bundle, false).adoption.unwrap();
        assert_eq!((wanted.mode, wanted.match_by), (Mode::Warn, vec!["name".to_owned()]));
    }
}
