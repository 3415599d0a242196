//! Licences and bans of `deny.toml`, applied to the resolved tree without installing cargo-deny.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;
use toml::Table;

use super::{Problem, SourceFile};

/// Checks every package of the resolved tree against the lists in `deny.toml`.
pub(super) fn check(files: &[SourceFile], metadata: &Value) -> Result<Vec<Problem>> {
    let path = Path::new("deny.toml");
    let file = files.iter().find(|file| file.path == path).context("deny.toml is missing")?;
    let rules = Rules::read(&file.text)?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut problems = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        if let Some((_, reason)) = rules.banned.iter().find(|(banned, _)| banned == name) {
            problems.push(Problem::in_file(path, format!("`{name}` is banned: {reason}")));
        }
        let expression = package["license"].as_str().unwrap_or_default();
        if !rules.permits(expression) {
            let message = format!("`{name}` has licence `{expression}`, which is not in the list");
            problems.push(Problem::in_file(path, message));
        }
    }
    Ok(problems)
}

/// The part of `deny.toml` that is checked here.
struct Rules {
    allowed: Vec<String>,
    banned: Vec<(String, String)>,
}

impl Rules {
    fn read(text: &str) -> Result<Self> {
        let table: Table = text.parse().context("deny.toml")?;
        let list = |section: &str, key: &str| {
            let value = table.get(section).and_then(|section| section.get(key));
            value.and_then(toml::Value::as_array).cloned().unwrap_or_default()
        };
        let word = |value: Option<&toml::Value>| value.and_then(toml::Value::as_str).unwrap_or_default().to_owned();
        Ok(Self {
            allowed: list("licenses", "allow").iter().map(|name| word(Some(name))).collect(),
            banned: list("bans", "deny")
                .iter()
                .map(|entry| (word(entry.get("crate")), word(entry.get("reason"))))
                .collect(),
        })
    }

    /// Whether an SPDX expression can be satisfied with the allowed licences.
    fn permits(&self, expression: &str) -> bool {
        let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut reader = Reader { rules: self, words: &words };
        let permitted = reader.any_of();
        permitted && reader.words.is_empty()
    }
}

/// Reads an SPDX expression: `AND` binds tighter than `OR`.
struct Reader<'a> {
    rules: &'a Rules,
    words: &'a [&'a str],
}

impl Reader<'_> {
    fn any_of(&mut self) -> bool {
        let mut permitted = self.all_of();
        while self.take("OR") {
            permitted |= self.all_of();
        }
        permitted
    }

    fn all_of(&mut self) -> bool {
        let mut permitted = self.one();
        while self.take("AND") {
            permitted &= self.one();
        }
        permitted
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let permitted = self.any_of();
            return self.take(")") && permitted;
        }
        let Some((name, rest)) = self.words.split_first() else {
            return false;
        };
        self.words = rest;
        let mut licence = (*name).to_owned();
        if self.take("WITH")
            && let Some((exception, rest)) = self.words.split_first()
        {
            self.words = rest;
            licence = format!("{licence} WITH {exception}");
        }
        self.rules.allowed.contains(&licence)
    }

    fn take(&mut self, word: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if *first == word => {
                self.words = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DENY: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"]
        [bans]
        deny = [{ crate = "openssl-sys", reason = "one TLS stack" }]
    "#;

    fn permits(expression: &str) -> bool {
        Rules::read(DENY).unwrap().permits(expression)
    }

    #[test]
    fn expressions() {
        assert!(permits("MIT"));
        assert!(permits("MIT OR GPL-3.0"));
        assert!(permits("MIT/Apache-2.0"));
        assert!(permits("Apache-2.0 WITH LLVM-exception"));
        assert!(permits("(MIT OR GPL-3.0) AND Unicode-3.0"));
        assert!(!permits("GPL-3.0"));
        assert!(!permits("MIT AND GPL-3.0"));
        assert!(!permits("Apache-2.0 WITH Something-else"));
        assert!(!permits(""));
        assert!(!permits("MIT)"));
    }

    #[test]
    fn a_banned_crate_is_named_with_the_reason() {
        let files = [SourceFile::new("deny.toml", DENY)];
        let metadata = json!({ "packages": [{ "name": "openssl-sys", "license": "MIT" }] });
        let problems = check(&files, &metadata).unwrap();
        assert_eq!(problems[0].to_string(), "deny.toml: `openssl-sys` is banned: one TLS stack");
    }
}
