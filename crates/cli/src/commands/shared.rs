//! Arguments that several commands share.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ArgMatches;
use groma_model::diag::Diagnostics;
use groma_run::cli_config::{self, CliEnvironment};
use groma_run::inputs::GivenVariable;
use groma_run::online::Online;
use groma_run::providers::{ProviderAccess, ProviderChoice};
use groma_run::session::{Session, Start};

use super::Context;
use crate::announce::Announcer;
use crate::failure::Failure;
use crate::ui::Ui;

/// How results are shown.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ViewArgs {
    /// Show no colours.
    #[arg(long)]
    pub(crate) no_color: bool,

    #[command(flatten)]
    accepted: AcceptedViewArgs,
}

/// Flags that ask for fewer words. They are accepted, and everything is shown.
#[derive(Debug, Clone, clap::Args)]
struct AcceptedViewArgs {
    #[arg(long, hide = true)]
    compact_warnings: bool,

    #[arg(long, hide = true)]
    concise: bool,

    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    consolidate_warnings: Option<bool>,

    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    consolidate_errors: Option<bool>,

    #[arg(long, hide = true)]
    deprecation: Option<String>,
}

/// Lines for machines.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct JsonArgs {
    /// Say everything as JSON, one object per line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the same lines to a file, too.
    #[arg(long, value_name = "FILE")]
    pub(crate) json_into: Option<PathBuf>,
}

/// `-var` and `-var-file`, in the order in which they were given.
#[derive(Debug, Clone, Default)]
pub(crate) struct VariableArgs(pub(crate) Vec<GivenVariable>);

impl clap::FromArgMatches for VariableArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Self::default();
        given.update_from_arg_matches(matches)?;
        Ok(given)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let given = |name: &str| {
            let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
            matches.indices_of(name).into_iter().flatten().zip(values).collect::<Vec<_>>()
        };
        let values = given("var").into_iter().map(|(at, text)| (at, GivenVariable::Value(text)));
        let files = given("var_file").into_iter().map(|(at, path)| (at, GivenVariable::File(path)));
        let mut found: Vec<(usize, GivenVariable)> = values.chain(files).collect();
        found.sort_by_key(|(at, _)| *at);
        self.0 = found.into_iter().map(|(_, given)| given).collect();
        Ok(())
    }
}

impl clap::Args for VariableArgs {
    fn augment_args(command: clap::Command) -> clap::Command {
        let many = |name, long, value, help| {
            clap::Arg::new(name).long(long).value_name(value).action(clap::ArgAction::Append).help(help)
        };
        command.arg(many("var", "var", "NAME=VALUE", "Set a value for one of the root module's variables")).arg(many(
            "var_file",
            "var-file",
            "FILE",
            "Read values of variables from a file",
        ))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

/// Says things as the arguments ask for.
pub(crate) fn announcer(context: &Context, view: &ViewArgs, json: &JsonArgs) -> Result<Arc<Announcer>, Failure> {
    let ui = Ui::new(view.no_color || context.environment.no_color);
    let into = json.json_into.as_ref().map(|path| context.working_dir.join(path));
    Ok(Arc::new(Announcer::new(ui, json.json, into.as_deref())?))
}

/// Opens a session on the module in `dir`.
pub(crate) fn session(context: &Context, dir: PathBuf, variables: VariableArgs) -> Session {
    let environment = &context.environment;
    Session::new(Start {
        working_dir: context.working_dir.clone(),
        invocation_dir: context.invocation_dir.clone(),
        root_dir: dir,
        data_dir: environment.data_dir.clone().unwrap_or_else(|| ".terraform".into()),
        workspace: environment.workspace.clone(),
        home_dir: environment.home.clone(),
        template_recursion_limit: environment.template_recursion_limit,
        stack_bytes: Some(crate::STACK_BYTES),
        environment_variables: environment.variables.clone(),
        variables: variables.0,
    })
}

/// Reads the CLI configuration.
pub(crate) fn online_quietly(context: &Context) -> (Online, Diagnostics) {
    let environment = &context.environment;
    let (config, diagnostics) = cli_config::load(&CliEnvironment {
        working_dir: context.invocation_dir.clone(),
        home: environment.home.clone(),
        config_home: environment.config_home.clone(),
        data_home: environment.data_home.clone(),
        variables: environment.all.clone(),
    });
    (Online::new(config, environment.all.clone()), diagnostics)
}

/// Reads the CLI configuration and says what is wrong with it. None if that keeps us from going on.
pub(crate) fn online(context: &Context, announcer: &Announcer, session: &Session) -> Result<Option<Online>, Failure> {
    let (online, diagnostics) = online_quietly(context);
    announcer.diagnostics(&diagnostics, session.sources())?;
    Ok((!diagnostics.has_errors()).then_some(online))
}

/// What is needed to use providers, from the CLI configuration and the environment.
pub(crate) fn provider_access(context: &Context) -> (ProviderAccess, Diagnostics) {
    let environment = &context.environment;
    let (online, diagnostics) = online_quietly(context);
    let caches = environment.cache_home.clone().or_else(|| Some(environment.home.as_ref()?.join(".cache")));
    let access = ProviderAccess {
        online,
        choice: ProviderChoice { reattach: environment.reattach.clone(), built_in_use: environment.built_in_use },
        schema_cache: caches.map(|dir| dir.join("groma").join("schemas")),
    };
    (access, diagnostics)
}
