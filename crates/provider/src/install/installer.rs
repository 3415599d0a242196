//! The installer: for each provider that is needed it selects a version, makes sure that its package is in place and
//! checked, and says what is to be locked. Providers are worked on side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use groma_fetch::http::Client;
use groma_model::address::Provider;
use groma_model::version::{Constraints, Version};

use super::authentication::{AuthenticationResult, is_signature_required};
use super::builtins::{BuiltInUse, Builtins, NoBuiltins};
use super::cache::{CachedPackage, PackageDir};
use super::error::{Failure, InstallError, PackageError, Step};
use super::events::{Event, Observer, Quiet};
use super::fetching::{blocking, fetch};
use super::hash::Hash;
use super::locks::{Locks, ProviderLock, Requirements};
use super::placing::link;
use super::platform::Platform;
use super::selected::Selected;
use super::selection::{Decision, decide, select};
use super::signature::SignaturePolicy;
use super::source::Source;

/// How many providers are worked on at once, unless something else is said.
const PARALLEL: usize = 8;

/// What an installation may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Versions in the lock file are kept.
    #[default]
    Normal,
    /// The newest versions are taken.
    Upgrade,
    /// As normal, but the lock file may not get or lose providers.
    ReadOnly,
    /// As normal, but hashes in the lock file are added to and not checked (`providers lock`).
    AddHashes,
}

/// Where and how providers are installed.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The directory of packages of the working directory (`.terraform/providers`).
    pub target: PathBuf,
    /// The shared cache, if there is one.
    pub cache: Option<PathBuf>,
    /// Whether packages of the shared cache are used without knowing their hash from the lock file.
    pub cache_may_break_lock_file: bool,
    /// For which platform.
    pub platform: Platform,
    /// Providers that are taken from a directory (`dev_overrides`).
    pub overrides: BTreeMap<Provider, PathBuf>,
    /// Providers that run already (`TF_REATTACH_PROVIDERS`).
    pub unmanaged: BTreeSet<Provider>,
    /// When providers that are part of the program are used.
    pub built_in_use: BuiltInUse,
    /// How strict signatures are taken.
    pub signatures: SignaturePolicy,
    /// How many providers are worked on at once.
    pub parallel: usize,
}

impl Settings {
    /// Into a directory, for this platform, without a cache.
    pub fn new(target: impl Into<PathBuf>) -> Self {
        Self {
            target: target.into(),
            cache: None,
            cache_may_break_lock_file: false,
            platform: Platform::current(),
            overrides: BTreeMap::new(),
            unmanaged: BTreeSet::new(),
            built_in_use: BuiltInUse::default(),
            signatures: SignaturePolicy::default(),
            parallel: PARALLEL,
        }
    }
}

/// What an installation gives.
#[derive(Debug, Clone)]
pub struct Installed {
    /// What is to be locked.
    pub locks: Locks,
    /// What is used for each provider.
    pub packages: BTreeMap<Provider, Selected>,
}

/// Installs providers.
pub struct Installer {
    source: Arc<dyn Source>,
    client: Client,
    settings: Settings,
    builtins: Arc<dyn Builtins>,
    observer: Arc<dyn Observer>,
    target: PackageDir,
    cache: Option<PackageDir>,
}

/// A version that has been selected.
struct Wanted {
    provider: Provider,
    version: Version,
    constraints: Constraints,
    /// The lock of just this version.
    lock: Option<ProviderLock>,
}

/// One provider that is in place.
struct Done {
    selected: Selected,
    lock: Option<ProviderLock>,
}

/// What was done to have a package in a directory of packages.
enum Ensured {
    /// It was there; the hashes stay.
    Present,
    /// It is there now, with these hashes to lock.
    Fetched(Vec<Hash>),
}

impl Installer {
    /// Installs from a source, with a client for what it points to.
    pub fn new(source: Arc<dyn Source>, client: Client, settings: Settings) -> Self {
        let target = PackageDir::new(&settings.target, settings.platform.clone());
        let cache = settings.cache.as_ref().map(|root| PackageDir::new(root, settings.platform.clone()));
        Self { source, client, settings, builtins: Arc::new(NoBuiltins), observer: Arc::new(Quiet), target, cache }
    }

    /// Says which providers are part of the program.
    pub fn with_builtins(mut self, builtins: Arc<dyn Builtins>) -> Self {
        self.builtins = builtins;
        self
    }

