//! How results are shown: flags for people and for machines. How each of them is obeyed is where the results are written.

use std::path::PathBuf;

/// How results are shown.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ViewArgs {
    /// Show no colours.
    #[arg(long)]
    pub(crate) no_color: bool,

    /// Show warnings that come without errors by their summaries only.
    #[arg(long)]
    pub(crate) compact_warnings: bool,

    /// Whether warnings that say the same are shown once, with their number.
    #[arg(long, value_name = "BOOL", default_value = "true", default_missing_value = "true", num_args = 0..=1,
          require_equals = true, action = clap::ArgAction::Set, value_parser = super::go_bool)]
    pub(crate) consolidate_warnings: bool,

    /// Show errors that say the same once, with their number.
    #[arg(long)]
    pub(crate) consolidate_errors: bool,

    /// Show no progress.
    #[arg(long)]
    pub(crate) concise: bool,

    /// Which warnings about deprecated variables and outputs of modules are shown: module:all, module:local (of modules with
    /// a relative path) or module:none.
    #[arg(long, value_name = "module:WHICH", value_parser = deprecation, default_value = "module:all")]
    pub(crate) deprecation: Deprecation,
}

/// Which warnings about what is deprecated in modules are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Deprecation {
    /// All of them.
    #[default]
    All,
    /// Those about modules that are named by a relative path.
    Local,
    /// None.
    None,
}

/// Words that are not known show everything, as in OpenTofu.
fn deprecation(text: &str) -> Result<Deprecation, String> {
    match text.strip_prefix("module:") {
        Some("local") => Ok(Deprecation::Local),
        Some("none") => Ok(Deprecation::None),
        Some(_) => Ok(Deprecation::All),
        None => Err("use module:all, module:local or module:none".to_owned()),
    }
}

/// Lines for machines.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct JsonArgs {
    /// Say everything as JSON, one object per line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the same lines to a file, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) json_into: Option<PathBuf>,
}

/// Whether questions may be asked.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct InputArgs {
    /// Whether values that are missing are asked for.
    #[arg(long, value_name = "BOOL", default_value = "true", default_missing_value = "true", num_args = 0..=1,
          require_equals = true, action = clap::ArgAction::Set, value_parser = super::go_bool)]
    pub(crate) input: bool,
}

/// Whether secrets are shown.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SensitiveArgs {
    /// Show the values of what is sensitive.
    #[arg(long)]
    pub(crate) show_sensitive: bool,
}
