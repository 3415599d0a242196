//! Opening an operation: configuration, values of variables, state and lock, providers, in the order in which mistakes are told.

use std::path::PathBuf;
use std::sync::Arc;

use groma_engine::plan::Plan;
use groma_kit::confines::Confines;
use groma_lang::environment::Environment as _;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::State;

use super::hosts::Hosts;
use super::providers::BookProviders;
use super::timings::{Part, Timings};
use super::{Operation, Wishes};
use crate::backend::{Backend, Settings};
use crate::lock_file;
use crate::providers::requirements;
use crate::providers::{ProviderAccess, Strictness, override_warning};
use crate::provisioners::{Programs, Surroundings};
use crate::saved_plan::{SavedPlan, Snapshot};
use crate::session::{Loaded, Session};
use crate::state_access::StateAccess;

/// Makes a working directory ready for work.
pub(super) fn open(
    session: &mut Session,
    access: ProviderAccess,
    mut wishes: Wishes,
) -> (Option<Operation>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let (loaded, snapshot) = session.load_recording(&mut wishes.variables);
    let opened = open_loaded(session, access, &wishes, (loaded, snapshot), &mut diagnostics);
    diagnostics.sort(session.sources());
    (opened, diagnostics)
}

fn open_loaded(
    session: &mut Session,
    access: ProviderAccess,
    wishes: &Wishes,
    (loaded, snapshot): (Loaded, Snapshot),
    diagnostics: &mut Diagnostics,
) -> Option<Operation> {
    let failed = loaded.diagnostics.has_errors();
    diagnostics.extend(loaded.diagnostics.clone());
    let root = loaded.tree.as_ref().filter(|_| !failed).map(|tree| Arc::clone(&tree.root.module))?;
    let backend = diagnostics.take(session.backend(&root, &loaded.inputs, &wishes.paths))?;
    let opening = Opening { session, wishes, loaded, snapshot };
    opening.open(access, backend, diagnostics)
}

/// Makes a working directory ready for a plan that was saved.
pub(super) fn open_saved(
    session: &mut Session,
    access: ProviderAccess,
    saved: &SavedPlan,
    wishes: Wishes,
) -> (Option<(Operation, Plan)>, Diagnostics) {
    let mut diagnostics = saved.check_complete();
    let opened =
        if diagnostics.has_errors() { None } else { try_open_saved(session, access, saved, &wishes, &mut diagnostics) };
    diagnostics.sort(session.sources());
    (opened, diagnostics)
}

fn try_open_saved(
    session: &mut Session,
    access: ProviderAccess,
    saved: &SavedPlan,
    wishes: &Wishes,
    diagnostics: &mut Diagnostics,
) -> Option<(Operation, Plan)> {
    let Some(settings) = Settings::from_json(&saved.backend().kind, &saved.backend().config) else {
        let detail = format!("The plan was made with the backend {:?}, which is not supported.", saved.backend().kind);
        diagnostics.push(Diagnostic::error("Unsupported backend type", detail));
        return None;
    };
    let backend = diagnostics.take(session.backend_of(settings, &wishes.paths))?;
    let chosen = diagnostics.take(backend.selection.current().map_err(|problem| problem.diagnostic().into()))?;
    if chosen.as_str() != saved.backend().workspace {
        let detail = format!(
            "The plan was made for the workspace {:?}, and the workspace {:?} is selected.",
            saved.backend().workspace,
            chosen.as_str()
        );
        diagnostics.push(Diagnostic::error("Saved plan is for a different workspace", detail));
        return None;
    }
    let loaded = session.load_saved(saved);
    diagnostics.extend(loaded.diagnostics.clone());
    let root = loaded.tree.as_ref().map(|tree| Arc::clone(&tree.root.module));
    // What a plan was saved for may be encrypted in another way by now.
    let before = root.as_deref().map(|root| (root, &loaded.inputs));
    let backend = backend.encrypted(diagnostics.take(session.own_encryption(before))?);
    let opening = Opening { session, wishes, loaded, snapshot: saved.configuration().clone() };
    let mut operation = opening.open(access, backend, diagnostics)?;
    operation.time = saved.time();
    let mut found = saved.check_state(&operation.state);
    found.extend(saved.check_locks(&operation.locks));
    let plan = if found.has_errors() { None } else { found.take(saved.plan(operation.book())) };
    diagnostics.extend(found);
    let Some(plan) = plan else {
        diagnostics.extend(operation.close());
        return None;
    };
    Some((operation, plan))
}

