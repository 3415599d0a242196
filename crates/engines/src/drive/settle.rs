//! After a run that failed: which objects it has left tainted, which of those are kept, and writing that down.

use std::collections::BTreeMap;

use groma_lang::environment::Environment as _;
use groma_model::address::{AbsInstance, ResourceMode};
use groma_model::diag::Diagnostics;
use groma_model::value::Value;
use groma_provider::api::Private;
use groma_rules::{Rule, Surroundings, Verdict as Judged, Wait};
use groma_run::engine::pending::{self, Pending, SaidBy};
use groma_run::outside::Machine;
use groma_run::state::{ObjectState, ObjectStatus, State};

use super::{Driver, Pulled};
use crate::edit::Edit;
use crate::look::Look;
use crate::verdict::{Facts, First, RuleKind, Settled, Verdict, WhyKept, WhyTainted, first};

/// How a `wait` judges an object.
pub(super) enum Readiness {
    Ready,
    Lacks(Pending),
    /// It will not become ready.
    Hopeless(Pending),
}

impl Driver<'_> {
    /// Settles what becomes of the objects that are tainted now.
    pub(super) async fn settle(&mut self, before: &State) -> Result<Vec<Settled>, Diagnostics> {
        let mut is_last = false;
        loop {
            let Some(pulled) = self.pull().await? else { return Ok(Vec::new()) };
            let tainted = tainted(&pulled.state);
            if tainted.is_empty() {
                return Ok(Vec::new());
            }
            let mut settled = self.judge(before, &tainted).await;
            let edits = edits(&settled, &tainted);
            let Err(why) = self.write(&pulled, &edits).await else { return Ok(settled) };
            let moved = self.pull().await?.is_none_or(|now| now.state.serial != pulled.state.serial);
            if moved && !is_last {
                // Somebody else was faster: what there is now may be something else.
                is_last = true;
                continue;
            }
            for settled in settled.iter_mut().filter(|settled| settled.verdict.is_kept()) {
                settled.verdict = Verdict::Tainted(WhyTainted::NotWritten(why.clone()));
            }
            return Ok(settled);
        }
    }

    async fn write(&self, pulled: &Pulled, edits: &BTreeMap<AbsInstance, Edit>) -> Result<(), String> {
        if edits.is_empty() { Ok(()) } else { self.push(pulled, edits).await }
    }

    async fn judge(&self, before: &State, tainted: &[(AbsInstance, &ObjectState)]) -> Vec<Settled> {
        let firsts: Vec<First> =
            tainted.iter().map(|(address, object)| first(self.facts(before, address, object))).collect();
        let wanted = tainted.iter().zip(&firsts).filter(|(_, first)| matches!(first, First::Look(..)));
        let wanted: Vec<AbsInstance> = wanted.map(|((address, _), _)| address.clone()).collect();
        let mut looks = self.look(&wanted).await;
        let each = tainted.iter().zip(firsts).map(|((address, _), first)| {
            let verdict = match first {
                First::Settled(verdict) => verdict,
                First::Look(kind, place) => self.looked_at(address, kind, place, looks.remove(address)),
            };
            Settled { address: address.clone(), verdict }
        });
        each.collect()
    }

    fn facts(&self, before: &State, address: &AbsInstance, object: &ObjectState) -> Facts {
        let earlier = before
            .resources
            .get(&address.resource())
            .and_then(|resource| resource.instances.get(address.key()).and_then(|instance| instance.current.as_ref()));
        let on_error = self.said.rules.on_create_error.find(address);
        let keeps = on_error.filter(|rule| rule.says.keep).map(|rule| (RuleKind::OnCreateError, rule.label));
        let waits = self.said.rules.waits.find(address).map(|rule| (RuleKind::Wait, rule.label));
        Facts {
            is_new: earlier.is_none_or(|earlier| earlier.attributes != object.attributes),
            marked: pending::of_stored(object).filter(|pending| pending.by == SaidBy::Provider),
            provisioned: self.said.provisioned(address),
            rule: keeps.or(waits).map(|(kind, label)| (kind, self.place(label))),
            refused: on_error.filter(|rule| !rule.says.keep).map(|rule| self.place(rule.label)),
        }
    }

    /// What becomes of an object that is kept if it is there.
    fn looked_at(&self, address: &AbsInstance, kind: RuleKind, place: String, look: Option<Look>) -> Verdict {
        match look {
            Some(Look::There(object)) => {
                let rule = self.said.rules.waits.find(address);
                let lacks = rule.and_then(|rule| match self.readiness(rule, &object, None) {
                    Readiness::Ready => None,
                    Readiness::Lacks(pending) | Readiness::Hopeless(pending) => Some(pending),
                });
                Verdict::Kept(WhyKept::Rule { kind, place, lacks })
            }
            Some(Look::Gone) => Verdict::Tainted(WhyTainted::Gone),
            Some(Look::Unclear(why)) => Verdict::Tainted(WhyTainted::Unreadable(why)),
            None => Verdict::Tainted(WhyTainted::Unreadable("nothing was said about it".to_owned())),
        }
    }

    /// Judges an object by a `wait`.
    pub(super) fn readiness(&self, rule: &Rule<Wait>, object: &Value, since: Option<i64>) -> Readiness {
        let start = self.session.start();
        let machine = Machine::new(start.working_dir.clone(), start.home_dir.clone());
        let around = Surroundings {
            environment: &machine,
            module_dir: &rule.module_dir,
            root_dir: &start.root_dir,
            workspace: self.session.workspace(),
            plan_time: None,
        };
        let pending = |seen: String| Pending {
            waiting_for: rule.says.until_text.to_string(),
            last_seen: Some(seen).filter(|seen| !seen.is_empty()),
            since: since.or(Some(machine.now().0)),
            by: SaidBy::Rule,
            patience: None,
        };
        match rule.says.judge(object, &around) {
            Judged::Holds => Readiness::Ready,
            Judged::NotYet(seen) => Readiness::Lacks(pending(seen.to_string())),
            Judged::Failed(seen) => Readiness::Hopeless(pending(seen.to_string())),
            Judged::Unclear(found) => {
                let said = found.iter().next().map(|found| format!("{}: {}", found.summary, found.detail));
                Readiness::Hopeless(pending(said.unwrap_or_default()))
            }
        }
    }
}

/// The objects of a state that will be replaced. What only waits to be deleted is none of them.
fn tainted(state: &State) -> Vec<(AbsInstance, &ObjectState)> {
    let managed = state.resources.iter().filter(|(address, _)| address.resource.mode == ResourceMode::Managed);
    let mut found = Vec::new();
    for (address, resource) in managed {
        for (key, instance) in &resource.instances {
            let tainted = instance.current.as_ref().filter(|object| object.status == ObjectStatus::Tainted);
            found.extend(tainted.map(|object| (address.instance(key.clone()), object)));
        }
    }
    found
}

/// What is written down: who is kept, and what a rule still waits for. What a provider says is there already.
fn edits(settled: &[Settled], tainted: &[(AbsInstance, &ObjectState)]) -> BTreeMap<AbsInstance, Edit> {
    let kept = settled.iter().zip(tainted).filter(|(settled, _)| settled.verdict.is_kept());
    let edit = |(settled, (_, object)): (&Settled, &(AbsInstance, &ObjectState))| {
        let lacks = settled.verdict.lacks().filter(|pending| pending.by == SaidBy::Rule);
        let private = lacks.and_then(|pending| pending.join(&Private(object.private.clone())));
        (settled.address.clone(), Edit { untaint: true, private: private.map(|private| private.0) })
    };
    kept.map(edit).collect()
}
