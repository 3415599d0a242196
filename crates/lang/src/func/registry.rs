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
    static FUNCTIONS: LazyLock<BTreeMap<&'static str, Function>> =
        LazyLock::new(|| by_name(super::groups().into_iter().filter(|function| !is_unlisted(function.name))));
    &FUNCTIONS
}

/// Functions that only the console has.
pub fn console_functions() -> &'static BTreeMap<&'static str, Function> {
    static FUNCTIONS: LazyLock<BTreeMap<&'static str, Function>> =
        LazyLock::new(|| by_name(special::console_functions()));
    &FUNCTIONS
}

/// Functions that exist only to say what to write instead.
const RETIRED: [&str; 2] = ["list", "map"];

/// Whether a function is not listed: it is retired, or only newer versions of the language have it.
fn is_unlisted(name: &str) -> bool {
    RETIRED.contains(&name) || name.starts_with("assume")
}

/// Functions that can be called but are not listed.
fn unlisted_functions() -> &'static BTreeMap<&'static str, Function> {
    static FUNCTIONS: LazyLock<BTreeMap<&'static str, Function>> = LazyLock::new(|| {
        let unlisted = super::groups().into_iter().filter(|function| is_unlisted(function.name));
        by_name(special::unlisted_functions().into_iter().chain(unlisted))
    });
    &FUNCTIONS
}

fn by_name(functions: impl IntoIterator<Item = Function>) -> BTreeMap<&'static str, Function> {
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
    let known = core_functions().keys().chain(console).chain(&RETIRED);
    let mut names: Vec<String> = known.map(|name| (*name).to_owned()).collect();
    names.retain(|name| place != Place::Console || name != "plantimestamp");
    names.sort();
    names
}

static EMPTY: BTreeMap<&'static str, Function> = BTreeMap::new();

impl Function {
    /// What it returns when nothing is known about its arguments but their types.
    pub fn declared_return_type(&self) -> Type {
        let params = || self.params.iter().chain(&self.variadic);
        // An argument whose type is not known decides nothing, so the type of the result is open.
        if params().any(|param| param.ty == Type::Dynamic && !param.allow_dynamic) {
            return Type::Dynamic;
        }
        match &self.returns {
            Returns::Type(ty) => ty.clone(),
            Returns::Of(of) => {
                let args: Vec<Value> = params().map(|param| Value::unknown(param.ty.clone())).collect();
                of(&args).unwrap_or(Type::Dynamic)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::func::Param;

    /// `name(param: type?, more...: type) -> type`, a question mark where null may be passed.
    fn signature(function: &Function) -> String {
        let param = |param: &Param, dots: &str| {
            format!("{}{dots}: {}{}", param.name, param.ty, if param.allow_null { "?" } else { "" })
        };
        let mut params: Vec<String> = function.params.iter().map(|p| param(p, "")).collect();
        params.extend(function.variadic.iter().map(|p| param(p, "...")));
        format!("{}({}) -> {}", function.name, params.join(", "), function.declared_return_type())
    }

    /// The file holds the signatures that OpenTofu lists (`metadata functions -json`), in short form.
    #[test]
    fn signatures_are_those_that_people_know() {
        let expected: Vec<&str> = include_str!("signatures.txt").lines().collect();
        let found: Vec<String> = core_functions().values().map(signature).collect();
        let missing: Vec<&&str> = expected.iter().filter(|line| !found.contains(&(**line).to_owned())).collect();
        let extra: Vec<&String> = found.iter().filter(|line| !expected.contains(&line.as_str())).collect();
        assert!(missing.is_empty() && extra.is_empty(), "not found: {missing:#?}\nnot expected: {extra:#?}");
    }

    #[test]
    fn every_function_and_parameter_is_described() {
        for function in core_functions().values() {
            assert!(!function.description.is_empty(), "{} has no description", function.name);
        }
    }

    #[test]
    fn functions_are_found_with_and_without_their_namespace() {
        assert!(find("try", Place::Module).is_some());
        assert!(find("core::try", Place::Module).is_some());
        assert!(find("other::try", Place::Module).is_none());
        assert!(find("type", Place::Module).is_none());
        assert!(find("type", Place::Console).is_some());
        assert!(find("convert", Place::Module).is_some());
        assert!(!names(Place::Module).contains(&"convert".to_owned()));
        assert!(find("assumenotnull", Place::Module).is_some());
        assert!(find("map", Place::Module).is_some() && names(Place::Module).contains(&"map".to_owned()));
    }
}
