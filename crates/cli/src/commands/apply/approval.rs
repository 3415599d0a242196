//! Asking whether a plan is to be carried out. Only `yes` is a yes.

use groma_model::diag::Diagnostic;
use groma_model::span::SourceMap;
use groma_run::engine::plan::Mode;

use crate::commands::shared::Stage;
use crate::failure::Failure;
use crate::prompt::Question;

/// True if it may be done. Otherwise, why not was said.
pub(super) fn ask(stage: &Stage, mode: Mode, workspace: &str, sources: &SourceMap) -> Result<bool, Failure> {
    let (query, description) = question(mode, workspace);
    let question = Question { query: &format!("\n{query}"), description, secret: false };
    match stage.prompt().ask(&question) {
        Ok(answer) if answer == "yes" => Ok(true),
        Ok(_) => {
            let said = if mode == Mode::Destroy { "Destroy cancelled" } else { "Apply cancelled" };
            stage.say(&format!("{said}.\n"), said)?;
            Ok(false)
        }
        Err(problem) => {
            let problem = Diagnostic::error(format!("error asking for approval: {problem}"), "");
            stage.diagnostics(&problem.into(), sources)?;
            Ok(false)
        }
    }
}

/// What is asked, and what there is to know about it.
fn question(mode: Mode, workspace: &str) -> (String, &'static str) {
    let named = (workspace != "default").then_some(workspace);
    match mode {
        Mode::Normal => {
            let place = named.map(|name| format!(" in workspace {name:?}")).unwrap_or_default();
            let description =
                "groma will perform the actions described above.\nOnly 'yes' will be accepted to approve.";
            (format!("Do you want to perform these actions{place}?"), description)
        }
        Mode::Destroy => {
            let place = named.map(|name| format!(" in workspace {name:?}")).unwrap_or_default();
            let description = "groma will destroy all your managed infrastructure, as shown above.\nThere is no undo. Only 'yes' \
                               will be accepted to confirm.";
            (format!("Do you really want to destroy all resources{place}?"), description)
        }
        Mode::RefreshOnly => {
            let place = named.map(|name| format!(" for {name:?}")).unwrap_or_default();
            let description = "groma will write these changes to the state without modifying any real infrastructure.\nThere is \
                               no undo. Only 'yes' will be accepted to confirm.";
            (format!("Would you like to update the groma state{place} to reflect these detected changes?"), description)
        }
    }
}
