//! An API server that ends with this process, for what is measured against it.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::kube::{Extent, KubeServer, Lifetime, Options, Programs};
use crate::peers;

/// An API server.
pub(crate) struct ApiServer(KubeServer);

/// Starts one in a folder, which is made anew.
pub(crate) fn api_server(dir: &Path) -> Result<ApiServer> {
    super::running::remove(dir)?;
    let programs = Programs::find(Extent::Api, peers::find)?;
    std::fs::create_dir_all(dir).context("cannot create the folder of the API server")?;
    let options = Options { extent: Extent::Api, lifetime: Lifetime::Ours, identities: Vec::new() };
    KubeServer::start(dir, &programs, &options).map(ApiServer).context("cannot start the API server")
}

impl ApiServer {
    /// The path of a kubeconfig of who may do everything.
    pub(crate) fn kubeconfig(&self) -> String {
        self.0.reach().kubeconfig.display().to_string()
    }

    /// What it answers as who may do everything; what went wrong, if it does not do what was asked. `PATCH` applies.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let body = body.map(Value::to_string);
        let answer = self.0.reach().ask(method, path, body.as_deref())?;
        ensure!((200..300).contains(&answer.status), "{method} {path}: {} {}", answer.status, answer.body);
        serde_json::from_str(&answer.body).with_context(|| format!("{method} {path}: the answer is no JSON"))
    }

    /// What it says about itself.
    pub(crate) fn metrics(&self) -> Result<String> {
        Ok(self.0.reach().ask("GET", "/metrics", None)?.body)
    }
}
