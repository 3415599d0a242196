//! `groma explain rule`: what a rule is about.

use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_model::text::suggestion;
use groma_run::rules::{DocsOptions, Documented, ReplaceRule, docs_json, docs_plain};
use groma_run::session::Session;

use crate::commands::rules::documented;
use crate::commands::shared::Stage;
use crate::failure::Failure;

pub(super) fn run(stage: &Stage, session: &mut Session, id: &str, as_json: bool) -> Result<ExitCode, Failure> {
    let loaded = session.load();
    let all = documented(&loaded.rules.replace);
    let found: Vec<Documented<'_>> = all.iter().copied().filter(|known| known.rule.id.as_str() == id).collect();
    if found.is_empty() {
        let known: Vec<&ReplaceRule> = all.iter().map(|known| known.rule).collect();
        stage.ui().diagnostics(&unknown(id, &known).into(), session.sources());
        return Ok(ExitCode::FAILURE);
    }
    if as_json {
        stage.ui().line(&format!("{:#}", docs_json(&found, &DocsOptions::default())))?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = |known: &Documented<'_>| {
        let place = known.rule.place?;
        let (file, start) = (session.sources().file(place.file).name(), session.sources().start(place));
        Some(format!("{file}:{}", start.line))
    };
    let told: Vec<String> = found.iter().map(|known| docs_plain(known, place(known).as_deref())).collect();
    stage.ui().out(&told.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn unknown(id: &str, known: &[&ReplaceRule]) -> Diagnostic {
    let meant = suggestion(id, known.iter().map(|rule| rule.id.as_str()));
    let meant = meant.map_or(String::new(), |meant| format!(" Did you mean {meant:?}?"));
    let detail = format!("Neither the configuration nor the catalogue has a rule named {id:?}.{meant}");
    Diagnostic::error("No such rule", detail).hint("\"groma rules list\" shows all of them.")
}
