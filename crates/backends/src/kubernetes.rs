//! States in Secrets of a cluster: OpenTofu's and Terraform's `kubernetes` backend, object for object, with Leases that are renewed
//! and a journal in Secrets of its own.

mod connection;
mod journal;
mod lease;
mod names;
mod parts;
mod store;
mod trouble;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groma_model::diag::Diagnostics;
use groma_model::schema::{Block, NestedBlock, Nesting};
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_state::{StateCodec, WorkspaceError, WorkspaceName};
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams};

use crate::companions::CompanionHome;
use crate::settings::{Settings, block, optional, secret};
use crate::{Backend, BackendError, BackendKind, Place, Surroundings};
pub use connection::Cluster;
use connection::Connection;
use journal::JournalSecrets;
use names::Names;
use store::SecretStore;
use trouble::Trouble;

/// The kind.
pub(crate) struct Kubernetes;

impl BackendKind for Kubernetes {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn schema(&self) -> Block {
        let text = |about| optional(Type::String, about);
        let flag = |about| optional(Type::Bool, about);
        let texts = |about| optional(Type::list(Type::String), about);
        let by_name = |about| optional(Type::map(Type::String), about);
        let exec = block(vec![
            ("api_version", required(text("The version of what the program answers."))),
            ("command", required(text("The program that gets credentials."))),
            ("env", by_name("Variables of its environment.")),
            ("args", texts("Its arguments.")),
        ]);
        let mut all = block(vec![
            ("secret_suffix", required(text("Secrets are called tfstate-{workspace}-{secret_suffix}."))),
            ("labels", by_name("Labels of the Secrets beside those that states are found by.")),
            ("namespace", text("Where the Secrets are. The namespace \"default\" if nothing is said.")),
            ("in_cluster_config", flag("Whether this runs in a pod, and uses its service account.")),
            ("load_config_file", flag("Whether to read config_path or config_paths. True if nothing is said.")),
            ("host", text("The address of the API server.")),
            ("username", text("The name for basic authentication.")),
            ("password", secret("The password for basic authentication.")),
            ("insecure", flag("Whether to trust any certificate.")),
            ("client_certificate", text("The certificate of this client, as PEM.")),
            ("client_key", secret("Its key, as PEM.")),
            ("cluster_ca_certificate", text("The certificates to trust, as PEM.")),
            ("config_paths", texts("Files that say where clusters are; the first that says something counts.")),
            ("config_path", text("A file that says where clusters are.")),
            ("config_context", text("Which context of such a file to use.")),
            ("config_context_auth_info", text("Which user of such a file to use.")),
            ("config_context_cluster", text("Which cluster of such a file to use.")),
            ("token", secret("A token to sign in with.")),
        ]);
        let exec = NestedBlock { block: exec, nesting: Nesting::List, min_items: 0, max_items: 1 };
        all.block_types.insert("exec".into(), exec);
        all
    }

    fn configure(&self, settings: &Value, surroundings: &Surroundings) -> Result<Arc<dyn Backend>, Diagnostics> {
        let mut settings = Settings::new(settings, surroundings);
        let suffix = settings.required("secret_suffix", "");
        let namespace = settings.text("namespace", "KUBE_NAMESPACE").unwrap_or_else(|| "default".to_owned());
        let labels = settings.texts_by_name("labels");
        let connection = Connection::new(&mut settings, surroundings, namespace);
        match connection {
            Some(connection) if !settings.wrong.has_errors() => {
                Ok(Arc::new(KubernetesBackend { connection, suffix, labels, surroundings: surroundings.clone() }))
            }
            _ => Err(settings.wrong),
        }
    }
}

fn required(attribute: groma_model::schema::Attribute) -> groma_model::schema::Attribute {
    groma_model::schema::Attribute { required: true, optional: false, ..attribute }
}

struct KubernetesBackend {
    connection: Connection,
    suffix: String,
    labels: BTreeMap<String, String>,
    surroundings: Surroundings,
}

impl KubernetesBackend {
    fn names(&self, workspace: &WorkspaceName) -> Result<Names, BackendError> {
        Names::new(&self.connection.namespace, workspace, &self.suffix, &self.labels).map_err(|reason| {
            BackendError::Remote { doing: "name the secret of the state".into(), source: reason.into() }
        })
    }
}

