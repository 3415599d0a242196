//! The providers of a configuration, as far as they are there: their schemas, and themselves once they are asked something.
//!
//! Schemas of plugins come from a cache on disk where possible, so no process is started only to look one up.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use groma_builtin::Outside;
use groma_model::address::Provider as Address;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::version::Constraints;
use groma_provider::api::{Provider, ProviderSchema};
use groma_provider::install::{Locks, Requirements, Selected, SelectionError, Settings, find_selected};
use groma_provider::wire::{self, Launch, PluginProvider, PluginSchema, Reattach, SchemaCache, Security};

use super::surroundings::surroundings;
use super::{ProgramBuiltins, ProviderChoice};
use crate::lock_file;
use crate::online::Online;
use crate::session::Session;

/// What is needed to use providers.
pub struct ProviderAccess {
    /// The way outside.
    pub online: Online,
    /// Which providers are used.
    pub choice: ProviderChoice,
    /// Where schemas of plugins are kept; none keeps them with the data of the working directory.
    pub schema_cache: Option<PathBuf>,
}

impl ProviderAccess {
    /// How to talk to plugins. `GROMA_PLUGIN_TLS` asks for TLS where a private socket would do.
    fn settings(&self) -> wire::Settings {
        let wants_tls =
            self.online.variables().get("GROMA_PLUGIN_TLS").is_some_and(|value| !["", "0"].contains(&value.as_str()));
        let security = if wants_tls { Security::AutoMtls } else { Security::Plain };
        wire::Settings { security, ..wire::Settings::default() }
    }
}

/// Whether providers must fit the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// All must be there, as locked.
    Consistent,
    /// What is there is used, in the version that is locked.
    WhatIsThere,
}

/// The providers of a configuration.
#[derive(Default)]
pub struct ProviderBook {
    pages: BTreeMap<Address, Page>,
}

struct Page {
    known: Known,
    start: Start,
}

/// What a provider offers.
enum Known {
    InProcess(Arc<dyn Provider>),
    Plugin(Arc<PluginSchema>),
}

/// How to have the provider itself.
#[derive(Clone)]
enum Start {
    InProcess(Arc<dyn Provider>),
    Plugin { launch: Box<Launch>, known: Arc<PluginSchema>, selected: Box<Selected> },
    Running(Reattach),
}

impl ProviderBook {
    /// What a provider offers. None if it is not there.
    pub fn schema(&self, provider: &Address) -> Option<&ProviderSchema> {
        Some(match &self.pages.get(provider)?.known {
            Known::InProcess(provider) => provider.schema(),
            Known::Plugin(plugin) => plugin.schema(),
        })
    }

    /// All that are there.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.pages.keys()
    }

    /// Starts all of them at once. Those inside the program are there already.
    pub(crate) async fn start_all(&self) -> (BTreeMap<Address, Arc<dyn Provider>>, Diagnostics) {
        let mut starting = tokio::task::JoinSet::new();
        for (address, page) in &self.pages {
            let (address, start) = (address.clone(), page.start.clone());
            starting.spawn(async move { (address, start.start().await) });
        }
        let mut started = BTreeMap::new();
        let mut failed = BTreeMap::new();
        for (address, result) in starting.join_all().await {
            match result {
                Ok(provider) => {
                    started.insert(address, provider);
                }
                Err(problems) => {
                    failed.insert(address, problems);
                }
            }
        }
        (started, failed.into_values().flatten().collect())
    }
}

impl Start {
    async fn start(self) -> Result<Arc<dyn Provider>, Diagnostics> {
        let opened = match self {
            Start::InProcess(provider) => return Ok(provider),
            Start::Plugin { launch, known, selected } => {
                let name = launch.name.clone();
                let checked = tokio::task::spawn_blocking(move || check_intact(&name, &selected)).await;
                checked.map_err(|problem| Diagnostic::error("Failed to start", problem.to_string()))??;
                PluginProvider::open(&launch, Some(known)).await
            }
            Start::Running(reattach) => PluginProvider::attach(&reattach).await,
        };
        opened.map(|plugin| Arc::new(plugin) as Arc<dyn Provider>).map_err(|problem| problem.diagnostics())
    }
}

