//! One section of a suite file: statements that are evaluated in order, each of which later ones may refer to as `local.NAME`.

use std::collections::BTreeMap;

use groma_lang::display;
use groma_lang::eval::{CallSettings, FunctionLookup, FunctionScope, MapScope, Resolved, Scope, evaluate};
use groma_lang::func::registry::Place;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_model::value::Value;
use groma_syntax::ast::Traversal;

use crate::annotate::Found;
use crate::outside::Outside;

/// Text between two `# --- name ---` lines.
pub(crate) struct Section {
    /// Its name.
    pub(crate) name: String,
    /// Its text, with the line that names it.
    pub(crate) text: String,
}

/// What running a section found, in the order of its statements.
pub(crate) struct Run {
    /// One for each statement.
    pub(crate) found: Vec<Found>,
}

impl Section {
    /// The sections of a file, and what stands before the first.
    pub(crate) fn split(text: &str) -> (Vec<Section>, String) {
        let mut sections: Vec<Section> = Vec::new();
        let mut intro = String::new();
        for line in text.split_inclusive('\n') {
            if let Some(name) = section_name(line) {
                sections.push(Section { name: name.to_owned(), text: String::new() });
            }
            match sections.last_mut() {
                Some(section) => section.text.push_str(line),
                None => intro.push_str(line),
            }
        }
        (sections, intro)
    }

    /// Evaluates the statements.
    pub(crate) fn run(&self) -> Run {
        let mut sources = SourceMap::new();
        let file = sources.add(&self.name, self.text.as_str());
        let parsed = groma_syntax::parse_native(&sources, file);
        let (mut attributes, more) = parsed.value.just_attributes();
        attributes.sort_by_key(|attribute| attribute.span.start);
        let errors: Diagnostics = parsed.diagnostics.into_iter().chain(more).collect();
        if !errors.is_empty() {
            // A text that cannot be read has no statements; what is wrong is written at its end.
            let line = self.text.lines().position(|line| !line.starts_with('#') && !line.is_empty()).unwrap_or(0) + 1;
            let errors = errors.iter().map(|error| error_text(error, line, &sources)).collect();
            return Run {
                found: vec![Found { first_line: line, last_line: self.text.lines().count(), value: None, errors }],
            };
        }
        let mut locals: BTreeMap<String, Value> = BTreeMap::new();
        let mut found = Vec::new();
        for attribute in attributes {
            let outside = Outside;
            let settings = CallSettings {
                environment: &outside,
                base_dir: std::path::Path::new("."),
                plan_time: Some((1_700_000_000, 0)),
                pure_only: false,
            };
            let functions = FunctionScope::new(settings, Place::Console);
            let names = Value::object([("local", Value::object(locals.clone())), ("given", crate::outside::given())]);
            let scope = SuiteScope { names: MapScope::new(&names, &functions), sources: &sources };
            let (value, errors) = evaluate(&attribute.expr, &scope);
            let first_line = sources.start(attribute.span).line as usize;
            let last_line = sources.end(attribute.span).line as usize;
            let printed = if errors.has_errors() { None } else { Some(display::console_result(&value)) };
            let errors = errors.into_iter().chain(printed.clone().and_then(Result::err));
            let errors = errors.map(|error| error_text(&error, first_line, &sources)).collect();
            found.push(Found { first_line, last_line, value: printed.and_then(Result::ok), errors });
            locals.insert(attribute.name.name.to_string(), value);
        }
        Run { found }
    }
}

fn section_name(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix("# --- ")?.strip_suffix(" ---")
}

/// `Error: 1:5-8 Summary: detail`, lines counted from the statement.
fn error_text(error: &Diagnostic, first_line: usize, sources: &SourceMap) -> String {
    let kind = if error.is_error() { "Error" } else { "Warning" };
    let place = error.subject.map_or(String::new(), |span| {
        let (start, end) = (sources.start(span), sources.end(span));
        let line = |line: u32| (line as usize + 1).saturating_sub(first_line);
        if start.line == end.line {
            return format!("{}:{}-{} ", line(start.line), start.column, end.column);
        }
        format!("{}:{}-{}:{} ", line(start.line), start.column, line(end.line), end.column)
    });
    let detail = error.detail.replace('\\', "\\\\").replace('\n', "\\n");
    format!("{kind}: {place}{}: {detail}", error.summary)
}

/// The names of a section, and the texts that messages point into.
struct SuiteScope<'a> {
    names: MapScope<'a>,
    sources: &'a SourceMap,
}

impl Scope for SuiteScope<'_> {
    fn resolve(&self, traversal: &Traversal) -> Result<Resolved, Diagnostics> {
        self.names.resolve(traversal)
    }

    fn checks_references_first(&self) -> bool {
        false
    }

    fn function(&self, name: &str) -> FunctionLookup<'_> {
        self.names.function(name)
    }

    fn function_names(&self) -> Vec<String> {
        self.names.function_names()
    }

    fn place(&self, span: Span) -> Option<String> {
        Some(self.sources.place(span))
    }

    fn call_settings(&self) -> Option<CallSettings<'_>> {
        self.names.call_settings()
    }
}
