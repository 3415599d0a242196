//! The lake: a repository with the configuration of `tests/lotus-lake`, an Airbyte that is none, and a Stack that keeps one as the other says.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use groma_testkit::servers::artifacts::files_below;
use groma_testkit::servers::fakebyte::{Fakebyte, Kind, PASSWORD, USERNAME, WORKSPACE};
use groma_testkit::servers::git::{GitRepository, GitServer};
use serde_json::{Value, json};

use crate::stage::Stage;

/// The Stack.
pub(crate) const NAME: &str = "lotus-lake-airbyte";
/// The Secret with its variables.
pub(crate) const VARIABLES: &str = "lotus-lake-terraform-vars";
/// The ConfigMap with its files.
pub(crate) const FILES: &str = "lotus-lake";
/// Where its root module is.
pub(crate) const ROOT: &str = "orchestration/airbyte/terraform";
/// Where its streams are.
pub(crate) const STREAMS: &str = "orchestration/dag/streams";
/// The key of the lake, to begin with.
pub(crate) const LAKE_KEY: &str = "key-of-the-lake-to-begin-with";

/// Where the files are.
enum Home {
    /// In a ConfigMap.
    Object,
    /// In a repository, on a server. The revision that was pushed last.
    Repository { _server: GitServer, repository: GitRepository, revision: String },
}

/// All of it.
pub(crate) struct Lake {
    pub(crate) stage: Stage,
    pub(crate) airbyte: Fakebyte,
    files: BTreeMap<String, String>,
    home: Home,
}

impl Lake {
    /// Everything is there, and nobody has been told yet.
    pub(crate) fn idle(more: &[&str]) -> Self {
        let airbyte = Fakebyte::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lotus-lake");
        let files: BTreeMap<String, String> = files_below(&folder).into_iter().collect();
        let stage = Stage::idle(more);
        stage.secret(VARIABLES, &variables(&airbyte));
        stage.config_map(FILES, &keyed(&files));
        Self { stage, airbyte, files, home: Home::Object }
    }

    /// The same, with the files in a repository.
    fn in_repository(mut self) -> Self {
        self.stage.api.delete(&self.stage.at("v1", "configmaps", FILES));
        let server = GitServer::new();
        let repository = server.repository("lake");
        let files: Vec<_> = self.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let revision = revision(&repository.commit("main", "the lake", &files));
        self.home = Home::Repository { _server: server, repository, revision };
        self
    }

    /// The Stack was written, and the operator works.
    pub(crate) fn begun(more: &Value) -> Self {
        let mut lake = Self::idle(&[]);
        lake.stage.start();
        lake.write_stack(more);
        lake
    }

    /// What every scenario begins with: all is applied, and nothing was called since.
    pub(crate) fn given() -> Self {
        Self::given_with(&json!({}))
    }

    /// The same, with more in the spec of the Stack.
    #[track_caller]
    pub(crate) fn given_with(more: &Value) -> Self {
        Self::begun(more).filled()
    }

    /// What every scenario begins with, with the files in a repository.
    #[track_caller]
    pub(crate) fn pushed(more: &Value) -> Self {
        let mut lake = Self::idle(&[]).in_repository();
        lake.stage.start();
        lake.write_stack(more);
        lake.filled()
    }

    #[track_caller]
    fn filled(self) -> Self {
        self.stage.ready(NAME);
        assert_eq!(self.counts(), [2, 1, 2]);
        self.airbyte.clear_log();
        self
    }

    /// Writes the Stack.
    #[track_caller]
    pub(crate) fn write_stack(&self, more: &Value) {
        let source = match &self.home {
            Home::Object => {
                let items: BTreeMap<_, _> = self.files.keys().map(|path| (key(path), path)).collect();
                json!({"configMap": {"name": FILES, "items": items}})
            }
            Home::Repository { repository, .. } => {
                json!({"git": {"url": repository.url(), "ref": {"branch": "main"}, "interval": "1s"}})
            }
        };
        let mut spec = json!({
            "source": source,
            "path": ROOT, "interval": "1h", "retry": {"interval": "200ms"}, "allowExec": true,
            "inputs": {"varsFrom": [{"kind": "Secret", "name": VARIABLES}]},
            "outputs": {"status": true},
        });
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.stage.stack(NAME, spec);
    }

    /// How many sources, destinations and connections there are.
    pub(crate) fn counts(&self) -> [usize; 3] {
        Kind::ALL.map(|kind| self.airbyte.objects(kind).len())
    }

    /// A file as it is in the repository now.
    #[track_caller]
    pub(crate) fn file(&self, path: &str) -> String {
        self.files.get(path).unwrap_or_else(|| panic!("there is no {path}")).clone()
    }

    /// Changes files: how many Runs there were before.
    #[track_caller]
    pub(crate) fn push(&mut self, files: &[(&str, &str)]) -> u64 {
        let before = self.runs();
        let changed: BTreeMap<_, _> =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        match &mut self.home {
            Home::Object => {
                self.stage.api.edit(&self.stage.at("v1", "configmaps", FILES), &json!({"data": keyed(&changed)}));
            }
            Home::Repository { repository, revision, .. } => {
                *revision = self::revision(&repository.commit("main", "a change", files));
            }
        }
        self.files.extend(changed);
        before
    }