/// A package that was tampered with must not run.
fn check_intact(name: &str, selected: &Selected) -> Result<(), Diagnostic> {
    let failed =
        |problem: String| Diagnostic::error("Required plugins are not installed", format!("{name}: {problem}."));
    match selected.is_intact() {
        Ok(true) => Ok(()),
        Ok(false) => {
            let problem = "the cached package does not match any of the checksums recorded in the dependency lock file";
            Err(failed(problem.to_owned()))
        }
        Err(problem) => Err(failed(problem.to_string())),
    }
}

impl Session {
    /// Opens the book of the providers that are needed. Those that are not there are left out, unless all must be there.
    pub fn provider_book(
        &mut self,
        access: &ProviderAccess,
        needed: &Requirements,
        strictness: Strictness,
    ) -> (ProviderBook, Diagnostics) {
        let mut book = ProviderBook::default();
        if needed.is_empty() {
            return (book, Diagnostics::new());
        }
        let working_dir = self.start().working_dir.clone();
        let (locks, mut diagnostics) = lock_file::load(self.sources_mut(), &working_dir);
        let settings = match self.provider_settings(&access.online, &access.choice) {
            Ok(settings) => settings,
            Err(problem) => {
                diagnostics.push(problem);
                return (book, diagnostics);
            }
        };
        let selected = match select(needed, &locks, &settings, strictness) {
            Ok(selected) => selected,
            Err(problems) => {
                diagnostics.extend(problems);
                return (book, diagnostics);
            }
        };
        let opening = Opening {
            access,
            outside: surroundings(working_dir.join(&self.start().root_dir)),
            cache: SchemaCache::new(self.schema_cache_dir(access)),
        };
        opening.learn_together(&selected);
        for (provider, selected) in selected {
            let page = opening.page(&provider, &selected);
            book.pages.extend(diagnostics.take(page).flatten().map(|page| (provider, page)));
        }
        (book, diagnostics)
    }

    fn schema_cache_dir(&self, access: &ProviderAccess) -> PathBuf {
        let own = || self.start().working_dir.join(&self.start().data_dir).join("schemas");
        access.schema_cache.clone().unwrap_or_else(own)
    }
}

/// What is used for each provider. If need not be strict, what does not fit is asked for once more as it is locked.
fn select(
    needed: &Requirements,
    locks: &Locks,
    settings: &Settings,
    strictness: Strictness,
) -> Result<BTreeMap<Address, Selected>, Diagnostics> {
    if strictness == Strictness::Consistent {
        return find_selected(needed, locks, settings, &ProgramBuiltins).map_err(|problem| problem.diagnostic().into());
    }
    let mut selected = BTreeMap::new();
    let mut missing = Vec::new();
    for (provider, constraints) in needed {
        let find = |constraints: &Constraints| {
            let only = Requirements::from([(provider.clone(), constraints.clone())]);
            find_selected(&only, locks, settings, &ProgramBuiltins)
        };
        let found = match find(constraints) {
            Err(SelectionError::Inconsistent { .. }) if locks.get(provider).is_some() => find(&Constraints::default()),
            found => found,
        };
        match found {
            Ok(found) => selected.extend(found),
            Err(SelectionError::NotInstalled(problems)) => missing.extend(problems),
            // It is not there, which is told when it is looked up.
            Err(SelectionError::Inconsistent { .. }) => {}
        }
    }
    if missing.is_empty() { Ok(selected) } else { Err(SelectionError::NotInstalled(missing).diagnostic().into()) }
}

struct Opening<'a> {
    access: &'a ProviderAccess,
    outside: Outside,
    cache: SchemaCache,
}