    /// Says who is told what happens.
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Makes sure that everything that is needed is there. All providers are tried, even if some fail.
    pub async fn ensure(
        &self,
        requirements: &Requirements,
        locks: &Locks,
        mode: Mode,
    ) -> Result<Installed, InstallError> {
        self.tell(Event::Pending(requirements.clone()));
        let mut failures = BTreeMap::new();
        let mut decisions = BTreeMap::new();
        for (provider, constraints) in requirements {
            let context = (&self.settings, &*self.builtins);
            match decide(provider, constraints, locks, mode, context) {
                Ok(decision) => {
                    decisions.insert(provider, decision);
                }
                Err(failure) => self.fail(&mut failures, provider, failure, constraints),
            }
        }
        if mode == Mode::ReadOnly && failures.is_empty() {
            check_read_only(locks, &decisions)?;
        }
        // Boxed, so that whoever spawns an installation need not prove anything about the borrows in here.
        let mut work: Vec<BoxFuture<'_, (&Provider, Result<Done, Failure>)>> = Vec::with_capacity(decisions.len());
        for (provider, decision) in decisions {
            let constraints = &requirements[provider];
            work.push(Box::pin(async move {
                (provider, self.carry_out(provider, constraints, decision, locks, mode).await)
            }));
        }
        let mut finished = futures_util::stream::iter(work).buffer_unordered(self.settings.parallel.max(1));
        let mut installed = Installed { locks: locks.clone(), packages: BTreeMap::new() };
        while let Some((provider, result)) = finished.next().await {
            match result {
                Ok(done) => {
                    if let Some(lock) = done.lock {
                        installed.locks.set(lock);
                    }
                    installed.packages.insert(provider.clone(), done.selected);
                }
                Err(failure) => self.fail(&mut failures, provider, failure, &requirements[provider]),
            }
        }
        drop(finished);
        if !failures.is_empty() {
            return Err(InstallError::Providers(failures));
        }
        installed.drop_unneeded_locks();
        Ok(installed)
    }

    fn tell(&self, event: Event) {
        self.observer.observe(event);
    }

    fn fail(
        &self,
        failures: &mut BTreeMap<Provider, (Failure, Constraints)>,
        provider: &Provider,
        failure: Failure,
        constraints: &Constraints,
    ) {
        self.tell(Event::Failed { provider: provider.clone(), failure: failure.clone() });
        failures.insert(provider.clone(), (failure, constraints.clone()));
    }

    async fn carry_out(
        &self,
        provider: &Provider,
        constraints: &Constraints,
        decision: Decision,
        locks: &Locks,
        mode: Mode,
    ) -> Result<Done, Failure> {
        let provider = provider.clone();
        match decision {
            Decision::BuiltIn { mirrors } => {
                self.tell(Event::BuiltIn { provider, mirrors: mirrors.clone() });
                Ok(Done { selected: Selected::BuiltIn { mirrors }, lock: None })
            }
            Decision::Unmanaged => {
                self.tell(Event::Unmanaged(provider));
                Ok(Done { selected: Selected::Unmanaged, lock: None })
            }
            Decision::Overridden(directory) => {
                self.tell(Event::Overridden { provider, directory: directory.clone() });
                Ok(Done { selected: Selected::Overridden { directory }, lock: None })
            }
            Decision::Install { locked, not_admitted } => {
                if let Some(mirrors) = not_admitted {
                    let constraints = constraints.clone();
                    self.tell(Event::BuiltInNotAdmitted { provider: provider.clone(), mirrors, constraints });
                }
                let version = self.find_version(&provider, constraints, locked, locks).await?;
                self.tell(Event::Selected { provider: provider.clone(), version: version.clone() });
                // Another version has other packages, and so other hashes.
                let lock = locks.get(&provider).filter(|lock| lock.version == version).cloned();
                self.install(Wanted { provider, version, constraints: constraints.clone(), lock }, mode).await
            }
        }
    }

