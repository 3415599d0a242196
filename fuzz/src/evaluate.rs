//! Evaluating what was read: no expression, however odd, may bring the evaluator or a function down.

use std::io;
use std::path::{Path, PathBuf};

use groma_lang::display;
use groma_lang::environment::{Environment, FileKind};
use groma_lang::eval::{CallSettings, FunctionScope, evaluate};
use groma_lang::func::registry::Place;
use groma_syntax::ast::Expr;

/// Evaluates in a place without names, with every function, and prints the result as the console does.
pub(crate) fn expression(expr: &Expr, text: &str) {
    // Its cost is an argument, and 31 takes days in every tool.
    if text.contains("bcrypt") {
        return;
    }
    let settings = CallSettings { environment: &Nowhere, base_dir: Path::new("."), plan_time: None, pure_only: false };
    let (value, _) = evaluate(expr, &FunctionScope::new(settings, Place::Console));
    let _ = display::console(&value);
}

/// An outside without files in which time stands still.
struct Nowhere;

impl Environment for Nowhere {
    fn read_file(&self, _: &Path) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn file_kind(&self, _: &Path) -> io::Result<Option<FileKind>> {
        Ok(None)
    }

    fn read_dir(&self, _: &Path) -> io::Result<Vec<(String, FileKind)>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn working_dir(&self) -> PathBuf {
        PathBuf::from("/")
    }

    fn home_dir(&self) -> Option<PathBuf> {
        None
    }

    fn now(&self) -> (i64, u32) {
        (0, 0)
    }

    fn random(&self, buffer: &mut [u8]) {
        buffer.fill(4);
    }
}
