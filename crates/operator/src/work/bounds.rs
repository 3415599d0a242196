//! What a run may use of the machine that it is on, and what those are told who wanted more.

use std::path::Path;

use groma_run::confines::{Confines, Ledger};
use groma_run::session::{Bounds, OthersAccount};

use super::Work;

/// How to get out of the operator's process.
const POD: &str =
    "set spec.executor to job, for a pod of its own, or start the operator with -allow-programs-in-process";
/// Who has which file in directories that namespaces share, in the directory of all runs.
const LEDGER: &str = ".owners";

/// What a run may do.
pub(super) fn bounds(work: &Work<'_>, directory: &Path) -> Bounds {
    let premises = &work.workshop.premises;
    let account = premises.shared.then(|| OthersAccount {
        namespace: work.namespace.to_owned(),
        advice:
            "Give it credentials of its own, or set spec.executor to job, for the account of a pod in its namespace."
                .to_owned(),
    });
    Bounds {
        no_programs: no_programs(work),
        no_plugins: (premises.shared && !premises.programs).then(|| format!("To use it, {POD}.")),
        files: Some(confines(work, directory)),
        own_environment: true,
        account,
        our_backend: work.bundle.backend.at_home,
        networks: premises.networks.clone(),
    }
}

/// Why no programs are started, if that is so.
fn no_programs(work: &Work<'_>) -> Option<String> {
    let premises = &work.workshop.premises;
    let is_inside = premises.shared && !premises.programs;
    match (work.bundle.allow_exec, is_inside) {
        (true, false) => None,
        (false, false) => Some("Set spec.allowExec to allow it.".to_owned()),
        (false, true) => Some(format!("Set spec.allowExec to allow it; and {POD}.")),
        (true, true) => Some(format!("spec.allowExec is not enough inside of the operator: {POD}.")),
    }
}

fn confines(work: &Work<'_>, directory: &Path) -> Confines {
    let workshop = work.workshop;
    let files = &workshop.premises.files;
    let own = [directory.to_owned()];
    if !workshop.premises.shared {
        let advice = "Name the directory in the variable GROMA_FILES of the container in spec.podTemplate to allow it.";
        return Confines::new(&own, advice).sharing(files, None, &[]);
    }
    let named: Vec<String> = files.iter().map(|directory| directory.display().to_string()).collect();
    let advice = format!(
        "Files can be put beside it with spec.inputs.files; providers may have files in the directories that the operator was \
         started with as -files ({}), and see there what Stacks of their namespace have written. With spec.executor set to job \
         a run has a pod of its own.",
        if named.is_empty() { "none".to_owned() } else { named.join(", ") }
    );
    let ledger = Ledger { directory: workshop.scratch.join(LEDGER), owner: work.namespace.to_owned() };
    Confines::new(&own, advice).sharing(files, Some(ledger), &[workshop.scratch.clone(), workshop.cache.clone()])
}
