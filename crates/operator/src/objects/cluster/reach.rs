//! How a cluster is reached: by kubeconfigs, or from inside of a pod.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use groma_run::session::Cluster;
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};
use serde_json::{Value as Json, json};

use super::causes;

/// How long it may take to connect.
const TO_CONNECT: Duration = Duration::from_secs(15);

/// Which cluster, and as whom.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// Kubeconfigs; the first that says something counts, as in kubectl. None inside of a pod.
    pub files: Vec<PathBuf>,
    /// A context, instead of the current one.
    pub context: Option<String>,
}

/// Why a cluster cannot be reached.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct NoCluster(String);

impl Reach {
    /// A client, and the namespace of what is named without one.
    pub async fn client(&self) -> Result<(Client, String), NoCluster> {
        let mut config = self.config().await?;
        config.connect_timeout = Some(TO_CONNECT);
        let namespace = config.default_namespace.clone();
        let client = Client::try_from(config).map_err(|problem| NoCluster(causes(&problem)))?;
        Ok((client, namespace))
    }

    /// The same, for states that are kept there.
    pub async fn states(&self) -> Result<Cluster, NoCluster> {
        Cluster::new(self.config().await?).map_err(|problem| NoCluster(causes(&problem)))
    }

    async fn config(&self) -> Result<Config, NoCluster> {
        let Some(kubeconfig) = self.merged()? else {
            return Config::incluster().map_err(|_| NoCluster("there is no kubeconfig, and this is no pod".to_owned()));
        };
        let options = KubeConfigOptions { context: self.context.clone(), ..KubeConfigOptions::default() };
        Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(|problem| NoCluster(causes(&problem)))
    }

    fn merged(&self) -> Result<Option<Kubeconfig>, NoCluster> {
        let mut merged: Option<Kubeconfig> = None;
        for path in &self.files {
            let failed = |problem: KubeconfigError| NoCluster(format!("{}: {}", path.display(), causes(&problem)));
            let read = Kubeconfig::read_from(path).map_err(failed)?;
            merged = Some(match merged {
                None => read,
                Some(before) => before.merge(read).map_err(failed)?,
            });
        }
        Ok(merged)
    }

    /// What stands in a `kubernetes` backend that gets there, too.
    pub fn backend(&self) -> BTreeMap<String, Json> {
        if self.files.is_empty() {
            return BTreeMap::from([("in_cluster_config".to_owned(), json!(true))]);
        }
        let context = self.context.iter().map(|context| ("config_context".to_owned(), json!(context)));
        context.chain([("config_paths".to_owned(), json!(self.files))]).collect()
    }
}
