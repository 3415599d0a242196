//! `groma operator` itself: what was typed becomes an operator, which works until it is told to end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use groma_model::diag::Diagnostic;
use groma_model::span::SourceMap;
use groma_model::text::visible;
use groma_operator::api::stack::Executor;
use groma_operator::install::IMAGE;
use groma_operator::objects::cluster::Reach;
use groma_operator::runs::in_process::Room;
use groma_operator::runs::job;
use groma_operator::serve::{Serving, serve};
use groma_operator::sources;
use groma_operator::stack::reconcile::Settings;
use groma_operator::stack::wanted::StateHome;
use groma_operator::terraform;
use groma_operator::territory::Account;
use groma_operator::voices;
use groma_operator::work::networks::{Networks, Range, networks};
use groma_operator::work::{Engines, Premises, Workshop};
use groma_run::cli_config::CliConfig;
use groma_run::engine::plan::Plan;
use groma_run::providers::ProviderChoice;
use serde_json::Value as Json;

use super::standalone::{self, StandaloneArgs};
use crate::commands::Context;
use crate::commands::shared::{kubeconfigs, online_quietly};
use crate::failure::Failure;
use crate::render::{self, Look};
use crate::signals;
use crate::ui::Ui;

/// How wide plans are that people read in a Run.
const WIDTH: usize = 100;

/// How the operator works.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(super) standalone: StandaloneArgs,

    /// A kubeconfig, instead of the usual ones and of the pod's own account.
    #[arg(long, value_name = "FILE")]
    pub(super) kubeconfig: Option<PathBuf>,

    /// Its context, instead of the current one.
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// Work only on this namespace. Can be repeated; all of them if nothing is said.
    #[arg(long, value_name = "NAMESPACE")]
    pub(super) namespace: Vec<String>,

    /// How many runs may be under way at once.
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub(super) runs: usize,

    /// How many of them in one namespace.
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub(super) runs_per_namespace: usize,

    /// How many objects are looked at at once.
    #[arg(long, value_name = "NUMBER", default_value_t = 8)]
    pub(super) workers: usize,

    /// Let only one of several operators work: the one that holds the lease in this namespace.
    #[arg(long, value_name = "NAMESPACE")]
    lease_namespace: Option<String>,

    /// What this operator is called in leases and Runs; made up if nothing is said.
    #[arg(long, value_name = "NAME", env = "POD_NAME", hide_env_values = true)]
    pub(super) identity: Option<String>,

    /// Let Stacks depend on those of other namespaces.
    #[arg(long)]
    allow_cross_namespace: bool,

    /// Where runs are if a Stack says nothing about it.
    #[arg(long, value_name = "EXECUTOR", value_enum, default_value_t = Where::InProcess)]
    executor: Where,

    /// The image of the pods of Jobs.
    #[arg(long, value_name = "IMAGE", env = "GROMA_IMAGE", hide_env_values = true)]
    image: Option<String>,

    /// Our own account, as NAMESPACE/NAME: it gets rights where there are Stacks, and nowhere else.
    #[arg(long, value_name = "ACCOUNT", env = "GROMA_ACCOUNT", hide_env_values = true)]
    account: Option<String>,

    /// Tell figures and whether all is well over http, here: `0.0.0.0:8080`.
    #[arg(long, value_name = "ADDRESS")]
    pub(super) metrics_address: Option<std::net::SocketAddr>,

    /// Connect for Stacks to addresses in these networks, too: `10.96.0.10`, `127.0.0.0/8`. Without it, neither this machine nor what gives
    /// machines their credentials nor the cluster's own service is connected to. The narrowest network that an address is in decides.
    #[arg(long, value_name = "NETWORKS", value_delimiter = ',')]
    allow_networks: Vec<Range>,

    /// Do not connect for Stacks to addresses in these networks, besides those: the network of services, say.
    #[arg(long, value_name = "NETWORKS", value_delimiter = ',')]
    deny_networks: Vec<Range>,

    /// Hear webhooks of those who have repositories over http, here: `0.0.0.0:9292`.
    #[arg(long, value_name = "ADDRESS")]
    pub(super) webhook_addr: Option<std::net::SocketAddr>,

    /// Tell all events there, as Flux tells them: the address of its notification-controller, or of anything that knows its events.
    #[arg(long, value_name = "URL")]
    pub(super) events_addr: Option<String>,

    /// How large the source of a Stack may be, in mebibytes.
    #[arg(long, value_name = "NUMBER", default_value_t = 256)]
    source_limit: u32,

    /// Look after Terraform objects of tofu-controller, too. Nothing is done with them while tofu-controller itself works.
    #[arg(long)]
    terraform_objects: bool,

    /// Where the lease of tofu-controller is, which says whether it works; flux-system if nothing is said. Can be repeated.
    #[arg(long, value_name = "NAMESPACE", requires = "terraform_objects")]
    tofu_controller_namespace: Vec<String>,

    #[command(flatten)]
    pub(super) engines: EngineArgs,

    /// Where directories of runs are made; a temporary directory if nothing is said.
    #[arg(long, value_name = "DIR")]
    pub(super) scratch: Option<PathBuf>,

    /// Where packages of providers and their schemas are kept between runs.
    #[arg(long, value_name = "DIR")]
    pub(super) cache: Option<PathBuf>,

    /// A directory in which Stacks may have files, each namespace its own. Can be repeated; nothing for none.
    #[arg(long, value_name = "DIR", default_value = "/tmp")]
    pub(super) files: Vec<PathBuf>,

    /// Let runs in the operator start plugins of providers, and the programs that Stacks allow. They can do what the operator can.
    #[arg(long)]
    allow_programs_in_process: bool,
}

