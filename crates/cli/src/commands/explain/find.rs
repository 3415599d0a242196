//! What an address means in a plan, and what was meant if it means nothing.

use groma_model::address::{AbsInstance, Target};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::engine::plan::Plan;
use groma_run::engine::report::{Explanation, Order, addresses, explain_with};

/// How many addresses are suggested.
const SUGGESTED: usize = 5;

/// Everything that the plan says about what an address selects: an instance, all instances of a resource, or a module.
pub(super) fn explanations(plan: &Plan, target: &Target) -> Vec<Explanation> {
    let order = Order::new(plan);
    let selected = addresses(plan).into_iter().filter(|address| target.selects(address));
    selected.flat_map(|address| explain_with(plan, &order, &address)).collect()
}

/// What to say of an address that the plan does not know.
pub(super) fn unknown(plan: &Plan, given: &str) -> Diagnostic {
    let known: Vec<String> = addresses(plan).iter().map(ToString::to_string).collect();
    let similar = similar(given, &known);
    let detail = if known.is_empty() {
        "The plan has no objects at all.".to_owned()
    } else if similar.is_empty() {
        format!("The plan knows nothing by the address {given}. It knows {} other objects.", known.len())
    } else {
        format!(
            "The plan knows nothing by the address {given}. Did you mean one of these?\n  - {}",
            similar.join("\n  - ")
        )
    };
    Diagnostic::error("No such object in the plan", detail)
}

/// Addresses that are nearly the same, or that are made of the same names.
fn similar(given: &str, known: &[String]) -> Vec<String> {
    let near = |candidate: &&String| groma_model::text::suggestion(given, [candidate.as_str()]).is_some();
    let mut found: Vec<String> = known.iter().filter(near).cloned().collect();
    let last = given.split('.').next_back().unwrap_or(given);
    let name = last.split('[').next().unwrap_or(last);
    let parts = |candidate: &&String| {
        !name.is_empty() && candidate.split('.').any(|part| part == name || part.starts_with(&format!("{name}[")))
    };
    found.extend(known.iter().filter(parts).cloned());
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|address| seen.insert(address.clone()));
    found.truncate(SUGGESTED);
    found
}

/// Errors about an instance, each in a line.
pub(super) fn errors_about(diagnostics: &Diagnostics, address: &AbsInstance) -> Vec<String> {
    let address = address.to_string();
    let about = |found: &&Diagnostic| {
        found.is_error() && (found.address.as_ref() == Some(&address) || names(&found.detail, &address))
    };
    let line = |found: &Diagnostic| {
        let detail = found.detail.split_whitespace().collect::<Vec<_>>().join(" ");
        if detail.is_empty() { found.summary.clone() } else { format!("{}: {detail}", found.summary) }
    };
    diagnostics.iter().filter(about).map(line).collect()
}

/// Whether a text names an address, and not only one that begins or ends the same.
fn names(text: &str, address: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '[');
    text.match_indices(address).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut behind = text[at + address.len()..].chars();
        let (next, after) = (behind.next(), behind.next());
        // A dot may end the sentence.
        let goes_on = next.is_some_and(part) && !(next == Some('.') && after.is_none_or(char::is_whitespace));
        !before.is_some_and(|c| part(c) && c != '[') && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near_or_share_a_name() {
        let known: Vec<String> =
            ["a_b.web", "module.x.a_b.web[0]", "a_b.other"].into_iter().map(str::to_owned).collect();
        assert_eq!(similar("a_b.wbe", &known), ["a_b.web"]);
        assert_eq!(similar("other_type.web", &known), ["a_b.web", "module.x.a_b.web[0]"]);
        assert!(similar("nothing.like_it", &known).is_empty());
    }

    #[test]
    fn whole_addresses_are_named() {
        assert!(names("a_b.web must not be destroyed", "a_b.web"));
        assert!(names("It is about a_b.web.", "a_b.web"));
        assert!(!names("Resource a_b.web[0] has", "a_b.web"));
        assert!(!names("Resource module.x.a_b.web has", "a_b.web"));
        assert!(!names("Resource a_b.website has", "a_b.web"));
    }
}
