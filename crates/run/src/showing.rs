//! What is needed to show a state, a plan or a configuration: the schemas of everything in it. How anything looks is not decided
//! here.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_builtin::kit::Moment;
use groma_lang::load::ModuleTree;
use groma_lang::oracle::SchemaSource;
use groma_model::address::Provider;
use groma_model::diag::Diagnostics;
use groma_model::schema::IdentitySchema;
use groma_state::State;

use crate::providers::{BookOracle, ProviderAccess, ProviderBook, Strictness};
use crate::requirements;
use crate::session::Session;

/// The schemas of the providers in a book.
pub fn schemas(book: &ProviderBook) -> impl SchemaSource + '_ {
    BookOracle::new(book, None)
}

/// What identifies the objects of a resource type.
pub fn identity(book: &ProviderBook, provider: &Provider, kind: &str) -> Option<Arc<IdentitySchema>> {
    book.schema(provider)?.identities.get(kind).cloned()
}

/// A moment as documents tell it, to the second.
pub fn moment((unix, _): (i64, u32)) -> String {
    Moment::from_unix(unix).to_rfc3339()
}

impl Session {
    /// The providers of a state, as far as they are there. A configuration that cannot be read does not keep anybody from looking at
    /// the state: what is locked is used then.
    pub fn state_book(&mut self, access: &ProviderAccess, state: &State) -> (ProviderBook, Diagnostics) {
        let tree = if self.is_empty() { None } else { self.load().tree };
        let (mut needed, _) = tree.as_ref().map(requirements::of_tree).unwrap_or_default();
        let providers: BTreeSet<Provider> = state.providers().into_iter().cloned().collect();
        // Those of the configuration only say in which versions those of the state are wanted.
        needed.all.retain(|provider, _| providers.iter().any(|used| used.same_as(provider)));
        needed.add_state(&providers);
        self.provider_book(access, &needed.all, Strictness::WhatIsThere)
    }

    /// The providers of a configuration. All must be there.
    pub fn tree_book(&mut self, access: &ProviderAccess, tree: &ModuleTree) -> (ProviderBook, Diagnostics) {
        let (needed, mut diagnostics) = requirements::of_tree(tree);
        if diagnostics.has_errors() {
            return (ProviderBook::default(), diagnostics);
        }
        let (book, found) = self.provider_book(access, &needed.all, Strictness::Consistent);
        diagnostics.extend(found);
        (book, diagnostics)
    }
}

/// Ends the providers of a book.
pub fn close(book: &ProviderBook, access: &ProviderAccess) {
    book.close(&access.online);
}
