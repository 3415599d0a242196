//! `module` blocks.

use std::sync::Arc;

use groma_model::text::Str;
use groma_syntax::ast::{Expr, Traversal};
use groma_syntax::body::{Attribute, Body};

use super::{Declared, ProviderRef, Repetition};

/// `module "name" { … }`
#[derive(Debug, Clone)]
pub struct ModuleCall {
    /// Its name.
    pub name: Str,
    /// Where the module comes from, evaluated statically. None only if the declaration is broken.
    pub source: Option<Arc<Expr>>,
    /// `version`, evaluated statically.
    pub version: Option<Attribute>,
    /// The values of the module's variables.
    pub config: Body,
    /// `count`, `for_each` or `enabled`.
    pub repetition: Repetition,
    /// `providers`
    pub providers: Vec<PassedProvider>,
    /// `depends_on`
    pub depends_on: Vec<Traversal>,
    /// Where it is declared.
    pub declared: Declared,
}

/// One entry of `providers`: `in_child = in_parent`.
#[derive(Debug, Clone)]
pub struct PassedProvider {
    /// The configuration as the called module names it.
    pub in_child: ProviderRef,
    /// The configuration as the caller names it.
    pub in_parent: ProviderRef,
}
