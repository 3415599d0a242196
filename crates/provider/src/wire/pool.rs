//! All providers of one run. A provider is started when it is first asked for, one process for each configuration, side by
//! side with others; all end together. Whether it is a plugin or lives in this process makes no difference to who asks.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use groma_model::address::Provider as Address;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;

use super::launch::Launch;
use super::plugin::{PluginProvider, PluginSchema};
use super::reattach::Reattach;
use super::schema_cache::SchemaCache;
use crate::api::{Provider, ProviderSchema};

/// Where a provider comes from.
#[derive(Clone)]
pub enum Source {
    /// A program.
    Plugin {
        /// How it is started.
        launch: Launch,
        /// What must be true before each start, such as that nobody has changed the program.
        check: Option<Arc<dyn Fn() -> Result<(), Diagnostics> + Send + Sync>>,
    },
    /// This process. Makes one for each configuration.
    InProcess(Arc<dyn Fn() -> Arc<dyn Provider> + Send + Sync>),
    /// A program that runs by itself.
    Running(Reattach),
}

/// What a provider offers. Looks like a [`ProviderSchema`].
#[derive(Clone)]
pub struct Offered(Whose);

#[derive(Clone)]
enum Whose {
    Plugin(Arc<PluginSchema>),
    Provider(Arc<dyn Provider>),
}

impl Deref for Offered {
    type Target = ProviderSchema;

    fn deref(&self) -> &ProviderSchema {
        match &self.0 {
            Whose::Plugin(schema) => schema.schema(),
            Whose::Provider(provider) => provider.schema(),
        }
    }
}

type Started = Result<Arc<dyn Provider>, Diagnostics>;
type Slots<K, T> = Mutex<Option<BTreeMap<K, Arc<OnceCell<T>>>>>;

/// All providers of one run.
pub struct Pool {
    sources: BTreeMap<Address, Source>,
    cache: Option<SchemaCache>,
    /// By configuration; none once all have ended.
    started: Slots<(Address, Str), Started>,
    offered: Slots<Address, Result<Offered, Diagnostics>>,
    /// Those that are asked what needs no configuration.
    asked: Slots<Address, Started>,
    /// Processes that had to tell their schema, for whoever wants one first.
    spare: Mutex<BTreeMap<Address, Arc<dyn Provider>>>,
}

impl Pool {
    /// Providers from these places. With a cache, no process is started only to tell its schema.
    pub fn new(sources: BTreeMap<Address, Source>, cache: Option<SchemaCache>) -> Self {
        let (started, offered) = (Mutex::new(Some(BTreeMap::new())), Mutex::new(Some(BTreeMap::new())));
        Self { sources, cache, started, offered, asked: Mutex::new(Some(BTreeMap::new())), spare: Mutex::default() }
    }

    /// What a provider offers. Whoever asks again is told the same, errors included.
    pub async fn schema(&self, address: &Address) -> Result<Offered, Diagnostics> {
        let slot = slot(&self.offered, address.clone()).ok_or_else(|| ended(address))?;
        slot.get_or_init(|| self.learn(address)).await.clone()
    }

    /// The provider for a configuration, whose key the caller chooses. It is configured by whoever comes first. Whoever
    /// asks again is told the same, errors included.
    pub async fn get(&self, address: &Address, configuration: &str) -> Started {
        let slot = slot(&self.started, (address.clone(), Str::from(configuration))).ok_or_else(|| ended(address))?;
        let started = slot.get_or_init(|| self.start(address)).await.clone();
        // It may have been starting while all others ended.
        if let (Ok(provider), true) = (&started, self.has_ended()) {
            let _ = provider.shutdown().await;
            return Err(ended(address));
        }
        started
    }

    /// A provider that is asked only what needs no configuration. It is one that runs already, or the one that the first
    /// configuration gets: asking costs no process of its own.
    pub async fn unconfigured(&self, address: &Address) -> Started {
        let slot = slot(&self.asked, address.clone()).ok_or_else(|| ended(address))?;
        let found = slot.get_or_init(|| async {
            let known = {
                let slots = self.started.lock().unwrap_or_else(PoisonError::into_inner);
                let own = slots.iter().flatten().filter(|((known, _), _)| known == address);
                own.map(|(_, slot)| slot).find_map(|slot| running(slot))
            };
            if let Some(known) = known {
                return Ok(known);
            }
            let started = self.start(address).await?;
            self.spare.lock().unwrap_or_else(PoisonError::into_inner).insert(address.clone(), Arc::clone(&started));
            Ok(started)
        });
        let found = found.await.clone();
        if let (Ok(provider), true) = (&found, self.has_ended()) {
            let _ = provider.shutdown().await;
            return Err(ended(address));
        }
        found
    }

