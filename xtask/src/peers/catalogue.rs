//! The programs of others that we build: what they are called, which version, from which package.

use std::path::PathBuf;

use anyhow::Result;

use super::Group;
use super::build::{self, Recipe};
use crate::workspace;

/// A Go program of somebody else, pinned by a module of ours.
pub(super) struct Peer {
    /// Name of the cache folder.
    pub(super) name: &'static str,
    /// Name of the folder in `tests/peers`: that of the peer, unless several come from one module.
    module: &'static str,
    /// The environment variable by which tests find it.
    pub(super) variable: &'static str,
    pub(super) version: &'static str,
    /// The version of the module, where it is written otherwise.
    pin: Option<&'static str>,
    /// The import path of the main package.
    package: &'static str,
    /// What the binary is called, without version.
    binary: &'static str,
    /// What goes to `-ldflags` beside stripping.
    link: &'static str,
    pub(super) group: Group,
}

/// OpenTofu, servers, then provider plugins, quick builds first.
pub(super) const PEERS: &[Peer] = &[
    Peer {
        // Without this it calls itself a development build.
        link: "-X github.com/opentofu/opentofu/version.dev=no",
        group: Group::Test,
        ..peer(["tofu", "GROMA_TOFU", "1.12.6", "github.com/opentofu/opentofu/cmd/tofu", "tofu"])
    },
    Peer {
        link: "-X main.version=0.14.2",
        group: Group::Test,
        ..peer([
            "provider-time",
            "GROMA_PROVIDER_TIME",
            "0.14.2",
            "github.com/hashicorp/terraform-provider-time",
            "terraform-provider-time",
        ])
    },
    Peer {
        group: Group::Servers,
        ..peer(["versitygw", "GROMA_VERSITYGW", "1.8.0", "github.com/versity/versitygw/cmd/versitygw", "versitygw"])
    },
    Peer { group: Group::Servers, ..peer(["etcd", "GROMA_ETCD", "3.6.16", "go.etcd.io/etcd/server/v3", "etcd"]) },
    Peer {
        group: Group::Servers,
        ..kubernetes(["kube-apiserver", "GROMA_KUBE_APISERVER", "k8s.io/kubernetes/cmd/kube-apiserver"])
    },
    kubernetes([
        "kube-controller-manager",
        "GROMA_KUBE_CONTROLLER_MANAGER",
        "k8s.io/kubernetes/cmd/kube-controller-manager",
    ]),
    kubernetes(["kube-scheduler", "GROMA_KUBE_SCHEDULER", "k8s.io/kubernetes/cmd/kube-scheduler"]),
    kubernetes(["kube-proxy", "GROMA_KUBE_PROXY", "k8s.io/kubernetes/cmd/kube-proxy"]),
    kubernetes(["kubelet", "GROMA_KUBELET", "k8s.io/kubernetes/cmd/kubelet"]),
    Peer {
        // What it renders for, where it has no cluster to ask, is set when it is built.
        link: "-X helm.sh/helm/v3/internal/version.version=v3.22.0 \
               -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=34 \
               -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=34",
        group: Group::Cluster,
        ..peer(["helm", "GROMA_HELM", "3.22.0", "helm.sh/helm/v3/cmd/helm", "helm"])
    },
    Peer {
        group: Group::Servers,
        ..peer([
            "provider-kubernetes",
            "GROMA_PROVIDER_KUBERNETES",
            "1.13.4",
            "github.com/hashicorp/terraform-provider-kubernetes",
            "terraform-provider-kubernetes",
        ])
    },
    // The newest that the module proxy lists; built with a library that speaks protocol 5, which they once did not.
    peer([
        "provider-null",
        "GROMA_PROVIDER_NULL",
        "1.0.0",
        "github.com/terraform-providers/terraform-provider-null",
        "terraform-provider-null",
    ]),
    Peer {
        pin: Some("v2.0.0+incompatible"),
        ..peer([
            "provider-random",
            "GROMA_PROVIDER_RANDOM",
            "2.0.0",
            "github.com/terraform-providers/terraform-provider-random",
            "terraform-provider-random",
        ])
    },
    Peer {
        // The newest state of the repository that the module proxy has kept.
        pin: Some("v1.3.2-0.20231204135814-c6e90de46687"),
        ..peer([
            "provider-random-current",
            "GROMA_PROVIDER_RANDOM_CURRENT",
            "3.6.0",
            "github.com/terraform-providers/terraform-provider-random",
            "terraform-provider-random",
        ])
    },
    peer([
        "provider-tls",
        "GROMA_PROVIDER_TLS",
        "1.2.0",
        "github.com/terraform-providers/terraform-provider-tls",
        "terraform-provider-tls",
    ]),
    Peer {
        // The newest state of the repository that the module proxy has kept.
        pin: Some("v1.2.1-0.20230117062332-afdd54107aba"),
        ..peer([
            "provider-tls-current",
            "GROMA_PROVIDER_TLS_CURRENT",
            "4.0.4",
            "github.com/hashicorp/terraform-provider-tls",
            "terraform-provider-tls",
        ])
    },
    peer([
        "provider-local",
        "GROMA_PROVIDER_LOCAL",
        "1.4.0",
        "github.com/terraform-providers/terraform-provider-local",
        "terraform-provider-local",
    ]),
    Peer {
        // The main branch, a day after the release whose number it carries.
        pin: Some("v1.4.1-0.20260513075820-3561e410f9fe"),
        // Stacks of other engines have files.
        group: Group::Cluster,
        ..peer([
            "provider-local-current",
            "GROMA_PROVIDER_LOCAL_CURRENT",
            "2.9.0",
            "github.com/terraform-providers/terraform-provider-local",
            "terraform-provider-local",
        ])
    },
    peer([
        "provider-http",
        "GROMA_PROVIDER_HTTP",
        "1.2.0",
        "github.com/terraform-providers/terraform-provider-http",
        "terraform-provider-http",
    ]),
    peer([
        "provider-external",
        "GROMA_PROVIDER_EXTERNAL",
        "1.2.0",
        "github.com/terraform-providers/terraform-provider-external",
        "terraform-provider-external",
    ]),
    peer([
        "provider-archive",
        "GROMA_PROVIDER_ARCHIVE",
        "1.3.0",
        "github.com/terraform-providers/terraform-provider-archive",
        "terraform-provider-archive",
    ]),
    peer([
        "provider-coder",
        "GROMA_PROVIDER_CODER",
        "2.19.0",
        "github.com/coder/terraform-provider-coder/v2",
        "terraform-provider-coder",
    ]),
    peer([
        "provider-kustomization",
        "GROMA_PROVIDER_KUSTOMIZATION",
        "0.9.8",
        "github.com/kbst/terraform-provider-kustomize",
        "terraform-provider-kustomization",
    ]),
    peer([
        "provider-kubectl",
        "GROMA_PROVIDER_KUBECTL",
        "1.19.0",
        "github.com/gavinbunney/terraform-provider-kubectl",
        "terraform-provider-kubectl",
    ]),
    Peer {
        // The main branch, two weeks after the release whose number it carries.
        pin: Some("v0.0.0-20260916201441-96d331c98ff4"),
        ..peer([
            "provider-docker",
            "GROMA_PROVIDER_DOCKER",
            "4.6.0",
            "github.com/terraform-providers/terraform-provider-docker",
            "terraform-provider-docker",
        ])
    },
];

