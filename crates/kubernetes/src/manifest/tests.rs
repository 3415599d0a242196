//! Manifests. What the tests have in common is here.

mod checks;
mod reading;
mod writing;

use super::*;

/// The summaries and details of what is wrong with a text.
fn complaints(text: &str) -> Vec<String> {
    match Manifest::parse(text) {
        Ok(_) => Vec::new(),
        Err(found) => found.iter().map(|found| format!("{}: {}", found.summary, found.detail)).collect(),
    }
}

fn json(text: &str) -> Json {
    Manifest::parse_part(text).unwrap_or_else(|found| panic!("{found:?}")).object
}
