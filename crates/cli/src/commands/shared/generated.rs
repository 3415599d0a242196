//! Configuration that was written for objects that are imported, into a file of its own.

use std::fmt::Write as _;
use std::path::Path;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_run::engine::ImportTarget;
use groma_run::engine::plan::Plan;

/// Only new files are written. None if the file may be written.
pub(crate) fn refuse(path: &Path) -> Option<Diagnostic> {
    if !path.exists() {
        return None;
    }
    let detail = "groma can only write generated config into a new file. Either choose a different target location or move all \
                  existing configuration out of the target file, delete it and try again.";
    Some(Diagnostic::error("Target generated file already exists", detail))
}

/// Writes what there is. Whether there was anything.
pub(crate) fn write(plan: &Plan, path: &Path) -> Result<(bool, Diagnostics), Diagnostics> {
    let Some(text) = text(plan) else { return Ok((false, Diagnostics::new())) };
    if let Some(problem) = refuse(path) {
        return Err(problem.into());
    }
    if let Err(problem) = std::fs::write(path, text) {
        let detail = format!("groma could not create the generated file ({}): {problem}.", path.display());
        return Err(Diagnostic::error("Failed to create target generated file", detail).into());
    }
    let detail = "Generating configuration during import is currently experimental, and the generated configuration format may \
                  change in future versions.";
    Ok((true, Diagnostic::warning("Config generation is experimental", detail).into()))
}

fn text(plan: &Plan) -> Option<String> {
    let mut text = String::new();
    for change in &plan.changes {
        let Some(config) = &change.generated_config else { continue };
        if text.is_empty() {
            text.push_str(
                "# __generated__ by groma\n# Please review these resources and move them into your main configuration files.\n",
            );
        }
        let from = match &change.importing {
            Some(ImportTarget::Id(id)) if !id.is_empty() => format!(" from {id:?}"),
            _ => String::new(),
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "\n# __generated__ by groma{from}\n{}", config.trim_end());
    }
    (!text.is_empty()).then_some(text)
}