    /// Asks all that run to give up what they are doing.
    pub async fn stop(&self) {
        let running = {
            let slots = self.started.lock().unwrap_or_else(PoisonError::into_inner);
            slots.iter().flat_map(BTreeMap::values).filter_map(|slot| running(slot)).collect::<Vec<_>>()
        };
        each(running, |provider| async move { provider.stop().await }).await;
    }

    /// Ends all. Nothing can be started any more. Takes no longer than the most stubborn of them, which is killed.
    pub async fn shutdown(&self) {
        let slots = self.started.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default();
        self.offered.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut running: Vec<_> = slots.values().filter_map(|slot| running(slot)).collect();
        running.extend(std::mem::take(&mut *self.spare.lock().unwrap_or_else(PoisonError::into_inner)).into_values());
        each(running, |provider| async move { provider.shutdown().await }).await;
    }

    fn has_ended(&self) -> bool {
        self.started.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn source(&self, address: &Address) -> Result<&Source, Diagnostics> {
        self.sources.get(address).ok_or_else(|| {
            Diagnostic::error("Missing required provider", format!("There is no provider {address}.")).into()
        })
    }

    async fn learn(&self, address: &Address) -> Result<Offered, Diagnostics> {
        match self.source(address)? {
            Source::InProcess(make) => return Ok(Offered(Whose::Provider(make()))),
            Source::Plugin { launch, .. } => {
                if let Some(known) = self.known(launch).await {
                    return Ok(Offered(Whose::Plugin(known)));
                }
            }
            Source::Running(_) => {}
        }
        let plugin = self.open(address).await?;
        let schema = Arc::clone(plugin.plugin_schema());
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).insert(address.clone(), Arc::new(plugin));
        Ok(Offered(Whose::Plugin(schema)))
    }

    /// What the cache knows of a program.
    async fn known(&self, launch: &Launch) -> Option<Arc<PluginSchema>> {
        let (cache, program) = (self.cache.clone()?, launch.program.clone());
        tokio::task::spawn_blocking(move || cache.load(&program)).await.ok().flatten()
    }

    async fn start(&self, address: &Address) -> Started {
        if let Some(spare) = self.spare.lock().unwrap_or_else(PoisonError::into_inner).remove(address) {
            return Ok(spare);
        }
        if let Source::InProcess(make) = self.source(address)? {
            return Ok(make());
        }
        Ok(Arc::new(self.open(address).await?))
    }

    /// Starts a plugin, or attaches to one.
    async fn open(&self, address: &Address) -> Result<PluginProvider, Diagnostics> {
        let opened = match self.source(address)? {
            Source::InProcess(_) => return Err(ended(address)),
            Source::Running(reattach) => PluginProvider::attach(reattach).await,
            Source::Plugin { launch, check } => {
                checked(check.clone()).await?;
                match &self.cache {
                    Some(cache) => PluginProvider::open_cached(launch, cache).await,
                    None => PluginProvider::open(launch, None).await,
                }
            }
        };
        opened.map_err(|error| error.diagnostics())
    }
}

/// The place for what is made once. None if nothing may be made any more.
fn slot<K: Ord, T>(slots: &Slots<K, T>, key: K) -> Option<Arc<OnceCell<T>>> {
    let mut slots = slots.lock().unwrap_or_else(PoisonError::into_inner);
    Some(Arc::clone(slots.as_mut()?.entry(key).or_default()))
}

fn running(slot: &OnceCell<Started>) -> Option<Arc<dyn Provider>> {
    slot.get()?.as_ref().ok().cloned()
}

fn ended(address: &Address) -> Diagnostics {
    Diagnostic::error("Provider is not available", format!("{address} cannot be started: the run has ended.")).into()
}

/// Does something with all of them at once.
async fn each<F: Future<Output = crate::api::Answer<()>> + Send + 'static>(
    providers: Vec<Arc<dyn Provider>>,
    act: impl Fn(Arc<dyn Provider>) -> F,
) {
    let acting: JoinSet<_> = providers.into_iter().map(act).collect();
    for result in acting.join_all().await {
        if let Err(error) = result {
            tracing::debug!(target: "groma::plugin", %error, "provider did not end well");
        }
    }
}

/// Runs a check, which may read whole files.
async fn checked(check: Option<Arc<dyn Fn() -> Result<(), Diagnostics> + Send + Sync>>) -> Result<(), Diagnostics> {
    let Some(check) = check else { return Ok(()) };
    let checked = tokio::task::spawn_blocking(move || check()).await;
    checked.unwrap_or_else(|error| Err(Diagnostic::error("Provider could not be checked", error.to_string()).into()))
}
