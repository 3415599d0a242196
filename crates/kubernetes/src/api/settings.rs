//! From what is written in `cluster` to what a client needs: kubeconfigs and their contexts, the pod's own account, certificates, proxies.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groma_kit::outside::Outside;
use kube::Config;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig, KubeconfigError};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::credentials::{Program, Source};
use super::proxies;
use crate::cluster::{ClusterSpec, pem_text};
use crate::failure::causes;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// Where a pod finds its account.
const POD_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// What a client is made of, and where its credentials come from.
pub(super) struct Settings {
    pub(super) config: Config,
    pub(super) source: Source,
}

/// Why there is no client.
pub(super) type Why = String;

/// What keeps a connection from being made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    /// The file that says how is not there. Something may still write it.
    #[error("{0}")]
    Missing(Why),
    #[error("{0}")]
    Other(Why),
}

impl From<Why> for Trouble {
    fn from(why: Why) -> Self {
        Self::Other(why)
    }
}

/// Reads what is written, and the files that it names.
pub(super) async fn settings(spec: &ClusterSpec, outside: &Outside) -> Result<Settings, Trouble> {
    let mut config = if spec.in_cluster {
        of_pod(outside)?
    } else if let Some(text) = &spec.kubeconfig {
        let mut kubeconfig = Kubeconfig::from_yaml(text).map_err(|error| kubeconfig_words(&error))?;
        resolve_files(&mut kubeconfig, &outside.directory);
        check_files(&kubeconfig, outside)?;
        of_kubeconfig(kubeconfig, spec.context.as_deref()).await?
    } else if let Some(paths) = &spec.kubeconfig_path {
        of_kubeconfig(read_files(paths, outside)?, spec.context.as_deref()).await?
    } else {
        inline(spec)?
    };
    if let Some(name) = &spec.tls_server_name {
        config.tls_server_name = Some(name.clone());
    }
    if let Some(user) = &spec.impersonate_user {
        config.auth_info.impersonate = Some(user.clone());
    }
    if !spec.impersonate_groups.is_empty() {
        config.auth_info.impersonate_groups = Some(spec.impersonate_groups.clone());
    }
    check_identity(&config.auth_info)?;
    config.proxy_url = match config.proxy_url {
        Some(proxy) => Some(proxies::checked(proxy)?),
        None => proxies::for_server(&config.cluster_url, &outside.environment),
    };
    config.connect_timeout = Some(CONNECT);
    // Requests are repeated by us, who know which ones may be.
    config.default_retry = false;
    let source = source(spec, &mut config.auth_info, outside)?;
    Ok(Settings { config, source })
}

/// Whoever is to be acted as has a name. Servers take an empty one for none, and the credentials themselves would be used: those of somebody
/// who may act as others.
fn check_identity(auth: &AuthInfo) -> Result<(), Why> {
    let is_given = |given: Option<&str>| given.is_some_and(|name| !name.trim().is_empty());
    let groups = auth.impersonate_groups.as_deref().unwrap_or_default();
    let asks = auth.impersonate.is_some()
        || auth.impersonate_uid.is_some()
        || auth.impersonate_user_extra.is_some()
        || auth.impersonate_groups.is_some();
    if asks && !is_given(auth.impersonate.as_deref()) {
        return Err("it is to be acted as somebody else, whose name is empty: give impersonate_user (or `as` in the kubeconfig), or \
                    leave out everything about that"
            .to_owned());
    }
    if groups.iter().any(|group| group.trim().is_empty()) {
        return Err("a group to act in has no name: leave it out of impersonate_groups".to_owned());
    }
    Ok(())
}

/// The address of a server, so that different ways to reach the same one are recognised.
pub(super) fn server(config: &Config) -> String {
    let url = &config.cluster_url;
    let host = url.host().unwrap_or_default().to_ascii_lowercase();
    let secure = url.scheme_str() != Some("http");
    let port = url.port_u16().unwrap_or(if secure { 443 } else { 80 });
    format!("{host}:{port}{}", url.path().trim_end_matches('/'))
}

fn inline(spec: &ClusterSpec) -> Result<Config, Why> {
    let host =
        spec.host.as_deref().ok_or("it names no cluster: give host, kubeconfig, kubeconfig_path or in_cluster")?;
    let url = host.trim().parse().map_err(|_| "host is no URL".to_owned())?;
    let mut config = Config::new(url);
    config.accept_invalid_certs = spec.insecure;
    if let Some(text) = &spec.cluster_ca_certificate
        && !spec.insecure
    {
        let pem = pem_text(text).ok_or("cluster_ca_certificate is neither PEM nor base64 of PEM")?;
        config.root_cert =
            Some(certificates(pem.as_bytes()).ok_or("there is no certificate in cluster_ca_certificate")?);
    }
    if let Some(proxy) = &spec.proxy_url {
        config.proxy_url = Some(proxies::parsed(proxy.trim())?);
    }
    let encoded = |name: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => match pem_text(text) {
            Some(pem) => Ok(Some(STANDARD.encode(pem))),
            None => Err(format!("{name} is neither PEM nor base64 of PEM")),
        },
    };
    config.auth_info.client_certificate_data = encoded("client_certificate", &spec.client_certificate)?;
    config.auth_info.client_key_data = encoded("client_key", &spec.client_key)?.map(Into::into);
    config.auth_info.token = spec.token.as_ref().map(|token| token.trim().to_owned().into());
    Ok(config)
}

