//! Taking down what the runs of a file have made.

use std::path::PathBuf;
use std::sync::Arc;

use groma_engine::interrupt::Urgency;
use groma_engine::plan::{Mode, Options};
use groma_lang::environment::Environment as _;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::{State, random_id, write_file};

use super::operations::Work;
use super::runner::{FileRunner, left_over};
use super::{CleanUp, Observer};

/// Where states are left that could not be taken down.
const LEFT_OVER: &str = "errored_test";

impl FileRunner<'_> {
    /// Takes everything down: what was made last goes first.
    pub(super) fn clean_up(&mut self, observer: &mut dyn Observer) {
        let mut order: Vec<_> =
            self.states.iter().filter_map(|(source, kept)| Some((kept.run?, source.clone()))).collect();
        order.sort_by(|left, right| right.cmp(left));
        for (at, source) in order {
            if self.interrupt.urgency() == Urgency::Now {
                break;
            }
            let Some(state) = self.states.get(&source).map(|kept| Arc::clone(&kept.state)) else { continue };
            let (state, mut diagnostics) = self.destroy(at, &state, observer);
            let left = left_over(&state);
            let mut saved_to = None;
            if !left.is_empty() && self.interrupt.urgency() != Urgency::Now {
                match self.write_down(&state) {
                    Ok(path) => saved_to = Some(path),
                    Err(problem) => diagnostics.push(problem),
                }
            }
            diagnostics.sort(self.session.sources());
            let run = self.file.file.runs[at].name.as_str();
            let cleanup = CleanUp { file: &self.file.name, run, diagnostics, left, saved_to };
            // What is left of what was let go of is told with the rest.
            if self.interrupt.urgency() != Urgency::Now {
                observer.cleaned_up(self.stand(), &cleanup);
            }
            if let Some(kept) = self.states.get_mut(&source) {
                kept.state = state;
            }
        }
        if self.interrupt.urgency() == Urgency::Now {
            self.leave(observer);
        }
    }

    /// Writes down and tells what is there when everything was let go of.
    fn leave(&self, observer: &mut dyn Observer) {
        for kept in self.states.values() {
            let (Some(at), left) = (kept.run, left_over(&kept.state)) else { continue };
            if left.is_empty() {
                continue;
            }
            let mut diagnostics = Diagnostics::new();
            let saved_to = diagnostics.take(self.write_down(&kept.state).map_err(Into::into));
            let run = self.file.file.runs[at].name.as_str();
            let cleanup = CleanUp { file: &self.file.name, run, diagnostics, left, saved_to };
            observer.cleaned_up(self.stand(), &cleanup);
        }
    }

    fn destroy(&self, at: usize, state: &Arc<State>, observer: &mut dyn Observer) -> (Arc<State>, Diagnostics) {
        if state.resources.is_empty() {
            return (Arc::clone(state), Diagnostics::new());
        }
        let ready = match self.ready(at) {
            Ok(ready) => ready,
            Err(found) => return (Arc::clone(state), found),
        };
        let work = Work::new(self.suite, self.session, &ready.prepared, &ready.inputs, self.interrupt);
        let options = Options { mode: Mode::Destroy, ..Options::default() };
        let (plan, mut diagnostics) = work.plan(state, &options, &mut || self.abandon(at, &[], observer));
        let Some(plan) = plan.filter(|_| !diagnostics.has_errors()) else { return (Arc::clone(state), diagnostics) };
        let applied = work.apply(&plan, &mut || self.abandon(at, &[], observer));
        diagnostics.extend(applied.diagnostics);
        (Arc::new(applied.state), diagnostics)
    }

    /// Writes down what is left, so that somebody can look after it. Nothing is overwritten that another module has left.
    fn write_down(&self, state: &State) -> Result<PathBuf, Diagnostic> {
        let mut state = state.clone();
        // Nobody else knows the configurations that tests make up.
        for resource in state.resources.values_mut() {
            resource.provider.alias = resource.provider.alias.take().filter(|alias| !alias.starts_with("overridden "));
        }
        let machine = self.session.machine();
        state.lineage = random_id(&mut || {
            let mut bytes = [0; 16];
            machine.random(&mut bytes);
            bytes
        });
        state.serial = 1;
        groma_lang::config::version::COMPATIBLE_VERSION.clone_into(&mut state.tool_version);
        let dir = &self.session.start().working_dir;
        let name = |number: usize| match number {
            1 => format!("{LEFT_OVER}.tfstate"),
            number => format!("{LEFT_OVER}.{number}.tfstate"),
        };
        let free = (1..10_000).map(name).find(|name| !dir.join(name).exists()).unwrap_or_else(|| name(1));
        write_file(&dir.join(&free), &state).map_err(|problem| {
            let detail = format!("What is left could not be written to {free}: {}", problem.diagnostic().detail);
            Diagnostic::error("Failed to persist state", detail)
        })?;
        Ok(free.into())
    }
}
