//! A working directory in memory: files, a state, and providers of a simulated cloud.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use groma_engine::apply::{self, Applied, NoLogbook};
use groma_engine::events::Silence;
use groma_engine::interrupt::Interrupt;
use groma_engine::plan::{self, Options, Plan};
use groma_engine::plan_file;
use groma_engine::providers::Providers;
use groma_engine::provision::NoProvisioners;
use groma_lang::config::{ProviderSource, ResourceMode};
use groma_lang::environment::{Environment, FileKind};
use groma_lang::load::{self, ModuleRequest, ModuleTree, SourceTree};
use groma_lang::oracle::{NothingExists, SchemaSource};
use groma_lang::static_eval::StaticScope;
use groma_lang::walk::{Purpose, Settings};
use groma_model::address::{Provider as ProviderAddress, ProviderInstance};
use groma_model::diag::Diagnostics;
use groma_model::schema::Schema;
use groma_model::span::SourceMap;
use groma_provider::api::{Provider, ProviderSchema};
use groma_state::State;

use crate::cloud::Cloud;
use crate::simulator::{Simulator, Simulators};

/// Files by path, relative to the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files(pub BTreeMap<PathBuf, String>);

fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

impl SourceTree for Files {
    fn list_files(&self, dir: &Path) -> io::Result<Vec<String>> {
        let dir = plain(dir);
        let inside = self.0.keys().filter(|path| path.parent() == Some(dir.as_path()));
        Ok(inside.filter_map(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned()).collect())
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        let text = self.0.get(&plain(path)).ok_or(io::ErrorKind::NotFound)?;
        Ok(text.clone().into_bytes())
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        request.local_dir().ok_or_else(|| request.not_installed().into())
    }
}

impl Environment for Files {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        SourceTree::read_file(self, path)
    }

    fn file_kind(&self, _: &Path) -> io::Result<Option<FileKind>> {
        Ok(None)
    }

    fn read_dir(&self, _: &Path) -> io::Result<Vec<(String, FileKind)>> {
        Ok(Vec::new())
    }

    fn working_dir(&self) -> PathBuf {
        "/simulated".into()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        None
    }

    fn now(&self) -> (i64, u32) {
        (1_600_000_000, 0)
    }

    fn random(&self, buffer: &mut [u8]) {
        buffer.fill(7);
    }
}

#[async_trait]
impl Providers for Simulators {
    fn schema(&self, provider: &ProviderAddress) -> Option<Arc<ProviderSchema>> {
        (provider.ty.as_str() == "sim").then(|| Arc::clone(Simulators::schema(self)))
    }

    async fn start(&self, _: &ProviderInstance) -> Result<Arc<dyn Provider>, Diagnostics> {
        Ok(Arc::new(Simulator::new(self.cloud.clone(), self.delays)))
    }
}

impl SchemaSource for Simulators {
    fn provider(&self, _: &ProviderSource) -> Option<Arc<Schema>> {
        Simulators::schema(self).provider.get().ok().cloned()
    }

    fn resource(&self, _: &ProviderSource, mode: ResourceMode, kind: &str) -> Option<Arc<Schema>> {
        let offered = Simulators::schema(self);
        let schemas = match mode {
            ResourceMode::Managed => &offered.resources,
            ResourceMode::Data => &offered.data_sources,
            ResourceMode::Ephemeral => &offered.ephemerals,
        };
        schemas.get(kind)?.get().ok().cloned()
    }
}

/// A working directory.
pub struct Workspace {
    /// Its configuration.
    pub files: Files,
    /// What was made.
    pub state: State,
    /// Where.
    pub cloud: Cloud,
}

struct Loaded {
    sources: SourceMap,
    tree: ModuleTree,
}

impl Default for Workspace {
    fn default() -> Self {
        let state = State { tool_version: "1.12.0".into(), lineage: "lineage".into(), ..State::default() };
        Self { files: Files::default(), state, cloud: Cloud::default() }
    }
}

impl Workspace {
    fn load(&self) -> Result<Loaded, Diagnostics> {
        let mut sources = SourceMap::new();
        let (root, found) = load::load_module(&mut sources, &self.files, Path::new("."));
        if found.has_errors() {
            return Err(found);
        }
        let statics = StaticScope {
            environment: &self.files,
            root_dir: Path::new("."),
            workspace: "default",
            inputs: &BTreeMap::new(),
        };
        let (tree, found) = load::load_tree(&mut sources, &self.files, root, &statics);
        if found.has_errors() { Err(found) } else { Ok(Loaded { sources, tree }) }
    }

    fn settings<'a>(&'a self, loaded: &'a Loaded, oracle: &'a NothingExists<Simulators>) -> Settings<'a> {
        Settings {
            purpose: Purpose::Evaluate,
            environment: &self.files,
            root_dir: Path::new("."),
            workspace: "default",
            plan_time: Some((1_600_000_000, 0)),
            pure_only: false,
            lenient: false,
            oracle,
            sources: &loaded.sources,
        }
    }

    /// Plans. How long calls take follows from the seed.
    pub async fn plan(&self, options: &Options, delays: u64) -> (Option<Plan>, Diagnostics) {
        let loaded = match self.load() {
            Ok(loaded) => loaded,
            Err(found) => return (None, found),
        };
        let simulators = NothingExists(Simulators::new(self.cloud.clone(), delays));
        let request = plan::Request {
            rules: &groma_rules::Rules::default(),
            tree: &loaded.tree,
            inputs: &BTreeMap::new(),
            settings: self.settings(&loaded, &simulators),
            schemas: &simulators.0,
            providers: Arc::new(simulators.0.clone()),
            state: &self.state,
            options,
            events: Arc::new(Silence),
            interrupt: Interrupt::default(),
            provider_versions: &BTreeMap::new(),
            listing: None,
        };
        plan::plan(request).await
    }

    /// Carries a plan out, and keeps the state that comes of it.
    pub async fn apply(&mut self, plan: &Plan, parallelism: usize, delays: u64) -> Applied {
        let loaded = self.load().expect("it was planned");
        let simulators = NothingExists(Simulators::new(self.cloud.clone(), delays));
        let request = apply::Request {
            plan,
            rules: &groma_rules::Rules::default(),
            tree: &loaded.tree,
            inputs: &BTreeMap::new(),
            settings: self.settings(&loaded, &simulators),
            schemas: &simulators.0,
            providers: Arc::new(simulators.0.clone()),
            parallelism,
            events: Arc::new(Silence),
            provisioners: Arc::new(NoProvisioners),
            interrupt: Interrupt::default(),
            logbook: Arc::new(NoLogbook),
        };
        let applied = apply::apply(request).await;
        self.state = applied.state.clone();
        applied
    }

    /// A plan as it comes back from a file.
    pub fn reread(&self, bytes: &[u8]) -> Plan {
        let simulators = Simulators::new(self.cloud.clone(), 0);
        let schemas =
            |provider: &ProviderAddress, mode: ResourceMode, kind: &str| simulators.resource(provider, mode, kind);
        plan_file::decode(bytes, &schemas).expect("a plan that was written")
    }
}
