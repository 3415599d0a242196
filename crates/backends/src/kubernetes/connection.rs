//! Which cluster, and as whom: from settings, files and the environment, as the other tools find it out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::diag::Diagnostic;
use groma_model::value::Value;
use k8s_openapi::NamespaceResourceScope;
use kube::api::Api;
use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode, KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio::runtime::Handle;

use super::trouble::{Trouble, causes};
use crate::Surroundings;
use crate::settings::{Settings, invalid};

/// How long a server may take for an answer.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(15);

/// A cluster, and the namespace in it that is used. Connected to when it is first needed.
pub(super) struct Connection {
    config: Config,
    pub(super) namespace: String,
    runtime: Handle,
    client: OnceLock<Client>,
}

impl Connection {
    /// From settings. None if something is wrong with them.
    pub(super) fn new(settings: &mut Settings<'_>, surroundings: &Surroundings, namespace: String) -> Option<Self> {
        let mut config = match initial_config(settings, surroundings) {
            Ok(config) => config,
            Err(reason) => {
                settings.wrong.push(Diagnostic::error(
                    "Invalid backend configuration",
                    format!("Failed to initialize kubernetes configuration: {reason}."),
                ));
                return None;
            }
        };
        override_cluster(settings, &mut config)?;
        override_user(settings, &mut config.auth_info);
        config.read_timeout = Some(PATIENCE);
        config.reset_reader_on_write = true;
        config.connect_timeout = Some(CONNECT);
        Some(Self { config, namespace, runtime: surroundings.runtime.clone(), client: OnceLock::new() })
    }

    /// Objects of a kind, in the namespace.
    pub(super) fn api<K>(&self) -> Result<Api<K>, Trouble>
    where
        K: kube::Resource<Scope = NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        if let Some(client) = self.client.get() {
            return Ok(Api::namespaced(client.clone(), &self.namespace));
        }
        // One process has one crypto provider; another client may have set it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A client has a task of its own.
        let _inside = self.runtime.enter();
        let made = Client::try_from(self.config.clone()).map_err(|error| Trouble::connecting(causes(&error)))?;
        Ok(Api::namespaced(self.client.get_or_init(|| made).clone(), &self.namespace))
    }
}

/// Where no cluster is named, in words.
const NOTHING_NAMED: &str = "no configuration has been provided: set config_path (or KUBE_CONFIG_PATH), host (or KUBE_HOST), \
     or, in a pod, in_cluster_config";

fn initial_config(settings: &mut Settings<'_>, surroundings: &Surroundings) -> Result<Config, String> {
    if settings.flag("in_cluster_config", "KUBE_IN_CLUSTER_CONFIG", false) {
        return Config::incluster().map_err(|error| causes(&error));
    }
    let host = settings.text("host", "KUBE_HOST");
    let mut paths = config_paths(settings, surroundings);
    if !settings.flag("load_config_file", "KUBE_LOAD_CONFIG_FILE", true) {
        paths.clear();
    }
    let mut merged: Option<Kubeconfig> = None;
    for path in &paths {
        // One that is not there is no error among several, nor if everything is said otherwise.
        if !path.exists() && (paths.len() > 1 || host.is_some()) {
            continue;
        }
        let read = Kubeconfig::read_from(path).map_err(|error| error.to_string())?;
        merged = Some(match merged {
            None => read,
            Some(before) => before.merge(read).map_err(|error| error.to_string())?,
        });
    }
    let exec = exec(settings);
    let mut config = match (merged, host) {
        (Some(kubeconfig), host) => from_files(settings, kubeconfig, host.is_some(), surroundings)?,
        (None, Some(_)) => Config::new(http::Uri::from_static("https://localhost")),
        (None, None) if (surroundings.variable)("KUBERNETES_SERVICE_HOST").is_some() => {
            Config::incluster().map_err(|error| format!("{NOTHING_NAMED}; and this is no pod: {}", causes(&error)))?
        }
        (None, None) => return Err(NOTHING_NAMED.to_owned()),
    };
    if exec.is_some() {
        config.auth_info.exec = exec;
    }
    Ok(config)
}