impl Backend for KubernetesBackend {
    fn workspaces(&self) -> Result<Vec<WorkspaceName>, BackendError> {
        let secrets: Api<Secret> = self.connection.api().map_err(Trouble::backend)?;
        let chosen = ListParams::default().labels(&format!("{}=true", names::STATE));
        // Metadata alone is enough, and states can be large.
        let found = self.surroundings.runtime.block_on(secrets.list_metadata(&chosen));
        let found = found
            .map_err(|error| Trouble::when("list", "secrets", &self.connection.namespace, "").of(error).backend())?;
        let mut others = BTreeSet::new();
        for secret in found {
            let labels = secret.metadata.labels.unwrap_or_default();
            if labels.get(names::SUFFIX) != Some(&self.suffix) {
                continue;
            }
            let workspace = labels.get(names::WORKSPACE).and_then(|name| WorkspaceName::parse(name).ok());
            others.extend(workspace.filter(|workspace| !workspace.is_default()).map(|it| it.to_string()));
        }
        let others = others.iter().filter_map(|name| WorkspaceName::parse(name).ok());
        Ok(std::iter::once(WorkspaceName::default_workspace()).chain(others).collect())
    }

    fn delete(&self, workspace: &WorkspaceName) -> Result<(), BackendError> {
        if workspace.is_default() {
            return Err(WorkspaceError::IsDefault.into());
        }
        let names = self.names(workspace)?;
        let connection = &self.connection;
        self.surroundings.runtime.block_on(delete_all(connection, &names)).map_err(Trouble::backend)
    }

    fn open(&self, workspace: &WorkspaceName, codec: Arc<dyn StateCodec>) -> Result<Place, BackendError> {
        let names = self.names(workspace)?;
        let runtime = self.surroundings.runtime.clone();
        let secrets: Api<Secret> = self.connection.api().map_err(Trouble::backend)?;
        let leases = self.connection.api().map_err(Trouble::backend)?;
        let random = Arc::clone(&self.surroundings.random);
        let is_gone = self.surroundings.is_gone.clone();
        let name = format!("kubernetes secret {}/{}", names.namespace, names.secret);
        let companions = JournalSecrets::new(secrets.clone(), names.clone(), runtime.clone());
        let store = SecretStore::new(names, codec, store::Reach { secrets, leases, runtime, random, is_gone });
        let journal = CompanionHome::new(Arc::new(companions), self.surroundings.spool.clone(), store.holding());
        Ok(Place { name, store: Box::new(store), journal: Some(Box::new(journal)) })
    }
}

/// Deletes everything of a workspace: the state last, so that it is listed as long as there is something of it.
async fn delete_all(connection: &Connection, names: &Names) -> Result<(), Trouble> {
    let secrets: Api<Secret> = connection.api()?;
    let leases: Api<k8s_openapi::api::coordination::v1::Lease> = connection.api()?;
    let trouble = |verb, name: &str| Trouble::when(verb, "secrets", &names.namespace, name);
    let main = secrets.get_opt(&names.secret).await.map_err(|error| trouble("get", &names.secret).of(error))?;
    let is_state = |labels: Option<BTreeMap<String, String>>| {
        labels.is_some_and(|labels| labels.get(names::STATE).is_some_and(|value| value == "true"))
    };
    if let Some(main) = &main
        && !is_state(main.metadata.labels.clone())
    {
        let reason = format!("it does not have the label \"{}\", so it is no state", names::STATE);
        return Err(trouble("delete", &names.secret).because(reason));
    }
    let background = DeleteParams::background();
    let rest = [names.journal_selector(), names.staged_selector(), names.selector()];
    for selector in rest {
        let found = secrets.list_metadata(&ListParams::default().labels(&selector)).await;
        for secret in found.map_err(|error| trouble("list", "").of(error))? {
            let name = secret.metadata.name.unwrap_or_default();
            if name != names.secret {
                let deleted = discard(&secrets, names, &name).await;
                deleted.map_err(|error| trouble("delete", &name).of(error))?;
            }
        }
    }
    let lease = Trouble::when("delete", "leases", &names.namespace, &names.lease);
    unless_missing(leases.delete(&names.lease, &background).await).map_err(|error| lease.of(error))?;
    let deleted = discard(&secrets, names, &names.secret).await;
    deleted.map_err(|error| trouble("delete", &names.secret).of(error))
}

/// Deletes a Secret. If it is kept for somebody, it is them who ask.
async fn discard(secrets: &Api<Secret>, names: &Names, name: &str) -> Result<(), kube::Error> {
    if names.is_kept() {
        let free = BTreeMap::from([("metadata", BTreeMap::from([("finalizers", None::<()>)]))]);
        unless_missing(secrets.patch(name, &PatchParams::default(), &Patch::Merge(&free)).await)?;
    }
    unless_missing(secrets.delete(name, &DeleteParams::background()).await)
}

/// What is not there need not be deleted.
fn unless_missing<T>(result: Result<T, kube::Error>) -> Result<(), kube::Error> {
    match result {
        Err(error) if trouble::is_missing(&error) => Ok(()),
        other => other.map(drop),
    }
}

#[cfg(test)]
mod tests;
