//! What is needed to show a state, a plan or a configuration: the schemas of everything in it. How anything looks is not decided
//! here.

use std::collections::BTreeSet;
use std::sync::Arc;

use groma_builtin::kit::Moment;
use groma_lang::load::ModuleTree;
use groma_lang::oracle::SchemaSource;
use groma_model::address::Provider;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::IdentitySchema;
use groma_state::State;

use crate::providers::requirements;
use crate::providers::{BookOracle, ProviderAccess, ProviderBook, Strictness};
use crate::session::Session;
use crate::view::state::StateView;

/// The schemas of the providers in a book.
pub fn schemas(book: &ProviderBook) -> impl SchemaSource + '_ {
    BookOracle::new(book, None)
}

/// What identifies the objects of a resource type.
pub fn identity(book: &ProviderBook, provider: &Provider, kind: &str) -> Option<Arc<IdentitySchema>> {
    book.schema(provider)?.identities.get(kind).cloned()
}

/// Asks for providers without whose schemas nothing can be told of their objects.
pub(crate) fn require<'p>(
    book: &ProviderBook,
    providers: impl IntoIterator<Item = &'p Provider>,
) -> Result<(), Diagnostics> {
    let missing = providers.into_iter().filter(|provider| book.schema(provider).is_none());
    let found: Diagnostics = missing.map(not_installed).collect();
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn not_installed(provider: &Provider) -> Diagnostic {
    let detail = format!(
        "Only the schemas of provider {provider} say what its objects are, and it is not installed. To install it, run:\n  \
         groma init"
    );
    Diagnostic::error("Failed to load plugin schemas", detail)
}

/// A state for machines. All its providers must be there.
pub fn state_document(book: &ProviderBook, state: &State) -> Result<String, Diagnostics> {
    require(book, state.providers())?;
    let mut text = Vec::new();
    let written = StateView { state, schemas: &schemas(book) }.write(&mut text);
    written.map_err(|problem| problem.diagnostics("state"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
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
