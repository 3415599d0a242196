//! What built-in providers find around them: the states of other configurations, and the reader of variable files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use groma_builtin::{Outside, RemoteStates, Tfvars, WantedState};
use groma_lang::eval::{EmptyScope, evaluate};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::Mark;
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::value::Value;

use crate::backend::RemoteEncryption;

/// Everything around the providers of a module in a directory.
pub(super) fn surroundings(directory: PathBuf, encryption: RemoteEncryption) -> Outside {
    Outside {
        remote_states: Arc::new(LocalStates { directory: directory.clone(), encryption }),
        tfvars: Arc::new(VariableTexts),
        ..Outside::system(directory)
    }
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

/// States in files. Other backends come with the backends themselves.
struct LocalStates {
    directory: PathBuf,
    encryption: RemoteEncryption,
}

#[async_trait]
impl RemoteStates for LocalStates {
    fn validate(&self, backend: &str, config: &Value) -> Diagnostics {
        let names = config.as_entries().map(|entries| entries.names().to_vec()).unwrap_or_default();
        let unexpected = names.iter().find(|name| !["path", "workspace_dir"].contains(&name.as_str()));
        match unexpected.filter(|_| backend == "local") {
            None => Diagnostics::new(),
            Some(name) => {
                let detail = format!("The backend \"local\" has no argument named {:?}.", name.as_str());
                Diagnostic::error("Invalid backend configuration", detail).into()
            }
        }
    }

    async fn outputs(&self, wanted: WantedState<'_>) -> Result<Option<Value>, Diagnostics> {
        let WantedState { backend, config, workspace, reader } = wanted;
        if backend != "local" {
            let detail = format!("The backend {backend:?} is not supported yet; states can be read from local files.");
            return Err(Diagnostic::error("Unsupported backend type", detail).into());
        }
        let path = self.directory.join(state_path(workspace, config));
        let failed = |problem: String| Diagnostic::error("Error loading state", problem);
        let place = path.display().to_string();
        let state = match std::fs::read(&path) {
            Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => None,
            Err(problem) => return Err(failed(format!("{place}: {problem}.")).into()),
            Ok(bytes) => {
                let read = self.encryption.codec(reader).decode(&bytes, &place);
                Some(read.map_err(|problem| Diagnostic {
                    summary: "Error loading state".to_owned(),
                    ..problem.diagnostic()
                })?)
            }
        };
        Ok(state.map(|state| {
            let outputs = state.outputs.into_iter().map(|(name, output)| {
                let value = if output.sensitive { output.value.mark(Mark::Sensitive) } else { output.value };
                (name, value)
            });
            Value::object(outputs)
        }))
    }
}

fn state_path(workspace: &str, config: &Value) -> PathBuf {
    let text = |name: &str| {
        let given = config.as_entries().and_then(|entries| entries.get(name)).and_then(Value::as_str);
        given.filter(|text| !text.is_empty()).map(PathBuf::from)
    };
    match workspace {
        "" | "default" => text("path").unwrap_or_else(|| "terraform.tfstate".into()),
        other => {
            let dir = text("workspace_dir").unwrap_or_else(|| "terraform.tfstate.d".into());
            dir.join(other).join(Path::new("terraform.tfstate"))
        }
    }
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

    #[test]
    fn states_are_where_the_local_backend_puts_them() {
        let with = |name: &str| Value::object([(Str::from(name), Value::string("x"))]);
        let empty = || Value::object(Vec::<(Str, Value)>::new());
        assert_eq!(state_path("default", &empty()), Path::new("terraform.tfstate"));
        assert_eq!(state_path("default", &with("path")), Path::new("x"));
        assert_eq!(state_path("w", &empty()), Path::new("terraform.tfstate.d/w/terraform.tfstate"));
        assert_eq!(state_path("w", &with("workspace_dir")), Path::new("x/w/terraform.tfstate"));
    }
}
