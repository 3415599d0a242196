//! A run without a command line: a directory, a state in memory, and providers that are handed in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use groma_engine::apply::{self, Applied, NoLogbook};
use groma_engine::events::{Events, Silence};
use groma_engine::interrupt::Interrupt;
use groma_engine::plan::{self, Options, Plan};
use groma_engine::providers::Providers;
use groma_engine::provision::{NoProvisioners, Provisioners};
use groma_lang::config::{ProviderSource, ResourceMode};
use groma_lang::oracle::{NothingExists, SchemaSource};
use groma_lang::walk::Purpose;
use groma_model::address::{Provider as ProviderAddress, ProviderInstance};
use groma_model::diag::Diagnostics;
use groma_model::schema::Schema;
use groma_provider::api::{Provider, ProviderSchema};
use groma_run::session::{Session, Start};
use groma_state::State;

/// Providers by address; each configuration shares one.
#[derive(Clone, Default)]
pub(crate) struct Given(BTreeMap<ProviderAddress, Arc<dyn Provider>>);

impl Given {
    #[allow(dead_code, reason = "not every test uses everything")]
    pub(crate) fn with(mut self, source: &str, provider: Arc<dyn Provider>) -> Self {
        self.0.insert(ProviderAddress::parse_source(source).expect("a provider's address"), provider);
        self
    }

    /// Those that are built in.
    #[allow(dead_code, reason = "not every test uses everything")]
    pub(crate) fn built_in(dir: &Path) -> Self {
        let outside = groma_builtin::Outside::system(dir);
        let all = groma_builtin::all().iter().map(|builtin| (builtin.address(), builtin.provider(&outside)));
        Self(all.collect())
    }

    fn find(&self, address: &ProviderAddress) -> Option<&Arc<dyn Provider>> {
        self.0.iter().find(|(known, _)| known.same_as(address)).map(|(_, provider)| provider)
    }
}

#[async_trait]
impl Providers for Given {
    fn schema(&self, provider: &ProviderAddress) -> Option<Arc<ProviderSchema>> {
        self.find(provider).map(|provider| Arc::new(provider.schema().clone()))
    }

    async fn start(&self, instance: &ProviderInstance) -> Result<Arc<dyn Provider>, Diagnostics> {
        Ok(Arc::clone(self.find(&instance.config.provider).expect("a known provider")))
    }
}

impl SchemaSource for Given {
    fn provider(&self, provider: &ProviderSource) -> Option<Arc<Schema>> {
        self.find(provider)?.schema().provider.get().ok().cloned()
    }

    fn resource(&self, provider: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        let schema = self.find(provider)?.schema();
        let schemas = match mode {
            ResourceMode::Managed => &schema.resources,
            ResourceMode::Data => &schema.data_sources,
            ResourceMode::Ephemeral => &schema.ephemerals,
        };
        schemas.get(kind)?.get().ok().cloned()
    }
}

/// A working directory with a configuration and a state.
pub(crate) struct Workspace {
    pub(crate) dir: PathBuf,
    pub(crate) state: State,
    pub(crate) providers: Given,
    pub(crate) options: Options,
    pub(crate) provisioners: Arc<dyn Provisioners>,
    pub(crate) events: Arc<dyn Events>,
    pub(crate) interrupt: Interrupt,
}

impl Workspace {
    pub(crate) fn new(dir: &Path, providers: Given) -> Self {
        let state = State { tool_version: "1.12.0".into(), lineage: "lineage".into(), ..State::default() };
        Self {
            dir: dir.to_owned(),
            state,
            providers,
            options: Options::default(),
            provisioners: Arc::new(NoProvisioners),
            events: Arc::new(Silence),
            interrupt: Interrupt::default(),
        }
    }

    #[allow(dead_code, reason = "not every test uses everything")]
    pub(crate) fn write(&self, config: &str) {
        std::fs::write(self.dir.join("main.tf"), config).expect("the configuration is written");
    }

    /// A plan that must come about.
    #[allow(dead_code, reason = "not every test uses everything")]
    pub(crate) async fn plan(&self) -> Plan {
        let (plan, _, diagnostics) = self.run(false).await;
        plan.unwrap_or_else(|| panic!("no plan: {diagnostics:?}"))
    }

    /// Plans and applies, which must succeed. Gives what was done as text.
    pub(crate) async fn apply(&mut self) -> Vec<String> {
        let (plan, applied, diagnostics) = self.run(true).await;
        let plan = plan.unwrap_or_else(|| panic!("no plan: {diagnostics:?}"));
        let applied = applied.expect("applied");
        assert!(!applied.diagnostics.has_errors(), "{:?}", applied.diagnostics);
        self.state = applied.state;
        summary(&plan)
    }

    /// Plans and applies, whatever comes of it. Gives what was found by both.
    #[allow(dead_code, reason = "not every test uses everything")]
    pub(crate) async fn attempt(&mut self) -> Diagnostics {
        let (_, applied, mut diagnostics) = self.run(true).await;
        if let Some(applied) = applied {
            self.state = applied.state;
            diagnostics.extend(applied.diagnostics);
        }
        diagnostics
    }

    /// Plans, whatever comes of it.
    #[allow(dead_code, reason = "not every test uses everything")]
    pub(crate) async fn try_plan(&self) -> (Option<Plan>, Diagnostics) {
        let (plan, _, diagnostics) = self.run(false).await;
        (plan, diagnostics)
    }

    /// Plans, and applies the plan if `carry_out` is set.
    async fn run(&self, carry_out: bool) -> (Option<Plan>, Option<Applied>, Diagnostics) {
        let mut session = Session::new(Start::in_directory(self.dir.clone()));
        let loaded = session.load();
        assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
        let tree = loaded.tree.expect("a module tree");
        let unused = NothingExists(self.providers.clone());
        let settings = session.settings(Purpose::Evaluate, &unused);
        let providers: Arc<dyn Providers> = Arc::new(self.providers.clone());
        let request = plan::Request {
            rules: &loaded.rules,
            tree: &tree,
            inputs: &loaded.inputs,
            settings,
            schemas: &self.providers,
            providers: Arc::clone(&providers),
            state: &self.state,
            options: &self.options,
            events: Arc::new(Silence),
            interrupt: Interrupt::default(),
            provider_versions: &std::collections::BTreeMap::new(),
            listing: None,
        };
        let (plan, diagnostics) = plan::plan(request).await;
        let (Some(plan), true) = (plan.as_ref(), carry_out) else { return (plan, None, diagnostics) };
        let request = apply::Request {
            plan,
            rules: &loaded.rules,
            tree: &tree,
            inputs: &loaded.inputs,
            settings,
            schemas: &self.providers,
            providers,
            parallelism: 10,
            events: Arc::clone(&self.events),
            provisioners: Arc::clone(&self.provisioners),
            interrupt: self.interrupt.clone(),
            logbook: Arc::new(NoLogbook),
        };
        let applied = apply::apply(request).await;
        (Some(plan.clone()), Some(applied), diagnostics)
    }
}

/// The actions of a plan, one per line, without what stays.
pub(crate) fn summary(plan: &Plan) -> Vec<String> {
    let changes = plan.changes.iter().filter(|change| change.action.names() != ["no-op"]);
    changes.map(|change| format!("{} {}", change.action.names().join("+"), change.address)).collect()
}
