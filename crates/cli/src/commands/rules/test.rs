//! `groma rules test`: whether rules say what they are expected to say.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use groma_run::rules::{Trial, Tried};
use groma_run::session::{Loaded, Session};
use groma_run::view::diagnostic::diagnostic;
use serde_json::{Value, json};

use crate::commands::Context;
use crate::commands::shared::{VariableArgs, ViewArgs, provider_access, session};
use crate::failure::Failure;
use crate::render;
use crate::ui::Ui;

/// Try the rules about the order of replacements on objects that are written down.
///
/// Files have "case" blocks: an object as it is and as it will be, and what the rules of this directory and of the catalogue are expected to
/// say about it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files of cases.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Answer as JSON.
    #[arg(long)]
    json: bool,

    /// Let objects be what the providers of this configuration say, with everything sensitive that they call sensitive.
    #[arg(long)]
    with_schema: bool,

    #[command(flatten)]
    variables: VariableArgs,

    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, args.view.no_color);
    let mut session = session(context, PathBuf::from("."), args.variables.clone());
    let loaded = session.load();
    let mut problems = loaded.diagnostics.clone();
    problems.extend(loaded.about_rules.clone());
    let mut tried = Vec::new();
    if !problems.has_errors() {
        let (trials, found) = session.read_trials(&args.files);
        problems.extend(found);
        let (found_tried, found) = try_all(context, &mut session, &loaded, &trials, args.with_schema);
        tried = found_tried;
        problems.extend(found);
    }
    let failed = tried.iter().filter(|tried| !tried.passed()).count();
    if args.json {
        ui.line(&format!("{:#}", document(&tried, failed, &problems, session.sources())))?;
    } else {
        show(ui, &tried, failed, &problems, session.sources())?;
    }
    Ok(if failed > 0 || problems.has_errors() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn try_all(
    context: &Context,
    session: &mut Session,
    loaded: &Loaded,
    trials: &[Trial],
    with_schema: bool,
) -> (Vec<Tried>, Diagnostics) {
    let (schemas, mut problems) =
        if with_schema { session.resource_schemas(loaded, || provider_access(context)) } else { Default::default() };
    let mut tried = Vec::new();
    for trial in trials {
        let schema = schemas.get(trial.address.instance.resource.ty.as_str());
        tried.extend(problems.take(trial.run(&loaded.rules.replace, schema.map(AsRef::as_ref))));
    }
    (tried, problems)
}

fn place(tried: &Tried, sources: &SourceMap) -> String {
    format!("{}:{}", sources.file(tried.place.file).name(), sources.start(tried.place).line)
}

fn show(ui: Ui, tried: &[Tried], failed: usize, problems: &Diagnostics, sources: &SourceMap) -> Result<(), Failure> {
    ui.diagnostics(problems, sources);
    for one in tried {
        ui.out(&render::rules_test::case(one, &place(one, sources), sources, ui.style()))?;
    }
    if !tried.is_empty() || !problems.has_errors() {
        ui.out(&render::rules_test::sum(tried.len() - failed, failed))?;
    }
    Ok(())
}

fn document(tried: &[Tried], failed: usize, problems: &Diagnostics, sources: &SourceMap) -> Value {
    let case = |tried: &Tried| {
        let start = sources.start(tried.place);
        let mut json = tried.to_json();
        json["file"] = sources.file(tried.place.file).name().into();
        json["line"] = start.line.into();
        json["column"] = start.column.into();
        json
    };
    json!({
        "format_version": "1.0",
        "passed": tried.len() - failed,
        "failed": failed,
        "cases": tried.iter().map(case).collect::<Vec<_>>(),
        "diagnostics": problems.iter().map(|problem| json!(diagnostic(problem, sources))).collect::<Vec<_>>(),
    })
}
