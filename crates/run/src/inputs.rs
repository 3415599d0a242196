//! Values for the variables of the root module: environment, files, command line, in rising precedence.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use groma_lang::config::Variable;
use groma_lang::config::variable::Parsing;
use groma_lang::eval::{EmptyScope, evaluate};
use groma_lang::walk::{InputSource, InputValue};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::value::Value;
use groma_syntax::ast::Expr;
use groma_syntax::body::BodySchema;

use crate::operate::VariablePrompt;
use crate::session::Start;

/// An argument of the command line that gives values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenVariable {
    /// `-var name=value`, as written.
    Value(String),
    /// `-var-file path`
    File(String),
    /// A text for whoever declares a variable of that name. Nobody has to.
    Offered {
        /// The variable.
        name: String,
        /// Its value, as it would be written on the command line.
        text: String,
    },
}

/// What was found.
pub(crate) struct Collected {
    pub(crate) values: BTreeMap<Str, InputValue>,
    pub(crate) diagnostics: Diagnostics,
    /// Of values that cannot be read, or that are for variables that nobody declared. It matters once values do.
    pub(crate) about_values: Diagnostics,
}

/// A value before the declaration of its variable says how to read it.
#[derive(Clone)]
pub(crate) enum Raw {
    Text { text: String, source: InputSource },
    Expr(Arc<Expr>),
}

/// Collects the values that are given to declared variables. Values for undeclared ones are judged by where they stand.
pub(crate) fn collect(sources: &mut SourceMap, start: &Start, declared: &BTreeMap<Str, Variable>) -> Collected {
    let (found, diagnostics) = gather(sources, start, None);
    let mut values = BTreeMap::new();
    let mut about_values = Diagnostics::new();
    let mut undeclared = Undeclared::default();
    for (name, raw) in found {
        match declared.get(name.as_str()) {
            None => undeclared.add(&name, &raw),
            Some(variable) => {
                let (value, problems) = read(sources, variable, raw);
                about_values.extend(problems);
                values.insert(name.into(), value);
            }
        }
    }
    about_values.extend(undeclared.finish());
    Collected { values, diagnostics, about_values }
}

/// All values that are given, whoever declares variables for them. Files of one more directory have the last word.
pub(crate) fn gather(
    sources: &mut SourceMap,
    start: &Start,
    more: Option<&Path>,
) -> (BTreeMap<String, Raw>, Diagnostics) {
    let mut reader = Reader { sources, start, found: BTreeMap::new(), diagnostics: Diagnostics::new() };
    reader.environment();
    reader.automatic_files(&start.root_dir);
    reader.command_line();
    if let Some(dir) = more {
        reader.automatic_files(&start.root_dir.join(dir));
    }
    (reader.found, reader.diagnostics)
}

/// Asks for the values of variables that must have one and have none. That some still have none is an error.
pub(crate) fn ask(
    sources: &mut SourceMap,
    declared: &BTreeMap<Str, Variable>,
    values: &mut BTreeMap<Str, InputValue>,
    prompt: &mut VariablePrompt,
) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    for (name, variable) in declared.iter().filter(|(_, variable)| variable.is_required()) {
        if values.contains_key(name) {
            continue;
        }
        let Some(text) = prompt.as_mut().and_then(|prompt| prompt(variable)) else {
            let detail = format!(
                "The root module input variable \"{name}\" is not set, and has no default value. Use a -var or -var-file \
                 command line argument to provide a value for this variable."
            );
            let missing = Diagnostic::error("No value for required variable", detail);
            diagnostics.push(missing.at(variable.declared.header));
            continue;
        };
        let (value, problems) = read(sources, variable, Raw::Text { text, source: InputSource::Prompt });
        diagnostics.extend(problems);
        values.insert(name.clone(), value);
    }
    diagnostics
}

struct Reader<'a> {
    sources: &'a mut SourceMap,
    start: &'a Start,
    found: BTreeMap<String, Raw>,
    diagnostics: Diagnostics,
}