fn certificates(pem: &[u8]) -> Option<Vec<Vec<u8>>> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found: Vec<Vec<u8>> = found.ok()?.into_iter().map(|certificate| certificate.to_vec()).collect();
    (!found.is_empty()).then_some(found)
}

/// The account of the pod that this runs in.
fn of_pod(outside: &Outside) -> Result<Config, Why> {
    if let Some(advice) = &outside.no_account {
        return Err(format!("in_cluster would use an account that is not this configuration's. {advice}"));
    }
    let variable = |name: &str| {
        let found = outside.environment.get(name).filter(|value| !value.is_empty());
        found.ok_or_else(|| format!("in_cluster is for pods, but the environment variable {name} is not set"))
    };
    let (host, port) = (variable("KUBERNETES_SERVICE_HOST")?, variable("KUBERNETES_SERVICE_PORT")?);
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    let url = format!("https://{host}:{port}").parse();
    let mut config = Config::new(url.map_err(|_| "the address of the cluster in the environment is none".to_owned())?);
    let file = format!("{POD_ACCOUNT}/ca.crt");
    let pem = std::fs::read(&file).map_err(|error| format!("{file} cannot be read: {error}"))?;
    config.root_cert = Some(certificates(&pem).ok_or_else(|| format!("there is no certificate in {file}"))?);
    config.root_cert_file = Some(PathBuf::from(file));
    config.auth_info.token_file = Some(format!("{POD_ACCOUNT}/token"));
    Ok(config)
}

