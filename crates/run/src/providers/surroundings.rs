//! What built-in providers find around them: the states of other configurations, and the reader of variable files.

use std::path::PathBuf;
use std::sync::Arc;

use groma_builtin::{Outside, Tfvars};
use groma_lang::eval::{EmptyScope, evaluate};
use groma_model::diag::Diagnostic;
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::value::Value;

use crate::backend::Elsewhere;

/// Everything around the providers of a module in a directory.
pub(super) fn surroundings(directory: PathBuf, states: Elsewhere) -> Outside {
    Outside { remote_states: Arc::new(states), tfvars: Arc::new(VariableTexts), ..Outside::system(directory) }
}

/// Reads `.tfvars` texts.
struct VariableTexts;

impl Tfvars for VariableTexts {
    fn decode(&self, text: &str) -> Result<Value, Vec<String>> {
        let mut sources = SourceMap::new();
        let file = sources.add("<decode_tfvars argument>", text);
        let parsed = groma_syntax::parse_native(&sources, file);
        let mut diagnostics = parsed.diagnostics;
        let (attributes, found) = parsed.value.just_attributes();
        diagnostics.extend(found);
        let mut values: Vec<(Str, Value)> = Vec::new();
        for attribute in &attributes {
            let (value, found) = evaluate(&attribute.expr, &EmptyScope);
            diagnostics.extend(found);
            values.push((attribute.name.name.clone(), value));
        }
        if diagnostics.has_errors() {
            return Err(diagnostics.iter().map(|found| told(found, &sources)).collect());
        }
        Ok(Value::object(values))
    }
}

/// `file:1,2-3: Summary; detail`
fn told(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let place = diagnostic.subject.map_or(String::new(), |span| format!("{}: ", sources.place(span)));
    format!("{place}{}; {}", diagnostic.summary, diagnostic.detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_texts_are_read() {
        let value = VariableTexts.decode("a = 1\nb = [\"x\", true]\n").unwrap();
        assert_eq!(value.as_entries().unwrap().names().len(), 2);
        let problems = VariableTexts.decode("a = b\nc {\n}\n").unwrap_err();
        assert!(problems.iter().all(|line| line.starts_with("<decode_tfvars argument>:")), "{problems:?}");
        assert_eq!(problems.len(), 2, "{problems:?}");
    }
}