/// What files say about the context that is chosen.
fn from_files(
    settings: &Settings<'_>,
    kubeconfig: Kubeconfig,
    has_host: bool,
    surroundings: &Surroundings,
) -> Result<Config, String> {
    let options = KubeConfigOptions {
        context: settings.text("config_context", "KUBE_CTX"),
        cluster: settings.text("config_context_cluster", "KUBE_CTX_CLUSTER"),
        user: settings.text("config_context_auth_info", "KUBE_CTX_AUTH_INFO"),
    };
    match surroundings.runtime.block_on(Config::from_custom_kubeconfig(kubeconfig, &options)) {
        Ok(config) => Ok(config),
        // A file in which nothing is chosen does not matter if the settings name a cluster.
        Err(kube::config::KubeconfigError::CurrentContextNotSet) if has_host => {
            Ok(Config::new(http::Uri::from_static("https://localhost")))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The files to read.
fn config_paths(settings: &Settings<'_>, surroundings: &Surroundings) -> Vec<PathBuf> {
    let mut named: Vec<String> = settings.text("config_path", "KUBE_CONFIG_PATH").into_iter().collect();
    if named.is_empty() {
        named = settings.texts("config_paths");
    }
    if named.is_empty() {
        let listed = (surroundings.variable)("KUBE_CONFIG_PATHS").unwrap_or_default();
        named = std::env::split_paths(&listed).map(|path| path.to_string_lossy().into_owned()).collect();
    }
    let expand = |name: &String| {
        let rest = name.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match (rest, &surroundings.home) {
            (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
            _ => surroundings.working_dir.join(Path::new(name)),
        }
    };
    named.iter().filter(|name| !name.is_empty()).map(expand).collect()
}

/// The program that gets credentials.
fn exec(settings: &Settings<'_>) -> Option<ExecConfig> {
    let given = settings.given("exec").and_then(Value::as_elements)?.first()?;
    let inner = Settings::inner(given);
    let env = inner.texts_by_name("env");
    let env = env.into_iter().map(|(name, value)| HashMap::from([("name".into(), name), ("value".into(), value)]));
    Some(ExecConfig {
        api_version: inner.text("api_version", ""),
        command: inner.text("command", ""),
        args: Some(inner.texts("args")),
        env: Some(env.collect()),
        interactive_mode: Some(ExecInteractiveMode::Never),
        ..ExecConfig::default()
    })
}

/// What settings say about the cluster counts more than what files say. None if it is wrong.
fn override_cluster(settings: &mut Settings<'_>, config: &mut Config) -> Option<()> {
    if let Some(host) = settings.text("host", "KUBE_HOST") {
        let with_scheme = if host.contains("://") { host } else { format!("https://{host}") };
        match with_scheme.parse() {
            Ok(url) => config.cluster_url = url,
            Err(error) => {
                settings.wrong.push(invalid("host", format!("it is no address: {error}")));
                return None;
            }
        }
    }
    if settings.flag("insecure", "KUBE_INSECURE", config.accept_invalid_certs) {
        config.accept_invalid_certs = true;
    }
    if let Some(pem) = settings.text("cluster_ca_certificate", "KUBE_CLUSTER_CA_CERT_DATA") {
        let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
        match found {
            Ok(found) if !found.is_empty() => {
                config.root_cert = Some(found.into_iter().map(|certificate| certificate.to_vec()).collect());
                config.root_cert_file = None;
            }
            _ => {
                settings.wrong.push(invalid("cluster_ca_certificate", "there is no certificate in it"));
                return None;
            }
        }
    }
    Some(())
}

/// What settings say about who this is counts more than what files say.
fn override_user(settings: &Settings<'_>, user: &mut AuthInfo) {
    if let Some(username) = settings.text("username", "KUBE_USER") {
        user.username = Some(username);
    }
    if let Some(password) = settings.text("password", "KUBE_PASSWORD") {
        user.password = Some(password.into());
    }
    if let Some(certificate) = settings.text("client_certificate", "KUBE_CLIENT_CERT_DATA") {
        user.client_certificate_data = Some(STANDARD.encode(certificate));
    }
    if let Some(key) = settings.text("client_key", "KUBE_CLIENT_KEY_DATA") {
        user.client_key_data = Some(STANDARD.encode(key).into());
    }
    if let Some(token) = settings.text("token", "KUBE_TOKEN") {
        user.token = Some(token.into());
        user.token_file = None;
    }
}
