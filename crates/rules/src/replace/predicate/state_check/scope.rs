//! What the names and functions in a condition mean: the object in its views, facts about it, and functions without an outside.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_lang::environment::{Environment, FileKind};
use groma_lang::eval::{CallSettings, FunctionLookup, Resolved, Scope};
use groma_lang::func::registry::{self, Place};
use groma_lang::func::{ExternalFunction, ExternalParam, FunctionError};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::{Str, suggestion};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::Traversal;

use crate::replace::case::Case;
use crate::replace::problem::Code;
use crate::replace::truth::Truth;

/// The function that tells whether a field changes.
pub(super) const CHANGED: &str = "changed";

/// The names that there are.
const NAMES: [&str; 4] = ["old", "new", "upd", "meta"];

/// Functions that need files, places or the time. Those that are different each time say so themselves.
const OUTSIDE: [&str; 16] = [
    "abspath",
    "file",
    "filebase64",
    "filebase64sha256",
    "filebase64sha512",
    "fileexists",
    "filemd5",
    "fileset",
    "filesha1",
    "filesha256",
    "filesha512",
    "pathexpand",
    "plantimestamp",
    "templatefile",
    "bcrypt",
    "uuid",
];

/// Why a function cannot be called, if it cannot.
pub(crate) fn function_problem(name: &str) -> Option<Diagnostic> {
    let base = name.strip_prefix("core::").unwrap_or(name);
    let function = registry::find(name, Place::Module);
    if function.is_some_and(|function| !function.impure && !OUTSIDE.contains(&function.name)) {
        return None;
    }
    let detail = if function.is_some() || name.starts_with("provider::") {
        format!("{base} cannot be called in the condition of a rule, where nothing is there but the object.")
    } else {
        let names = registry::names(Place::Module);
        let names = names.iter().map(String::as_str).chain([CHANGED]);
        let meant = suggestion(base, names.filter(|name| !OUTSIDE.contains(name)));
        let meant = meant.map_or(String::new(), |meant| format!(" Did you mean {meant:?}?"));
        format!("There is no function {base:?}.{meant}")
    };
    Some(Code(1115).error("Not allowed in a condition", detail))
}

/// Why a reference means nothing.
pub(super) fn name_problem(traversal: &Traversal) -> Diagnostic {
    let name = &traversal.root.name;
    let meant = suggestion(name, NAMES).map_or(String::new(), |meant| format!(" Did you mean {meant:?}?"));
    let detail = format!(
        "{:?} means nothing in the condition of a rule. It can use old, new, upd and meta, and the function changed.{meant}",
        name.as_str()
    );
    Code(1115).error("Not allowed in a condition", detail).at(traversal.span)
}

