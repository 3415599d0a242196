//! `groma operator crds`: the kinds, for a cluster that does not know them yet.

use std::process::ExitCode;

use groma_operator::install;

use crate::commands::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// Print the definitions of Stacks, Runs and Blueprints: groma operator crds | kubectl apply -f -
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print them as one list, for machines.
    #[arg(long)]
    json: bool,

    /// Print that of Terraform as well, the kind of tofu-controller, for a cluster without tofu-controller.
    #[arg(long)]
    with_terraform: bool,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let mut definitions = install::definitions();
    definitions.extend(args.with_terraform.then(install::terraform_definition));
    let text = if args.json {
        format!("{}\n", serde_json::Value::from(definitions))
    } else {
        install::yaml(&definitions).map_err(|problem| Failure::Usage(problem.to_string()))?
    };
    Ui::new(&context.environment, true).out(&text)?;
    Ok(ExitCode::SUCCESS)
}