/// Where the programs of other engines are, for Stacks that want them.
#[derive(Debug, Default, clap::Args)]
pub(in crate::commands) struct EngineArgs {
    /// Where OpenTofu is, for Stacks with `engine: tofu`; GROMA_TOFU_BINARY says it too. Looked for in PATH if nothing is said.
    #[arg(long, value_name = "FILE")]
    tofu: Option<PathBuf>,

    /// Where Terraform is, for Stacks with `engine: terraform`; GROMA_TERRAFORM_BINARY says it too. Looked for in PATH if nothing is said.
    #[arg(long, value_name = "FILE")]
    terraform: Option<PathBuf>,
}

impl ServeArgs {
    /// How large the source of a Stack may be.
    pub(super) fn source_bytes(&self) -> u64 {
        u64::from(self.source_limit) << 20
    }

    /// Where connections may lead that are made for others.
    pub(super) fn networks(&self, context: &Context) -> Networks {
        let service = context.environment.all.get("KUBERNETES_SERVICE_HOST");
        networks(&self.allow_networks, self.deny_networks.clone(), service.map(String::as_str))
    }
}

impl EngineArgs {
    fn engines(self, all: &BTreeMap<String, String>) -> Engines {
        let own = all.get_key_value("TF_CLI_CONFIG_FILE");
        let environment = own.map(|(name, value)| (name.clone(), value.clone())).into_iter().collect();
        let named = |variable: &str| all.get(variable).map(PathBuf::from);
        // Runs are elsewhere.
        let here = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        Engines {
            tofu: self.tofu.or_else(|| named("GROMA_TOFU_BINARY")).map(here),
            terraform: self.terraform.or_else(|| named("GROMA_TERRAFORM_BINARY")).map(here),
            environment,
            starter: starter(),
        }
    }
}

/// Where runs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Where {
    /// In the operator.
    InProcess,
    /// In a Job each.
    Job,
}

pub(super) fn run(context: &Context, mut args: ServeArgs) -> Result<ExitCode, Failure> {
    let ui = Ui::new(&context.environment, true);
    let (online, diagnostics) = online_quietly(context);
    ui.diagnostics(&diagnostics, &SourceMap::new());
    if diagnostics.has_errors() {
        return Ok(ExitCode::FAILURE);
    }
    let made = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(2).build();
    let runtime = made.map_err(Failure::Terminal)?;
    let (stop, mut stopped) = tokio::sync::watch::channel(false);
    signals::overhear(move |_| {
        let _ = stop.send(true);
    });
    let stopped = async move {
        let _ = stopped.wait_for(|stop| *stop).await;
    };
    let served = if let Some(standalone) = standalone::standalone(context, &mut args, online.config()) {
        runtime.block_on(standalone::serve(context, standalone, stopped))
    } else {
        let serving = serving(context, args, online.config().clone());
        runtime.block_on(serve(serving, stopped)).map_err(|problem| problem.to_string())
    };
    match served {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(problem) => {
            let problem = Diagnostic::error("The operator ended", format!("{problem}."));
            ui.diagnostics(&problem.into(), &SourceMap::new());
            Ok(ExitCode::FAILURE)
        }
    }
}

