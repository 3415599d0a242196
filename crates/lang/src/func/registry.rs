//! The functions of the language by name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use groma_model::ty::Type;
use groma_model::value::Value;

use super::{Function, Returns, special};

/// The namespace that all functions of the language are also in.
const CORE: &str = "core::";

/// All functions of the language, as `metadata functions` lists them.
pub fn core_functions() -> &'static BTreeMap<&'static str, Function> {
    static FUNCTIONS: LazyLock<BTreeMap<&'static str, Function>> = LazyLock::new(|| by_name(super::groups()));
    &FUNCTIONS
}

/// Functions that only the console has.
pub fn console_functions() -> &'static BTreeMap<&'static str, Function> {
    static FUNCTIONS: LazyLock<BTreeMap<&'static str, Function>> =
        LazyLock::new(|| by_name(special::console_functions()));
    &FUNCTIONS
}

/// Functions that can be called but are not listed.
fn unlisted_functions() -> &'static BTreeMap<&'static str, Function> {
    static FUNCTIONS: LazyLock<BTreeMap<&'static str, Function>> =
        LazyLock::new(|| by_name(special::unlisted_functions()));
    &FUNCTIONS
}

fn by_name(functions: Vec<Function>) -> BTreeMap<&'static str, Function> {
    functions.into_iter().map(|function| (function.name, function)).collect()
}

/// Where a function is looked up: the console has `type` and lacks `plantimestamp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In a configuration.
    Module,
    /// At the prompt of the console.
    Console,
}

/// The function that is called `name`, with or without `core::`.
pub fn find(name: &str, place: Place) -> Option<&'static Function> {
    let base = name.strip_prefix(CORE).unwrap_or(name);
    if place == Place::Console {
        if base == "plantimestamp" {
            return None;
        }
        if let Some(function) = console_functions().get(base) {
            return Some(function);
        }
    }
    core_functions().get(base).or_else(|| unlisted_functions().get(base))
}

/// The names that can be called in a place, sorted, without `core::`.
pub fn names(place: Place) -> Vec<String> {
    let console = if place == Place::Console { console_functions().keys() } else { EMPTY.keys() };
    let mut names: Vec<String> = core_functions().keys().chain(console).map(|name| (*name).to_owned()).collect();
    names.retain(|name| place != Place::Console || name != "plantimestamp");
    names.sort();
    names
}

static EMPTY: BTreeMap<&'static str, Function> = BTreeMap::new();

impl Function {
    /// What it returns when nothing is known about its arguments but their types.
    pub fn declared_return_type(&self) -> Type {
        match &self.returns {
            Returns::Type(ty) => ty.clone(),
            Returns::Of(of) => {
                let params = self.params.iter().chain(&self.variadic);
                // An argument whose type is not known decides nothing, so the type of the result is open.
                let mut args = Vec::new();
                for param in params {
                    if param.ty == Type::Dynamic && !param.allow_dynamic {
                        return Type::Dynamic;
                    }
                    args.push(Value::unknown(param.ty.clone()));
                }
                of(&args).unwrap_or(Type::Dynamic)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_with_and_without_their_namespace() {
        assert!(find("try", Place::Module).is_some());
        assert!(find("core::try", Place::Module).is_some());
        assert!(find("other::try", Place::Module).is_none());
        assert!(find("type", Place::Module).is_none());
        assert!(find("type", Place::Console).is_some());
        assert!(find("convert", Place::Module).is_some());
        assert!(!names(Place::Module).contains(&"convert".to_owned()));
    }
}
