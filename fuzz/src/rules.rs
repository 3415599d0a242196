//! Files of rules, and the small languages in them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_lang::load::{ModuleNode, ModuleRequest, ModuleTree, SourceTree, load_module};
use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use groma_rules::replace::expr::Expr;
use groma_rules::replace::path::FieldPath;

use crate::syntax::check_places;

/// What joins predicates: what is read is printed, and is read again as the same.
pub(crate) fn rule_expression(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match Expr::parse(&text) {
        Ok(expr) => {
            let printed = expr.to_string();
            // With parentheses around everything, it may be longer than what may be read.
            if let Ok(again) = Expr::parse(&printed) {
                assert!(again == expr, "{text:?} prints as {printed:?}, and that is {again}");
            }
        }
        Err(error) => assert!(text.get(error.at.clone()).is_some(), "{error:?} is not in {text:?}"),
    }
}

/// A field: every mistake is in the text.
pub(crate) fn rule_field(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match FieldPath::parse(&text, None) {
        Ok(path) => {
            assert!(path.to_string() == text.as_ref(), "{path} was {text:?}");
            let _ = path.lints();
        }
        Err(problem) => {
            assert!(text.is_char_boundary(problem.offset), "{problem:?} is not in {text:?}");
            assert!(!problem.diagnostic(&text, None).summary.is_empty(), "a diagnostic without a summary");
        }
    }
}

/// A file of rules, in whichever syntax it looks like: every mistake is in the text, and what was read can be shown.
pub(crate) fn rule_file(data: &[u8]) {
    let name = if data.first() == Some(&b'{') { "fuzz.groma.json" } else { "fuzz.groma.hcl" };
    let main = b"resource \"sim_box\" \"a\" {\n}\n".to_vec();
    let texts = Texts(BTreeMap::from([(PathBuf::from("main.tf"), main), (PathBuf::from(name), data.to_vec())]));
    let mut map = SourceMap::new();
    let (module, _) = load_module(&mut map, &texts, Path::new("."));
    let root = ModuleNode {
        path: Vec::new(),
        module: Arc::new(module),
        children: BTreeMap::new(),
        source: None,
        remote: false,
        call_span: None,
    };
    let (rules, found) = groma_rules::load(&mut map, &texts, &ModuleTree { root });
    let file = map.files().find(|(_, file)| file.name() == name).map(|(id, _)| id).expect("the file was read");
    check_places(&map, file, &found);
    check_places(&map, file, &rules.replace.lints);
    let _ = format!("{:?}", rules.replace.rules());
}

/// Files in memory.
struct Texts(BTreeMap<PathBuf, Vec<u8>>);

impl SourceTree for Texts {
    fn list_files(&self, _: &Path) -> io::Result<Vec<String>> {
        Ok(self.0.keys().map(|path| path.display().to_string()).collect())
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        Err(request.not_installed().into())
    }
}
