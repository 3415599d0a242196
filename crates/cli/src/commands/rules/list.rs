//! `groma rules list`: which rules hold here.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::span::SourceMap;
use groma_run::rules::{Behavior, Origin, ReplaceRule};
use serde_json::{Value, json};

use super::documented;
use crate::commands::Context;
use crate::commands::shared::{VariableArgs, ViewArgs, session};
use crate::failure::Failure;
use crate::ui::Ui;

/// List the rules about the order of replacements.
///
/// Those of the configuration come first, then those of the catalogue that comes with groma.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only those about this resource type.
    #[arg(long = "type", value_name = "TYPE")]
    ty: Option<String>,

    /// Answer as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    variables: VariableArgs,

    #[command(flatten)]
    view: ViewArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, args.view.no_color);
    let mut session = session(context, PathBuf::from("."), args.variables);
    let loaded = session.load();
    let (mut problems, rules) = (loaded.diagnostics, loaded.rules);
    problems.extend(loaded.about_rules);
    ui.diagnostics(&problems, session.sources());
    if problems.has_errors() {
        return Ok(ExitCode::FAILURE);
    }
    let wanted = |rule: &ReplaceRule| args.ty.as_ref().is_none_or(|ty| rule.resource.matches(ty));
    let rules: Vec<&ReplaceRule> =
        documented(&rules.replace).into_iter().map(|found| found.rule).filter(|rule| wanted(rule)).collect();
    if args.json {
        let rules: Vec<Value> = rules.iter().map(|rule| entry(rule, session.sources())).collect();
        ui.line(&format!("{:#}", json!({ "rules": rules })))?;
    } else {
        ui.out(&table(&rules, session.sources()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn origin(rule: &ReplaceRule) -> &'static str {
    match rule.origin {
        Origin::Root => "root",
        Origin::Module => "module",
        Origin::Catalogue => "catalogue",
    }
}

fn behavior(rule: &ReplaceRule) -> &'static str {
    match rule.behavior {
        Behavior::Warn => "warn",
        Behavior::Auto => "auto",
    }
}

fn place(rule: &ReplaceRule, sources: &SourceMap) -> Option<String> {
    rule.place.map(|place| format!("{}:{}", sources.file(place.file).name(), sources.start(place).line))
}

fn fields(rule: &ReplaceRule) -> Vec<String> {
    rule.fields.iter().map(ToString::to_string).collect()
}

fn entry(rule: &ReplaceRule, sources: &SourceMap) -> Value {
    json!({
        "id": rule.id.as_str(),
        "origin": origin(rule),
        "module": rule.module.to_string(),
        "resource": rule.resource.as_str(),
        "fields": fields(rule),
        "order": rule.order.name(),
        "behavior": behavior(rule),
        "place": place(rule, sources),
    })
}

/// In columns as wide as they must be.
fn table(rules: &[&ReplaceRule], sources: &SourceMap) -> String {
    let mut rows = vec![["RULE", "RESOURCE", "ORDER", "BEHAVIOR", "FROM"].map(str::to_owned)];
    for rule in rules {
        let from = place(rule, sources).unwrap_or_else(|| origin(rule).to_owned());
        let [id, resource] = [rule.id.as_str(), rule.resource.as_str()].map(str::to_owned);
        rows.push([id, resource, rule.order.name().to_owned(), behavior(rule).to_owned(), from]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let line = |row: &[String; 5]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}  {}\n", cells.join("  "), row[4])
    };
    rows.iter().map(line).collect()
}
