//! `groma operator -standalone`: an operator without a cluster. What was typed becomes one, and what it tells becomes lines.

use std::path::PathBuf;
use std::sync::Arc;

use groma_model::text::visible;
use groma_operator::objects::Notice;
use groma_operator::runs::in_process::Room;
use groma_operator::serve::standalone::{self, Layout, Mistake, Standalone};
use groma_run::cli_config::CliConfig;
use jiff::Timestamp;
use serde_json::json;

use super::serve::{Folders, ServeArgs, workshop};
use crate::commands::Context;
use crate::ui::Ui;

/// How an operator works without a cluster.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct StandaloneArgs {
    /// Work without a cluster, on the YAML files in this directory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["kubeconfig", "context", "lease_namespace", "account", "terraform_objects"])]
    pub(super) standalone: Option<PathBuf>,

    /// With -standalone: where everything is kept that the operator knows, states as well; `.groma` in the directory if nothing is said.
    #[arg(long, value_name = "DIR", requires = "standalone")]
    pub(super) state_dir: Option<PathBuf>,

    /// With -standalone: confine runs as in an operator that works for others: no plugins, no programs, files only where -files says.
    #[arg(long, requires = "standalone")]
    pub(super) confine: bool,

    /// With -standalone: tell what happens as lines of JSON.
    #[arg(long, requires = "standalone")]
    pub(super) json: bool,

    /// With -standalone: show no colours.
    #[arg(long, requires = "standalone")]
    pub(super) no_color: bool,
}

/// An operator without a cluster, if one was asked for.
pub(super) fn standalone(context: &Context, args: &mut ServeArgs, cli_config: &CliConfig) -> Option<Standalone> {
    let given = std::mem::take(&mut args.standalone);
    let directory = context.working_dir.join(given.standalone?);
    let directory = directory.canonicalize().unwrap_or(directory);
    let state = given.state_dir.map(|state| context.working_dir.join(state));
    let layout = Layout::of(&directory, state.as_deref());
    let everywhere = vec![PathBuf::from("/")];
    let folders = Folders {
        scratch: Some(args.scratch.take().unwrap_or_else(|| layout.scratch())),
        cache: args.cache.take(),
        files: if given.confine { std::mem::take(&mut args.files) } else { everywhere },
    };
    let engines = std::mem::take(&mut args.engines);
    let mut workshop = workshop(context, [].into(), folders, cli_config.clone(), engines);
    workshop.states = Some(layout.states());
    workshop.premises.shared = given.confine;
    workshop.premises.programs = !given.confine;
    workshop.premises.networks = given.confine.then(|| args.networks(context));
    workshop.sources.limits.bytes = args.source_bytes();
    let voice = Voice { ui: Ui::new(&context.environment, given.no_color), json: given.json };
    Some(Standalone {
        directory,
        layout,
        workshop,
        room: Room { most: args.runs, most_each: args.runs_per_namespace },
        workers: args.workers,
        namespaces: std::mem::take(&mut args.namespace),
        metrics_address: args.metrics_address,
        hook_address: args.webhook_addr,
        events_address: args.events_addr.take(),
        identity: args.identity.take().unwrap_or_else(|| format!("groma-{}", std::process::id())),
        hear: Arc::new(move |notice: &Notice| voice.notice(notice)),
        hear_mistakes: Arc::new(move |mistakes: &[Mistake]| voice.mistakes(mistakes)),
    })
}

/// Works until it is told to stop.
pub(super) async fn serve(
    context: &Context,
    standalone: Standalone,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), String> {
    let directory = standalone.directory.clone();
    let shown = directory.strip_prefix(&context.working_dir).unwrap_or(&directory);
    let shown = if shown.as_os_str().is_empty() { ".".into() } else { shown.display().to_string() };
    standalone::serve(standalone, stop).await.map_err(|problem| format!("{shown}: {problem}"))
}

/// Tells what happens, a line for each.
#[derive(Clone, Copy)]
struct Voice {
    ui: Ui,
    json: bool,
}

impl Voice {
    fn notice(self, notice: &Notice) {
        let about = &notice.about;
        let namespace = about.namespace.as_deref().unwrap_or_default();
        let (kind, name) = (&about.kind.kind, &about.name);
        if self.json {
            return self.say(&format!(
                "{}\n",
                json!({
                    "time": Timestamp::now().to_string(), "kind": kind, "namespace": namespace, "name": name,
                    "reason": notice.reason, "message": notice.message, "warning": notice.is_warning,
                })
            ));
        }
        let reason = if notice.is_warning { self.ui.warning(&notice.reason) } else { self.ui.good(&notice.reason) };
        let message = notice.message.split_whitespace().collect::<Vec<_>>().join(" ");
        self.say(&format!("{}  {namespace}/{name}  {reason}  {}\n", time(), visible(&message)));
    }

    fn mistakes(self, mistakes: &[Mistake]) {
        if self.json {
            let told = json!({"time": Timestamp::now().to_string(), "reason": "Mistakes", "mistakes": mistakes});
            return self.say(&format!("{told}\n"));
        }
        if mistakes.is_empty() {
            return self.say(&format!("{}  {}  all files can be read\n", time(), self.ui.good("NoMistakes")));
        }
        for mistake in mistakes {
            let told = mistake.to_string();
            self.say(&format!("{}  {}  {}\n", time(), self.ui.warning("Mistake"), visible(&told)));
        }
    }

    fn say(self, text: &str) {
        // If nobody listens, it goes on.
        let _ = self.ui.out(text);
    }
}

/// The time of day, in UTC.
fn time() -> String {
    let now = Timestamp::now().to_string();
    now.split_once('T').and_then(|(_, time)| time.get(..8)).unwrap_or_default().to_owned()
}
