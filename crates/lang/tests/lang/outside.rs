//! What the suite has outside of it: a few files, a clock that stands still, and values that cannot be written down.

use std::io;
use std::path::{Path, PathBuf};

use groma_lang::environment::{Environment, FileKind};
use groma_model::mark::Mark;
use groma_model::ty::Type;
use groma_model::value::{Refinement, Value};

/// Files by name.
const FILES: &[(&str, &str)] = &[
    ("plain.txt", "plain text\n"),
    ("greet.tftpl", "Hello, ${name}!"),
    ("list.tftpl", "%{ for x in xs ~}\n- ${x}\n%{ endfor ~}\n"),
    ("wrap.tftpl", "${value}"),
    ("outer.tftpl", "<${templatefile(\"greet.tftpl\", { name = who })}>"),
    ("self.tftpl", "${templatefile(\"self.tftpl\", {})}"),
    ("broken.tftpl", "${"),
];

/// An outside that is always the same.
pub(crate) struct Outside;

impl Environment for Outside {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let file = FILES.iter().find(|(candidate, _)| *candidate == name);
        file.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn file_kind(&self, path: &Path) -> io::Result<Option<FileKind>> {
        Ok(self.read_file(path).ok().map(|_| FileKind::File))
    }

    fn read_dir(&self, _: &Path) -> io::Result<Vec<(String, FileKind)>> {
        Ok(FILES.iter().map(|(name, _)| ((*name).to_owned(), FileKind::File)).collect())
    }

    fn working_dir(&self) -> PathBuf {
        PathBuf::from("/suite")
    }

    fn home_dir(&self) -> Option<PathBuf> {
        Some(PathBuf::from("/home/suite"))
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

/// The object `given`: values that no expression of the suite could make.
pub(crate) fn given() -> Value {
    Value::object([
        ("any", Value::dynamic()),
        ("string", Value::unknown(Type::String)),
        ("number", Value::unknown(Type::Number)),
        ("bool", Value::unknown(Type::Bool)),
        ("list", Value::unknown(Type::list(Type::String))),
        ("short_list", Value::unknown_refined(Type::list(Type::String), Refinement::length(1, Some(3)))),
        ("set", Value::unknown(Type::set(Type::String))),
        ("map", Value::unknown(Type::map(Type::String))),
        ("object", Value::unknown(Type::object([("a", Type::String)]))),
        ("tuple", Value::unknown(Type::tuple(vec![Type::String, Type::Number]))),
        ("not_null", Value::unknown(Type::String).refine_not_null()),
        ("prefixed", Value::unknown_refined(Type::String, Refinement::prefix("ami-"))),
        ("ephemeral", Value::string("fleeting").mark(Mark::Ephemeral)),
    ])
}