fn serving(context: &Context, args: ServeArgs, cli_config: CliConfig) -> Serving {
    let (confined, source_bytes) = (args.networks(context), args.source_bytes());
    let reach = Reach { files: kubeconfigs(context, args.kubeconfig.as_deref()), context: args.context };
    let folders = Folders { scratch: args.scratch, cache: args.cache, files: args.files };
    let mut workshop = workshop(context, reach.backend(), folders, cli_config, args.engines);
    workshop.premises.shared = true;
    workshop.premises.programs = args.allow_programs_in_process;
    workshop.premises.networks = Some(confined);
    workshop.sources.limits.bytes = source_bytes;
    let room = Room { most: args.runs, most_each: args.runs_per_namespace };
    let account = args.account.as_deref().and_then(|account| account.split_once('/'));
    Serving {
        jobs: job::Settings {
            image: args.image.unwrap_or_else(|| IMAGE.to_owned()),
            room,
            environment: about_traces(&context.environment.all),
        },
        account: account.map(|(namespace, name)| Account { namespace: namespace.to_owned(), name: name.to_owned() }),
        settings: Settings {
            executor: match args.executor {
                Where::InProcess => Executor::InProcess,
                Where::Job => Executor::Job,
            },
            home: StateHome { kind: "kubernetes".to_owned(), directory: None },
            across_namespaces: args.allow_cross_namespace,
        },
        terraform: args.terraform_objects.then_some(terraform::reconcile::Settings {
            across_namespaces: args.allow_cross_namespace,
            rival_namespaces: args.tofu_controller_namespace,
        }),
        voices: voices::Settings {
            hook_address: args.webhook_addr,
            events_address: args.events_addr,
            networks: workshop.premises.networks.clone(),
        },
        workshop,
        room,
        workers: args.workers,
        namespaces: args.namespace,
        metrics_address: args.metrics_address,
        lease_namespace: args.lease_namespace,
        identity: args.identity.unwrap_or_else(|| format!("groma-{}", std::process::id())),
        reach,
    }
}

/// Directories that runs use.
#[derive(Debug, Default)]
pub(in crate::commands) struct Folders {
    /// Where directories of runs are made.
    pub(super) scratch: Option<PathBuf>,
    /// What is kept between runs.
    pub(super) cache: Option<PathBuf>,
    /// Where runs may have files beside their own.
    pub(super) files: Vec<PathBuf>,
}

impl Folders {
    /// The usual ones, and some for files.
    pub(in crate::commands) fn with_files(files: Vec<PathBuf>) -> Self {
        Self { files, ..Self::default() }
    }
}

/// What runs work with.
pub(in crate::commands) fn workshop(
    context: &Context,
    home: BTreeMap<String, Json>,
    folders: Folders,
    cli_config: CliConfig,
    engines: EngineArgs,
) -> Workshop {
    let environment = &context.environment;
    // An empty name stands for none.
    let files = folders.files.into_iter().filter(|directory| !directory.as_os_str().is_empty()).collect();
    let caches = environment.cache_home.clone().or_else(|| Some(environment.home.as_ref()?.join(".cache")));
    Workshop {
        scratch: folders.scratch.unwrap_or_else(|| std::env::temp_dir().join("groma-runs")),
        cache: folders.cache.or_else(|| caches.map(|dir| dir.join("groma"))).unwrap_or_else(std::env::temp_dir),
        environment: passed_on(&environment.all),
        home,
        states: None,
        cluster: None,
        cli_config,
        engines: engines.engines(&environment.all),
        sources: sources::Premises::default(),
        choice: ProviderChoice { reattach: environment.reattach.clone(), built_in_use: environment.built_in_use },
        // Whoever works for others as well says so.
        premises: Premises { shared: false, programs: true, files, networks: None },
        show: Arc::new(|plan: &Plan| visible(&render::plan::plan(plan, &Look::plain(WIDTH))).into_owned()),
    }
}

/// What pods are told about traces. Headers are not: they may be secret, and anybody who sees a pod sees its variables.
fn about_traces(all: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let named = all.iter().filter(|(name, _)| name.starts_with("OTEL_") && !name.ends_with("_HEADERS"));
    named.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// How programs are started that end with us, where the system knows how.
fn starter() -> Option<Vec<String>> {
    // Ourselves, even if another version has been put where we were.
    cfg!(target_os = "linux").then(|| ["/proc/self/exe", "operator", "tied"].map(str::to_owned).to_vec())
}

/// What runs may know of our environment: how to get out, and nothing that is secret.
fn passed_on(all: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    const NAMES: [&str; 9] = [
        "PATH",
        "HOME",
        "TMPDIR",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "KUBERNETES_SERVICE_HOST",
    ];
    let named =
        |name: &str| NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)) || name == "KUBERNETES_SERVICE_PORT";
    all.iter().filter(|(name, _)| named(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_told_about_traces_and_nothing_secret() {
        let all = [("OTEL_SERVICE_NAME", "s"), ("OTEL_EXPORTER_OTLP_HEADERS", "k=v"), ("PATH", "p")];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(about_traces(&all.into()).into_keys().collect::<Vec<_>>(), ["OTEL_SERVICE_NAME"]);
    }

    #[test]
    fn no_secrets_of_ours_are_passed_on() {
        let all = [("PATH", "p"), ("https_proxy", "h"), ("AWS_SECRET_ACCESS_KEY", "s"), ("KUBECONFIG", "k")];
        let all = all.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(passed_on(&all.into()).into_keys().collect::<Vec<_>>(), ["PATH", "https_proxy"]);
    }
}
