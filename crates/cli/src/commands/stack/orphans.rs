//! `groma stack orphans`: objects that are there, and that the state of a Stack does not know.

use std::process::ExitCode;

use groma_model::diag::Diagnostic;
use groma_model::span::SourceMap;
use groma_operator::api::stack::Stack;
use groma_operator::api::upkeep::{OrphanPolicy, OrphanReport};
use groma_operator::work::around;

use super::preview;
use super::reach::{ReachArgs, StackName};
use super::table::table;
use super::trouble::Trouble;
use crate::commands::Context;

/// List objects that are there, of the kinds that a Stack manages, and that its state does not know.
///
/// A plan is made here and now, against the state as it is; providers list what there is. Nothing is locked, and nothing is written. Types that
/// cannot be listed are left out.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which Stack: NAME or NAMESPACE/NAME.
    name: StackName,

    /// Say it as JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reach: ReachArgs,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Trouble> {
    let desk = args.reach.open(context)?;
    let stack = desk.stack(&args.name)?;
    let Some(ended) = preview::look_around(context, &desk, &stack)? else { return Ok(ExitCode::FAILURE) };
    if let Some(problem) = ended.problem {
        let told = Diagnostic::error("The plan could not be made", problem.message);
        desk.ui.diagnostics(&told.into(), &SourceMap::new());
        return Ok(ExitCode::FAILURE);
    }
    let orphans = ended.orphans.unwrap_or_default();
    let report = around::report(&orphans);
    if args.json {
        desk.ui.line(&serde_json::json!({ "id": report.id, "count": report.count, "objects": orphans }).to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    desk.show(&shown(&stack, &report))?;
    Ok(ExitCode::SUCCESS)
}

fn shown(stack: &Stack, report: &OrphanReport) -> String {
    if report.objects.is_empty() {
        return "There is nothing that the state does not know.\n".to_owned();
    }
    let rows: Vec<Vec<String>> =
        report.objects.iter().map(|orphan| vec![orphan.kind.clone(), orphan.id.clone(), orphan.name.clone()]).collect();
    let more = usize::try_from(report.count).unwrap_or_default().saturating_sub(report.objects.len());
    let more = if more == 0 { String::new() } else { format!("and {more} more\n") };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let name = format!("{}/{}", text(&stack.metadata.namespace), text(&stack.metadata.name));
    let known = stack.status.as_ref().and_then(|status| status.orphans.as_ref());
    let advice = match stack.spec.orphan_policy {
        OrphanPolicy::Delete if known.is_some_and(|known| known.id == report.id) => {
            format!("Delete exactly these with: groma stack approve {name} {}\n", report.id)
        }
        OrphanPolicy::Delete => {
            "The operator has not seen exactly these yet; they can be agreed to when it has.\n".to_owned()
        }
        _ => "To have them deleted, set spec.orphanPolicy to delete, and agree to the report.\n".to_owned(),
    };
    format!("{}{more}\n{advice}", table(&["TYPE", "ID", "NAME"], &rows))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_the_operator_has_seen_can_be_agreed_to() {
        let orphan = serde_json::from_value(json!({"type": "rest_object", "id": "7", "name": "old"})).unwrap();
        let report = around::report(&[orphan]);
        let mut stack: Stack = serde_json::from_value(json!({
            "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": "app", "namespace": "team"},
            "spec": {"source": {"inline": {}}, "orphanPolicy": "delete"}, "status": {},
        }))
        .unwrap();
        assert!(shown(&stack, &report).contains("has not seen"), "{}", shown(&stack, &report));
        stack.status.get_or_insert_default().orphans = Some(report.clone());
        let told = shown(&stack, &report);
        assert!(told.contains(&format!("groma stack approve team/app {}", report.id)), "{told}");
        assert!(told.contains("rest_object") && told.contains("old"), "{told}");
        assert!(shown(&stack, &around::report(&[])).contains("nothing that the state does not know"));
    }
}
