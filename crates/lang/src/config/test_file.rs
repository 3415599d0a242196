//! Test files (`*.tftest.hcl`) as declared. Nothing here runs tests.

mod decode;

use std::collections::BTreeMap;
use std::sync::Arc;

use groma_model::span::Span;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_syntax::ast::{Expr, Traversal};

use super::{
    CheckRule, Declared, ObjectAddress, PassedProvider, ProviderConfig, ProviderConfigKey, ResourceMode,
    VersionConstraint,
};

pub(crate) use decode::decode;

/// A test file.
#[derive(Debug, Clone, Default)]
pub struct TestFile {
    /// `variables`: values for all runs.
    pub variables: BTreeMap<Str, Arc<Expr>>,
    /// `provider` blocks, instead of those of the module.
    pub providers: BTreeMap<ProviderConfigKey, ProviderConfig>,
    /// `mock_provider` blocks.
    pub mocks: BTreeMap<ProviderConfigKey, MockProvider>,
    /// `run` blocks, in order.
    pub runs: Vec<TestRun>,
    /// What all runs take for granted instead of making it.
    pub overrides: Overrides,
}

/// `run "name" { … }`
#[derive(Debug, Clone)]
pub struct TestRun {
    /// Its name.
    pub name: Str,
    /// `command`
    pub command: TestCommand,
    /// `plan_options`
    pub options: PlanOptions,
    /// `variables`: values for this run.
    pub variables: BTreeMap<Str, Arc<Expr>>,
    /// `providers`: configurations of the test file by the names that the module has for them.
    pub providers: Vec<PassedProvider>,
    /// `assert` blocks, in order.
    pub asserts: Vec<CheckRule>,
    /// Another module than the one under test.
    pub module: Option<TestModule>,
    /// What must fail.
    pub expect_failures: Vec<Traversal>,
    /// What this run takes for granted instead of making it.
    pub overrides: Overrides,
    /// Where it is declared.
    pub declared: Declared,
}

/// What a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestCommand {
    /// Makes a plan.
    Plan,
    /// Makes a plan and carries it out.
    Apply,
}

/// `plan_options`
#[derive(Debug, Clone)]
pub struct PlanOptions {
    /// `mode = refresh-only`
    pub refresh_only: bool,
    /// `refresh`
    pub refresh: bool,
    /// `replace`
    pub replace: Vec<Traversal>,
    /// `target`
    pub target: Vec<Traversal>,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { refresh_only: false, refresh: true, replace: Vec::new(), target: Vec::new() }
    }
}

/// `module` of a run.
#[derive(Debug, Clone)]
pub struct TestModule {
    /// `source`
    pub source: Str,
    /// Where that stands.
    pub source_span: Span,
    /// `version`
    pub version: Option<VersionConstraint>,
    /// The header of the block.
    pub header: Span,
}

/// What is taken for granted instead of being made.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `override_resource` and `override_data`, in order.
    pub resources: Vec<OverrideResource>,
    /// `override_module`, in order.
    pub modules: Vec<OverrideModule>,
}

/// `override_resource` or `override_data`
#[derive(Debug, Clone)]
pub struct OverrideResource {
    /// Which of the two.
    pub mode: ResourceMode,
    /// Which resource.
    pub target: ObjectAddress,
    /// Values for what its provider would decide.
    pub values: BTreeMap<Str, Value>,
}

impl OverrideResource {
    /// The name of its kind of block.
    pub fn block_name(&self) -> &'static str {
        if self.mode == ResourceMode::Data { "override_data" } else { "override_resource" }
    }
}

/// `override_module`
#[derive(Debug, Clone)]
pub struct OverrideModule {
    /// Which module.
    pub target: ObjectAddress,
    /// Its outputs; those that are not here are null.
    pub outputs: BTreeMap<Str, Value>,
}

/// `mock_provider "name" { … }`
#[derive(Debug, Clone)]
pub struct MockProvider {
    /// Name and alias.
    pub key: ProviderConfigKey,
    /// `for_each`
    pub for_each: Option<Arc<Expr>>,
    /// `mock_resource` and `mock_data`: values for what the provider would decide, by type.
    pub defaults: BTreeMap<(ResourceMode, Str), BTreeMap<Str, Value>>,
    /// Values for single resources that use it.
    pub overrides: Overrides,
    /// Where it is declared.
    pub declared: Declared,
}
