//! Marking an object to be replaced, and taking the mark away.

use groma_model::address::{AbsInstance, ResourceMode};
use groma_model::diag::Diagnostic;
use groma_state::{ObjectStatus, State};

use super::address_error;

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taint {
    /// Mark it.
    Set,
    /// Take the mark away.
    Remove,
}

/// Whether an instance may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// Then there is only a warning.
    Allowed,
    /// That is an error.
    Refused,
}

const NO_SUCH: &str = "No such resource instance";

/// Reads the address of what is to be marked.
pub fn taint_address(text: &str, taint: Taint) -> Result<AbsInstance, Diagnostic> {
    let address: AbsInstance = text.parse().map_err(|error| address_error(text, &error))?;
    if taint == Taint::Set && address.instance.resource.mode != ResourceMode::Managed {
        let detail = format!("Resource instance {address} cannot be tainted: only managed resources can be replaced.");
        return Err(Diagnostic::error("Invalid resource address", detail));
    }
    Ok(address)
}

/// Marks an object, or takes the mark away. A warning says that it was not there and needed not be.
pub fn set_taint(
    state: &mut State,
    address: &AbsInstance,
    taint: Taint,
    missing: Missing,
) -> Result<Option<Diagnostic>, Diagnostic> {
    let empty = state.is_empty();
    let instance =
        state.resources.get_mut(&address.resource()).and_then(|found| found.instances.get_mut(address.key()));
    let Some(instance) = instance else {
        return match missing {
            Missing::Allowed => Ok(Some(allowed(address))),
            Missing::Refused => Err(not_there(address, empty)),
        };
    };
    let Some(object) = &mut instance.current else {
        let detail = format!(
            "Resource instance {address} is part-way through a replacement that creates first: there is only what is to be \
             deleted. Run \"groma apply\" to complete its replacement before tainting it."
        );
        return Err(Diagnostic::error(NO_SUCH, detail));
    };
    if taint == Taint::Remove && object.status != ObjectStatus::Tainted {
        let detail = format!("Resource instance {address} is not tainted, so it cannot be untainted.");
        return Err(Diagnostic::error("Resource instance is not tainted", detail));
    }
    object.status = match taint {
        Taint::Set => ObjectStatus::Tainted,
        Taint::Remove => ObjectStatus::Ready,
    };
    Ok(None)
}

fn allowed(address: &AbsInstance) -> Diagnostic {
    let detail =
        format!("Resource instance {address} was not found, but this is not an error because -allow-missing was set.");
    Diagnostic::warning(NO_SUCH, detail)
}

fn not_there(address: &AbsInstance, empty: bool) -> Diagnostic {
    let detail = if empty {
        "The state contains no resource instances whatsoever. Perhaps the configuration was never applied, or was just \
         destroyed."
            .to_owned()
    } else {
        format!(
            "There is no resource instance in the state with the address {address}. What was just added to the configuration \
             must be made by \"groma apply\" before it can be tainted."
        )
    };
    Diagnostic::error(NO_SUCH, detail)
}

#[cfg(test)]
mod tests {
    use super::super::find::find_instance;
    use super::super::testing::state;
    use super::*;

    fn status(state: &State, text: &str) -> ObjectStatus {
        find_instance(state, &text.parse().unwrap()).unwrap().current.as_ref().unwrap().status
    }

    #[test]
    fn marks_come_and_go() {
        let mut state = state(&["a.x", "a.y[0]"]);
        let address = taint_address("a.y[0]", Taint::Set).unwrap();
        assert_eq!(set_taint(&mut state, &address, Taint::Set, Missing::Refused).unwrap(), None);
        assert_eq!(status(&state, "a.y[0]"), ObjectStatus::Tainted);
        assert_eq!(status(&state, "a.x"), ObjectStatus::Ready);
        assert_eq!(set_taint(&mut state, &address, Taint::Remove, Missing::Refused).unwrap(), None);
        assert_eq!(status(&state, "a.y[0]"), ObjectStatus::Ready);
        let again = set_taint(&mut state, &address, Taint::Remove, Missing::Refused).unwrap_err();
        assert_eq!(again.summary, "Resource instance is not tainted");
    }

    #[test]
    fn what_is_missing_may_be_allowed_to() {
        let mut filled = state(&["a.x"]);
        let address = taint_address("a.z", Taint::Set).unwrap();
        let refused = set_taint(&mut filled, &address, Taint::Set, Missing::Refused).unwrap_err();
        assert!(refused.detail.contains("with the address a.z"), "{}", refused.detail);
        let allowed = set_taint(&mut filled, &address, Taint::Set, Missing::Allowed).unwrap().unwrap();
        assert!(!allowed.is_error());
        let refused = set_taint(&mut State::default(), &address, Taint::Set, Missing::Refused).unwrap_err();
        assert!(refused.detail.contains("whatsoever"), "{}", refused.detail);
    }

    #[test]
    fn objects_that_only_wait_to_be_deleted_are_refused() {
        let mut state = state(&["a.x"]);
        let address = taint_address("a.x", Taint::Set).unwrap();
        let instance = state.resources.get_mut(&address.resource()).unwrap().instances.get_mut(address.key()).unwrap();
        let object = instance.current.take().unwrap();
        instance.deposed.insert(groma_model::address::DeposedKey::new(7), object);
        let refused = set_taint(&mut state, &address, Taint::Set, Missing::Allowed).unwrap_err();
        assert!(refused.detail.contains("part-way"), "{}", refused.detail);
    }

    #[test]
    fn data_cannot_be_tainted() {
        assert_eq!(taint_address("data.a.x", Taint::Set).unwrap_err().summary, "Invalid resource address");
        assert!(taint_address("data.a.x", Taint::Remove).is_ok());
        assert!(taint_address("module.m", Taint::Set).is_err());
    }
}
