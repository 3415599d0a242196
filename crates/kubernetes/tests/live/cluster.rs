//! A namespace of the cluster that all tests share, and what others do in it.

use groma_testkit::servers::kube::{self, ADMIN_TOKEN, Answer, Reach};
use serde_json::{Value as Json, json};

/// A namespace for one test.
pub(crate) struct Place {
    pub(crate) namespace: String,
    reach: &'static Reach,
}

impl Place {
    pub(crate) fn new(namespace: &str) -> Self {
        let place = Self { namespace: namespace.to_owned(), reach: kube::shared_with_controllers() };
        let made = place.ask("POST", "/api/v1/namespaces", Some(&json!({"metadata": {"name": namespace}})));
        assert_eq!(made.status, 201, "{}", made.body);
        place
    }

    /// The attribute `cluster`.
    pub(crate) fn connection(&self) -> Json {
        connection(self.reach, ADMIN_TOKEN)
    }

    pub(crate) fn connection_of(&self, token: &str) -> Json {
        connection(self.reach, token)
    }

    pub(crate) fn kubeconfig(&self) -> String {
        self.reach.kubeconfig.display().to_string()
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&Json>) -> Answer {
        self.reach.ask(method, path, body.map(Json::to_string).as_deref()).unwrap()
    }

    /// The path of an object in the namespace: `apps/v1 deployments web`.
    pub(crate) fn path(&self, api: &str, plural: &str, name: &str) -> String {
        let root = if api.contains('/') { "apis" } else { "api" };
        format!("/{root}/{api}/namespaces/{}/{plural}/{name}", self.namespace)
    }

    pub(crate) fn get(&self, path: &str) -> Option<Json> {
        let answer = self.ask("GET", path, None);
        match answer.status {
            404 => None,
            200 => Some(serde_json::from_str(&answer.body).unwrap()),
            status => panic!("{status}: {}", answer.body),
        }
    }

    pub(crate) fn config_map(&self, name: &str) -> Option<Json> {
        self.get(&self.path("v1", "configmaps", name))
    }

    /// Another manager (`test`) applies, by force.
    pub(crate) fn others_apply(&self, path: &str, body: &Json) {
        let answer = self.ask("PATCH", path, Some(body));
        assert!(answer.status < 300, "{}", answer.body);
    }

    /// Somebody writes the whole object.
    pub(crate) fn others_put(&self, path: &str, change: impl Fn(&mut Json)) {
        loop {
            let mut object = self.get(path).unwrap();
            change(&mut object);
            let answer = self.ask("PUT", path, Some(&object));
            // Somebody else may write at the same time.
            if answer.status != 409 {
                assert!(answer.status < 300, "{}", answer.body);
                return;
            }
        }
    }

    pub(crate) fn others_make(&self, path: &str, object: &Json) {
        let answer = self.ask("POST", path.rsplit_once('/').unwrap().0, Some(object));
        assert!(answer.status < 300, "{}", answer.body);
    }

    pub(crate) fn others_delete(&self, path: &str) {
        let answer = self.ask("DELETE", path, None);
        assert!(answer.status < 300, "{}", answer.body);
    }
}

/// How to reach another cluster, which has the namespace as well.
pub(crate) fn other_cluster(namespace: &str) -> Json {
    let reach = kube::shared();
    let body = json!({"metadata": {"name": namespace}}).to_string();
    let made = reach.ask("POST", "/api/v1/namespaces", Some(&body)).unwrap();
    assert_eq!(made.status, 201, "{}", made.body);
    connection(reach, ADMIN_TOKEN)
}

fn connection(reach: &Reach, token: &str) -> Json {
    let certificate = std::fs::read_to_string(&reach.certificate).unwrap();
    json!({"host": reach.url, "cluster_ca_certificate": certificate, "token": token})
}

/// Who owns a field, as `managedFields` has it: managers whose entry has all these steps.
pub(crate) fn owners(live: &Json, steps: &[&str]) -> Vec<String> {
    let entries = live["metadata"]["managedFields"].as_array().unwrap();
    let has = |entry: &&Json| steps.iter().try_fold(&entry["fieldsV1"], |inside, step| inside.get(step)).is_some();
    entries.iter().filter(has).map(|entry| entry["manager"].as_str().unwrap().to_owned()).collect()
}
