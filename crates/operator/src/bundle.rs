//! What a run works with, all of it: the files of a configuration, what goes into it, and how it is run. Whoever has a bundle needs
//! nothing else, so a Stack can be taken down when its source is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::api::run::RunSpec;
use crate::api::shared::is_false;
use crate::api::stack::{Engine, InputPhase, PlanCopy};
use crate::api::upkeep::Adoption;
use crate::voices::webhooks::Prepared;

/// No bundle is larger than that, unpacked.
const MOST_BYTES: u64 = 256 << 20;

/// What a run works with.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bundle {
    /// The configuration: paths and contents.
    pub files: BTreeMap<String, Content>,
    /// Which of these are programs.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub programs: BTreeSet<String>,
    /// The directory of the root module.
    pub root: String,
    /// What goes into it.
    pub inputs: ResolvedInputs,
    /// `.tfvars` files of the configuration, by their paths in it.
    pub var_files: Vec<String>,
    /// The workspace, if it is not the usual one.
    pub workspace: Option<String>,
    /// Where the state is kept.
    pub backend: BackendBlock,
    /// Only these resources, and what they need.
    pub targets: Vec<String>,
    /// Whether it may start programs.
    pub allow_exec: bool,
    /// How many operations may be under way at once.
    pub parallelism: Option<u32>,
    /// What plans and applies it.
    #[serde(default, skip_serializing_if = "is_native")]
    pub engine: Engine,
    /// Whether it is only shown what would become of the state of another Stack: that is read without a lock, and nothing is carried out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preview: bool,
    /// Who is asked about plans.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub webhooks: Vec<Prepared>,
    /// What becomes of objects that are there already when they are to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adoption: Option<Adoption>,
    /// Whether objects are looked for that the state does not know.
    #[serde(default, skip_serializing_if = "crate::api::shared::is_false")]
    pub orphans: bool,
    /// Whether the files with values win over all other values.
    #[serde(default, skip_serializing_if = "is_false")]
    pub var_files_win: bool,
    /// What is written of plans besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_copy: Option<PlanCopy>,
    /// Whether plans that are never carried out lock nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub plan_unlocked: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_native(engine: &Engine) -> bool {
    *engine == Engine::Native
}

/// What goes into a configuration, as values.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedInputs {
    /// Values of variables, as JSON.
    pub values: BTreeMap<String, Json>,
    /// Values of variables as texts, which are read as the declarations of the variables say.
    pub texts: BTreeMap<String, String>,
    /// Variables of the environment.
    pub environment: BTreeMap<String, String>,
    /// Files beside the root module.
    pub files: BTreeMap<String, Content>,
    /// Marks of all keys that values came from: `Secret db/password`. Who does not know the salt can tell nothing from them.
    pub marks: BTreeMap<String, String>,
    /// Values that came from Secrets, and that are not told.
    #[serde(default)]
    pub secrets: BTreeSet<String>,
    /// What goes in only while a plan is made, or only while it is carried out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub only: BTreeMap<InputPhase, PhaseInputs>,
}

/// What goes into one part of a run only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseInputs {
    /// Variables of the environment.
    pub environment: BTreeMap<String, String>,
    /// Files beside the root module.
    pub files: BTreeMap<String, Content>,
}

/// A `backend` block.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackendBlock {
    /// Its label.
    pub kind: String,
    /// What stands in it.
    pub config: BTreeMap<String, Json>,
    /// Whether it is where states are kept unless a Stack says otherwise. How to get there is known where runs are.
    #[serde(default)]
    pub at_home: bool,
}

/// Bytes, which are base64 where they are written down.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Content(pub Vec<u8>);

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What files hold may be secret.
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Self).map_err(serde::de::Error::custom)
    }
}

/// Bytes that are no bundle.
#[derive(Debug, thiserror::Error)]
#[error("this is no bundle: {0}")]
pub struct BundleError(String);