    /// Changes one file: it has one text in the place of another.
    #[track_caller]
    pub(crate) fn push_edit(&mut self, path: &str, from: &str, to: &str) -> u64 {
        let before = self.file(path);
        assert!(before.contains(from), "{path} has no {from:?}");
        self.push(&[(path, &before.replace(from, to))])
    }

    /// A folder with all files as they are now.
    pub(crate) fn checkout(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in &self.files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    /// How many Runs there were so far.
    pub(crate) fn runs(&self) -> u64 {
        self.stage.get(NAME)["status"]["lastRun"]["number"].as_u64().unwrap_or_default()
    }

    /// Waits until what was changed after so many Runs is applied: the Run that did it.
    #[track_caller]
    pub(crate) fn applied(&self, before: u64) -> Value {
        let run = self.stage.until("what was pushed is applied", || {
            let newest = self.stage.runs(NAME).pop()?;
            let is_new = newest["spec"]["number"].as_u64()? > before;
            (is_new && newest["status"]["phase"] == "Succeeded").then_some(newest)
        });
        self.stage.ready(NAME);
        if let Home::Repository { revision, .. } = &self.home {
            self.stage.until(&format!("{revision} is told to be applied"), || {
                let status = self.stage.get(NAME)["status"].clone();
                (status["applied"]["revision"] == *revision && status["attempted"]["revision"] == *revision)
                    .then_some(())
            });
        }
        run
    }

    /// Waits until what was pushed is seen, and nothing came of it for a while.
    #[track_caller]
    pub(crate) fn is_seen_and_left(&self, before: u64) {
        let Home::Repository { revision, .. } = &self.home else { panic!("nothing was pushed") };
        self.stage.until(&format!("{revision} is seen"), || {
            (self.stage.get(NAME)["status"]["source"]["revision"] == *revision).then_some(())
        });
        std::thread::sleep(Duration::from_secs(2));
        assert_eq!(self.runs(), before);
        let status = self.stage.ready(NAME)["status"].clone();
        assert_eq!(status["attempted"]["revision"], *revision);
        assert_ne!(status["applied"]["revision"], *revision);
    }

    /// Waits until so many looks were made at a Stack that is well.
    pub(crate) fn wait_intervals(&self, count: u32, interval: Duration) {
        std::thread::sleep(interval * count);
        self.stage.ready(NAME);
    }

    /// The state, as it is kept.
    #[track_caller]
    pub(crate) fn state(&self) -> Value {
        state(&self.stage, NAME)
    }

    /// Changes variables in the Secret.
    #[track_caller]
    pub(crate) fn set_variables(&self, values: &Value) {
        self.stage.api.edit(&self.stage.at("v1", "secrets", VARIABLES), &json!({"stringData": values}));
    }

    /// The Events about the Stack: type, reason and message.
    pub(crate) fn events(&self) -> Vec<String> {
        let all = self.stage.api.get(&self.stage.at("v1", "events", ""))["items"].as_array().unwrap().clone();
        let mine = all.iter().filter(|event| event["involvedObject"]["name"] == NAME);
        mine.map(|event| format!("{} {} {}", event["type"], event["reason"], event["message"])).collect()
    }
}

/// Files by keys that a ConfigMap can have.
fn keyed(files: &BTreeMap<String, String>) -> Value {
    files.iter().map(|(path, text)| (key(path), Value::from(text.as_str()))).collect::<serde_json::Map<_, _>>().into()
}

/// What people know a commit by.
fn revision(commit: &str) -> String {
    format!("main@sha1:{commit}")
}

fn key(path: &str) -> String {
    path.replace('/', "--")
}

/// The state of a Stack, as it is kept in the cluster.
#[track_caller]
pub(crate) fn state(stage: &Stage, name: &str) -> Value {
    let secret = stage.api.get(&stage.at("v1", "secrets", &format!("tfstate-default-{name}")));
    let packed = base64::engine::general_purpose::STANDARD.decode(secret["data"]["tfstate"].as_str().unwrap()).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// What a plan does, as a Run says it: how much is made, changed, and taken away.
pub(crate) fn planned(run: &Value) -> [u64; 3] {
    ["add", "change", "destroy"].map(|part| run["status"]["planned"][part].as_u64().unwrap_or_default())
}

fn variables(airbyte: &Fakebyte) -> Value {
    json!({
        "airbyte_url": airbyte.url(), "airbyte_username": USERNAME, "airbyte_password": PASSWORD,
        "workspace_id": WORKSPACE, "shopify_shop": "lotus", "shopify_api_password": "password-of-the-shop",
        "klaviyo_api_key": "key-of-klaviyo", "lake_access_key_id": "writer", "lake_secret_access_key": LAKE_KEY,
    })
}
