//! `groma output`: values of the root module, out of the state.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::state_access::{PathOverrides, StateAccess};
use groma_run::view::outputs::{self, Outputs};

use super::Context;
use super::shared::{JsonArgs, LookArgs};
use crate::failure::Failure;
use crate::render;

/// Show output values.
///
/// Shows all output values of the root module, or one of them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which one.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Show the bare text of a string, number or bool.
    #[arg(long)]
    pub(crate) raw: bool,

    /// Read the state from this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) look: LookArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let (ui, mut session) = args.look.start(context);
    if let Err(problem) = usage(&args.look.json, args.raw, args.name.as_deref()) {
        ui.diagnostics(&problem.into(), session.sources());
        return Ok(ExitCode::FAILURE);
    }
    let paths = PathOverrides { state: args.state, ..PathOverrides::default() };
    let read = StateAccess::open(&mut session, &paths).and_then(|mut access| access.read());
    let state = match read {
        Ok(state) => state,
        Err(problems) => {
            ui.diagnostics(&problems, session.sources());
            return Ok(ExitCode::FAILURE);
        }
    };
    let none = Outputs::new();
    let outputs = state.as_ref().map_or(&none, |state| &state.outputs);
    let asked = Asked { name: args.name.as_deref(), raw: args.raw, show_sensitive: args.look.sensitive.show_sensitive };
    let mut shown = if args.look.json.json { asked.json(outputs) } else { asked.human(outputs) };
    if args.look.json.json_into.is_some() {
        let (text, problems) = asked.json(outputs);
        args.look.write_json(context, &text)?;
        if !shown.1.has_errors() {
            shown.1.extend(problems);
        }
    }
    ui.out(&shown.0)?;
    ui.diagnostics(&shown.1, session.sources());
    Ok(if shown.1.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What does not go together.
fn usage(json: &JsonArgs, raw: bool, name: Option<&str>) -> Result<(), Diagnostic> {
    if raw && json.json {
        let detail = "The -raw and -json options are mutually-exclusive.";
        return Err(Diagnostic::error("Invalid output format", detail));
    }
    if raw && name.is_none() {
        let detail = "You must give the name of a single output value when using the -raw option.";
        return Err(Diagnostic::error("Output name required", detail));
    }
    Ok(())
}

/// What is to be shown.
struct Asked<'a> {
    name: Option<&'a str>,
    raw: bool,
    show_sensitive: bool,
}

impl Asked<'_> {
    /// Text for people or scripts, and what there is to say besides.
    fn human(&self, all: &Outputs) -> (String, Diagnostics) {
        let nothing = |problem: Diagnostic| (String::new(), Diagnostics::from(problem));
        let Some(name) = self.name else {
            if all.is_empty() {
                return nothing(outputs::none());
            }
            return (render::outputs::outputs(all, self.show_sensitive), Diagnostics::new());
        };
        match all.get(name) {
            _ if all.is_empty() => nothing(outputs::none()),
            None => nothing(outputs::missing(name)),
            Some(output) if self.raw => match outputs::raw(name, output) {
                Ok(text) => (text, Diagnostics::new()),
                Err(problems) => (String::new(), problems),
            },
            Some(output) => (render::outputs::output(output), Diagnostics::new()),
        }
    }

    /// For machines.
    fn json(&self, all: &Outputs) -> (String, Diagnostics) {
        let mut text = Vec::new();
        let written = match self.name.map(|name| (name, all.get(name))) {
            None => outputs::write_all(all, &mut text),
            Some((_, Some(output))) => outputs::write_value(output, &mut text),
            Some((name, None)) => return (String::new(), outputs::missing(name).into()),
        };
        match written {
            Ok(()) => (String::from_utf8_lossy(&text).into_owned(), Diagnostics::new()),
            Err(problem) => (String::new(), problem.diagnostics("outputs")),
        }
    }
}
