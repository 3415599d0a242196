//! Which scenarios of the specification tests say that they tell.

use std::collections::BTreeSet;

/// How many there are.
pub(crate) const ALL: u32 = 48;

/// The numbers that comments before tests name: `/// Scenario 3.`, `/// Scenarios 4, 6 and 43 to 45: …`.
pub(crate) fn told(sources: &[&str]) -> BTreeSet<u32> {
    let lines = sources.iter().flat_map(|source| source.lines());
    let named = lines.filter_map(|line| {
        let rest = line.trim_start().strip_prefix("/// ")?;
        let at = rest.find("Scenario").or_else(|| rest.find("scenario"))?;
        rest[at..].split_once(' ').map(|(_, numbers)| numbers)
    });
    let mut found = BTreeSet::new();
    for named in named {
        let mut before = None;
        let mut is_range = false;
        for word in named.split([' ', ',']).filter(|word| !word.is_empty()) {
            match (word, word.trim_end_matches(['.', ':', ';']).parse::<u32>()) {
                ("and", _) => {}
                ("to", _) => is_range = true,
                (_, Ok(number)) => {
                    found.extend(before.filter(|_| is_range).unwrap_or(number)..=number);
                    (before, is_range) = (Some(number), false);
                }
                _ => break,
            }
            if word.ends_with(['.', ':', ';']) {
                break;
            }
        }
    }
    found
}

/// Nobody has forgotten one.
#[track_caller]
pub(crate) fn all_are_told(sources: &[&str]) {
    let told = told(sources);
    let missing: Vec<u32> = (1..=ALL).filter(|number| !told.contains(number)).collect();
    assert!(missing.is_empty(), "no test tells the scenarios {missing:?}");
}

#[test]
fn comments_are_understood() {
    let source = "/// Scenario 3.\n    /// Scenarios 4, 6 and 43 to 45, and seed 000: of 7.\n/// Scenario 9, exceeded: 10.\n// Scenario 11.";
    assert_eq!(told(&[source]), [3, 4, 6, 9, 43, 44, 45].into());
}
