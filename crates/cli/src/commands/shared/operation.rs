//! What is planned: the mode, and which resources.

use std::path::PathBuf;

/// How to plan.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct OperationArgs {
    /// Plan to destroy everything that this configuration manages.
    #[arg(long)]
    pub(crate) destroy: bool,

    /// Only check whether objects still are as the state says, and plan to update the state.
    #[arg(long)]
    pub(crate) refresh_only: bool,

    /// Whether objects are looked at before planning.
    #[arg(long, value_name = "BOOL", default_value = "true", default_missing_value = "true", num_args = 0..=1,
          require_equals = true, action = clap::ArgAction::Set, value_parser = super::go_bool)]
    pub(crate) refresh: bool,

    /// Replace this resource instance, even if nothing else asks for it. Can be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<String>,

    /// Plan only this module, resource or resource instance and what it depends on. Can be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<String>,

    /// Like -target, with one address per line of a file.
    #[arg(long, value_name = "FILE")]
    pub(crate) target_file: Vec<PathBuf>,

    /// Leave out this module, resource or resource instance and what depends on it. Can be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) exclude: Vec<String>,

    /// Like -exclude, with one address per line of a file.
    #[arg(long, value_name = "FILE")]
    pub(crate) exclude_file: Vec<PathBuf>,

    /// How many things are done at the same time.
    #[arg(long, value_name = "N", default_value_t = 10, allow_hyphen_values = true)]
    pub(crate) parallelism: i64,
}
