//! `groma graph`: what depends on what.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::operate::PathOverrides;
use groma_run::session::{Loaded, Session};
use groma_run::state::State;
use groma_run::state_access::StateAccess;
use groma_run::view::graph::{DotOptions, GraphView};

use super::Context;
use super::shared::{VariableArgs, ViewArgs, provider_access, session};
use crate::failure::Failure;
use crate::ui::Ui;

/// Show what depends on what, as a graph.
///
/// Draws what a plan would walk, what a saved plan does (-plan), or what a destroy takes down (-type=plan-destroy). DOT is for
/// Graphviz; Mermaid and SVG need no other program, and leave out what only orders others.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to draw.
    #[arg(long = "type", value_name = "plan|plan-refresh-only|plan-destroy|apply")]
    pub(crate) kind: Option<String>,

    /// Draw what this saved plan does.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,

    /// Colour what goes round in circles.
    #[arg(long)]
    pub(crate) draw_cycles: bool,

    /// Does nothing any more.
    #[arg(long, hide = true, allow_hyphen_values = true, value_name = "N")]
    pub(crate) module_depth: Option<i64>,

    /// Show everything.
    #[arg(long)]
    pub(crate) verbose: bool,

    /// How to draw: dot, mermaid or svg.
    #[arg(long, default_value = "dot", value_name = "FORMAT")]
    pub(crate) format: String,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// The configuration.
    Configuration,
    /// What a destroy takes down.
    Destruction,
    /// What a plan does.
    Plan,
}

/// How it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Dot,
    Mermaid,
    Svg,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, args.view.no_color);
    let mut session = session(context, PathBuf::from("."), args.variables.clone());
    match draw(context, &args, &mut session) {
        // As OpenTofu, a line more than the graph has.
        Ok((text, Format::Dot)) => ui.line(&text).map(|()| ExitCode::SUCCESS),
        Ok((text, _)) => ui.out(&text).map(|()| ExitCode::SUCCESS),
        Err(problems) => {
            ui.diagnostics(&problems, session.sources());
            Ok(ExitCode::FAILURE)
        }
    }
}

fn draw(context: &Context, args: &Args, session: &mut Session) -> Result<(String, Format), Diagnostics> {
    let format = format(&args.format)?;
    let graph = match (subject(args)?, &args.plan) {
        (Subject::Plan, Some(path)) => of_plan(context, session, path)?,
        (subject, _) => of_configuration(session, subject)?,
    };
    if !args.draw_cycles {
        refuse_circles(&graph)?;
    }
    let text = match format {
        Format::Dot => graph.to_dot(DotOptions { verbose: args.verbose, draw_cycles: args.draw_cycles }),
        Format::Mermaid => graph.to_mermaid(),
        Format::Svg => graph.to_svg(),
    };
    Ok((text, format))
}

fn subject(args: &Args) -> Result<Subject, Diagnostic> {
    match args.kind.as_deref() {
        // As in OpenTofu, an empty word is none.
        None | Some("") if args.plan.is_some() => Ok(Subject::Plan),
        None | Some("" | "plan" | "plan-refresh-only") => Ok(Subject::Configuration),
        Some("plan-destroy") => Ok(Subject::Destruction),
        Some("apply") => Ok(Subject::Plan),
        Some(old @ ("eval" | "validate")) => {
            let detail = format!(
                "The graph type {old:?} is no longer available. Use -type=plan instead to get a similar result."
            );
            Err(Diagnostic::error("Graph type no longer available", detail))
        }
        Some(_) => {
            let detail = "The -type=... argument must be either \"plan\", \"plan-refresh-only\", \"plan-destroy\", or \
                          \"apply\".";
            Err(Diagnostic::error("Unsupported graph type", detail))
        }
    }
}

fn format(name: &str) -> Result<Format, Diagnostic> {
    match name {
        "dot" => Ok(Format::Dot),
        "mermaid" => Ok(Format::Mermaid),
        "svg" => Ok(Format::Svg),
        _ => {
            let detail =
                format!("The -format=... argument must be either \"dot\", \"mermaid\" or \"svg\", not {name:?}.");
            Err(Diagnostic::error("Unsupported graph format", detail))
        }
    }
}

fn of_configuration(session: &mut Session, subject: Subject) -> Result<GraphView, Diagnostics> {
    let Loaded { tree, diagnostics, .. } = session.load();
    let (Some(tree), false) = (tree, diagnostics.has_errors()) else { return Err(diagnostics) };
    if subject != Subject::Destruction {
        // Without a plan an apply walks the same.
        return Ok(GraphView::of_configuration(&tree));
    }
    let state = StateAccess::open(session, &PathOverrides::default())?.read()?;
    let nothing = State::default();
    Ok(GraphView::of_destruction(&tree, state.as_deref().unwrap_or(&nothing)))
}

fn of_plan(context: &Context, session: &mut Session, path: &Path) -> Result<GraphView, Diagnostics> {
    let saved = session.open_plan(&context.working_dir.join(path))?;
    let (access, mut diagnostics) = provider_access(context);
    let (looked, found) = session.look_into(&saved, access);
    diagnostics.extend(found);
    let Some(looked) = looked else { return Err(diagnostics) };
    let graph = GraphView::of_plan(&looked.tree, &looked.plan);
    looked.close();
    Ok(graph)
}

/// What goes round in circles cannot be planned. It is drawn only if that is asked for.
fn refuse_circles(graph: &GraphView) -> Result<(), Diagnostics> {
    let problem = |group: Vec<&str>| {
        Diagnostic::error(format!("Cycle: {}", group.join(", ")), "")
            .hint("Use -draw-cycles to draw the graph nevertheless, with the cycle in red.")
    };
    let problems: Diagnostics = graph.cycles().into_iter().map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
