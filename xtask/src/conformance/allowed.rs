//! The differences that are meant: `tests/conformance/allowed.toml` for this program, and the same
//! explained to people in `docs/compatibility.md`.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};

use crate::workspace;

/// Ids of cases that may differ, each with the reason.
pub(super) struct Allowed(BTreeMap<String, String>);

impl Allowed {
    /// Reads the list and sees that the document explains every entry.
    pub(super) fn load() -> Result<Self> {
        let list = std::fs::read_to_string(workspace::root().join("tests/conformance/allowed.toml"))
            .context("cannot read tests/conformance/allowed.toml")?;
        let allowed = Self(parse(&list)?);
        let document = std::fs::read_to_string(workspace::root().join("docs/compatibility.md"))
            .context("cannot read docs/compatibility.md")?;
        let missing: Vec<&str> = allowed.0.keys().map(String::as_str).filter(|id| !document.contains(*id)).collect();
        if !missing.is_empty() {
            bail!("docs/compatibility.md does not name these allowed differences: {}", missing.join("; "));
        }
        Ok(allowed)
    }

    /// Why a case may differ, if it may.
    pub(super) fn reason(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }
}

fn parse(text: &str) -> Result<BTreeMap<String, String>> {
    let table: toml::Table = text.parse().context("allowed.toml")?;
    let mut allowed = BTreeMap::new();
    let entries = table.get("difference").and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for entry in entries {
        let field = |name: &str| entry.get(name).and_then(toml::Value::as_str).filter(|text| !text.is_empty());
        let (Some(id), Some(reason)) = (field("id"), field("reason")) else {
            bail!("allowed.toml: every [[difference]] needs `id` and `reason`: {entry:?}");
        };
        if allowed.insert(id.to_owned(), reason.to_owned()).is_some() {
            bail!("allowed.toml: `{id}` stands twice");
        }
    }
    Ok(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_need_an_id_and_a_reason() {
        let allowed = parse("[[difference]]\nid = 'a'\nreason = 'b'\n").unwrap();
        assert_eq!(allowed["a"], "b");
        assert!(parse("[[difference]]\nid = 'a'\n").is_err());
        assert!(parse("").unwrap().is_empty());
    }

    #[test]
    fn the_document_names_every_allowed_difference() {
        Allowed::load().unwrap();
    }
}
