//! States in objects of S3, or of anything that speaks its protocol: OpenTofu's and Terraform's `s3` backend with its native lock
//! file, plus conditional writes, locks that are renewed, and a journal in objects of its own.

mod client;
mod credentials;
mod journal;
mod location;
mod lock;
mod options;
mod schema;
mod store;
#[cfg(test)]
mod tests;
mod xml;

use std::sync::Arc;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Block;
use groma_model::value::Value;
use groma_state::{StateCodec, WorkspaceError, WorkspaceName};

use crate::companions::CompanionHome;
use crate::settings::{Settings, invalid};
use crate::{Backend, BackendError, BackendKind, Place, Surroundings};
use client::{Client, Trouble};
use journal::JournalObjects;
use lock::LockObject;
use store::ObjectStore;

/// The kind.
pub(crate) struct S3;

impl BackendKind for S3 {
    fn name(&self) -> &'static str {
        "s3"
    }

    fn schema(&self) -> Block {
        schema::schema()
    }

    fn configure(&self, settings: &Value, surroundings: &Surroundings) -> Result<Arc<dyn Backend>, Diagnostics> {
        let mut settings = Settings::new(settings, surroundings);
        let (bucket, key, prefix) = names(&mut settings);
        let use_lockfile = settings.flag("use_lockfile", "", false);
        refuse(&mut settings);
        let client = Client::new(&mut settings, surroundings, &bucket);
        match client {
            Some(client) if !settings.wrong.has_errors() => Ok(Arc::new(S3Backend {
                client: Arc::new(client),
                bucket,
                key,
                prefix,
                use_lockfile,
                surroundings: surroundings.clone(),
            })),
            _ => Err(settings.wrong),
        }
    }
}

/// The bucket, the key and what comes before the keys of workspaces.
fn names(settings: &mut Settings<'_>) -> (String, String, String) {
    let wrong = |name: &str, why: &str| {
        Diagnostic::error(format!("Invalid {name} value"), format!("The \"{name}\" attribute value must not {why}."))
    };
    let bucket = settings.text("bucket", "").unwrap_or_default();
    if bucket.is_empty() {
        settings.wrong.push(wrong("bucket", "be empty"));
    }
    let key = settings.text("key", "").unwrap_or_default();
    if key.is_empty() {
        settings.wrong.push(wrong("key", "be empty"));
    } else if key.starts_with('/') || key.ends_with('/') {
        settings.wrong.push(wrong("key", "start or end with \"/\""));
    }
    let prefix = settings.given("workspace_key_prefix").and_then(Value::as_str).unwrap_or("env:").to_owned();
    if prefix.starts_with('/') || prefix.ends_with('/') {
        settings.wrong.push(wrong("workspace_key_prefix", "start or end with \"/\""));
    }
    (bucket, key, prefix)
}

/// What others know and this does not, said before anything happens.
fn refuse(settings: &mut Settings<'_>) {
    if settings.text("dynamodb_table", "").is_some() {
        let detail = "Locks in a DynamoDB table are not supported, and neither are the checksums that are kept there: other tools \
             would refuse states that were stored without them.";
        let hint = "Leave out \"dynamodb_table\" and set \"use_lockfile = true\", in every configuration that uses this state. \
             Terraform 1.10 and OpenTofu 1.10 lock that way too.";
        settings.wrong.push(Diagnostic::error("Locks in DynamoDB are not supported", detail).hint(hint));
    }
    for name in ["allowed_account_ids", "forbidden_account_ids"] {
        if !settings.texts(name).is_empty() {
            settings.wrong.push(invalid(name, "which account this is is not looked up. Leave it out"));
        }
    }
    if let Some(mode) = settings.text("retry_mode", "AWS_RETRY_MODE")
        && !["standard", "adaptive", "legacy"].contains(&mode.as_str())
    {
        let detail = "Valid values are \"standard\" and \"adaptive\".";
        settings.wrong.push(Diagnostic::error("Invalid retry mode", detail));
    }
}

struct S3Backend {
    client: Arc<Client>,
    bucket: String,
    key: String,
    prefix: String,
    use_lockfile: bool,
    surroundings: Surroundings,
}

impl S3Backend {
    /// The key of a workspace's state.
    fn key_of(&self, workspace: &WorkspaceName) -> String {
        if workspace.is_default() {
            return self.key.clone();
        }
        let parts = [self.prefix.as_str(), workspace.as_str(), self.key.as_str()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    }

    /// The workspace whose state has that key.
    fn workspace_of(&self, key: &str) -> Option<WorkspaceName> {
        let rest = if self.prefix.is_empty() { key } else { key.strip_prefix(&self.prefix)?.strip_prefix('/')? };
        let (name, key) = rest.split_once('/')?;
        let name = WorkspaceName::parse(name).ok().filter(|_| key == self.key)?;
        Some(name).filter(|name| !name.is_default())
    }
}

impl Backend for S3Backend {
    fn workspaces(&self) -> Result<Vec<WorkspaceName>, BackendError> {
        let prefix = if self.prefix.is_empty() { String::new() } else { format!("{}/", self.prefix) };
        let found = match self.surroundings.runtime.block_on(self.client.list(&prefix)) {
            Ok(found) => found,
            // Who may use one state only has no others.
            Err(trouble) if trouble.code == "AccessDenied" => Vec::new(),
            Err(trouble) => return Err(trouble.backend()),
        };
        let mut others: Vec<String> =
            found.iter().filter_map(|found| self.workspace_of(&found.key)).map(|name| name.to_string()).collect();
        others.sort();
        let others = others.iter().filter_map(|name| WorkspaceName::parse(name).ok());
        Ok(std::iter::once(WorkspaceName::default_workspace()).chain(others).collect())
    }

    fn delete(&self, workspace: &WorkspaceName) -> Result<(), BackendError> {
        if workspace.is_default() {
            return Err(WorkspaceError::IsDefault.into());
        }
        let key = self.key_of(workspace);
        let work = async {
            let journal = self.client.list(&journal::prefix(&key)).await?;
            let keys: Vec<String> = journal.into_iter().map(|found| found.key).collect();
            Client::delete_all(&self.client, keys).await?;
            // The state last, so that the workspace is listed as long as there is something of it.
            self.client.delete(&key, None).await.map(drop)
        };
        self.surroundings.runtime.block_on(work).map_err(Trouble::backend)
    }

    fn open(&self, workspace: &WorkspaceName, codec: Arc<dyn StateCodec>) -> Result<Place, BackendError> {
        let key = self.key_of(workspace);
        let name = format!("s3://{}/{key}", self.bucket);
        let Surroundings { runtime, spool, .. } = self.surroundings.clone();
        let lock = self.use_lockfile.then(|| LockObject::new(Arc::clone(&self.client), &self.bucket, &key));
        let around = store::Around { runtime: runtime.clone(), lock };
        let store = ObjectStore::new(Arc::clone(&self.client), &key, &name, codec, around);
        let objects = JournalObjects::new(Arc::clone(&self.client), &self.bucket, &key, runtime);
        let journal = CompanionHome::new(Arc::new(objects), spool, store.holding());
        Ok(Place { name, store: Box::new(store), journal: Some(Box::new(journal)) })
    }
}
