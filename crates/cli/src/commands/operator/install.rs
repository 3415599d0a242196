//! `groma operator install`: everything that a cluster needs to have an operator, as one file.

use std::process::ExitCode;

use groma_operator::install::{IMAGE, Install, NAMESPACE, yaml};

use crate::commands::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// Print everything that a cluster needs to have an operator: groma operator install | kubectl apply -f -
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The namespace of the operator, which is made, too.
    #[arg(long, value_name = "NAMESPACE", default_value = NAMESPACE)]
    namespace: String,

    /// The image of the operator.
    #[arg(long, value_name = "IMAGE", default_value = IMAGE)]
    image: String,
}

pub(super) fn run(context: &Context, args: Args) -> Result<ExitCode, Failure> {
    let install = Install { namespace: args.namespace, image: args.image };
    let text = yaml(&install.objects()).map_err(|problem| Failure::Usage(problem.to_string()))?;
    Ui::new(&context.environment, true).out(&text)?;
    Ok(ExitCode::SUCCESS)
}