struct Opening<'a> {
    session: &'a mut Session,
    wishes: &'a Wishes,
    loaded: Loaded,
    snapshot: Snapshot,
}

impl Opening<'_> {
    /// With the state locked and read, and the providers found.
    fn open(self, access: ProviderAccess, backend: Backend, diagnostics: &mut Diagnostics) -> Option<Operation> {
        let Self { session, wishes, loaded, snapshot } = self;
        let Loaded { tree, inputs, about_values, rules, about_rules, .. } = loaded;
        let tree = tree.filter(|_| !diagnostics.has_errors())?;
        let (mut needed, found) = requirements::of_tree(&tree);
        diagnostics.extend(found);
        diagnostics.extend(about_values);
        diagnostics.extend(about_rules);
        if diagnostics.has_errors() {
            return None;
        }
        let timings = Timings::wanted(access.online.variables(), &session.start().working_dir);
        let since = timings.begin();
        let mut storage = diagnostics.take(StateAccess::of_backend(session, backend))?;
        let patience = wishes.patience.as_deref().unwrap_or(&|| true);
        diagnostics.take(storage.lock_patiently(wishes.kind.lock_name(), wishes.lock, patience))?;
        let Some(state) = diagnostics.take(storage.read()) else {
            diagnostics.extend(storage.unlock());
            return None;
        };
        timings.done(since, Part::Opening);
        diagnostics.extend(storage.findings());
        let state = state.unwrap_or_else(|| Arc::new(State::default()));
        needed.add_state(&state.providers().into_iter().cloned().collect());
        let (book, found) = session.provider_book(&access, &needed.all, Strictness::Consistent);
        diagnostics.extend(found);
        diagnostics.extend(development_warning(&access));
        if diagnostics.has_errors() {
            book.close(&access.online);
            diagnostics.extend(storage.unlock());
            return None;
        }
        // What is wrong with it was said when the providers were found.
        let working_dir = session.start().working_dir.clone();
        let (locks, _) = lock_file::load(session.sources_mut(), &working_dir);
        let hosts = Hosts::new(&locks);
        let time = session.machine().now();
        let surroundings = Surroundings {
            home_dir: session.start().home_dir.clone(),
            agent_socket: access.online.variables().get("SSH_AUTH_SOCK").map(PathBuf::from),
            on_terminal: session.start().on_terminal,
            no_programs: session.start().bounds.no_programs.clone(),
            files: session.start().bounds.files.as_ref().map(Confines::undivided),
            environment: session.start().bounds.own_environment.then(|| session.start().environment.clone()),
            networks: session.start().bounds.networks.clone(),
            ..Surroundings::in_directory(working_dir)
        };
        let providers = Arc::new(BookProviders::new(Arc::new(book)));
        let provisioners = Arc::new(Programs::new(surroundings));
        Some(Operation {
            access,
            tree,
            rules,
            inputs,
            providers,
            storage,
            state,
            snapshot,
            locks,
            hosts,
            provisioners,
            timings,
            time,
        })
    }
}

fn development_warning(access: &ProviderAccess) -> Option<Diagnostic> {
    let consequence = "The behavior may therefore not match any released version of the provider and applying \
                       changes may cause the state to become incompatible with published releases.";
    let installation = access.online.config().installation.as_ref()?;
    override_warning(&installation.dev_overrides, consequence)
}