impl Bundle {
    /// As bytes, packed. Equal bundles give equal bytes.
    pub fn encode(&self) -> Vec<u8> {
        let json = serde_json::to_vec(self).unwrap_or_default();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        // Writing to memory does not fail.
        let _ = packed.write_all(&json);
        packed.finish().unwrap_or_default()
    }

    /// What is there in one part of a run. What is only there in others is not.
    pub fn during(&self, phase: InputPhase) -> Self {
        let mut bundle = self.clone();
        let only = std::mem::take(&mut bundle.inputs.only).remove(&phase).unwrap_or_default();
        bundle.inputs.environment.extend(only.environment);
        bundle.inputs.files.extend(only.files);
        bundle
    }

    /// For a run: what takes a Stack down for good takes everything down, as its state goes with it.
    pub fn of_run(mut self, run: &RunSpec) -> Self {
        if run.is_deletion() {
            self.targets.clear();
        }
        self
    }

    /// From such bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, BundleError> {
        let mut json = Vec::new();
        let unpacked = flate2::read::GzDecoder::new(bytes).take(MOST_BYTES).read_to_end(&mut json);
        unpacked.map_err(|problem| BundleError(problem.to_string()))?;
        serde_json::from_slice(&json).map_err(|problem| BundleError(problem.to_string()))
    }

    /// What the configuration is. Other files give another one; so does another directory.
    pub fn source_hash(&self) -> String {
        let mut hash = Sha256::new();
        part(&mut hash, self.root.as_bytes());
        for (path, Content(content)) in &self.files {
            part(&mut hash, path.as_bytes());
            part(&mut hash, content);
        }
        hex::encode(hash.finalize())
    }
}

/// Adds something so that nothing else can look the same.
pub(crate) fn part(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_be_bytes());
    hash.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(files: &[(&str, &str)]) -> Bundle {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), Content(text.as_bytes().to_vec())));
        Bundle { files: files.collect(), root: ".".to_owned(), ..Bundle::default() }
    }

    #[test]
    fn a_bundle_goes_round() {
        let mut bundle = bundle(&[("main.tf", "output \"a\" {\n  value = 1\n}\n"), ("m/b.tf", "\u{e4}")]);
        bundle.inputs.values.insert("a".to_owned(), serde_json::json!({"b": [1, null]}));
        assert_eq!(Bundle::decode(&bundle.encode()).unwrap(), bundle);
        assert_eq!(bundle.encode(), bundle.clone().encode());
    }

    #[test]
    fn a_deletion_is_about_everything() {
        let targets = vec!["a.b".to_owned()];
        let bundle = Bundle { targets: targets.clone(), ..bundle(&[]) };
        let left = |action: &str, reason: &str| {
            let run = serde_json::json!({
                "stack": "app", "number": 1, "action": action, "causes": [{"reason": reason}], "bundle": "b", "about": {},
                "engine": "native", "executor": "inProcess", "approval": {"mode": "auto"},
                "limits": {"init": "1m", "plan": "1m", "apply": "1m"},
            });
            bundle.clone().of_run(&serde_json::from_value(run).unwrap()).targets
        };
        assert_eq!(left("apply", "Due"), targets);
        assert_eq!(left("destroy", "SpecChanged"), targets);
        assert!(left("destroy", "Deleted").is_empty());
    }

    #[test]
    fn other_files_give_another_hash() {
        let one = bundle(&[("a", "bc")]).source_hash();
        assert_ne!(one, bundle(&[("ab", "c")]).source_hash());
        assert_ne!(one, bundle(&[("a", "b"), ("c", "")]).source_hash());
        assert_eq!(one, bundle(&[("a", "bc")]).source_hash());
    }

    #[test]
    fn other_bytes_are_no_bundle() {
        assert!(Bundle::decode(b"").is_err());
        assert!(Bundle::decode(b"plain").is_err());
        let bytes = bundle(&[("a", "b")]).encode();
        assert!(Bundle::decode(&bytes[..bytes.len() / 2]).is_err());
    }
}
