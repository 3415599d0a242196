//! What commands that show something of a state have in common.

use groma_run::session::Session;

use super::{JsonArgs, SensitiveArgs, VariableArgs, ViewArgs, session};
use crate::commands::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// How something is looked up and shown.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LookArgs {
    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) sensitive: SensitiveArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

impl LookArgs {
    /// Where it is shown, and what is looked into: the working directory.
    pub(crate) fn start(&self, context: &Context) -> (Ui, Session) {
        let ui = Ui::new(&context.environment, self.view.no_color);
        (ui, session(context, ".".into(), self.variables.clone()))
    }

    /// Whether machines want it, on the standard output or in a file.
    pub(crate) fn wants_json(&self) -> bool {
        self.json.json || self.json.json_into.is_some()
    }

    /// Shows people or machines what they want, and writes the file for machines.
    pub(crate) fn show(&self, context: &Context, ui: Ui, human: &str, json: &str) -> Result<(), Failure> {
        ui.out(if self.json.json { json } else { human })?;
        self.write_json(context, json)
    }

    /// Writes the file for machines, if there is to be one.
    pub(crate) fn write_json(&self, context: &Context, json: &str) -> Result<(), Failure> {
        let Some(path) = &self.json.json_into else { return Ok(()) };
        let path = context.working_dir.join(path);
        std::fs::write(&path, json).map_err(|source| Failure::Write { path, source })
    }
}
