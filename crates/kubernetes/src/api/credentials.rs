//! Credentials that do not last: tokens in files, and programs that get them. Asked again before they expire, and when the server refuses them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use groma_kit::Moment;
use groma_kit::outside::Outside;
use http::HeaderValue;
use kube::config::ExecConfig;
use serde::Deserialize;
use serde_json::json;

use crate::Json;
use crate::cluster::ExecSpec;
use crate::failure::{Failure, FailureKind, shortened};

/// A file is read again so often.
const FILE_LASTS: Duration = Duration::from_mins(1);
/// Credentials are renewed so long before they expire.
const MARGIN: Duration = Duration::from_secs(10);
/// A program may take so long.
const PROGRAM_PATIENCE: Duration = Duration::from_mins(1);

/// Where credentials come from.
pub(super) enum Source {
    /// They are in the client's own settings.
    Client,
    /// A token in a file.
    File(PathBuf),
    /// A program.
    Program(Box<Program>),
}

/// A program that gets credentials.
pub(super) struct Program {
    command: String,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    api_version: String,
    /// What it is told about the cluster, if it wants to know.
    cluster: Option<Json>,
    install_hint: Option<String>,
}

/// What lasts until then.
#[derive(Default)]
pub(super) struct Credentials {
    pub(super) authorization: Option<HeaderValue>,
    /// Certificate and key in PEM.
    pub(super) identity: Option<(String, String)>,
    pub(super) renew_at: Option<SystemTime>,
}

impl Source {
    /// Whether asking again may give others.
    pub(super) fn is_renewable(&self) -> bool {
        !matches!(self, Source::Client)
    }

    /// Gets credentials.
    pub(super) async fn get(&self, outside: &Outside) -> Result<Credentials, Failure> {
        match self {
            Source::Client => Ok(Credentials::default()),
            Source::File(path) => of_file(path, outside).await,
            Source::Program(program) => program.ask(outside).await,
        }
    }
}

fn unusable(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Unauthenticated, why)
}

async fn of_file(path: &Path, outside: &Outside) -> Result<Credentials, Failure> {
    let now = outside.clock.now();
    let reading = async { tokio::fs::read_to_string(outside.readable(path)?).await };
    let text = reading
        .await
        .map_err(|error| unusable(format!("the token file {} cannot be read: {error}", path.display())))?;
    let authorization = Some(bearer(text.trim())?);
    Ok(Credentials { authorization, identity: None, renew_at: now.checked_add(FILE_LASTS) })
}

fn bearer(token: &str) -> Result<HeaderValue, Failure> {
    let header = HeaderValue::from_str(&format!("Bearer {token}"));
    let mut header = header.map_err(|_| unusable("the token has characters that cannot be sent"))?;
    header.set_sensitive(true);
    Ok(header)
}

impl From<&ExecSpec> for Program {
    fn from(spec: &ExecSpec) -> Self {
        Self {
            command: spec.command.clone(),
            args: spec.args.clone(),
            env: spec.env.clone(),
            api_version: spec.api_version.clone(),
            cluster: None,
            install_hint: None,
        }
    }
}

/// What a program answers.
#[derive(Deserialize)]
struct ExecCredential {
    status: Option<ExecStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecStatus {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    expiration_timestamp: Option<String>,
}

impl Program {
    /// From a kubeconfig.
    pub(super) fn of_kubeconfig(exec: ExecConfig) -> Result<Self, String> {
        let variable = |pair: std::collections::HashMap<String, String>| {
            Some((pair.get("name")?.clone(), pair.get("value").cloned().unwrap_or_default()))
        };
        let cluster = exec.cluster.as_ref().filter(|_| exec.provide_cluster_info);
        Ok(Self {
            command: exec.command.ok_or("exec in the kubeconfig has no command")?,
            args: exec.args.unwrap_or_default(),
            env: exec.env.unwrap_or_default().into_iter().filter_map(variable).collect(),
            api_version: exec.api_version.unwrap_or_else(|| "client.authentication.k8s.io/v1".to_owned()),
            cluster: cluster.and_then(|cluster| serde_json::to_value(cluster).ok()),
            install_hint: exec.install_hint,
        })
    }

    async fn ask(&self, outside: &Outside) -> Result<Credentials, Failure> {
        let printed = self.run(outside).await?;
        let answer: ExecCredential = serde_json::from_slice(&printed)
            .map_err(|_| self.failed("did not print an ExecCredential as JSON".to_owned()))?;
        let status = answer.status.ok_or_else(|| self.failed("printed an ExecCredential without status".to_owned()))?;
        let identity = status.client_certificate_data.zip(status.client_key_data);
        if status.token.is_none() && identity.is_none() {
            return Err(self.failed("gave neither a token nor a certificate with key".to_owned()));
        }
        let expires = match status.expiration_timestamp {
            None => None,
            Some(text) => {
                let moment = Moment::parse(&text);
                let moment = moment.map_err(|_| self.failed("gave a time of expiration that is none".to_owned()))?;
                SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(moment.unix().max(0) as u64))
            }
        };
        let authorization = status.token.as_deref().map(|token| bearer(token.trim())).transpose()?;
        let renew_at = expires.map(|expires| expires.checked_sub(MARGIN).unwrap_or(expires));
        Ok(Credentials { authorization, identity, renew_at })
    }

    /// What it prints.
    async fn run(&self, outside: &Outside) -> Result<Vec<u8>, Failure> {
        let mut spec = json!({ "interactive": false });
        if let (Some(cluster), Some(spec)) = (&self.cluster, spec.as_object_mut()) {
            spec.insert("cluster".to_owned(), cluster.clone());
        }
        let info = json!({ "apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec });
        let has_directory = self.command.contains(std::path::MAIN_SEPARATOR);
        let program = if has_directory { outside.directory.join(&self.command) } else { PathBuf::from(&self.command) };
        let mut command = tokio::process::Command::new(program);
        command.args(&self.args).current_dir(&outside.directory);
        command.env_clear().envs(outside.environment.iter()).envs(&self.env);
        command.env("KUBERNETES_EXEC_INFO", info.to_string());
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = match tokio::time::timeout(PROGRAM_PATIENCE, command.output()).await {
            Err(_) => return Err(self.failed(format!("did not end within {} s", PROGRAM_PATIENCE.as_secs()))),
            Ok(Err(error)) => return Err(self.failed(format!("cannot be started: {error}"))),
            Ok(Ok(output)) => output,
        };
        if output.status.success() {
            return Ok(output.stdout);
        }
        // What it prints on the other channel may be a token; complaints are not.
        let complaint = shortened(String::from_utf8_lossy(&output.stderr).trim(), 500);
        Err(self.failed(format!("failed ({}): {complaint}", output.status)))
    }

    fn failed(&self, how: String) -> Failure {
        let hint = self.install_hint.as_deref().map_or_else(String::new, |hint| format!(". {}", hint.trim()));
        unusable(format!("the program that gets credentials, {:?}, {how}{hint}", self.command))
    }
}
