//! What an installation tells while it runs. How that looks is for others.

use std::path::PathBuf;

use groma_model::address::Provider;
use groma_model::version::{Constraints, Version};

use super::authentication::AuthenticationResult;
use super::error::Failure;
use super::hash::Hash;
use super::locks::Requirements;

/// Something happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// It begins, with these providers.
    Pending(Requirements),
    /// A provider is part of the program. `mirrors` is the published version that it stands for.
    BuiltIn {
        /// Which provider.
        provider: Provider,
        /// The published version that it does the same as, where there is one.
        mirrors: Option<Version>,
    },
    /// A provider that is built in is installed nevertheless: the constraints do not admit the version that it mirrors.
    BuiltInNotAdmitted {
        /// Which provider.
        provider: Provider,
        /// The version that it would have been.
        mirrors: Version,
        /// What the configuration says.
        constraints: Constraints,
    },
    /// A provider is taken from a directory that the CLI configuration names; nothing is installed or locked.
    Overridden {
        /// Which provider.
        provider: Provider,
        /// Which directory.
        directory: PathBuf,
    },
    /// A provider runs already, outside; nothing is installed.
    Unmanaged(Provider),
    /// The source is asked for versions.
    QueryBegin {
        /// Which provider.
        provider: Provider,
        /// What the configuration says.
        constraints: Constraints,
        /// Whether the lock file has selected the version already.
        locked: bool,
    },
    /// The source has something to say to the user.
    QueryWarnings {
        /// Which provider.
        provider: Provider,
        /// What it says.
        warnings: Vec<String>,
    },
    /// A version is selected.
    Selected {
        /// Which provider.
        provider: Provider,
        /// Which version.
        version: Version,
    },
    /// The package is there already.
    AlreadyInstalled {
        /// Which provider.
        provider: Provider,
        /// Which version.
        version: Version,
        /// Whether it is in the shared cache, and not yet in the working directory.
        in_cache: bool,
    },
    /// A package is being fetched.
    FetchBegin {
        /// Which provider.
        provider: Provider,
        /// Which version.
        version: Version,
        /// From where.
        location: String,
        /// Whether it goes to the shared cache.
        in_cache: bool,
    },
    /// A download begins, perhaps again.
    DownloadBegin {
        /// Which provider.
        provider: Provider,
        /// How many bytes it will be, if the server says.
        total: Option<u64>,
    },
    /// So many more bytes have arrived.
    DownloadProgress {
        /// Which provider.
        provider: Provider,
        /// How many.
        bytes: u64,
    },
    /// A download has ended, well or not.
    DownloadEnd {
        /// Which provider.
        provider: Provider,
    },
    /// A package was fetched, checked and unpacked.
    FetchSuccess {
        /// Which provider.
        provider: Provider,
        /// Which version.
        version: Version,
        /// Where it is now.
        directory: PathBuf,
        /// How it was checked; none if it was in the cache already.
        authentication: Option<AuthenticationResult>,
    },
    /// A package of the shared cache is being linked to.
    LinkBegin {
        /// Which provider.
        provider: Provider,
        /// Which version.
        version: Version,
        /// The root of the cache.
        cache: PathBuf,
    },
    /// What will be locked for a package.
    LockUpdated {
        /// Which provider.
        provider: Provider,
        /// Which version.
        version: Version,
        /// The hashes that were computed here.
        local: Vec<Hash>,
        /// The hashes that somebody signed, or that may pass for it.
        signed: Vec<Hash>,
        /// The hashes that were locked before.
        prior: Vec<Hash>,
    },
    /// Another process is installing the same package; this one waits.
    CacheBusy {
        /// Which directory.
        directory: PathBuf,
    },
    /// A provider could not be installed.
    Failed {
        /// Which provider.
        provider: Provider,
        /// Why.
        failure: Failure,
    },
}

/// Told what happens, from several tasks at once.
pub trait Observer: Send + Sync {
    /// Something happened.
    fn observe(&self, event: Event);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Observer for Quiet {
    fn observe(&self, _event: Event) {}
}

/// The bytes of one provider's download, as events.
pub(super) struct DownloadEvents<'a> {
    pub(super) provider: &'a Provider,
    pub(super) observer: &'a dyn Observer,
}

impl groma_fetch::progress::Progress for DownloadEvents<'_> {
    fn started(&self, _what: &str, total: Option<u64>) {
        self.observer.observe(Event::DownloadBegin { provider: self.provider.clone(), total });
    }

    fn advanced(&self, bytes: u64) {
        self.observer.observe(Event::DownloadProgress { provider: self.provider.clone(), bytes });
    }

    fn finished(&self) {
        self.observer.observe(Event::DownloadEnd { provider: self.provider.clone() });
    }
}