impl Reader<'_> {
    fn environment(&mut self) {
        for (name, text) in &self.start.environment_variables {
            let raw = Raw::Text { text: text.clone(), source: InputSource::EnvironmentVariable };
            self.found.insert(name.clone(), raw);
        }
    }

    fn automatic_files(&mut self, shown_dir: &Path) {
        let dir = self.start.working_dir.join(shown_dir);
        let mut names: Vec<String> = ["terraform.tfvars", "terraform.tfvars.json"].map(String::from).into();
        names.retain(|name| dir.join(name).exists());
        let listed = fs::read_dir(&dir).into_iter().flatten().flatten();
        let mut automatic: Vec<String> = listed
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json"))
            .collect();
        automatic.sort();
        names.extend(automatic);
        for name in names {
            let shown_dir = shown_dir.strip_prefix(".").unwrap_or(shown_dir);
            let shown = shown_dir.join(name).to_string_lossy().into_owned();
            self.file(&shown);
        }
    }

    fn command_line(&mut self) {
        for given in &self.start.variables {
            match given {
                GivenVariable::File(path) => self.file(path),
                GivenVariable::Value(text) => match split_assignment(text) {
                    Ok((name, value)) => {
                        let raw = Raw::Text { text: value.to_owned(), source: InputSource::CommandLine };
                        self.found.insert(name.to_owned(), raw);
                    }
                    Err(diagnostic) => self.diagnostics.push(diagnostic),
                },
                GivenVariable::Offered { name, text } => {
                    let raw = Raw::Text { text: text.clone(), source: InputSource::EnvironmentVariable };
                    self.found.insert(name.clone(), raw);
                }
            }
        }
    }

    fn file(&mut self, path: &str) {
        const SUMMARY: &str = "Failed to read variables file";
        let bytes = match fs::read(self.start.working_dir.join(path)) {
            Ok(bytes) => bytes,
            Err(error) => {
                let detail = if error.kind() == std::io::ErrorKind::NotFound {
                    format!("Given variables file {path} does not exist.")
                } else {
                    format!("Error while reading {path}: {error}.")
                };
                self.diagnostics.push(Diagnostic::error(SUMMARY, detail));
                return;
            }
        };
        let Ok(text) = String::from_utf8(bytes) else {
            let detail = format!("Error while reading {path}: it is not valid UTF-8 text.");
            self.diagnostics.push(Diagnostic::error(SUMMARY, detail));
            return;
        };
        let extension = Path::new(path).extension().and_then(std::ffi::OsStr::to_str);
        let is_json = match extension {
            Some("json") => true,
            Some("tfvars") => false,
            _ => text.trim_start().starts_with('{'),
        };
        let file = self.sources.add(path, text);
        let parsed = if is_json {
            groma_syntax::parse_json(self.sources, file)
        } else {
            groma_syntax::parse_native(self.sources, file)
        };
        let failed = parsed.diagnostics.has_errors();
        self.diagnostics.extend(parsed.diagnostics);
        if failed {
            return;
        }
        let schema = BodySchema::new().block("variable", &["name"]);
        let (content, _, _) = parsed.value.partial_content(&schema);
        if !is_json && !content.blocks.is_empty() {
            for block in &content.blocks {
                let name = block.labels.first().map_or("", |label| label.text.as_str());
                let detail = format!(
                    "A .tfvars file is used to assign values to variables that have already been declared in .tf files, \
                     not to declare new variables. To declare variable \"{name}\", place this block in one of your .tf \
                     files, such as variables.tf.\n\nTo set a value for this variable in {path}, use the definition \
                     syntax instead:\n    {name} = <value>"
                );
                let diagnostic = Diagnostic::error("Variable declaration in .tfvars file", detail);
                self.diagnostics.push(diagnostic.at(block.kind.span));
            }
            return;
        }
        let (attributes, problems) = parsed.value.literal_attributes();
        self.diagnostics.extend(problems);
        for attribute in attributes {
            self.found.insert(attribute.name.name.to_string(), Raw::Expr(attribute.expr));
        }
    }
}

