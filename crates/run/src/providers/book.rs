//! The providers of a configuration, as far as they are there: their schemas, and themselves once they are asked something.
//!
//! Schemas of plugins come from a cache on disk where possible, so no process is started only to look one up.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use futures_util::future::join_all;
use groma_builtin::Outside;
use groma_kit::confines::Confines;
use groma_model::address::{Provider as Address, ProviderInstance};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::version::Constraints;
use groma_provider::api::{Provider, ProviderSchema};
use groma_provider::install::{Locks, Requirements, Selected, SelectionError, Settings, find_selected};
use groma_provider::wire::{self, Launch, Offered, Pool, Reattach, SchemaCache, Security, Source};

use super::install::refused;
use super::surroundings::surroundings;
use super::{ProgramBuiltins, ProviderChoice, builtins};
use crate::backend::Elsewhere;
use crate::lock_file;
use crate::online::Online;
use crate::session::Session;
use crate::trace;

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
    /// The plugins among them.
    pool: Option<Pool>,
}

/// A provider, as far as it is known without asking.
struct Page {
    source: PageSource,
    /// What it offers, for those who keep it.
    schema: OnceLock<Arc<ProviderSchema>>,
}

enum PageSource {
    /// The one that is asked what needs no configuration, and how to make more.
    InProcess(Arc<dyn Provider>, Arc<dyn Fn() -> Arc<dyn Provider> + Send + Sync>),
    Plugin(Offered),
}

/// A provider that was started.
pub(crate) enum Started {
    /// Inside the program. It belongs to whoever asked.
    InProcess(Arc<dyn Provider>),
    /// A process. Who asks again for the same gets the same.
    Plugin(Arc<dyn Provider>),
}

impl Page {
    fn new(source: PageSource) -> Self {
        Self { source, schema: OnceLock::new() }
    }

    fn offered(&self) -> &ProviderSchema {
        match &self.source {
            PageSource::InProcess(provider, _) => provider.schema(),
            PageSource::Plugin(offered) => offered,
        }
    }
}

impl ProviderBook {
    /// What a provider offers. None if it is not there.
    pub fn schema(&self, provider: &Address) -> Option<&ProviderSchema> {
        Some(self.page(provider)?.1.offered())
    }

    /// The same, to keep. All that ask share one.
    pub fn shared_schema(&self, provider: &Address) -> Option<Arc<ProviderSchema>> {
        let (_, page) = self.page(provider)?;
        Some(Arc::clone(page.schema.get_or_init(|| Arc::new(page.offered().clone()))))
    }

    /// The page of a provider. The two public registries offer the same ones.
    fn page(&self, provider: &Address) -> Option<(&Address, &Page)> {
        let same = || self.pages.iter().find(|(known, _)| known.same_as(provider));
        self.pages.get_key_value(provider).or_else(same)
    }

    /// Starts a provider for a configuration, which is given to it by whoever asked. `attempt` tells apart those that are
    /// started for the same one.
    pub(crate) async fn start(&self, instance: &ProviderInstance, attempt: u32) -> Result<Started, Diagnostics> {
        let address = &instance.config.provider;
        match (self.page(address), &self.pool) {
            (Some((_, Page { source: PageSource::InProcess(_, make), .. })), _) => Ok(Started::InProcess(make())),
            (Some((known, Page { source: PageSource::Plugin(_), .. })), Some(pool)) => {
                pool.get(known, &format!("{instance} {attempt}")).await.map(Started::Plugin)
            }
            _ => {
                let detail = format!("{} is needed for {instance}, but it is not there.", address.for_display());
                Err(Diagnostic::error("Missing required provider", detail).into())
            }
        }
    }

    /// All that are there.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.pages.keys()
    }

    /// Starts all of them at once. Those inside the program are there already.
    pub(crate) async fn start_all(&self) -> (BTreeMap<Address, Arc<dyn Provider>>, Diagnostics) {
        let mut started = BTreeMap::new();
        let mut diagnostics = Diagnostics::new();
        let mut starting = Vec::new();
        for (address, page) in &self.pages {
            match (&page.source, &self.pool) {
                (PageSource::InProcess(provider, _), _) => {
                    started.insert(address.clone(), Arc::clone(provider));
                }
                (PageSource::Plugin(_), Some(pool)) => {
                    starting.push(async move { (address, pool.unconfigured(address).await) });
                }
                (PageSource::Plugin(_), None) => {}
            }
        }
        for (address, result) in join_all(starting).await {
            if let Some(provider) = diagnostics.take(result) {
                started.insert(address.clone(), provider);
            }
        }
        (started, diagnostics)
    }

    /// Ends all that were started. Whether they end well is of no interest any more.
    pub(crate) fn close(&self, online: &Online) {
        if let Some(pool) = &self.pool {
            let _ = online.wait(pool.shutdown());
        }
    }
}

const NOT_INSTALLED: &str = "Required plugins are not installed";

