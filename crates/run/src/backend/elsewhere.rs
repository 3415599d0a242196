//! States of other configurations, in whatever backend: `terraform_remote_state` reads their outputs. Nothing is locked or written.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use groma_backends::BackendKind;
use groma_builtin::{RemoteStates, WantedState};
use groma_kit::confines::Confines;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::mark::Mark;
use groma_model::value::Value;
use groma_state::{State, StateCodec, WorkspaceName};

use super::network::Network;
use super::{LOCAL, RemoteEncryption, Settings, others, settings};

/// Reads states of other configurations.
pub(crate) struct Elsewhere {
    /// Where paths start.
    pub(crate) directory: PathBuf,
    pub(crate) encryption: RemoteEncryption,
    pub(crate) network: Network,
    /// Where states in files may be; None for everywhere.
    pub(crate) files: Option<Confines>,
}

#[async_trait]
impl RemoteStates for Elsewhere {
    fn validate(&self, backend: &str, config: &Value) -> Diagnostics {
        // One that there is none of here may be meant for another tool: that is said when it is read.
        if settings::schema(backend).is_none() {
            return Diagnostics::new();
        }
        settings_of(backend, config).err().unwrap_or_default()
    }

    async fn outputs(&self, wanted: WantedState<'_>) -> Result<Option<Value>, Diagnostics> {
        let WantedState { backend, config, workspace, reader } = wanted;
        let codec = self.encryption.codec(reader);
        let state = match groma_backends::kind(backend) {
            Some(kind) => self.stored(kind, settings_of(backend, config)?, workspace, codec).await,
            None if backend == LOCAL => {
                let path = self.directory.join(local_path(workspace, &settings_of(backend, config)?));
                let place = self.files.as_ref().map_or(Ok(path.clone()), |files| files.read(&path));
                read_file(&path, place, &*codec)
            }
            None => return Err(others::unknown(backend).into()),
        };
        let state = state.map_err(|found| -> Diagnostics {
            found.into_iter().map(|found| Diagnostic { summary: "Error loading state".to_owned(), ..found }).collect()
        })?;
        Ok(state.map(outputs))
    }
}

impl Elsewhere {
    /// A state on a server.
    async fn stored(
        &self,
        kind: &'static dyn BackendKind,
        settings: Settings,
        workspace: &str,
        codec: Arc<dyn StateCodec>,
    ) -> Result<Option<State>, Diagnostics> {
        let workspace = WorkspaceName::parse(workspace).map_err(|problem| problem.diagnostic())?;
        let surroundings = self.network.surroundings()?;
        // Stores block until the server has answered.
        let read = tokio::task::spawn_blocking(move || -> Result<Option<State>, Diagnostics> {
            let remote = kind.configure(settings.values(), &surroundings)?;
            let mut place = remote.open(&workspace, codec).map_err(|problem| problem.diagnostic())?;
            Ok(place.store.read().map_err(|problem| problem.diagnostic())?)
        });
        read.await.unwrap_or_else(|problem| Err(Diagnostic::error("Internal error", format!("{problem}.")).into()))
    }
}

/// What the arguments of the data source mean for the backend.
fn settings_of(backend: &str, config: &Value) -> Result<Settings, Diagnostics> {
    let (settings, mut diagnostics) = Settings::of_value(backend, config);
    diagnostics.extend(settings.check());
    let named = diagnostics.into_iter().map(|found| Diagnostic {
        summary: "Invalid backend configuration".to_owned(),
        hints: Vec::new(),
        ..found
    });
    let diagnostics: Diagnostics = named.collect();
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(settings) }
}

fn read_file(path: &Path, place: io::Result<PathBuf>, codec: &dyn StateCodec) -> Result<Option<State>, Diagnostics> {
    let read = place.and_then(std::fs::read);
    let place = path.display().to_string();
    match read {
        Err(problem) if problem.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(problem) => Err(Diagnostic::error("Error loading state", format!("{place}: {problem}.")).into()),
        Ok(bytes) => Ok(Some(codec.decode(&bytes, &place).map_err(|problem| problem.diagnostic())?)),
    }
}

fn outputs(state: State) -> Value {
    Value::object(state.outputs.into_iter().map(|(name, output)| {
        let value = if output.sensitive { output.value.mark(Mark::Sensitive) } else { output.value };
        (name, value)
    }))
}

/// Where the local backend has the state of a workspace.
fn local_path(workspace: &str, settings: &Settings) -> PathBuf {
    let path = |name: &str| settings.path(name).filter(|path| !path.as_os_str().is_empty());
    match workspace {
        "" | "default" => path("path").unwrap_or_else(|| "terraform.tfstate".into()),
        other => {
            let dir = path("workspace_dir").unwrap_or_else(|| "terraform.tfstate.d".into());
            dir.join(other).join("terraform.tfstate")
        }
    }
}

#[cfg(test)]
mod tests {
    use groma_model::text::Str;

    use super::*;

    #[test]
    fn states_are_where_the_local_backend_puts_them() {
        let with = |names: &[&str]| {
            let values = names.iter().map(|name| (Str::from(*name), Value::string("x")));
            settings_of(LOCAL, &Value::object(values)).unwrap()
        };
        assert_eq!(local_path("default", &with(&[])), Path::new("terraform.tfstate"));
        assert_eq!(local_path("default", &with(&["path"])), Path::new("x"));
        assert_eq!(local_path("w", &with(&[])), Path::new("terraform.tfstate.d/w/terraform.tfstate"));
        assert_eq!(local_path("w", &with(&["workspace_dir"])), Path::new("x/w/terraform.tfstate"));
    }

    #[test]
    fn arguments_must_be_those_of_the_backend() {
        let text = |name: &str, value: &str| (Str::from(name), Value::string(value));
        let problem = |kind: &str, values: Vec<(Str, Value)>| {
            settings_of(kind, &Value::object(values)).err().map(|found| {
                found.iter().map(|found| format!("{}: {}", found.summary, found.detail)).collect::<Vec<_>>().join("\n")
            })
        };
        assert_eq!(problem("http", vec![text("address", "http://localhost/")]), None);
        let unknown = problem("local", vec![text("place", "x")]).unwrap();
        assert!(unknown.starts_with("Invalid backend configuration: ") && unknown.contains("\"place\""), "{unknown}");
        assert!(problem("s3", vec![text("bucket", "b")]).unwrap().contains("\"key\""));
        let endpoints = Value::object([text("s3", "http://localhost/")]);
        let nested = vec![text("bucket", "b"), text("key", "k"), (Str::from("endpoints"), endpoints)];
        assert_eq!(problem("s3", nested), None);
    }
}
