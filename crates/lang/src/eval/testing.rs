//! What tests of the evaluator and of functions stand on: an environment without an outside, and expressions from text.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use groma_model::value::Value;
use groma_syntax::ast::Expr;

use super::{CallSettings, FunctionScope, MapScope, evaluate_marked};
use crate::environment::{Environment, FileKind};
use crate::func::registry::Place;
use crate::func::{CallContext, FunctionError, TemplateRenderer};

/// Files by path, a clock that stands still, and no randomness.
#[derive(Default)]
pub(crate) struct FakeEnvironment {
    pub(crate) files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Environment for FakeEnvironment {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = path.strip_prefix(".").unwrap_or(path);
        self.files.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn file_kind(&self, path: &Path) -> io::Result<Option<FileKind>> {
        let path = path.strip_prefix(".").unwrap_or(path);
        Ok(self.files.contains_key(path).then_some(FileKind::File))
    }

    fn read_dir(&self, _path: &Path) -> io::Result<Vec<(String, FileKind)>> {
        Ok(Vec::new())
    }

    fn working_dir(&self) -> PathBuf {
        PathBuf::from("/work")
    }

    fn home_dir(&self) -> Option<PathBuf> {
        Some(PathBuf::from("/home/user"))
    }

    fn now(&self) -> (i64, u32) {
        (1_700_000_000, 0)
    }

    fn random(&self, buffer: &mut [u8]) {
        buffer.fill(7);
    }

    fn template_recursion_limit(&self) -> usize {
        20
    }
}

/// A scope for tests: names, files, and all functions.
pub(crate) struct TestScope {
    environment: FakeEnvironment,
    variables: Value,
}

impl TestScope {
    pub(crate) fn new() -> Self {
        Self { environment: FakeEnvironment::default(), variables: Value::empty_object() }
    }

    pub(crate) fn with(names: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        Self { variables: Value::object(names), ..Self::new() }
    }

    pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
        self.environment.files.insert(path.into(), text.into());
        self
    }

    fn settings(&self) -> CallSettings<'_> {
        let base_dir = Path::new(".");
        CallSettings { environment: &self.environment, base_dir, plan_time: None, pure_only: false }
    }

    pub(crate) fn with_context<T>(&self, run: impl FnOnce(&CallContext<'_>) -> T) -> T {
        run(&CallContext {
            environment: &self.environment,
            base_dir: Path::new("."),
            plan_time: None,
            templates: &NoTemplates,
        })
    }

    pub(crate) fn eval(&self, text: &str) -> (Value, Diagnostics) {
        let functions = FunctionScope::new(self.settings(), Place::Console);
        evaluate_marked(&expr(text), &MapScope::new(&self.variables, &functions))
    }

    /// The value of an expression that has no errors.
    #[track_caller]
    pub(crate) fn value(&self, text: &str) -> Value {
        let (value, diagnostics) = self.eval(text);
        assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
        value
    }

    /// Head lines of the errors of an expression.
    pub(crate) fn errors(&self, text: &str) -> Vec<String> {
        self.eval(text).1.into_iter().map(|error| error.summary).collect()
    }
}

struct NoTemplates;

impl TemplateRenderer for NoTemplates {
    fn render(&self, _: &str, _: &str, _: &str, _: &Value) -> Result<Value, FunctionError> {
        Err(FunctionError::new("no templates here"))
    }
}

/// Reads an expression that has no errors.
#[track_caller]
pub(crate) fn expr(text: &str) -> Expr {
    let mut map = SourceMap::new();
    let file = map.add("test.tf", text);
    let parsed = groma_syntax::parse_expr(&map, file);
    assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
    parsed.value
}
