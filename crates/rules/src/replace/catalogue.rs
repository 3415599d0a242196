//! The rules that come with groma: what is known about resource types of which two objects cannot be at a time, or which cannot go while
//! they are used. Tables, one for each provider; here is how rules are made of their rows, and how they are found.

mod aws;
mod azurerm;
mod digitalocean;
mod docker;
#[cfg(test)]
mod fixtures;
mod google;
mod hcloud;
mod kubernetes;
mod linode;
mod local;
mod mongodbatlas;
mod openstack;
mod row;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;

use super::rule::ReplaceRule;

pub use row::{Class, Row};

/// Which catalogue this is.
pub const VERSION: &str = "2026.11";

const TABLES: [&[Row]; 11] = [
    aws::ROWS,
    google::ROWS,
    azurerm::ROWS,
    linode::ROWS,
    openstack::ROWS,
    digitalocean::ROWS,
    hcloud::ROWS,
    docker::ROWS,
    kubernetes::ROWS,
    local::ROWS,
    mongodbatlas::ROWS,
];

/// A rule of the catalogue, and the row that it is made of.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The row. Two rules of one row that both hold, with opposite orders, mean that there is no safe order.
    pub row: &'static Row,
    /// The rule.
    pub rule: Arc<ReplaceRule>,
}

/// All of them, by what they are about.
#[derive(Debug)]
pub struct Catalogue {
    entries: Vec<Entry>,
    by_type: BTreeMap<&'static str, Vec<usize>>,
    globs: Vec<usize>,
}

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::load);

impl Catalogue {
    /// The catalogue, which is made when it is first needed.
    pub fn shared() -> &'static Catalogue {
        &CATALOGUE
    }

    /// Makes it anew. Whoever only wants to use it takes the shared one.
    pub fn load() -> Self {
        let mut catalogue = Self { entries: Vec::new(), by_type: BTreeMap::new(), globs: Vec::new() };
        for row in TABLES.into_iter().flatten() {
            for rule in row.rules() {
                let at = catalogue.entries.len();
                if rule.resource.is_plain() {
                    catalogue.by_type.entry(row.resource).or_default().push(at);
                } else {
                    catalogue.globs.push(at);
                }
                catalogue.entries.push(Entry { row, rule: Arc::new(rule) });
            }
        }
        catalogue
    }

    /// All of them, in the order of the tables.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Those about a resource type.
    pub fn about<'c>(&'c self, ty: &'c str) -> impl Iterator<Item = &'c Entry> + 'c {
        let exact = self.by_type.get(ty).into_iter().flatten();
        let globs = self.globs.iter().filter(move |at| self.entries[**at].rule.resource.matches(ty));
        exact.chain(globs).map(|at| &self.entries[*at])
    }

    /// The one with this name.
    pub fn find(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.rule.id.as_str() == id)
    }

    /// What is wrong with the rows about a resource type, if it has this schema: providers change, and tables must follow.
    pub fn check_against(&self, ty: &str, schema: &Schema) -> Diagnostics {
        let mut found = Diagnostics::new();
        let mut checked: Vec<&Row> = Vec::new();
        for entry in self.about(ty) {
            if !checked.iter().any(|row| row.id == entry.row.id) {
                checked.push(entry.row);
                let of_row = |problem: Diagnostic| Diagnostic { address: Some(entry.row.id.to_owned()), ..problem };
                found.extend(entry.row.check(schema).into_iter().map(of_row));
            }
        }
        found
    }
}
