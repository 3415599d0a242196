//! The plan of a Stack that is not in the cluster yet. It is made as the operator makes it, here, against the state as it is; nothing is locked,
//! and nothing is written but to a directory of ours.

use std::sync::Arc;

use groma_model::diag::Diagnostic;
use groma_model::span::SourceMap;
use groma_operator::api::run::Told;
use groma_operator::api::shared::HolderKind;
use groma_operator::api::stack::Stack;
use groma_operator::bundle::Bundle;
use groma_operator::inputs::{self, Holders};
use groma_operator::objects::{Kind, Place, data_of, find};
use groma_operator::serve::standalone;
use groma_operator::stack::wanted::{self, Referred, StateHome};
use groma_operator::work::{Ended, Overseer, Planned, Stopped, Task, Verdict, Work, Workshop};
use groma_run::engine::interrupt::Interrupt;
use groma_run::engine::plan::Plan;
use groma_run::session::LockManners;

use super::files::Given;
use super::reach::Desk;
use super::trouble::Trouble;
use crate::commands::Context;
use crate::commands::operator::{self, Folders};
use crate::commands::shared::online_quietly;
use crate::render::{self, Look};
use crate::signals;

/// Plans are looked at.
struct Looking;

impl Overseer for Looking {
    fn planning(&self) -> Result<(), Stopped> {
        Ok(())
    }

    fn planned(&self, _: &Planned) -> Result<Verdict, Stopped> {
        Ok(Verdict::Leave)
    }
}

/// Shows the plan of each Stack. Whether one of them does something; none if something is wrong.
pub(super) fn preview(context: &Context, desk: &Desk, given: &Given) -> Result<Option<bool>, Trouble> {
    let workshop = workshop(context, desk);
    let interrupt = Interrupt::default();
    signals::listen(interrupt.clone(), Arc::new(signals::say_to_people));
    let mut changes = false;
    for stack in &given.stacks {
        let (namespace, name) = (text(stack.metadata.namespace.as_ref()), text(stack.metadata.name.as_ref()));
        if given.stacks.len() > 1 {
            desk.ui.line(&desk.ui.bold(&format!("{namespace}/{name}")))?;
        }
        let bundle = match bundle(desk, given, stack)? {
            Ok(bundle) => bundle,
            Err(problems) => {
                let told = problems.into_iter().map(|problem| Diagnostic::error("Invalid Stack", problem));
                desk.ui.diagnostics(&told.collect(), &SourceMap::new());
                return Ok(None);
            }
        };
        let name = format!("{namespace}-{name}-preview");
        let work = Work {
            workshop: &workshop,
            bundle: &bundle,
            name: &name,
            namespace: &namespace,
            interrupt: interrupt.clone(),
            lock: LockManners::default(),
            state: None,
            delete_orphans: None,
        };
        let ended = work.perform(&Task::Look { destroy: stack.spec.destroy, brief: false }, &Looking);
        desk.ui.diagnostics(&ended.told.iter().map(diagnostic).collect(), &SourceMap::new());
        let Some(plan) = ended.left.filter(|_| ended.problem.is_none()) else {
            if let Some(problem) = ended.problem.filter(|_| ended.told.is_empty()) {
                let told = Diagnostic::error("The plan could not be made", problem.message);
                desk.ui.diagnostics(&told.into(), &SourceMap::new());
            }
            return Ok(None);
        };
        desk.ui.out(&plan.text)?;
        changes |= !plan.is_empty;
    }
    Ok(Some(changes))
}

/// Makes a plan of a Stack that is there, and lists what there is besides. None if something is wrong with the Stack, which was said.
pub(super) fn look_around(context: &Context, desk: &Desk, stack: &Stack) -> Result<Option<Ended>, Trouble> {
    let mut bundle = match bundle(desk, &Given::default(), stack)? {
        Ok(bundle) => bundle,
        Err(problems) => {
            let told = problems.into_iter().map(|problem| Diagnostic::error("Invalid Stack", problem));
            desk.ui.diagnostics(&told.collect(), &SourceMap::new());
            return Ok(None);
        }
    };
    // Whoever looks takes nothing in.
    (bundle.orphans, bundle.adoption) = (true, None);
    let (namespace, name) = (text(stack.metadata.namespace.as_ref()), text(stack.metadata.name.as_ref()));
    let interrupt = Interrupt::default();
    signals::listen(interrupt.clone(), Arc::new(signals::say_to_people));
    let work = Work {
        workshop: &workshop(context, desk),
        bundle: &bundle,
        name: &format!("{namespace}-{name}-orphans"),
        namespace: &namespace,
        interrupt,
        lock: LockManners::default(),
        state: None,
        delete_orphans: None,
    };
    let ended = work.perform(&Task::Look { destroy: false, brief: false }, &Looking);
    desk.ui.diagnostics(&ended.told.iter().map(diagnostic).collect(), &SourceMap::new());
    Ok(Some(ended))
}

fn text(given: Option<&String>) -> String {
    given.cloned().unwrap_or_default()
}

/// What a Stack asks for: everything that it refers to is in the files, or in the cluster.
fn bundle(desk: &Desk, given: &Given, stack: &Stack) -> Result<Result<Bundle, Vec<String>>, Trouble> {
    let namespace = text(stack.metadata.namespace.as_ref());
    let mut holders = Holders::new();
    for reference in inputs::references(&stack.spec) {
        if let Some(data) = given.holder(&namespace, &reference) {
            holders.insert(reference, data.clone());
            continue;
        }
        let kind = match reference.kind {
            HolderKind::Secret => Kind::secret(),
            HolderKind::ConfigMap => Kind::config_map(),
        };
        let found = desk.wait(desk.store.get(&Place::new(kind, &namespace, &reference.name)))?;
        holders.extend(found.map(|found| (reference, data_of(&found))));
    }
    let previewed = match &stack.spec.preview_of {
        Some(of) => desk.wait(find::<Stack>(&*desk.store, &namespace, of))?.map(|stack| Box::new(stack.spec)),
        None => None,
    };
    // Nothing of what is marked with the salt leaves this process.
    let referred = Referred { holders, previewed, ..Referred::default() };
    let home = match &desk.alone {
        Some(alone) => standalone::home(&alone.layout),
        None => StateHome { kind: "kubernetes".to_owned(), directory: None },
    };
    Ok(wanted::bundle(stack, &referred, &home).map(|(bundle, _)| bundle))
}

fn workshop(context: &Context, desk: &Desk) -> Workshop {
    let look = Look { style: desk.ui.style(), fold: false, show_sensitive: false, in_automation: true };
    let (online, _) = online_quietly(context);
    let folders = Folders::with_files(vec!["/tmp".into()]);
    Workshop {
        states: desk.alone.as_ref().map(|alone| alone.layout.states()),
        show: Arc::new(move |plan: &Plan| render::plan::plan(plan, &look)),
        ..operator::workshop(
            context,
            desk.backend.clone(),
            folders,
            online.config().clone(),
            operator::EngineArgs::default(),
        )
    }
}

fn diagnostic(told: &Told) -> Diagnostic {
    let place = told.at.as_ref().map(|at| format!("{at}: ")).unwrap_or_default();
    let detail = format!("{place}{}", told.detail);
    let found = if told.severity == "error" {
        Diagnostic::error(told.summary.clone(), detail)
    } else {
        Diagnostic::warning(told.summary.clone(), detail)
    };
    match &told.address {
        Some(address) => found.of(address.clone()),
        None => found,
    }
}
