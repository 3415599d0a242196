//! Calling functions in tests: an environment without an outside, and a call by name.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use groma_model::value::Value;

use crate::environment::{Environment, FileKind};
use crate::func::{CallContext, Function, FunctionError, Returns, TemplateRenderer};

/// Files in memory, a fixed clock and bytes that count up.
#[derive(Default)]
pub(crate) struct FakeEnvironment {
    /// Contents by absolute path.
    pub(crate) files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Environment for FakeEnvironment {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        let path = self.working_dir().join(path);
        self.files.get(&path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn file_kind(&self, path: &Path) -> io::Result<Option<FileKind>> {
        let path = self.working_dir().join(path);
        if self.files.contains_key(&path) {
            return Ok(Some(FileKind::File));
        }
        let is_dir = self.files.keys().any(|file| file.starts_with(&path));
        Ok(is_dir.then_some(FileKind::Directory))
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<(String, FileKind)>> {
        let path = self.working_dir().join(path);
        let mut names = BTreeMap::new();
        for file in self.files.keys() {
            let Ok(rest) = file.strip_prefix(&path) else { continue };
            let mut parts = rest.components();
            let Some(first) = parts.next() else { continue };
            let kind = if parts.next().is_some() { FileKind::Directory } else { FileKind::File };
            names.insert(first.as_os_str().to_string_lossy().into_owned(), kind);
        }
        Ok(names.into_iter().collect())
    }

    fn working_dir(&self) -> PathBuf {
        PathBuf::from("/cwd")
    }

    fn home_dir(&self) -> Option<PathBuf> {
        Some(PathBuf::from("/home/user"))
    }

    fn now(&self) -> (i64, u32) {
        (1_700_000_000, 123_456_789)
    }

    fn random(&self, buffer: &mut [u8]) {
        for (at, byte) in buffer.iter_mut().enumerate() {
            *byte = at as u8;
        }
    }
}

struct NoTemplates;

impl TemplateRenderer for NoTemplates {
    fn render(&self, _: &str, _: &str, _: &str, _: &Value) -> Result<Value, FunctionError> {
        Err(FunctionError::new("no templates here"))
    }
}

/// Calls a function of a group with arguments that fit its parameters.
pub(crate) fn call(group: fn() -> Vec<Function>, name: &str, args: &[Value]) -> Result<Value, FunctionError> {
    call_in(&FakeEnvironment::default(), group, name, args)
}

/// The same with a given outside.
pub(crate) fn call_in(
    environment: &dyn Environment,
    group: fn() -> Vec<Function>,
    name: &str,
    args: &[Value],
) -> Result<Value, FunctionError> {
    let functions = group();
    let function = functions.iter().find(|function| function.name == name).unwrap();
    let context = CallContext {
        environment,
        base_dir: Path::new("."),
        plan_time: Some((1_600_000_000, 0)),
        templates: &NoTemplates,
    };
    if let Returns::Of(returns) = &function.returns {
        returns(args)?;
    }
    (function.run)(&context, args)
}

/// The text of a result that must be a string.
pub(crate) fn string_of(result: Result<Value, FunctionError>) -> String {
    match result {
        Ok(value) => value.as_str().unwrap_or_else(|| panic!("not a string: {value:?}")).to_owned(),
        Err(error) => format!("error: {error}"),
    }
}
