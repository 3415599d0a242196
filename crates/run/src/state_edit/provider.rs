//! Resources that go to another provider.

use groma_model::address::{AbsResource, Provider};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_state::State;

/// Reads the providers to replace and to replace them with.
pub fn provider_arguments(from: &str, to: &str) -> Result<(Provider, Provider), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut read = |role: &str, text: &str| {
        Provider::parse_source(text)
            .map_err(|error| {
                let summary = format!("Invalid {role:?} provider {text:?}");
                diagnostics.push(Diagnostic::error(summary, format!("{}: {}", error.summary, error.detail)));
            })
            .ok()
    };
    match (read("from", from), read("to", to)) {
        (Some(from), Some(to)) => Ok((from, to)),
        _ => Err(diagnostics),
    }
}

/// The resources that a provider made, in the order of their addresses.
pub fn resources_of_provider(state: &State, provider: &Provider) -> Vec<AbsResource> {
    let made = state.resources.iter().filter(|(_, resource)| resource.provider.provider == *provider);
    made.map(|(address, _)| address.clone()).collect()
}

/// Hands all resources of a provider to another one. Which of its configurations they have stays.
pub fn replace_provider(state: &mut State, from: &Provider, to: &Provider) {
    for resource in state.resources.values_mut().filter(|resource| resource.provider.provider == *from) {
        resource.provider.provider = to.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::state;
    use super::*;

    #[test]
    fn only_the_provider_changes() {
        let mut state = state(&["a.x", "b.y", "module.m.a.z"]);
        let (from, to) = provider_arguments("hashicorp/a", "example.com/mine/a").unwrap();
        let found = resources_of_provider(&state, &from);
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a.x", "module.m.a.z"]);
        replace_provider(&mut state, &from, &to);
        assert!(resources_of_provider(&state, &from).is_empty());
        assert_eq!(resources_of_provider(&state, &to).len(), 2);
    }

    #[test]
    fn both_arguments_are_judged() {
        let problems = provider_arguments("a/b/c/d", "//").unwrap_err();
        let summaries: Vec<&str> = problems.iter().map(|problem| problem.summary.as_str()).collect();
        assert_eq!(summaries, ["Invalid \"from\" provider \"a/b/c/d\"", "Invalid \"to\" provider \"//\""]);
    }
}
