//! Opening an operation: configuration, values of variables, state and lock, providers, in the order in which mistakes are told.

use std::sync::Arc;

use groma_lang::environment::Environment as _;
use groma_model::diag::Diagnostics;
use groma_state::State;

use super::{Operation, Wishes, no_provisioners};
use crate::providers::{ProviderAccess, Strictness, override_warning};
use crate::requirements;
use crate::session::{Loaded, Session};
use crate::state_access::StateAccess;

/// Makes a working directory ready for work.
pub(super) fn open(
    session: &mut Session,
    access: ProviderAccess,
    mut wishes: Wishes,
) -> (Option<Operation>, Diagnostics) {
    let mut diagnostics = Diagnostics::new();
    let loaded = session.load_asking(&mut wishes.variables);
    let opened = try_open(session, access, &wishes, loaded, &mut diagnostics);
    diagnostics.sort(session.sources());
    (opened, diagnostics)
}

fn try_open(
    session: &mut Session,
    access: ProviderAccess,
    wishes: &Wishes,
    loaded: Loaded,
    diagnostics: &mut Diagnostics,
) -> Option<Operation> {
    let Loaded { tree, inputs, diagnostics: found, about_values } = loaded;
    let failed = found.has_errors();
    diagnostics.extend(found);
    let tree = tree.filter(|_| !failed)?;
    let backend = diagnostics.take(session.backend(&tree.root.module, &inputs, &wishes.paths))?;
    let mut storage = diagnostics.take(StateAccess::of_backend(session, backend))?;
    diagnostics.take(storage.lock(wishes.kind.lock_name(), wishes.lock))?;
    let state = diagnostics.take(storage.read())?.unwrap_or_else(|| Arc::new(State::default()));
    let (mut needed, found) = requirements::of_tree(&tree);
    diagnostics.extend(found);
    needed.add_state(&state.providers().into_iter().cloned().collect());
    let (book, found) = session.provider_book(&access, &needed.all, Strictness::Consistent);
    diagnostics.extend(found);
    let overrides = access.online.config().installation.as_ref().map(|found| &found.dev_overrides);
    let consequence = "The behavior may therefore not match any released version of the provider and applying \
                       changes may cause the state to become incompatible with published releases.";
    diagnostics.extend(overrides.and_then(|overrides| override_warning(overrides, consequence)));
    diagnostics.extend(about_values);
    if diagnostics.has_errors() {
        book.close(&access.online);
        diagnostics.extend(storage.unlock());
        return None;
    }
    let time = session.machine().now();
    Some(Operation {
        access,
        tree,
        inputs,
        book: Arc::new(book),
        storage,
        state,
        provisioners: no_provisioners(),
        time,
    })
}
