//! A working directory, a world, and plugins of both protocols in it: plans and applies in process, over the wire.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use groma_engine::apply::{self, NoLogbook};
use groma_engine::events::Silence;
use groma_engine::interrupt::Interrupt;
use groma_engine::plan::{self, Options, Plan};
use groma_engine::providers::Providers;
use groma_engine::provision::NoProvisioners;
use groma_lang::config::{ProviderSource, ResourceMode};
use groma_lang::oracle::{NothingExists, SchemaSource};
use groma_lang::walk::Purpose;
use groma_model::address::{Provider as Address, ProviderInstance};
use groma_model::diag::Diagnostics;
use groma_model::schema::Schema;
use groma_provider::api::{Provider, ProviderSchema};
use groma_provider::wire::{Launch, PluginProvider};
use groma_run::session::{Session, Start};
use groma_run::view::plan::PlanView;
use groma_simulated::world::World;
use groma_state::State;

/// One provider for each address, whichever configuration asks.
#[derive(Clone)]
struct Started(BTreeMap<Address, Arc<dyn Provider>>);

#[async_trait]
impl Providers for Started {
    fn schema(&self, provider: &Address) -> Option<Arc<ProviderSchema>> {
        self.0.get(provider).map(|provider| Arc::new(provider.schema().clone()))
    }

    async fn start(&self, instance: &ProviderInstance) -> Result<Arc<dyn Provider>, Diagnostics> {
        Ok(Arc::clone(&self.0[&instance.config.provider]))
    }
}

impl SchemaSource for Started {
    fn provider(&self, provider: &ProviderSource) -> Option<Arc<Schema>> {
        self.0.get(provider)?.schema().provider.get().ok().cloned()
    }

    fn resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        let schema = self.0.get(provider)?.schema();
        let schemas = match mode {
            ResourceMode::Managed => &schema.resources,
            ResourceMode::Data => &schema.data_sources,
            ResourceMode::Ephemeral => &schema.ephemerals,
        };
        schemas.get(kind)?.get().ok().cloned()
    }
}

/// Which protocol the plugin speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Protocol {
    Five,
    Six,
}

/// Where the cloud of a provider is described.
pub(crate) fn cloud_file(provider: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clouds").join(format!("{provider}.json"))
}

/// What came of a plan, and of carrying it out if that was wanted.
pub(crate) struct Ran {
    pub(crate) plan: Option<Plan>,
    /// The plan as machines are shown it.
    pub(crate) shown: String,
    /// Of the plan.
    pub(crate) diagnostics: Diagnostics,
    /// The state afterwards, and what was found then.
    pub(crate) applied: Option<(State, Diagnostics)>,
}

/// A working directory.
pub(crate) struct Runner {
    dir: tempfile::TempDir,
    plugins: BTreeMap<(String, Protocol), Started>,
    /// What the plugins share.
    pub(crate) world: World,
}

impl Runner {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let world = World::at(dir.path().join("world.json"));
        std::fs::create_dir(dir.path().join("work")).unwrap();
        Self { dir, plugins: BTreeMap::new(), world }
    }

    fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// Replaces all files of the configuration.
    pub(crate) fn write(&self, files: &[(&str, &str)]) {
        std::fs::remove_dir_all(self.work()).unwrap();
        std::fs::create_dir(self.work()).unwrap();
        for (name, text) in files {
            std::fs::write(self.work().join(name), text).unwrap();
        }
    }

    /// One plugin for each cloud and protocol, as long as this lives.
    async fn started(&mut self, provider: &str, protocol: Protocol) -> Started {
        let key = (provider.to_owned(), protocol);
        if let Some(started) = self.plugins.get(&key) {
            return started.clone();
        }
        let launch = Launch::new(env!("CARGO_BIN_EXE_groma-simulated"))
            .with_env("SIMULATED_CLOUD", cloud_file(provider))
            .with_env("SIMULATED_WORLD", self.world.path())
            .with_env("SIMULATED_PROTOCOL", if protocol == Protocol::Five { "5" } else { "6" });
        let plugin = PluginProvider::open(&launch, None).await.expect("the plugin starts");
        let core = Address::builtin("terraform");
        let outside = groma_builtin::Outside::system(self.work());
        let started = Started(BTreeMap::from([
            (core.clone(), groma_builtin::find(&core).unwrap().provider(&outside)),
            (Address::implied(provider).unwrap(), Arc::new(plugin) as Arc<dyn Provider>),
        ]));
        self.plugins.insert(key, started.clone());
        started
    }

    /// Plans, and carries it out if that is wanted.
    pub(crate) async fn run(
        &mut self,
        (provider, protocol): (&str, Protocol),
        state: &State,
        options: &Options,
        carry_out: bool,
    ) -> Ran {
        let started = self.started(provider, protocol).await;
        let mut session = Session::new(Start::in_directory(self.work()));
        let loaded = session.load();
        assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
        let tree = loaded.tree.expect("a module tree");
        let unused = NothingExists(started.clone());
        let settings = session.settings(Purpose::Evaluate, &unused);
        let providers: Arc<dyn Providers> = Arc::new(started.clone());
        let request = plan::Request {
            rules: &loaded.rules,
            tree: &tree,
            inputs: &loaded.inputs,
            settings,
            schemas: &started,
            providers: Arc::clone(&providers),
            state,
            options,
            events: Arc::new(Silence),
            interrupt: Interrupt::default(),
            provider_versions: &BTreeMap::new(),
            listing: None,
        };
        let (plan, diagnostics) = plan::plan(request).await;
        let Some(plan) = plan else { return Ran { plan, shown: String::new(), diagnostics, applied: None } };
        let view = PlanView {
            plan: &plan,
            variables: &loaded.inputs,
            tree: &tree,
            sources: session.sources(),
            schemas: &started,
            identities: &|_, _| None,
            timestamp: "2026-11-16T00:52:15Z",
        };
        let mut shown = Vec::new();
        view.write(&mut shown).unwrap();
        let mut applied = None;
        if carry_out && !diagnostics.has_errors() {
            let request = apply::Request {
                plan: &plan,
                rules: &loaded.rules,
                tree: &tree,
                inputs: &loaded.inputs,
                settings,
                schemas: &started,
                providers,
                parallelism: 10,
                events: Arc::new(Silence),
                provisioners: Arc::new(NoProvisioners),
                interrupt: Interrupt::default(),
                logbook: Arc::new(NoLogbook),
            };
            let done = apply::apply(request).await;
            applied = Some((done.state, done.diagnostics));
        }
        Ran { plan: Some(plan), shown: String::from_utf8(shown).unwrap(), diagnostics, applied }
    }

    /// Ends the plugins.
    pub(crate) async fn finish(self) {
        for started in self.plugins.into_values() {
            for provider in started.0.into_values() {
                provider.shutdown().await.unwrap();
            }
        }
    }
}

/// A state without anything in it.
pub(crate) fn no_state() -> State {
    State { tool_version: "1.12.0".into(), lineage: "lineage".into(), ..State::default() }
}

/// The ids of all objects of a cloud that a state knows, also of those that were put aside.
pub(crate) fn ids(state: &State) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for (resource, kept) in &state.resources {
        if resource.resource.ty.as_str() == "terraform_data" {
            continue;
        }
        for instance in kept.instances.values() {
            for object in instance.current.iter().chain(instance.deposed.values()) {
                let groma_state::Attributes::Json(text) = &object.attributes else { continue };
                let fields: serde_json::Value = serde_json::from_str(text).unwrap();
                ids.insert(fields["id"].as_str().unwrap_or_default().to_owned());
            }
        }
    }
    ids
}
