//! The arguments of `groma init`.

use std::path::PathBuf;

use crate::commands::shared::{JsonArgs, VariableArgs, ViewArgs};

/// Prepare a directory: install modules and providers.
///
/// This is the first command to run for a new configuration, or after cloning one. It is always safe to run it again.
/// Providers that are part of groma need no installation; which are used is shown.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
pub(crate) struct Args {
    /// Whether the backend is set up; if not, what was set up before is used.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub(crate) backend: bool,

    /// The same as -backend.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set, hide = true)]
    pub(crate) cloud: bool,

    /// Settings of the backend: NAME=VALUE, or a file of them.
    #[arg(long, value_name = "SETTING")]
    pub(crate) backend_config: Vec<String>,

    /// Set the backend up anew, whatever was there before.
    #[arg(long, conflicts_with = "migrate_state")]
    pub(crate) reconfigure: bool,

    /// Take the state along to another backend.
    #[arg(long)]
    pub(crate) migrate_state: bool,

    /// Do not ask before copying a state.
    #[arg(long)]
    pub(crate) force_copy: bool,

    /// Copy a module into the empty directory first.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) from_module: Option<String>,

    /// Whether modules are installed.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub(crate) get: bool,

    /// Whether questions may be asked. None are, so far.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set, hide = true)]
    pub(crate) input: bool,

    /// Whether the state is locked meanwhile.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = clap::ArgAction::Set, hide = true)]
    pub(crate) lock: bool,

    /// How long to wait for the lock of the state.
    #[arg(long, value_name = "DURATION", default_value = "0s", hide = true)]
    pub(crate) lock_timeout: String,

    /// Do not mind the version of a remote backend.
    #[arg(long, hide = true)]
    pub(crate) ignore_remote_version: bool,

    /// Look for providers in this directory only. Can be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) plugin_dir: Vec<PathBuf>,

    /// Take the newest versions of modules and providers that the configuration admits.
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub(crate) upgrade: bool,

    /// "readonly": use the lock file, never change it.
    #[arg(long, value_name = "MODE", value_parser = ["readonly"])]
    pub(crate) lockfile: Option<String>,

    /// Use the providers inside groma even where the lock file names a published one; -builtin=false never uses them.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) builtin: Option<bool>,

    /// Where test files are.
    #[arg(long, value_name = "DIR", default_value = "tests", hide = true)]
    pub(crate) test_directory: PathBuf,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    #[command(flatten)]
    pub(crate) variables: VariableArgs,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

impl Args {
    /// Whether the lock file must stay as it is.
    pub(crate) fn is_readonly(&self) -> bool {
        self.lockfile.as_deref() == Some("readonly")
    }
}
