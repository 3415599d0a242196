//! `groma rules list`: which rules hold here.

use std::path::PathBuf;
use std::process::ExitCode;

use groma_model::span::SourceMap;
use groma_run::engine::replacement::{ModeSource, ReplaceOptions};
use groma_run::rules::{Behavior, Mode, Origin, ReplaceRule, ReplaceRules};
use serde_json::{Value, json};

use super::documented;
use crate::commands::Context;
use crate::commands::shared::{ReplaceArgs, VariableArgs, ViewArgs, session};
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
    let options = problems.take(ReplaceArgs::default().options(&session.start().environment)).unwrap_or_default();
    ui.diagnostics(&problems, session.sources());
    if problems.has_errors() {
        return Ok(ExitCode::FAILURE);
    }
    let wanted = |rule: &ReplaceRule| args.ty.as_ref().is_none_or(|ty| rule.resource.matches(ty));
    let heeding = Heeding::new(&options, &rules.replace);
    let rules: Vec<&ReplaceRule> =
        documented(&rules.replace).into_iter().map(|found| found.rule).filter(|rule| wanted(rule)).collect();
    if args.json {
        let rules: Vec<Value> = rules.iter().map(|rule| entry(rule, &heeding, session.sources())).collect();
        let (mode, source) = (heeding.mode.name(), heeding.source.name());
        ui.line(&format!("{:#}", json!({ "mode": mode, "mode_source": source, "rules": rules })))?;
    } else {
        ui.out(&table(&rules, &heeding, session.sources()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What becomes of rules here, without flags.
struct Heeding<'s> {
    mode: Mode,
    source: ModeSource,
    rules: &'s ReplaceRules,
}

impl<'s> Heeding<'s> {
    fn new(options: &ReplaceOptions, rules: &'s ReplaceRules) -> Self {
        match (options.mode_source, rules.settings.mode) {
            (ModeSource::Default, Some(mode)) => Self { mode, source: ModeSource::Settings, rules },
            (source, _) => Self { mode: options.mode, source, rules },
        }
    }

    fn status(&self, rule: &ReplaceRule) -> &'static str {
        if self.rules.settings.disable_rules.iter().any(|glob| glob.matches(&rule.id)) {
            return "disabled";
        }
        match (self.mode, rule.behavior) {
            (Mode::Off, _) => "off",
            (Mode::Auto, Behavior::Auto) => "obeyed",
            (Mode::Auto | Mode::Warn, _) => "told",
        }
    }
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

fn entry(rule: &ReplaceRule, heeding: &Heeding<'_>, sources: &SourceMap) -> Value {
    json!({
        "id": rule.id.as_str(),
        "origin": origin(rule),
        "module": rule.module.to_string(),
        "resource": rule.resource.as_str(),
        "fields": fields(rule),
        "order": rule.order.name(),
        "behavior": behavior(rule),
        "status": heeding.status(rule),
        "place": place(rule, sources),
    })
}

/// In columns as wide as they must be, and below them how rules are heeded.
fn table(rules: &[&ReplaceRule], heeding: &Heeding<'_>, sources: &SourceMap) -> String {
    let mut rows = vec![["RULE", "RESOURCE", "ORDER", "BEHAVIOR", "STATUS", "FROM"].map(str::to_owned)];
    for rule in rules {
        let from = place(rule, sources).unwrap_or_else(|| origin(rule).to_owned());
        let [id, resource] = [rule.id.as_str(), rule.resource.as_str()].map(str::to_owned);
        let [order, behavior, status] = [rule.order.name(), behavior(rule), heeding.status(rule)].map(str::to_owned);
        rows.push([id, resource, order, behavior, status, from]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let line = |row: &[String; 6]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}  {}\n", cells.join("  "), row[5])
    };
    let lines: String = rows.iter().map(line).collect();
    let by_whom = match heeding.source {
        ModeSource::Default => "nobody says anything else",
        ModeSource::Settings => "replace_settings says so",
        ModeSource::Environment | ModeSource::CommandLine => "the environment says so",
    };
    format!("{lines}\nThe mode is {}: {by_whom}.\n", heeding.mode.name())
}