impl Opening<'_> {
    /// Plugins whose schemas are not known yet are asked side by side. Whatever goes wrong is found again, and told, when
    /// the page of the plugin is opened.
    fn learn_together(&self, selected: &BTreeMap<Address, Selected>) {
        let program = |(provider, selected): (&Address, &Selected)| {
            let launch = self.launch(provider, selected.executable(provider).ok()??);
            self.cache.load(&launch.program).is_none().then(|| (launch, selected.clone()))
        };
        let unknown: Vec<(Launch, Selected)> = selected.iter().filter_map(program).collect();
        if unknown.len() < 2 {
            return;
        }
        let learning = async {
            let mut asked = tokio::task::JoinSet::new();
            for (launch, selected) in unknown {
                let cache = self.cache.clone();
                asked.spawn(async move {
                    let name = launch.name.clone();
                    let intact = tokio::task::spawn_blocking(move || check_intact(&name, &selected)).await;
                    if let Ok(Ok(())) = intact {
                        let _ = wire::schema_of(&launch, &cache).await;
                    }
                });
            }
            asked.join_all().await;
        };
        let _ = self.access.online.wait(learning);
    }

    fn launch(&self, provider: &Address, program: PathBuf) -> Launch {
        Launch::new(program).named(provider.to_string()).with_settings(self.access.settings())
    }

    fn page(&self, provider: &Address, selected: &Selected) -> Result<Option<Page>, Diagnostics> {
        match selected {
            Selected::BuiltIn { .. } => Ok(groma_builtin::find(provider).map(|found| {
                let provider = found.provider(&self.outside);
                Page { known: Known::InProcess(Arc::clone(&provider)), start: Start::InProcess(provider) }
            })),
            Selected::Unmanaged => self.running(provider).map(Some),
            Selected::Package { .. } | Selected::Overridden { .. } => {
                let failed = |problem: String| {
                    let detail = format!("{}: {problem}.", provider.for_display());
                    Diagnostic::error("Required plugins are not installed", detail)
                };
                let program = selected.executable(provider).map_err(|problem| failed(problem.to_string()))?;
                let program = program.ok_or_else(|| failed("it has no program".to_owned()))?;
                self.plugin(provider, program, selected).map(Some)
            }
        }
    }

    fn plugin(&self, provider: &Address, program: PathBuf, selected: &Selected) -> Result<Page, Diagnostics> {
        let launch = self.launch(provider, program);
        let known = if let Some(known) = self.cache.load(&launch.program) {
            known
        } else {
            check_intact(&launch.name, selected)?;
            let asked = self.access.online.wait(wire::schema_of(&launch, &self.cache))?;
            asked.map_err(|problem| not_usable(provider, &problem.diagnostics()))?
        };
        let start =
            Start::Plugin { launch: Box::new(launch), known: Arc::clone(&known), selected: Box::new(selected.clone()) };
        Ok(Page { known: Known::Plugin(known), start })
    }

    fn running(&self, provider: &Address) -> Result<Page, Diagnostics> {
        let text = self.access.choice.reattach.as_deref().unwrap_or_default();
        let wrong = |problem: String| Diagnostic::error("Invalid TF_REATTACH_PROVIDERS", problem);
        let all = Reattach::parse(text, self.access.settings()).map_err(|problem| wrong(problem.to_string()))?;
        let same = |name: &String| Address::parse_source(name).is_ok_and(|address| address.same_as(provider));
        let reattach = all.into_iter().find(|(name, _)| same(name)).map(|(_, reattach)| reattach);
        let reattach = reattach.ok_or_else(|| wrong(format!("{provider} is not in it")))?;
        let plugin = self.access.online.wait(PluginProvider::attach(&reattach))?;
        let plugin = plugin.map_err(|problem| not_usable(provider, &problem.diagnostics()))?;
        Ok(Page { known: Known::Plugin(Arc::clone(plugin.plugin_schema())), start: Start::Running(reattach) })
    }
}

/// Why a plugin is of no use, with its name.
fn not_usable(provider: &Address, problems: &Diagnostics) -> Diagnostics {
    let told = |problem: &Diagnostic| {
        let detail =
            format!("While loading schemas for plugin components: {}: {}", provider.for_display(), problem.detail);
        Diagnostic { summary: problem.summary.clone(), detail, ..problem.clone() }
    };
    problems.iter().map(told).collect()
}
