//! Forgetting instances: they leave the state, and what they stand for stays where it is.

use groma_model::address::{AbsInstance, Target};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::State;

use super::address_error;
use super::find::matching;

/// Removes the instances that addresses stand for, all of their objects, and the resources that are empty then. Gives what
/// was removed; an address that stands for nothing adds nothing.
pub fn remove_instances(state: &mut State, addresses: &[String]) -> Result<Vec<AbsInstance>, Diagnostics> {
    let mut found = Vec::new();
    let mut diagnostics = Diagnostics::new();
    for text in addresses {
        match text.parse::<Target>() {
            Ok(target) => found.extend(matching(state, &target)),
            Err(error) => diagnostics.push(address_error(text, &error)),
        }
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    for address in &found {
        remove_instance(state, address);
    }
    Ok(found)
}

/// Removes one instance, and its resource if that was the last one.
pub(super) fn remove_instance(state: &mut State, address: &AbsInstance) -> Option<groma_state::InstanceState> {
    let resource = address.resource();
    let entry = state.resources.get_mut(&resource)?;
    let removed = entry.instances.remove(address.key());
    if entry.instances.is_empty() {
        state.resources.remove(&resource);
    }
    removed
}

/// For addresses that stand for nothing.
pub fn nothing_found() -> Diagnostic {
    Diagnostic::error(
        "Invalid target address",
        "No matching objects found. \"groma state list\" shows which instances there are.",
    )
}

#[cfg(test)]
mod tests {
    use super::super::find::all_instances;
    use super::super::testing::{shown, state};
    use super::*;

    #[test]
    fn whole_modules_and_single_instances_go() {
        let mut state = state(&["a.x", "a.y[0]", "a.y[1]", "module.m.a.x", "module.m.module.n.a.x"]);
        let removed = remove_instances(&mut state, &["module.m".to_owned(), "a.y[0]".to_owned()]).unwrap();
        assert_eq!(shown(&removed), "module.m.a.x module.m.module.n.a.x a.y[0]");
        assert_eq!(shown(&all_instances(&state)), "a.x a.y[1]");
        assert_eq!(remove_instances(&mut state, &["a.nothing".to_owned()]).unwrap(), []);
    }

    #[test]
    fn nothing_goes_if_one_address_is_none() {
        let mut state = state(&["a.x"]);
        let before = state.clone();
        let problems = remove_instances(&mut state, &["a.x".to_owned(), "a".to_owned()]).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert_eq!(state, before);
    }
}