/// A peer that only conformance needs, and that wants nothing special.
const fn peer([name, variable, version, package, binary]: [&'static str; 5]) -> Peer {
    Peer { name, module: name, variable, version, pin: None, package, binary, link: "", group: Group::Conformance }
}

/// A program of Kubernetes. All come from one module, so that what they share is compiled once.
const fn kubernetes([name, variable, package]: [&'static str; 3]) -> Peer {
    Peer {
        module: "kubernetes",
        // Without this they have no version, and clients that ask for one are at a loss.
        link: "-X k8s.io/component-base/version.gitVersion=v1.34.4 -X k8s.io/component-base/version.gitMajor=1 \
               -X k8s.io/component-base/version.gitMinor=34",
        group: Group::Cluster,
        ..peer([name, variable, "1.34.4", package, name])
    }
}

impl Peer {
    /// Where it lies once it is built. Plugins have their version in their name, as installers want it.
    pub(super) fn path(&self) -> Result<PathBuf> {
        let binary = if self.binary.starts_with("terraform-provider-") {
            format!("{}_v{}", self.binary, self.version)
        } else {
            self.binary.to_owned()
        };
        Ok(build::cache()?.join(self.name).join(self.version).join(binary))
    }

    /// The version as its module has it.
    fn pin(&self) -> String {
        self.pin.map_or_else(|| format!("v{}", self.version), str::to_owned)
    }

    /// How to build it.
    pub(super) fn recipe(&self) -> Result<Recipe> {
        Ok(Recipe {
            title: format!("{} {}", self.name, self.pin()),
            module: workspace::root().join("tests/peers").join(self.module),
            package: self.package,
            link: self.link,
            output: self.path()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_peer_is_pinned_at_the_version_we_name() {
        for peer in PEERS {
            let path = workspace::root().join("tests/peers").join(peer.module).join("go.mod");
            let manifest = std::fs::read_to_string(&path).unwrap();
            let pin = peer.pin();
            assert!(
                manifest.lines().any(|line| {
                    let mut words = line.trim_start_matches("require").split_whitespace();
                    words.next().is_some_and(|module| peer.package.starts_with(module)) && words.next() == Some(&pin)
                }),
                "{} does not require {pin}",
                path.display()
            );
        }
    }

    #[test]
    fn every_pinned_module_is_a_peer() {
        let folders: BTreeSet<String> = std::fs::read_dir(workspace::root().join("tests/peers"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let peers: BTreeSet<String> = PEERS.iter().map(|peer| peer.module.to_owned()).collect();
        assert_eq!(folders, peers);
    }
}
