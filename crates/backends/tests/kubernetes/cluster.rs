//! A namespace for one test, and a look behind the back of the backend.

use std::path::Path;
use std::sync::Arc;

use groma_backends::{Backend, IsGone};
use groma_model::value::Value;
use groma_testkit::servers::kube as server;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::actor::{Other, backend, backend_knowing, runtime};

/// A namespace of a real cluster.
pub(crate) struct Namespace {
    name: String,
    client: Client,
    scratch: tempfile::TempDir,
}

impl Namespace {
    pub(crate) fn new(name: &str) -> Self {
        let reach = server::shared();
        let made = v1::Namespace {
            metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
            ..v1::Namespace::default()
        };
        let client = runtime().block_on(async {
            let _ = rustls::crypto::ring::default_provider().install_default();
            let kubeconfig = Kubeconfig::read_from(&reach.kubeconfig).unwrap();
            let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
            let client = Client::try_from(config).unwrap();
            Api::all(client.clone()).create(&PostParams::default(), &made).await.unwrap();
            client
        });
        Self { name: name.to_owned(), client, scratch: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The settings of a backend here. The first is the suffix.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let kubeconfig = server::shared().kubeconfig.display().to_string();
        vec![
            ("secret_suffix", "app".to_owned()),
            ("namespace", self.name.clone()),
            ("config_path", kubeconfig),
            ("token", server::ADMIN_TOKEN.to_owned()),
        ]
    }

    pub(crate) fn backend(&self) -> Arc<dyn Backend> {
        let settings = self.settings();
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        backend("kubernetes", &settings, self.scratch())
    }

    /// A backend whose state is kept for somebody, and who knows that a holder of this name is gone.
    pub(crate) fn kept(&self, gone: &'static str) -> Arc<dyn Backend> {
        let mut settings: Vec<(&str, Value)> =
            self.settings().into_iter().map(|(name, value)| (name, Value::from(value.as_str()))).collect();
        settings.push(("labels", Value::object([("groma.dev/kept-for", Value::from("app"))])));
        let is_gone: IsGone = Arc::new(move |holder| Box::pin(std::future::ready(holder == gone)));
        backend_knowing("kubernetes", &Value::object(settings), self.scratch(), Some(is_gone))
    }

    /// Somebody deletes the namespace. It goes on like that for ever, as nobody works here who would do it.
    pub(crate) fn end(&self) {
        let namespaces: Api<v1::Namespace> = Api::all(self.client.clone());
        runtime().block_on(namespaces.delete(&self.name, &DeleteParams::default())).unwrap();
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.name);
        let some = || Secret {
            metadata: ObjectMeta { generate_name: Some("some-".to_owned()), ..ObjectMeta::default() },
            ..Secret::default()
        };
        let is_over = || runtime().block_on(secrets.create(&PostParams::default(), &some())).is_err();
        super::tools::wait_until(is_over);
    }

    /// Another process that uses the state here.
    pub(crate) fn other(&self) -> Other {
        let settings = self.settings();
        let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Other::start("kubernetes", &settings, self.scratch())
    }

    pub(crate) fn secret(&self, name: &str) -> Option<Secret> {
        runtime().block_on(Api::namespaced(self.client.clone(), &self.name).get_opt(name)).unwrap()
    }

    pub(crate) fn lease(&self, name: &str) -> Option<Lease> {
        runtime().block_on(Api::namespaced(self.client.clone(), &self.name).get_opt(name)).unwrap()
    }

    /// Deletes a Secret.
    pub(crate) fn delete(&self, name: &str) {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.name);
        runtime().block_on(secrets.delete(name, &DeleteParams::default())).unwrap();
    }

    /// Deletes a Lease.
    pub(crate) fn delete_lease(&self, name: &str) {
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), &self.name);
        runtime().block_on(leases.delete(name, &DeleteParams::default())).unwrap();
    }

    /// Who holds the lock.
    pub(crate) fn holder(&self) -> Option<String> {
        self.lease("lock-tfstate-default-app")?.spec?.holder_identity
    }

    /// Everything that is there.
    pub(crate) fn names(&self) -> Vec<String> {
        let all = ListParams::default();
        runtime().block_on(async {
            let leases: Api<Lease> = Api::namespaced(self.client.clone(), &self.name);
            let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.name);
            let leases = leases.list(&all).await.unwrap().items.into_iter();
            let leases = leases.map(|lease| format!("Lease {}", lease.metadata.name.unwrap()));
            let secrets = secrets.list(&all).await.unwrap().items.into_iter();
            leases.chain(secrets.map(|secret| format!("Secret {}", secret.metadata.name.unwrap()))).collect()
        })
    }
}

/// Letters that cannot be compressed much.
pub(crate) fn incompressible(seed: u64, length: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[(state >> 40) as usize % 64] as char
    };
    (0..length).map(|_| next()).collect()
}
