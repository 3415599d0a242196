//! The provisioners that are built in: `local-exec` runs a program here, `file` and `remote-exec` do their work on another
//! machine. When they run, and what comes of a failure, is decided by the engine.

mod connection;
mod lines;
mod local;
mod remote;
mod ssh;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use async_trait::async_trait;
use groma_engine::provision::{Provision, Provisioners};
use groma_kit::confines::Confines;
use groma_lang::provisioners as schemas;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Block;
use groma_model::value::Value;
use groma_network::Networks;

/// Where provisioners run.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Where relative paths start.
    pub working_dir: PathBuf,
    /// The user's home, which `~` stands for.
    pub home_dir: Option<PathBuf>,
    /// Where the user's SSH agent listens (`SSH_AUTH_SOCK`).
    pub agent_socket: Option<PathBuf>,
    /// Whether somebody sits at the terminal that we were started from. Programs may ask there, and are interrupted together
    /// with us; otherwise each is in a group of its own, so that what it starts can be ended with it.
    pub on_terminal: bool,
    /// Programs are not started, and how that could be allowed.
    pub no_programs: Option<String>,
    /// Where files may be read; None for everywhere.
    pub files: Option<Confines>,
    /// What programs find in their environment. None if that is ours.
    pub environment: Option<BTreeMap<String, String>>,
    /// Where connections may lead. None for everywhere.
    pub networks: Option<Networks>,
}

impl Surroundings {
    /// In a directory, with neither a home nor an agent nor a terminal.
    pub fn in_directory(working_dir: PathBuf) -> Self {
        Self {
            working_dir,
            home_dir: None,
            agent_socket: None,
            on_terminal: false,
            no_programs: None,
            files: None,
            environment: None,
            networks: None,
        }
    }

    /// A path as a person writes it, if it may be read.
    fn path(&self, text: &str) -> io::Result<PathBuf> {
        let at_home = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let path = match (at_home, &self.home_dir) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            _ => self.working_dir.join(text),
        };
        self.readable(path)
    }

    /// A path, if it may be read.
    fn readable(&self, path: PathBuf) -> io::Result<PathBuf> {
        self.files.as_ref().map_or(Ok(path.clone()), |files| files.read(&path))
    }
}

/// Runs the built-in provisioners.
#[derive(Debug, Clone)]
pub struct Programs {
    surroundings: Surroundings,
}

impl Programs {
    /// Runs them there.
    pub fn new(surroundings: Surroundings) -> Self {
        Self { surroundings }
    }
}

#[async_trait]
impl Provisioners for Programs {
    fn schema(&self, kind: &str) -> Option<&Block> {
        schemas::schema(kind)
    }

    fn connection_schema(&self) -> &Block {
        schemas::connection_schema()
    }

    async fn run(&self, provision: Provision) -> Diagnostics {
        let wrong = schemas::check_config(&provision.kind, &provision.config);
        if wrong.has_errors() {
            return wrong;
        }
        let kind = provision.kind.clone();
        let done = match kind.as_str() {
            "local-exec" => match &self.surroundings.no_programs {
                None => local::run(&self.surroundings, provision).await,
                Some(advice) => Err(format!("Programs may not be started here. {advice}")),
            },
            "file" => remote::copy(&self.surroundings, provision).await,
            "remote-exec" => remote::execute(&self.surroundings, provision).await,
            _ => Err("There is no such provisioner.".to_owned()),
        };
        match done {
            Ok(()) => Diagnostics::new(),
            Err(problem) => Diagnostic::error(format!("{kind} provisioner error"), problem).into(),
        }
    }
}

/// An argument that is set.
fn argument<'v>(config: &'v Value, name: &str) -> Option<&'v Value> {
    config.as_entries()?.get(name).filter(|value| !value.is_null())
}

/// A text that is set.
fn text<'v>(config: &'v Value, name: &str) -> Option<&'v str> {
    argument(config, name)?.as_str()
}

/// The texts of a list that is set; null for those that are not.
fn texts(config: &Value, name: &str) -> Option<Vec<Option<String>>> {
    let items = argument(config, name)?.as_elements()?;
    Some(items.iter().map(|item| item.as_str().map(str::to_owned)).collect())
}
