//! Arguments that several commands share, and what they all start with.

mod consolidate;
pub(super) mod generated;
mod look;
mod operation;
mod replacing;
mod stage;
mod state;
mod variables;
mod view;

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_model::diag::Diagnostics;
use groma_run::cli_config::{self, CliEnvironment};
use groma_run::online::Online;
use groma_run::providers::{ProviderAccess, ProviderChoice};
use groma_run::session::{Bounds, LockManners, Session, Start};

use super::Context;
use crate::announce::Announcer;
use crate::failure::Failure;
use crate::ui::Ui;

pub(crate) use look::LookArgs;
pub(crate) use operation::{OperationArgs, PlanningArgs, no_replacement};
pub(crate) use replacing::ReplaceArgs;
pub(crate) use stage::Stage;
pub(crate) use state::{BackendArgs, LockArgs, PathArgs};
pub(crate) use variables::VariableArgs;
pub(crate) use view::{InputArgs, JsonArgs, SensitiveArgs, ViewArgs};

/// Reads a truth value in all the ways that Go's flags know.
pub(crate) fn go_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err("use true or false".to_owned()),
    }
}

/// Says things as the arguments ask for.
pub(crate) fn announcer(context: &Context, view: &ViewArgs, json: &JsonArgs) -> Result<Arc<Announcer>, Failure> {
    let ui = Ui::new(&context.environment, view.no_color);
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
        on_terminal: io::stdin().is_terminal(),
        stack_bytes: Some(crate::STACK_BYTES),
        environment: environment.all.clone(),
        environment_variables: environment.variables.clone(),
        variables: variables.0,
        bounds: Bounds::default(),
        cluster: None,
        lock: LockManners::default(),
        heeds_owner: true,
    })
}

/// The kubeconfigs that are there, as kubectl finds them. None inside of a pod.
pub(crate) fn kubeconfigs(context: &Context, named: Option<&Path>) -> Vec<PathBuf> {
    if let Some(path) = named {
        return vec![context.working_dir.join(path)];
    }
    let listed = context.environment.all.get("KUBECONFIG").filter(|listed| !listed.is_empty());
    let usual = || context.environment.home.iter().map(|home| home.join(".kube/config")).collect();
    let named = listed.map_or_else(usual, |listed| std::env::split_paths(listed).collect::<Vec<_>>());
    let named = named.into_iter().filter(|path| !path.as_os_str().is_empty());
    named.map(|path| context.working_dir.join(path)).filter(|path| path.exists()).collect()
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
