//! `groma import`: makes an object that exists already part of the state.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::address::{AbsInstance, AddressError, ResourceMode};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_run::operate::Kind;
use groma_run::session::Session;

use super::Context;
use super::shared::{
    BackendArgs, InputArgs, JsonArgs, LockArgs, OperationArgs, PathArgs, PlanningArgs, ReplaceArgs, SensitiveArgs,
    Stage, VariableArgs, ViewArgs, session,
};
use crate::failure::Failure;
use crate::ui::Ui;

/// Take an object that exists already under management.
///
/// Reads the object with that ID and records it in the state under the address. The configuration must describe it already.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where it is in the configuration.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,

    /// How the provider names it.
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    pub(crate) id: String,

    /// The directory with the configuration.
    #[arg(long, value_name = "DIR")]
    pub(crate) config: Option<PathBuf>,

    /// How many things are done at the same time.
    #[arg(long, default_value_t = 10, allow_hyphen_values = true, value_name = "N")]
    pub(crate) parallelism: i64,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) lock: LockArgs,

    #[command(flatten)]
    pub(crate) paths: PathArgs,

    #[command(flatten)]
    pub(crate) backend: BackendArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let planning = planning(&args);
    let Some(stage) = Stage::open(context, "import", &planning)? else { return Ok(ExitCode::FAILURE) };
    let dir = args.config.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut session = session(context, dir, args.variables.clone());
    let address = match address(&args.address, &mut session).and_then(|address| {
        declared(&address, &mut session)?;
        Ok(address)
    }) {
        Ok(address) => address,
        Err(problems) => {
            stage.diagnostics(&problems, session.sources())?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let Some((mut operation, mut diagnostics)) = stage.operation(context, &mut session, &planning, Kind::Import)?
    else {
        return Ok(ExitCode::FAILURE);
    };
    let watching = stage.planning();
    diagnostics.extend(operation.import(&session, &address, &args.id, &watching.watch));
    stage.watched(watching);
    let failed = diagnostics.has_errors();
    if !failed {
        stage.say(&success(*stage.ui()), "Import successful!")?;
    }
    stage.diagnostics(&diagnostics, session.sources())?;
    let closed = stage.close(operation, session.sources())?;
    Ok(if failed || !closed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The same flags, as those who plan know them.
fn planning(args: &Args) -> PlanningArgs {
    PlanningArgs {
        operation: OperationArgs {
            destroy: false,
            refresh_only: false,
            refresh: false,
            replace: Vec::new(),
            replacing: ReplaceArgs::default(),
            target: Vec::new(),
            target_file: Vec::new(),
            exclude: Vec::new(),
            exclude_file: Vec::new(),
            parallelism: args.parallelism,
        },
        variables: args.variables.clone(),
        lock: args.lock.clone(),
        paths: args.paths.clone(),
        json: args.json.clone(),
        input: args.input.clone(),
        sensitive: SensitiveArgs { show_sensitive: false },
        view: args.view.clone(),
    }
}

/// Reads the address.
fn address(text: &str, session: &mut Session) -> Result<AbsInstance, Diagnostics> {
    let address: AbsInstance = text.parse().map_err(|problem: AddressError| {
        let file = session.add_source("<import-address>", text);
        Diagnostic::error(problem.summary, problem.detail.clone()).at(Span::new(
            file,
            problem.offset.min(text.len()),
            text.len(),
        ))
    })?;
    let what = match address.instance.resource.mode {
        ResourceMode::Managed => return Ok(address),
        ResourceMode::Data => "a data resource",
        ResourceMode::Ephemeral => "an ephemeral resource",
    };
    let detail = format!("A managed resource address is required. Importing into {what} is not allowed.");
    Err(Diagnostic::error("Invalid target resource address", detail).into())
}

/// The resource must be in the configuration, so that the next plan does not destroy what a typo has imported.
fn declared(address: &AbsInstance, session: &mut Session) -> Result<(), Diagnostics> {
    let start = session.start();
    if session.is_empty() || !start.working_dir.join(&start.root_dir).is_dir() {
        let dir = start.root_dir.display();
        let detail = format!(
            "The directory {dir} does not contain any configuration files (.tf or .tf.json). To specify a different configuration \
             directory, use the -config=\"...\" command line option."
        );
        return Err(Diagnostic::error("No groma configuration files", detail).into());
    }
    let loaded = session.load();
    let (Some(tree), false) = (loaded.tree, loaded.diagnostics.has_errors()) else {
        return Err(loaded.diagnostics);
    };
    let path = address.module.module();
    let mut node = &tree.root;
    for name in path.names() {
        node = node.children.get(name).ok_or_else(|| {
            let detail = format!(
                "{} is not defined in the configuration. Please add configuration for this module before importing into it.",
                address.module
            );
            Diagnostic::error("Import to non-existent module", detail)
        })?;
    }
    let resource = &address.instance.resource;
    if node.module.resources.contains_key(resource) {
        return Ok(());
    }
    let module = if path.is_root() { "the root module".to_owned() } else { address.module.to_string() };
    let detail = format!(
        "Before importing this resource, please create its configuration in {module}. For example:\n\nresource {:?} {:?} {{\n  # \
         (resource arguments)\n}}",
        resource.ty.as_str(),
        resource.name.as_str()
    );
    let summary = format!("resource address {:?} does not exist in the configuration.", address.to_string());
    Err(Diagnostic::error(summary, detail).into())
}

fn success(ui: Ui) -> String {
    let headline = ui.good("Import successful!");
    format!(
        "\n{headline}\n\nThe resources that were imported are shown above. These resources are now in\nyour groma state and will \
         henceforth be managed by groma.\n\n"
    )
}