    async fn find_version(
        &self,
        provider: &Provider,
        constraints: &Constraints,
        locked: Option<Version>,
        locks: &Locks,
    ) -> Result<Version, Failure> {
        self.tell(Event::QueryBegin {
            provider: provider.clone(),
            constraints: constraints.clone(),
            locked: locked.is_some(),
        });
        if let Some(version) = locked.as_ref().filter(|version| self.is_at_hand(provider, version, locks)) {
            return Ok(version.clone());
        }
        let available =
            self.source.available_versions(provider).await.map_err(|error| Failure::Query(Box::new(error)))?;
        if !available.warnings.is_empty() {
            self.tell(Event::QueryWarnings { provider: provider.clone(), warnings: available.warnings });
        }
        select(constraints, locked.as_ref(), &available.versions)
    }

    /// Whether a locked package seems to be there, so that nobody has to be asked whether it still exists.
    fn is_at_hand(&self, provider: &Provider, version: &Version, locks: &Locks) -> bool {
        let has_hashes = locks.get(provider).is_some_and(|lock| !lock.usable_hashes().is_empty());
        let dirs = self.cache.iter().chain([&self.target].into_iter().filter(|_| has_hashes));
        dirs.into_iter().any(|dir| dir.find(provider, version).is_some())
    }

    async fn install(&self, wanted: Wanted, mode: Mode) -> Result<Done, Failure> {
        let failed = |step: Step, version: &Version| {
            let version = version.clone();
            move |error: PackageError| Failure::Package { version, step, error: Box::new(error) }
        };
        let locked = wanted.lock.as_ref().map(|lock| lock.hashes().to_vec()).unwrap_or_default();
        let present = self.target.find(&wanted.provider, &wanted.version);
        let hashes = if matches_lock(present.clone(), &wanted).await {
            self.tell(Event::AlreadyInstalled {
                provider: wanted.provider.clone(),
                version: wanted.version.clone(),
                in_cache: false,
            });
            locked
        } else {
            let directory = self.cache.as_ref().unwrap_or(&self.target);
            let ensured = self.ensure_in(directory, &wanted, mode).await?;
            if self.cache.is_some() {
                let link = self.link_from_cache(directory, &wanted).await;
                link.map_err(failed(Step::Link, &wanted.version))?;
            }
            match ensured {
                Ensured::Present => locked,
                Ensured::Fetched(hashes) => hashes,
            }
        };
        let package = CachedPackage {
            directory: self.target.path_of(&wanted.provider, &wanted.version),
            provider: wanted.provider.clone(),
            version: wanted.version.clone(),
        };
        let executable = package.executable().map_err(failed(Step::Fetch, &wanted.version))?;
        let lock = ProviderLock::new(wanted.provider, wanted.version, wanted.constraints, hashes);
        let selected = Selected::Package { package, executable, hashes: lock.usable_hashes() };
        let lock = Some(lock).filter(|lock| !lock.hashes().is_empty());
        Ok(Done { selected, lock })
    }

    /// Makes sure that a package is in a directory of packages.
    async fn ensure_in(&self, directory: &PackageDir, wanted: &Wanted, mode: Mode) -> Result<Ensured, Failure> {
        let (provider, version) = (&wanted.provider, &wanted.version);
        let in_cache = self.cache.is_some();
        let failed = |error: PackageError| Failure::Package {
            version: version.clone(),
            step: Step::Fetch,
            error: Box::new(error),
        };
        let _lock = directory.lock(provider, version, &*self.observer).await.map_err(failed)?;
        // Somebody else may have been at work until just now.
        let present = directory.find(provider, version);
        if matches_lock(present.clone(), wanted).await {
            self.tell(Event::AlreadyInstalled { provider: provider.clone(), version: version.clone(), in_cache });
            return Ok(Ensured::Present);
        }
        let known = wanted.lock.as_ref().map(ProviderLock::usable_hashes).unwrap_or_default();
        if let Some(package) = present
            && in_cache
            && self.settings.cache_may_break_lock_file
            && known.is_empty()
            && package.executable().is_ok()
        {
            return self.trust_cache(package).await.map_err(failed);
        }
        let meta = self.source.package(provider, version, &self.settings.platform).await;
        let meta = meta.map_err(|error| Failure::Meta { version: version.clone(), error: Box::new(error) })?;
        self.tell(Event::FetchBegin {
            provider: provider.clone(),
            version: version.clone(),
            location: meta.location.to_string(),
            in_cache,
        });
        let allowed = if mode == Mode::AddHashes { Vec::new() } else { known.clone() };
        let placed = fetch(&self.client, &meta, directory, &allowed, &*self.observer).await.map_err(failed)?;
        let hashes = self.hashes_to_lock(wanted, known, placed.files_hash, placed.authentication.as_ref());
        self.tell(Event::FetchSuccess {
            provider: provider.clone(),
            version: version.clone(),
            directory: directory.path_of(provider, version),
            authentication: placed.authentication,
        });
        Ok(Ensured::Fetched(hashes))
    }

