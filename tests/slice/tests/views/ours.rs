//! What we write for the same directory: the engine over the same plugins, and the views of its plan.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

use async_trait::async_trait;
use groma_engine::events::Silence;
use groma_engine::interrupt::Interrupt;
use groma_engine::plan::{self, Mode, Options};
use groma_engine::providers::Providers;
use groma_lang::config::{ProviderSource, ResourceMode};
use groma_lang::oracle::{NothingExists, SchemaSource};
use groma_lang::walk::Purpose;
use groma_model::address::{Provider as Address, ProviderInstance};
use groma_model::diag::Diagnostics;
use groma_model::schema::{IdentitySchema, Schema};
use groma_provider::api::{Provider, ProviderSchema};
use groma_provider::wire::{Launch, PluginProvider};
use groma_run::inputs::GivenVariable;
use groma_run::session::{Session, Start};
use groma_run::view::config::module_json;
use groma_run::view::outputs::write_all;
use groma_run::view::plan::PlanView;
use groma_run::view::state::state_json;
use groma_run::view::stream::Stream;

use crate::case::Case;
use crate::peer;
use crate::theirs::{Documents, PLUGINS, stream};

/// One provider for each address, whichever configuration asks.
#[derive(Clone, Default)]
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

impl Started {
    /// The plugins that the files of a case mention, and what is part of the language.
    async fn new(case: &Case, dir: &Path) -> Self {
        let mut started = BTreeMap::new();
        let all: String = case.files.iter().chain(&case.before).map(|(_, text)| text.as_str()).collect();
        for (name, variable) in PLUGINS {
            if all.contains(name) {
                let launch = Launch::new(peer(variable)).with_env("FIXTURE_WORLD", dir.join("world"));
                let plugin = PluginProvider::open(&launch, None).await.expect("the plugin starts");
                started.insert(Address::implied(name).unwrap(), Arc::new(plugin) as Arc<dyn Provider>);
            }
        }
        let core = Address::builtin("terraform");
        let outside = groma_builtin::Outside::system(dir);
        started.insert(core.clone(), groma_builtin::find(&core).unwrap().provider(&outside));
        Self(started)
    }

    fn identity(&self, provider: &Address, kind: &str) -> Option<Arc<IdentitySchema>> {
        self.0.get(provider)?.schema().identities.get(kind).cloned()
    }
}

/// What is planned, and how.
fn options(case: &Case) -> (Options, Vec<GivenVariable>) {
    let mut options = Options::default();
    let mut variables = Vec::new();
    for argument in &case.arguments {
        match argument.split_once('=').unwrap_or((argument, "")) {
            ("-destroy", _) => options.mode = Mode::Destroy,
            ("-refresh-only", _) => options.mode = Mode::RefreshOnly,
            ("-refresh", "false") => options.refresh = false,
            ("-replace", address) => options.replace.push(address.parse().unwrap()),
            ("-target", address) => options.targets.push(address.parse().unwrap()),
            ("-var", value) => variables.push(GivenVariable::Value(value.to_owned())),
            _ => panic!("{argument}"),
        }
    }
    (options, variables)
}

pub(crate) async fn run(case: &Case, dir: &Path) -> Documents {
    let (options, variables) = options(case);
    let started = Started::new(case, dir).await;
    let mut session = Session::new(Start { variables, ..Start::in_directory(dir.to_owned()) });
    let loaded = session.load();
    assert!(!loaded.diagnostics.has_errors(), "{:?}", loaded.diagnostics);
    let tree = loaded.tree.expect("a module tree");
    let stored = groma_state::read_file(&dir.join("terraform.tfstate")).unwrap().unwrap_or_default();
    let unused = NothingExists(started.clone());
    let request = plan::Request {
        rules: &groma_rules::Rules::default(),
        tree: &tree,
        inputs: &loaded.inputs,
        settings: session.settings(Purpose::Evaluate, &unused),
        schemas: &started,
        providers: Arc::new(started.clone()),
        state: &stored,
        options: &options,
        events: Arc::new(Silence),
        interrupt: Interrupt::default(),
        provider_versions: &std::collections::BTreeMap::new(),
        listing: None,
    };
    let (plan, diagnostics) = plan::plan(request).await;
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let plan = plan.expect("a plan");
    let view = PlanView {
        plan: &plan,
        variables: &loaded.inputs,
        tree: &tree,
        sources: session.sources(),
        schemas: &started,
        identities: &|provider, kind| started.identity(provider, kind),
        timestamp: "2026-11-16T00:52:15Z",
    };
    let mut text = Vec::new();
    view.write(&mut text).unwrap();
    let mut outputs = Vec::new();
    write_all(&stored.outputs, &mut outputs).unwrap();
    let documents = Documents {
        plan: serde_json::from_slice(&text).unwrap(),
        state: state_json(&stored, &started).unwrap_or_else(|problems| panic!("no state: {problems:?}")),
        stream: stream(&told(&plan)),
        module: module_json(&tree.root.module, session.sources()).unwrap(),
        outputs: String::from_utf8(outputs).unwrap().into(),
    };
    for provider in started.0.values() {
        provider.shutdown().await.unwrap();
    }
    documents
}

fn told(plan: &plan::Plan) -> String {
    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);
    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let written = Written::default();
    let stream = Stream::new(written.clone(), Arc::new(|| UNIX_EPOCH));
    stream.plan(plan);
    drop(stream);
    let text = written.0.lock().unwrap().clone();
    String::from_utf8(text).unwrap()
}