/// The first file that says something counts, as in kubectl. Among several, those that do not exist are passed over.
fn read_files(paths: &str, outside: &Outside) -> Result<Kubeconfig, Trouble> {
    let paths: Vec<PathBuf> = std::env::split_paths(paths)
        .filter(|path| !path.as_os_str().is_empty())
        .map(|path| outside.directory.join(with_home(&path, outside)))
        .collect();
    let mut merged: Option<Kubeconfig> = None;
    for path in &paths {
        if matches!(outside.readable(path), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
            || !path.exists()
        {
            continue;
        }
        let place = outside.readable(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        let read = Kubeconfig::read_from(place).map_err(|error| kubeconfig_words(&error))?;
        check_files(&read, outside)?;
        merged = Some(match merged {
            None => read,
            Some(before) => before.merge(read).map_err(|error| kubeconfig_words(&error))?,
        });
    }
    merged.ok_or_else(|| match paths.as_slice() {
        [only] => Trouble::Missing(format!("{} does not exist", only.display())),
        _ => Trouble::Missing("none of the files in kubeconfig_path exists".to_owned()),
    })
}

fn with_home(path: &Path, outside: &Outside) -> PathBuf {
    let home = outside.environment.get("HOME").or_else(|| outside.environment.get("USERPROFILE"));
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => Path::new(home).join(rest),
        _ => path.to_owned(),
    }
}

async fn of_kubeconfig(kubeconfig: Kubeconfig, wanted: Option<&str>) -> Result<Config, Why> {
    let context = context(&kubeconfig, wanted)?;
    let own_proxy = has_proxy(&kubeconfig, &context);
    let options = KubeConfigOptions { context: Some(context), ..KubeConfigOptions::default() };
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let mut config = config.map_err(|error| kubeconfig_words(&error))?;
    // The client would use the proxy of the environment whatever the exceptions say.
    if !own_proxy {
        config.proxy_url = None;
    }
    Ok(config)
}

fn has_proxy(kubeconfig: &Kubeconfig, context: &str) -> bool {
    let context = kubeconfig.contexts.iter().find(|named| named.name == context);
    let cluster = context.and_then(|named| Some(named.context.as_ref()?.cluster.as_str()));
    let found = kubeconfig.clusters.iter().find(|named| Some(named.name.as_str()) == cluster);
    let found = found.and_then(|named| named.cluster.as_ref()?.proxy_url.as_deref());
    found.is_some_and(|proxy| !proxy.is_empty())
}

/// Which context: the one that is asked for, else the current one, else the only one.
pub(super) fn context(kubeconfig: &Kubeconfig, wanted: Option<&str>) -> Result<String, Why> {
    let names: Vec<&str> = kubeconfig.contexts.iter().map(|context| context.name.as_str()).collect();
    let listed = || {
        let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        quoted.join(", ")
    };
    if names.is_empty() {
        return Err("the kubeconfig has no contexts".to_owned());
    }
    if let Some(wanted) = wanted.filter(|wanted| !wanted.is_empty()) {
        return if names.contains(&wanted) {
            Ok(wanted.to_owned())
        } else {
            Err(format!("the kubeconfig has no context {wanted:?}; it has {}", listed()))
        };
    }
    let current = kubeconfig.current_context.as_deref().filter(|current| !current.is_empty());
    match (current, names.as_slice()) {
        (Some(current), _) if names.contains(&current) => Ok(current.to_owned()),
        (_, [only]) => Ok((*only).to_owned()),
        (Some(current), _) => Err(format!(
            "the current context {current:?} of the kubeconfig does not exist; name one in context: {}",
            listed()
        )),
        (None, _) => {
            Err(format!("the kubeconfig has several contexts and no current one; name one in context: {}", listed()))
        }
    }
}

/// Relative paths in a kubeconfig that is no file begin where the configuration is.
fn resolve_files(kubeconfig: &mut Kubeconfig, directory: &Path) {
    let resolve = |path: &mut Option<String>| {
        if let Some(given) = path.as_mut().filter(|given| !given.is_empty()) {
            *given = directory.join(&*given).to_string_lossy().into_owned();
        }
    };
    for cluster in kubeconfig.clusters.iter_mut().filter_map(|named| named.cluster.as_mut()) {
        resolve(&mut cluster.certificate_authority);
    }
    for user in kubeconfig.auth_infos.iter_mut().filter_map(|named| named.auth_info.as_mut()) {
        resolve(&mut user.client_certificate);
        resolve(&mut user.client_key);
        resolve(&mut user.token_file);
    }
}

/// What a kubeconfig names must be where this configuration may read. Files of tokens are looked at when they are read.
fn check_files(kubeconfig: &Kubeconfig, outside: &Outside) -> Result<(), Why> {
    let clusters = kubeconfig.clusters.iter().filter_map(|named| named.cluster.as_ref());
    let users = kubeconfig.auth_infos.iter().filter_map(|named| named.auth_info.as_ref());
    let named = clusters
        .map(|cluster| &cluster.certificate_authority)
        .chain(users.flat_map(|user| [&user.client_certificate, &user.client_key]));
    for path in named.flatten().filter(|path| !path.is_empty()) {
        match outside.readable(path) {
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return Err(error.to_string()),
            _ => {}
        }
    }
    Ok(())
}

/// Tokens in files and programs are asked by us: files may end with a new line, and programs are asked once, not for each part of a client.
fn source(spec: &ClusterSpec, user: &mut AuthInfo, outside: &Outside) -> Result<Source, Why> {
    let (file, exec) = (user.token_file.take(), user.exec.take());
    if user.token.is_some() {
        return Ok(Source::Client);
    }
    let inline = spec.host.is_some();
    if let Some(path) = spec.token_file.as_deref().filter(|_| inline) {
        return Ok(Source::File(outside.directory.join(with_home(Path::new(path), outside))));
    }
    if let Some(path) = file {
        return Ok(Source::File(outside.directory.join(path)));
    }
    let program = match (&spec.exec, exec) {
        (Some(exec), _) if inline => Some(Program::from(exec)),
        (_, Some(exec)) => Some(Program::of_kubeconfig(exec)?),
        _ => None,
    };
    let Some(program) = program else { return Ok(Source::Client) };
    if let Some(advice) = &outside.no_programs {
        return Err(format!("programs may not be started here, so exec cannot get credentials. {advice}")
            .trim()
            .to_owned());
    }
    Ok(Source::Program(Box::new(program)))
}

/// Why a kubeconfig cannot be used, without what it says: it has secrets.
pub(crate) fn kubeconfig_words(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::Parse(error) => match error.location() {
            Some(at) => format!("it is not valid YAML, or not made like a kubeconfig (line {})", at.line()),
            None => "it is not valid YAML, or not made like a kubeconfig".to_owned(),
        },
        KubeconfigError::ParseClusterUrl(_) => "the server in it is no URL".to_owned(),
        KubeconfigError::ParseProxyUrl(_) => "the proxy-url in it is no URL".to_owned(),
        KubeconfigError::ReadConfig(error, path) => format!("{} cannot be read: {error}", path.display()),
        KubeconfigError::LoadClusterOfContext(name) => format!("it has no cluster {name:?}, which the context names"),
        KubeconfigError::MissingClusterUrl => "the cluster in it has no server".to_owned(),
        other => causes(other),
    }
}