    /// Takes a package of the shared cache as it is. The user has said that this is fine.
    async fn trust_cache(&self, package: CachedPackage) -> Result<Ensured, PackageError> {
        let (provider, version) = (package.provider.clone(), package.version.clone());
        let hash = blocking(move || package.files_hash()).await?;
        self.tell(Event::AlreadyInstalled { provider: provider.clone(), version: version.clone(), in_cache: true });
        let local = vec![hash.clone()];
        self.tell(Event::LockUpdated { provider, version, local, signed: Vec::new(), prior: Vec::new() });
        Ok(Ensured::Fetched(vec![hash]))
    }

    async fn link_from_cache(&self, cache: &PackageDir, wanted: &Wanted) -> Result<(), PackageError> {
        let (provider, version) = (&wanted.provider, &wanted.version);
        self.tell(Event::LinkBegin {
            provider: provider.clone(),
            version: version.clone(),
            cache: cache.root().to_owned(),
        });
        let _lock = self.target.lock(provider, version, &*self.observer).await?;
        let (source, destination) = (cache.path_of(provider, version), self.target.path_of(provider, version));
        blocking(move || link(&source, &destination)).await
    }

    /// All hashes to lock: what was locked, what was computed here, and what others vouch for.
    fn hashes_to_lock(
        &self,
        wanted: &Wanted,
        prior: Vec<Hash>,
        files: Hash,
        authentication: Option<&AuthenticationResult>,
    ) -> Vec<Hash> {
        let needs_signature = is_signature_required(&wanted.provider, self.settings.signatures);
        let mut local = authentication.map(|result| result.hashes_where(|known| known.verified)).unwrap_or_default();
        local.push(files);
        local.sort();
        local.dedup();
        let signed = authentication.map(|result| {
            result.hashes_where(|known| {
                if needs_signature {
                    !known.signed_by.is_empty()
                } else {
                    known.from_registry || known.from_trusted_mirror
                }
            })
        });
        let signed = signed.unwrap_or_default();
        self.tell(Event::LockUpdated {
            provider: wanted.provider.clone(),
            version: wanted.version.clone(),
            local: local.clone(),
            signed: signed.clone(),
            prior: prior.clone(),
        });
        prior.into_iter().chain(local).chain(signed).collect()
    }
}

impl Installed {
    /// What is locked but not needed, or part of the program, would make the lock file claim what is not there.
    fn drop_unneeded_locks(&mut self) {
        let packages = &self.packages;
        self.locks.retain(|lock| {
            packages.get(&lock.provider).is_some_and(|selected| !matches!(selected, Selected::BuiltIn { .. }))
        });
    }
}

/// Whether a package has one of the hashes that are locked.
async fn matches_lock(package: Option<CachedPackage>, wanted: &Wanted) -> bool {
    let hashes = wanted.lock.as_ref().map(ProviderLock::usable_hashes).unwrap_or_default();
    let Some(package) = package.filter(|_| !hashes.is_empty()) else { return false };
    blocking(move || package.matches_any(&hashes)).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "cannot check an installed package");
        false
    })
}

/// A lock file that may not change must be about exactly the providers that are installed.
fn check_read_only(locks: &Locks, decisions: &BTreeMap<&Provider, Decision>) -> Result<(), InstallError> {
    let is_installed = |decision: &Decision| matches!(decision, Decision::Install { .. });
    let missing: Vec<Provider> = decisions
        .iter()
        .filter(|(provider, decision)| is_installed(decision) && locks.get(provider).is_none())
        .map(|(provider, _)| (*provider).clone())
        .collect();
    let is_superfluous = |provider: &&Provider| {
        decisions.get(provider).is_none_or(|decision| matches!(decision, Decision::BuiltIn { .. }))
    };
    let superfluous: Vec<Provider> = locks.iter().map(|lock| &lock.provider).filter(is_superfluous).cloned().collect();
    if missing.is_empty() && superfluous.is_empty() {
        return Ok(());
    }
    Err(InstallError::ReadOnly { missing, superfluous })
}
