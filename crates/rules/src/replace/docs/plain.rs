//! One rule for a person at a terminal.

use super::{Documented, clean, order_words};
use crate::replace::rule::{Behavior, Origin};

/// All about a rule, a labelled line for each thing. `place` is where it stands.
pub fn plain(documented: &Documented<'_>, place: Option<&str>) -> String {
    let rule = documented.rule;
    let from = match (rule.origin, place) {
        (Origin::Catalogue, _) => "comes with groma",
        (_, Some(place)) => place,
        (_, None) => "given otherwise",
    };
    let fields = documented.fields().join(", ");
    let behavior = match rule.behavior {
        Behavior::Warn => "warn: it is told, never obeyed",
        Behavior::Auto => "auto: it is obeyed with -replace-rules=auto, and told otherwise",
    };
    let mut lines = vec![
        ("from", from.to_owned()),
        ("about", rule.resource.as_str().to_owned()),
        ("fields", if fields.is_empty() { "whichever causes the replacement".to_owned() } else { fields }),
        ("order", order_words(rule.order).to_owned()),
        ("when", documented.when()),
        ("behavior", behavior.to_owned()),
    ];
    let dependents: Vec<&str> = rule.replace_dependents.iter().map(crate::Glob::as_str).collect();
    if !dependents.is_empty() {
        lines.push(("takes along", dependents.join(", ")));
    }
    if rule.reasoning.is_some() {
        lines.push(("reason", documented.reason()));
    }
    lines.extend(rule.suggestions.iter().map(|text| ("instead", clean(text))));
    lines.extend(rule.learn_more.iter().map(|text| ("learn more", clean(text))));
    lines.extend(documented.threads.iter().map(|thread| ("seen in", (*thread).to_owned())));
    let told: Vec<String> = lines.iter().map(|(label, text)| format!("  {label:<12} {text}\n")).collect();
    format!("Rule {}\n{}", rule.id, told.concat())
}
