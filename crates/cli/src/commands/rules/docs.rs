//! `groma rules docs`: what the rules say, as documentation.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_run::rules::{DocsOptions, docs_json, docs_markdown};

use super::documented;
use crate::commands::Context;
use crate::commands::shared::{VariableArgs, ViewArgs, provider_access, session};
use crate::failure::Failure;
use crate::ui::Ui;

/// How documentation is written.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Markdown,
    Json,
}

/// Write documentation of the rules about the order of replacements.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How it is written.
    #[arg(long, value_name = "FORMAT", default_value = "markdown")]
    format: Format,

    /// Only those about this resource type.
    #[arg(long = "type", value_name = "TYPE")]
    ty: Option<String>,

    /// Describe fields as the providers of this configuration do.
    #[arg(long)]
    with_schema: bool,

    #[command(flatten)]
    variables: VariableArgs,

    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, args.view.no_color);
    let mut session = session(context, PathBuf::from("."), args.variables);
    let loaded = session.load();
    let mut problems = loaded.diagnostics.clone();
    problems.extend(loaded.about_rules.clone());
    let schemas = if args.with_schema && !problems.has_errors() {
        let (schemas, found) = session.resource_schemas(&loaded, || provider_access(context));
        problems.extend(found);
        schemas
    } else {
        std::collections::BTreeMap::new()
    };
    ui.diagnostics(&problems, session.sources());
    if problems.has_errors() {
        return Ok(ExitCode::FAILURE);
    }
    let of_type = |ty: &str| schemas.get(ty).map(AsRef::as_ref);
    let options = DocsOptions { ty: args.ty.as_deref(), schemas: args.with_schema.then_some(&of_type) };
    let rules = documented(&loaded.rules.replace);
    match args.format {
        Format::Markdown => ui.out(&docs_markdown(&rules, &options))?,
        Format::Json => ui.line(&format!("{:#}", docs_json(&rules, &options)))?,
    }
    Ok(ExitCode::SUCCESS)
}
