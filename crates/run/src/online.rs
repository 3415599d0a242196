//! What reaches outside: an http client with the user's credentials, service discovery, and the runtime that they run on.
//! Nothing of it exists before it is needed.

pub mod login;
pub mod trace;

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use groma_fetch::credentials::{Chain, Credentials, HelperProgram, StaticCredentials};
use groma_fetch::discovery::Discovery;
use groma_fetch::http::{Client, ClientSettings, ProxySettings};
use groma_model::diag::Diagnostic;
use groma_network::Networks;

use crate::cli_config::CliConfig;

/// The way outside. Making one costs nothing; what it needs is made when it is first used.
pub struct Online {
    config: CliConfig,
    variables: BTreeMap<String, String>,
    runtime: OnceLock<tokio::runtime::Runtime>,
    discovery: OnceLock<Discovery>,
    networks: Option<Networks>,
}

/// Runs something to its end, also from within something that is being run to its end.
pub(crate) fn wait_on<T>(handle: &tokio::runtime::Handle, work: impl Future<Output = T>) -> T {
    if tokio::runtime::Handle::try_current().is_ok() {
        return tokio::task::block_in_place(|| handle.block_on(work));
    }
    handle.block_on(work)
}

/// A thread to work on, beside the one that waits. What is done there takes little beside what providers do, and with more threads the
/// hops from one to another cost more than they give.
pub(crate) fn new_runtime() -> Result<tokio::runtime::Runtime, Diagnostic> {
    let made = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(1).build();
    made.map_err(|problem| {
        let detail = format!("The system gave no thread to work with: {problem}.");
        Diagnostic::error("Failed to start", detail)
    })
}

impl Online {
    /// With the settings of the CLI configuration, and proxies and search paths from the environment.
    pub fn new(config: CliConfig, variables: BTreeMap<String, String>) -> Self {
        Self { config, variables, runtime: OnceLock::new(), discovery: OnceLock::new(), networks: None }
    }

    /// The same, but connections lead only where they may. None for everywhere.
    pub fn within(self, networks: Option<Networks>) -> Self {
        Self { networks, ..self }
    }

    /// Where connections may lead. None for everywhere.
    pub(crate) fn networks(&self) -> Option<&Networks> {
        self.networks.as_ref()
    }

    /// The settings that it was made with.
    pub fn config(&self) -> &CliConfig {
        &self.config
    }

    /// All variables of the environment.
    pub fn variables(&self) -> &BTreeMap<String, String> {
        &self.variables
    }

    /// Runs something to its end. May be called while something else that was started here is run to its end on this thread:
    /// what evaluates expressions cannot wait otherwise.
    pub fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T, Diagnostic> {
        Ok(wait_on(self.runtime()?.handle(), work))
    }

    /// The runtime.
    pub fn runtime(&self) -> Result<&tokio::runtime::Runtime, Diagnostic> {
        if self.runtime.get().is_none() {
            let _ = self.runtime.set(new_runtime()?);
        }
        self.runtime.get().ok_or_else(|| Diagnostic::error("Failed to start", ""))
    }

    /// Finds services of hosts, and knows who we are there.
    pub fn discovery(&self) -> &Discovery {
        self.discovery.get_or_init(|| {
            let found = Discovery::new(Client::new(self.client_settings()), self.credentials());
            self.config.hosts.iter().fold(found, |found, (host, services)| {
                let services = services.iter().map(|(id, described)| (id.clone(), described.clone()));
                found.with_described_services(host.clone(), services.collect())
            })
        })
    }

    fn client_settings(&self) -> ClientSettings {
        let variable = |upper: &str| {
            let lower = upper.to_lowercase();
            let found = self.variables.get(upper).or_else(|| self.variables.get(&lower));
            found.filter(|value| !value.is_empty()).cloned()
        };
        let defaults = ClientSettings::default();
        let user_agent = match variable("TF_APPEND_USER_AGENT") {
            Some(more) => format!("{} {more}", defaults.user_agent),
            None => defaults.user_agent.clone(),
        };
        ClientSettings {
            user_agent,
            request_timeout: self.config.request_timeout,
            retries: self.config.retries,
            download_retries: self.config.download_retries,
            proxy: ProxySettings {
                http: variable("HTTP_PROXY"),
                https: variable("HTTPS_PROXY"),
                no_proxy: variable("NO_PROXY"),
            },
            networks: self.networks.clone(),
            ..defaults
        }
    }

    /// The environment first, then files, then the helper program.
    fn credentials(&self) -> Arc<dyn Credentials> {
        let mut sources: Vec<Arc<dyn Credentials>> = vec![
            Arc::new(StaticCredentials(self.config.environment_credentials.clone())),
            Arc::new(StaticCredentials(self.config.credentials.clone())),
        ];
        if let Some((_, helper)) = self.credentials_helper() {
            sources.push(Arc::new(helper));
        }
        Arc::new(Chain(sources))
    }

    /// The program that knows tokens, and its name.
    pub(crate) fn credentials_helper(&self) -> Option<(&str, HelperProgram)> {
        let helper = self.config.credentials_helper.as_ref()?;
        let program = self.helper_program(&helper.name);
        if program.is_none() {
            tracing::warn!(helper = helper.name, "the credentials helper is not installed");
        }
        Some((&helper.name, HelperProgram::new(program?, helper.args.clone())))
    }

    fn helper_program(&self, name: &str) -> Option<PathBuf> {
        let dirs = self.config.data_dirs.iter().map(|dir| dir.join("plugins"));
        let file = format!("terraform-credentials-{name}");
        dirs.map(|dir| dir.join(&file)).find(|path: &PathBuf| Path::is_file(path))
    }
}
