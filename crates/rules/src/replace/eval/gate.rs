//! Whether a rule is about an object, and about this replacement of it.

use groma_model::address::Provider;
use groma_model::version::{Constraints, Version};

use crate::replace::case::{Case, Cause};
use crate::replace::path::FieldPath;
use crate::replace::predicate::field_changed::FieldChanged;
use crate::replace::rule::ReplaceRule;
use crate::replace::truth::Truth;

/// Whether a rule matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    /// It does not.
    Closed,
    /// It does, because of this field if it names any.
    Open(Option<usize>),
}

/// Whether a rule matters to the replacement of an object.
pub(super) fn passes(rule: &ReplaceRule, case: &Case<'_>) -> Gate {
    if reaches(rule, case) { cause(rule, case) } else { Gate::Closed }
}

/// The same for a rule that is known to be about the object, but perhaps with other versions of its provider.
pub(super) fn matters(rule: &ReplaceRule, case: &Case<'_>) -> Gate {
    if is_of_version(rule, case) { cause(rule, case) } else { Gate::Closed }
}

fn cause(rule: &ReplaceRule, case: &Case<'_>) -> Gate {
    if rule.fields.is_empty() {
        return Gate::Open(None);
    }
    let causes = |field: &FieldPath| match case.cause {
        Cause::CannotUpdate => case.replace_paths.iter().any(|path| field.overlaps(path)),
        Cause::Tainted | Cause::Requested | Cause::Triggered => changed(field, case) == Truth::True,
    };
    rule.fields.iter().position(causes).map_or(Gate::Closed, |at| Gate::Open(Some(at)))
}

/// Whether a rule is about an object, whatever becomes of it: by its type, its provider, its address and the module of the rule.
pub fn reaches(rule: &ReplaceRule, case: &Case<'_>) -> bool {
    let address = case.address;
    let of_provider = |source: &str| Provider::parse_source(source).is_ok_and(|wanted| wanted.same_as(case.provider));
    rule.resource.matches(&address.instance.resource.ty)
        && (rule.module.is_root() || rule.module.contains(&address.module.module()))
        && rule.provider.as_deref().is_none_or(of_provider)
        && is_of_version(rule, case)
        && (rule.targets.is_empty() || rule.targets.iter().any(|target| target.matches(&rule.module, address)))
}

fn is_of_version(rule: &ReplaceRule, case: &Case<'_>) -> bool {
    rule.provider_version.as_deref().is_none_or(|wanted| {
        let version = case.provider_version.and_then(Version::parse);
        let wanted = Constraints::parse_provider(wanted).ok();
        wanted.zip(version).is_some_and(|(wanted, version)| wanted.admits(&version))
    })
}

/// Whether a field changes, if the object is replaced for another reason.
fn changed(field: &FieldPath, case: &Case<'_>) -> Truth {
    FieldChanged::new(field.clone()).truth(case).unwrap_or(Truth::Unknown)
}