fn split_assignment(text: &str) -> Result<(&str, &str), Diagnostic> {
    let Some((name, value)) = text.split_once('=') else {
        let detail = format!(
            "The given -var option {text:?} is not correctly specified. Must be a variable name and value separated by an \
             equals sign, like -var=\"key=value\"."
        );
        return Err(Diagnostic::error("Invalid -var option", detail));
    };
    if name.ends_with(' ') {
        let detail = format!(
            "Variable name {name:?} is invalid due to trailing space. Did you mean -var=\"{}={}\"?",
            name.trim_end(),
            value.trim_start()
        );
        return Err(Diagnostic::error("Invalid -var option", detail));
    }
    Ok((name, value))
}

/// Reads a value as its variable wants it.
pub(crate) fn read(sources: &mut SourceMap, variable: &Variable, raw: Raw) -> (InputValue, Diagnostics) {
    let (value, diagnostics) = evaluated(sources, variable, raw);
    if variable.is_sensitive() || variable.is_ephemeral() {
        return (value, diagnostics.into_iter().map(|found| without_value(found, variable)).collect());
    }
    (value, diagnostics)
}

/// A mistake in a value that must not be shown. Its text would be, with what is wrong with it.
fn without_value(found: Diagnostic, variable: &Variable) -> Diagnostic {
    let detail = format!(
        "The value given for var.{} is not a valid expression. It must not be shown, so neither is what is wrong with it.",
        variable.name
    );
    Diagnostic { severity: found.severity, ..Diagnostic::error(found.summary, detail) }.at(variable.declared.header)
}

fn evaluated(sources: &mut SourceMap, variable: &Variable, raw: Raw) -> (InputValue, Diagnostics) {
    match raw {
        Raw::Text { text, source } if variable.parsing() == Parsing::Literal => {
            (InputValue { value: Value::string(text), source }, Diagnostics::new())
        }
        Raw::Text { text, source } => {
            let name = match source {
                InputSource::EnvironmentVariable => format!("<value for var.{} from TF_VAR_{0}>", variable.name),
                _ => format!("<value for var.{}>", variable.name),
            };
            let file = sources.add(name, text);
            let parsed = groma_syntax::parse_expr(sources, file);
            let mut diagnostics = parsed.diagnostics;
            let value = if diagnostics.has_errors() {
                Value::dynamic()
            } else {
                let (value, problems) = evaluate(&parsed.value, &EmptyScope);
                diagnostics.extend(problems);
                value
            };
            (InputValue { value, source }, diagnostics)
        }
        Raw::Expr(expr) => {
            let (value, diagnostics) = evaluate(&expr, &EmptyScope);
            (InputValue { value, source: InputSource::File(expr.span) }, diagnostics)
        }
    }
}

/// Values for variables that nobody declared.
#[derive(Default)]
struct Undeclared {
    errors: Diagnostics,
    in_files: Vec<(String, groma_model::span::Span)>,
}

impl Undeclared {
    fn add(&mut self, name: &str, raw: &Raw) {
        match raw {
            // Other programs may use the same environment.
            Raw::Text { source: InputSource::EnvironmentVariable, .. } => {}
            Raw::Text { .. } => {
                let detail = format!(
                    "A variable named \"{name}\" was assigned on the command line, but the root module does not declare a \
                     variable of that name. To use this value, add a \"variable\" block to the configuration."
                );
                self.errors.push(Diagnostic::error("Value for undeclared variable", detail));
            }
            Raw::Expr(expr) => self.in_files.push((name.to_owned(), expr.span)),
        }
    }

    /// The first two in files are named, the others counted.
    fn finish(self) -> Diagnostics {
        let mut diagnostics = self.errors;
        let (named, rest) = self.in_files.split_at(self.in_files.len().min(2));
        for (name, span) in named {
            let detail = format!(
                "The root module does not declare a variable named \"{name}\" but a value was found in a variables file. If \
                 you meant to use this value, add a \"variable\" block to the configuration.\n\nTo silence these warnings, \
                 use TF_VAR_... environment variables to provide certain \"global\" settings to all configurations in your \
                 organization."
            );
            diagnostics.push(Diagnostic::warning("Value for undeclared variable", detail).at(*span));
        }
        if !rest.is_empty() {
            let detail = format!(
                "In addition to the other similar warnings shown, {} other variable(s) defined without being declared.",
                rest.len()
            );
            diagnostics.push(Diagnostic::warning("Values for undeclared variables", detail));
        }
        diagnostics
    }
}