/// A package that was tampered with must not run.
fn check_intact(name: &str, selected: &Selected, memory: &Path) -> Result<(), Diagnostic> {
    let failed = |problem: String| Diagnostic::error(NOT_INSTALLED, format!("{name}: {problem}."));
    match selected.is_intact(memory) {
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
            outside: self.surroundings(),
            environment: self.own_environment(),
            no_plugins: self.start().bounds.no_plugins.clone(),
            cache: SchemaCache::new(self.schema_cache_dir(access)),
        };
        let mut sources = BTreeMap::new();
        for (provider, selected) in selected {
            match opening.find(&provider, &selected) {
                Ok(Some(Found::InProcess(make))) => {
                    book.pages.insert(provider, Page::new(PageSource::InProcess(make(), make)));
                }
                Ok(Some(Found::Plugin(source))) => {
                    sources.insert(provider, source);
                }
                Ok(None) => {}
                Err(problems) => diagnostics.extend(problems),
            }
        }
        diagnostics.extend(opening.learn(sources, &mut book));
        (book, diagnostics)
    }

    fn surroundings(&self) -> Outside {
        let directory = self.start().working_dir.join(&self.start().root_dir);
        let (encryption, network) = (self.remote_encryption.clone(), self.network_elsewhere());
        let bounds = &self.start().bounds;
        let files = bounds.files.as_ref().map(Confines::undivided);
        let mut outside = surroundings(directory.clone(), Elsewhere { directory, encryption, network, files });
        outside.no_programs.clone_from(&bounds.no_programs);
        outside.files.clone_from(&bounds.files);
        outside.no_account = bounds.account.as_ref().map(|account| account.advice.clone());
        outside.networks.clone_from(&bounds.networks);
        if let Some(environment) = self.own_environment() {
            outside.environment = Arc::new(environment);
        }
        if let Some(parent) = trace::traceparent() {
            Arc::make_mut(&mut outside.environment).insert("TRACEPARENT".to_owned(), parent);
        }
        outside
    }

    /// What providers find in their environment. None if that is ours.
    fn own_environment(&self) -> Option<BTreeMap<String, String>> {
        self.start().bounds.own_environment.then(|| self.start().environment.clone())
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
    /// What plugins find in their environment. None if that is ours.
    environment: Option<BTreeMap<String, String>>,
    /// Plugins are not started, and how that could be allowed.
    no_plugins: Option<String>,
    cache: SchemaCache,
}

/// Where a provider is.
enum Found {
    InProcess(Arc<dyn Fn() -> Arc<dyn Provider> + Send + Sync>),
    Plugin(Source),
}

impl Opening<'_> {
    /// Learns what plugins offer: from the cache, and side by side from those that it does not know.
    fn learn(&self, sources: BTreeMap<Address, Source>, book: &mut ProviderBook) -> Diagnostics {
        let mut diagnostics = Diagnostics::new();
        if sources.is_empty() {
            return diagnostics;
        }
        let addresses: Vec<Address> = sources.keys().cloned().collect();
        let pool = Pool::new(sources, Some(self.cache.clone()));
        let learning = join_all(addresses.iter().map(|address| pool.schema(address)));
        match self.access.online.wait(learning) {
            Err(problem) => diagnostics.push(problem),
            Ok(learnt) => {
                for (address, offered) in addresses.into_iter().zip(learnt) {
                    let offered = offered.map_err(|problems| not_usable(&address, &problems));
                    let page = diagnostics.take(offered).map(|offered| Page::new(PageSource::Plugin(offered)));
                    book.pages.extend(page.map(|page| (address, page)));
                }
            }
        }
        book.pool = Some(pool);
        diagnostics
    }

    fn find(&self, provider: &Address, selected: &Selected) -> Result<Option<Found>, Diagnostics> {
        match selected {
            Selected::BuiltIn { .. } => {
                let outside = self.outside.clone();
                Ok(builtins::find(provider).map(|found| Found::InProcess(Arc::new(move || found.provider(&outside)))))
            }
            _ if self.no_plugins.is_some() => {
                Err(refused(provider, self.no_plugins.as_deref().unwrap_or_default()).into())
            }
            Selected::Unmanaged => {
                self.running(provider).map(|reattach| Some(Found::Plugin(Source::Running(reattach))))
            }
            Selected::Package { .. } | Selected::Overridden { .. } => {
                let failed = |problem: String| {
                    Diagnostic::error(NOT_INSTALLED, format!("{}: {problem}.", provider.for_display()))
                };
                let program = selected.executable(provider).map_err(|problem| failed(problem.to_string()))?;
                let program = program.ok_or_else(|| failed("it has no program".to_owned()))?;
                let launch = Launch::new(program).named(provider.to_string()).with_settings(self.access.settings());
                let launch = match &self.environment {
                    None => launch,
                    Some(environment) => launch.with_only(environment),
                };
                let launch = match trace::traceparent() {
                    None => launch,
                    Some(parent) => launch.with_env("TRACEPARENT", parent),
                };
                let (name, selected, memory) = (launch.name.clone(), selected.clone(), self.cache.dir().to_owned());
                let check = move || check_intact(&name, &selected, &memory).map_err(Diagnostics::from);
                Ok(Some(Found::Plugin(Source::Plugin { launch, check: Some(Arc::new(check)) })))
            }
        }
    }

    fn running(&self, provider: &Address) -> Result<Reattach, Diagnostics> {
        let text = self.access.choice.reattach.as_deref().unwrap_or_default();
        let wrong = |problem: String| Diagnostic::error("Invalid TF_REATTACH_PROVIDERS", problem);
        let all = Reattach::parse(text, self.access.settings()).map_err(|problem| wrong(problem.to_string()))?;
        let same = |name: &String| Address::parse_source(name).is_ok_and(|address| address.same_as(provider));
        let reattach = all.into_iter().find(|(name, _)| same(name)).map(|(_, reattach)| reattach);
        Ok(reattach.ok_or_else(|| wrong(format!("{provider} is not in it")))?)
    }
}

/// Why a plugin is of no use, with its name.
fn not_usable(provider: &Address, problems: &Diagnostics) -> Diagnostics {
    let told = |problem: &Diagnostic| {
        // It was not even started.
        if problem.summary == NOT_INSTALLED {
            return problem.clone();
        }
        let detail =
            format!("While loading schemas for plugin components: {}: {}", provider.for_display(), problem.detail);
        Diagnostic { summary: problem.summary.clone(), detail, ..problem.clone() }
    };
    problems.iter().map(told).collect()
}
