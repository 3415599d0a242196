//! What the tests share: a registry, a directory, and an observer that remembers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use groma_fetch::credentials::{StaticCredentials, Token};
use groma_fetch::discovery::Discovery;
use groma_fetch::host::Host;
use groma_fetch::http::{Client, ClientSettings};
use groma_model::address::Provider;
use groma_model::version::{Constraints, Version};
use sha2::Digest;

use crate::install::source::{Registry, RegistrySettings, Source};
use crate::install::testing::{Release, TestRegistry};
use crate::install::*;

/// A registry that plays one host, and a directory to install to.
pub(super) struct World {
    pub(super) registry: TestRegistry,
    pub(super) root: tempfile::TempDir,
    pub(super) settings: Settings,
    pub(super) locks: Locks,
    pub(super) client: Client,
    pub(super) host: String,
    /// What the registry is told about who asks.
    pub(super) token: Option<String>,
    /// Instead of the registry.
    pub(super) source: Option<Arc<dyn Source>>,
    observed: Arc<Observed>,
}

#[derive(Default)]
struct Observed(Mutex<Vec<Event>>);

impl Observer for Observed {
    fn observe(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

struct Random;

impl Builtins for Random {
    fn find(&self, provider: &Provider) -> Option<BuiltIn> {
        (provider.ty.as_str() == "random").then(|| BuiltIn::Mirrors(Version::new(3, 7, 2)))
    }
}

pub(super) fn address(source: &str) -> Provider {
    Provider::parse_source_at(source, "example.com").unwrap()
}

pub(super) fn constraints(asked: &[(&str, &str)]) -> Requirements {
    asked.iter().map(|(source, text)| (address(source), Constraints::parse_provider(text).unwrap())).collect()
}

pub(super) fn version_of(installed: &Installed, source: &str) -> String {
    match &installed.packages[&address(source)] {
        Selected::Package { package, .. } => package.version.to_string(),
        other => panic!("{other:?}"),
    }
}

pub(super) fn zh(archive: &[u8]) -> String {
    format!("zh:{}", hex::encode(sha2::Sha256::digest(archive)))
}

/// Retries quickly, and gives up quickly.
pub(super) fn client_settings() -> ClientSettings {
    ClientSettings {
        backoff: Duration::from_millis(1),
        max_backoff: Duration::from_millis(5),
        request_timeout: Duration::from_secs(5),
        idle_timeout: Duration::from_secs(5),
        ..ClientSettings::default()
    }
}

impl World {
    pub(super) fn new() -> Self {
        Self::for_host("example.com")
    }

    pub(super) fn for_host(host: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        let mut settings = Settings::new(root.path().join("target"));
        settings.platform = "linux_amd64".parse().unwrap();
        Self {
            registry: TestRegistry::start().unwrap(),
            root,
            settings,
            locks: Locks::new(),
            client: Client::new(client_settings()),
            host: host.to_owned(),
            token: None,
            source: None,
            observed: Arc::default(),
        }
    }

    pub(super) fn publish(&self, ty: &str, version: &str) -> Release {
        let release = Release::new(ty, version);
        self.registry.publish(&release, &self.host);
        release
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(super) fn target(&self) -> PathBuf {
        self.path("target")
    }

    /// Where hashes of files are remembered.
    pub(super) fn memory(&self) -> PathBuf {
        self.path("memory")
    }

    pub(super) fn discovery(&self) -> Discovery {
        let services = BTreeMap::from([("providers.v1".to_owned(), self.registry.providers_url())]);
        let host = Host::parse(&self.host).unwrap();
        let tokens = self.token.iter().map(|token| (host.clone(), Token::new(token))).collect();
        let credentials = Arc::new(StaticCredentials(tokens));
        Discovery::new(self.client.clone(), credentials).with_services(host, services)
    }

    pub(super) fn source(&self) -> Arc<dyn Source> {
        let settings = RegistrySettings { signatures: self.settings.signatures, core_version: "1.12.6".to_owned() };
        self.source.clone().unwrap_or_else(|| Arc::new(Registry::new(self.discovery(), settings)))
    }

    pub(super) async fn install(&self, asked: &[(&str, &str)]) -> Result<Installed, InstallError> {
        self.install_as(asked, Mode::Normal).await
    }

    pub(super) async fn install_as(&self, asked: &[(&str, &str)], mode: Mode) -> Result<Installed, InstallError> {
        let installer = Installer::new(self.source(), self.client.clone(), self.settings.clone())
            .with_builtins(Arc::new(Random))
            .with_observer(self.observed.clone());
        installer.ensure(&constraints(asked), &self.locks, mode).await
    }

    /// Installs, and tells the one diagnostic that there must be.
    pub(super) async fn failure(&self, asked: &[(&str, &str)]) -> (String, String) {
        let error = self.install(asked).await.unwrap_err();
        let diagnostics = error.diagnostics();
        let all: Vec<_> = diagnostics.iter().collect();
        assert_eq!(all.len(), 1, "{error}");
        (all[0].summary.clone(), all[0].detail.clone())
    }

    pub(super) fn events(&self) -> Vec<Event> {
        self.observed.0.lock().unwrap().clone()
    }

    pub(super) fn fetched_with_trust(&self) -> Vec<Trust> {
        let trust = |event: Event| match event {
            Event::FetchSuccess { authentication, .. } => {
                Some(authentication.map_or(Trust::Unauthenticated, |result| result.trust()))
            }
            _ => None,
        };
        self.events().into_iter().filter_map(trust).collect()
    }

    pub(super) fn downloaded(&self) -> u64 {
        let bytes = |event: &Event| if let Event::DownloadProgress { bytes, .. } = event { *bytes } else { 0 };
        self.events().iter().map(bytes).sum()
    }
}
