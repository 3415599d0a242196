//! Which cluster, and as whom: from settings, files and the environment, as the other tools find it out.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_model::diag::Diagnostic;
use groma_model::value::Value;
use groma_network::{Unreachable, hold_cluster};
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

/// A cluster that somebody is connected to, for as many backends as there are. Connecting takes longer than what they ask.
#[derive(Clone)]
pub struct Cluster {
    client: Client,
    runtime: Handle,
}

impl Cluster {
    /// The cluster of a configuration. Calls run where this is made.
    pub fn new(mut config: Config) -> Result<Self, kube::Error> {
        be_patient(&mut config);
        Ok(Self { client: Client::try_from(config)?, runtime: Handle::current() })
    }

    /// Where calls run.
    pub fn runtime(&self) -> &Handle {
        &self.runtime
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").finish_non_exhaustive()
    }
}

/// A cluster, and the namespace in it that is used. Connected to when it is first needed.
pub(super) struct Connection {
    way: Way,
    pub(super) namespace: String,
    runtime: Handle,
}

/// How to get there.
enum Way {
    /// Somebody is connected.
    There(Client),
    /// Whoever comes first connects.
    Connect(Box<Config>, OnceLock<Client>),
}

fn be_patient(config: &mut Config) {
    config.read_timeout = Some(PATIENCE);
    config.reset_reader_on_write = true;
    config.connect_timeout = Some(CONNECT);
}

impl Connection {
    /// From settings. None if something is wrong with them.
    pub(super) fn new(settings: &mut Settings<'_>, surroundings: &Surroundings, namespace: String) -> Option<Self> {
        if let Some(Cluster { client, runtime }) = surroundings.cluster.clone() {
            return Some(Self { way: Way::There(client), namespace, runtime });
        }
        let mut config = match initial_config(settings, surroundings, &namespace) {
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
        be_patient(&mut config);
        let networks = surroundings.limits.networks.as_ref();
        if let Err(problem) = surroundings.runtime.block_on(hold_cluster(networks, &mut config)) {
            let wrong = match problem {
                Unreachable::Refused(refused) => invalid("host", refused),
                Unreachable::Failed(problem) => invalid("host", format!("the server is not found: {problem}")),
            };
            settings.wrong.push(wrong);
            return None;
        }
        let way = Way::Connect(Box::new(config), OnceLock::new());
        Some(Self { way, namespace, runtime: surroundings.runtime.clone() })
    }

    /// Objects of a kind, in the namespace.
    pub(super) fn api<K>(&self) -> Result<Api<K>, Trouble>
    where
        K: kube::Resource<Scope = NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Ok(Api::namespaced(self.client()?, &self.namespace))
    }

    fn client(&self) -> Result<Client, Trouble> {
        let (config, made) = match &self.way {
            Way::There(client) => return Ok(client.clone()),
            Way::Connect(config, made) => (config, made),
        };
        if let Some(client) = made.get() {
            return Ok(client.clone());
        }
        // One process has one crypto provider; another client may have set it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A client has a task of its own.
        let _inside = self.runtime.enter();
        let client = Client::try_from((**config).clone()).map_err(|error| Trouble::connecting(causes(&error)))?;
        Ok(made.get_or_init(|| client).clone())
    }
}

/// Where no cluster is named, in words.
const NOTHING_NAMED: &str = "no configuration has been provided: set config_path (or KUBE_CONFIG_PATH), host (or KUBE_HOST), \
     or, in a pod, in_cluster_config";

fn initial_config(settings: &mut Settings<'_>, surroundings: &Surroundings, namespace: &str) -> Result<Config, String> {
    if settings.flag("in_cluster_config", "KUBE_IN_CLUSTER_CONFIG", false) {
        check_account(settings, surroundings, namespace)?;
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
        let place = match surroundings.readable(path) {
            Err(problem) if problem.kind() == ErrorKind::PermissionDenied => return Err(problem.to_string()),
            place => place.unwrap_or_else(|_| path.clone()),
        };
        if !place.exists() && (paths.len() > 1 || host.is_some()) {
            continue;
        }
        let read = Kubeconfig::read_from(place).map_err(|error| error.to_string())?;
        check_files(&read, surroundings)?;
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
            check_account(settings, surroundings, namespace)?;
            Config::incluster().map_err(|error| format!("{NOTHING_NAMED}; and this is no pod: {}", causes(&error)))?
        }
        (None, None) => return Err(NOTHING_NAMED.to_owned()),
    };
    if exec.is_some() {
        config.auth_info.exec = exec;
    }
    let starts_programs = config.auth_info.exec.is_some() || config.auth_info.auth_provider.is_some();
    match &surroundings.limits.no_programs {
        Some(advice) if starts_programs => {
            Err(format!("programs may not be started here, so none can get credentials. {advice}"))
        }
        _ => Ok(config),
    }
}

/// Our own account is used for others in their namespace only, and at no server but our own.
fn check_account(settings: &Settings<'_>, surroundings: &Surroundings, namespace: &str) -> Result<(), String> {
    let Some(account) = &surroundings.limits.account else { return Ok(()) };
    if namespace != account.namespace {
        return Err(format!(
            "the account of this program gives no access to namespace {namespace:?}, only to {:?}. {}",
            account.namespace, account.advice
        ));
    }
    if settings.text("host", "KUBE_HOST").is_some() {
        return Err(format!("the account of this program is not used with another host. {}", account.advice));
    }
    Ok(())
}

/// What a kubeconfig names must be where files may be read.
fn check_files(kubeconfig: &Kubeconfig, surroundings: &Surroundings) -> Result<(), String> {
    let clusters = kubeconfig.clusters.iter().filter_map(|named| named.cluster.as_ref());
    let users = kubeconfig.auth_infos.iter().filter_map(|named| named.auth_info.as_ref());
    let named = clusters
        .map(|cluster| &cluster.certificate_authority)
        .chain(users.flat_map(|user| [&user.client_certificate, &user.client_key, &user.token_file]));
    for path in named.flatten().filter(|path| !path.is_empty()) {
        match surroundings.readable(path) {
            Err(problem) if problem.kind() == ErrorKind::PermissionDenied => return Err(problem.to_string()),
            _ => {}
        }
    }
    Ok(())
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
