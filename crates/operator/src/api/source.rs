//! Where configurations come from: what stands in `spec.source` of a Stack.

use std::collections::BTreeMap;

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::{Length, is_false};
use super::voices::{PullRequests, SourceHook};

/// Where a configuration comes from. Exactly one of the fields is given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[x_kube(validation = ("[has(self.inline), has(self.configMap), has(self.git), has(self.flux)].filter(given, given).size() == 1", "give exactly one of inline, configMap, git and flux"))]
pub struct Source {
    /// Files, by name, as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<BTreeMap<String, String>>,
    /// The keys of a ConfigMap are files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<ConfigMapSource>,
    /// A repository, which the operator looks at itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitSource>,
    /// What a source of Flux has fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flux: Option<FluxSource>,
}

/// Files in a ConfigMap.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfigMapSource {
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Where its keys are put, as keys cannot have slashes: from key to path. All keys, by their names, if nothing is said.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub items: BTreeMap<String, String>,
}

/// A repository.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GitSource {
    /// Where it is: `https://…`, `ssh://…` or `user@host:path`.
    #[schemars(length(min = 1, max = 2048))]
    pub url: String,
    /// What of it; what its `HEAD` names if nothing is said.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<GitRef>,
    /// How often it is looked for something new; every minute if nothing is said. A webhook is faster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Length>,
    /// A Secret with `username` and `password`, or `bearerToken`, or `identity` and `known_hosts`; and `caFile` for either of the first two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub secret_ref: Option<String>,
    /// Whether submodules are fetched, too.
    #[serde(default, skip_serializing_if = "is_false")]
    pub submodules: bool,
    /// Plans of pull requests are made, and told there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_requests: Option<PullRequests>,
    /// Who has the repository tells us when something is new, so that nobody has to wait for the next look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<SourceHook>,
}

/// What of a repository. A commit is most exact, then a range of versions, a tag, a branch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GitRef {
    /// The end of a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub branch: Option<String>,
    /// A tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub tag: Option<String>,
    /// The newest of the tags that are versions in this range: `>=1.2.0 <2.0.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub semver: Option<String>,
    /// One commit, by its whole hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9a-f]{40}|[0-9a-f]{64})$"))]
    pub commit: Option<String>,
}

/// A source of Flux.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FluxSource {
    /// What it is.
    pub kind: FluxKind,
    /// Its name.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Its namespace, if it is another one. That has to be allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
}

/// The kinds of sources that Flux has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum FluxKind {
    /// A repository.
    GitRepository,
    /// An artifact in a registry.
    #[serde(rename = "OCIRepository")]
    OciRepository,
    /// A bucket with files.
    Bucket,
}