/// What names stand for.
pub(super) struct Names {
    roots: [(&'static str, Value); 4],
    changes: Arc<BTreeMap<String, Truth>>,
}

impl Names {
    /// For an object. Facts about it are made only if somebody asks for them.
    pub(super) fn new(case: &Case<'_>, wants_meta: bool, changes: BTreeMap<String, Truth>) -> Self {
        let [old, new, upd] = [case.old, case.new, case.upd.value()].map(Value::clone);
        let meta = if wants_meta { meta(case) } else { Value::empty_object() };
        Self::with(old, new, upd, meta, changes)
    }

    /// For an object of which only the type is known.
    pub(super) fn of_types(object: Value, changes: BTreeMap<String, Truth>) -> Self {
        let text = || Value::unknown(Type::String);
        let mut meta: Vec<(&str, Value)> = TEXTS.iter().map(|name| (*name, text())).collect();
        meta.push(("key", Value::dynamic()));
        meta.push(("replace_paths", Value::unknown(Type::list(Type::String))));
        Self::with(object.clone(), object.clone(), object, Value::object(meta), changes)
    }

    fn with(old: Value, new: Value, upd: Value, meta: Value, changes: BTreeMap<String, Truth>) -> Self {
        Self { roots: [("old", old), ("new", new), ("upd", upd), ("meta", meta)], changes: Arc::new(changes) }
    }

    /// What a name stands for.
    pub(super) fn root(&self, name: &str) -> Option<&Value> {
        self.roots.iter().find_map(|(own, value)| (*own == name).then_some(value))
    }

    /// The fields that were asked about, and whether they change.
    pub(super) fn changes(&self) -> impl Iterator<Item = (&str, Truth)> {
        self.changes.iter().map(|(text, truth)| (text.as_str(), *truth))
    }
}

/// The facts that are texts.
const TEXTS: [&str; 8] =
    ["address", "type", "name", "module", "provider", "provider_version", "workspace", "replace_reason"];

/// Facts about the object.
fn meta(case: &Case<'_>) -> Value {
    let resource = &case.address.instance.resource;
    let paths = case.replace_paths.iter().map(|path| path.to_string().trim_start_matches('.').to_owned());
    let text = |text: String| Value::from(text);
    let version = case.provider_version.map_or_else(|| Value::null(Type::String), Value::from);
    Value::object([
        ("address", text(case.address.to_string())),
        ("type", Value::string(resource.ty.clone())),
        ("name", Value::string(resource.name.clone())),
        ("module", text(case.address.module.to_string())),
        ("key", case.address.key().to_value().unwrap_or_else(|| Value::null(Type::Dynamic))),
        ("provider", text(case.provider.for_display())),
        ("provider_version", version),
        ("workspace", case.workspace.into()),
        ("replace_reason", case.cause.name().into()),
        ("replace_paths", Value::strings(paths)),
    ])
}

impl Scope for Names {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        match self.root(&traversal.root.name) {
            Some(value) => Ok(Resolved { value: value.clone(), steps_used: 0 }),
            None => Err(name_problem(traversal).into()),
        }
    }

    /// Infinity is greater than everything, so a condition would come true by mistake.
    fn refuses_division_by_zero(&self) -> bool {
        true
    }

    fn function(&self, name: &str) -> FunctionLookup<'_> {
        if name == CHANGED {
            return FunctionLookup::External(Arc::new(changed(Arc::clone(&self.changes))));
        }
        match function_problem(name) {
            Some(problem) => FunctionLookup::Refused(Box::new(problem)),
            None => registry::find(name, Place::Module).map_or(FunctionLookup::Unknown, FunctionLookup::Core),
        }
    }

    fn call_settings(&self) -> Option<CallSettings<'_>> {
        Some(CallSettings { environment: &NoOutside, base_dir: Path::new("."), plan_time: None, pure_only: true })
    }
}

/// `changed("zone")`. What it is called with is known beforehand, so the answers are as well.
fn changed(changes: Arc<BTreeMap<String, Truth>>) -> ExternalFunction {
    let field = ExternalParam { name: "field".to_owned(), ty: Type::String, allow_null: false, allow_unknown: false };
    ExternalFunction {
        params: vec![field],
        variadic: None,
        returns: Type::Bool,
        call: Box::new(move |arguments| {
            let field = arguments.first().and_then(Value::as_str).map(Str::from);
            match field.as_deref().and_then(|field| changes.get(field)) {
                Some(Truth::True) => Ok(Value::bool(true)),
                Some(Truth::False) => Ok(Value::bool(false)),
                Some(Truth::Unknown) => Ok(Value::unknown_bool()),
                None => Err(FunctionError::arg(0, "the name of the field must be a constant")),
            }
        }),
    }
}

/// An outside where nothing is.
pub(crate) struct NoOutside;

impl Environment for NoOutside {
    fn read_file(&self, _: &Path) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn file_kind(&self, _: &Path) -> io::Result<Option<FileKind>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn read_dir(&self, _: &Path) -> io::Result<Vec<(String, FileKind)>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn working_dir(&self) -> PathBuf {
        PathBuf::new()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        None
    }

    fn now(&self) -> (i64, u32) {
        (0, 0)
    }

    fn random(&self, _: &mut [u8]) {}
}
