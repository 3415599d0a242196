//! What a cluster needs so that an operator can work in it, as objects: kinds, rights, a Deployment, and the policy that makes sure that
//! who agrees to a plan is who they say. One file, which `groma operator install` prints.

mod deployment;
mod network;
mod policy;
mod rights;
mod terraform;

use kube::CustomResourceExt as _;
use serde_json::{Value as Json, json};

use crate::api::blueprint::Blueprint;
use crate::api::run::Run;
use crate::api::stack::Stack;

pub use rights::{OPERATOR, RUNNER};
pub use terraform::{definition as terraform_definition, role as terraform_role};

/// The namespace of the operator, if nothing is said.
pub const NAMESPACE: &str = "groma-system";
/// The image of the operator, if nothing is said.
pub const IMAGE: &str = concat!("groma.dev/groma:", env!("CARGO_PKG_VERSION"));
/// Where the operator tells its metrics, and whether it is well.
pub const METRICS_PORT: u16 = 8080;

/// What is decided by who installs.
#[derive(Debug, Clone)]
pub struct Install {
    /// The namespace of the operator.
    pub namespace: String,
    /// Its image.
    pub image: String,
}

impl Default for Install {
    fn default() -> Self {
        Self { namespace: NAMESPACE.to_owned(), image: IMAGE.to_owned() }
    }
}

/// Objects could not be written as YAML, which is a bug.
#[derive(Debug, thiserror::Error)]
#[error("objects could not be written as YAML: {0}")]
pub struct YamlError(String);

/// The definitions of all kinds of ours.
pub fn definitions() -> Vec<Json> {
    [json!(Stack::crd()), json!(Run::crd()), json!(Blueprint::crd())].to_vec()
}

impl Install {
    /// Everything, in the order in which it can be made.
    pub fn objects(&self) -> Vec<Json> {
        let mut all = vec![self.namespace()];
        all.extend(definitions());
        all.extend(self.rights());
        all.extend([self.deployment(), self.service(), self.network_policy()]);
        all
    }

    /// Who may do what, and what is made sure of about approvals.
    pub fn rights(&self) -> Vec<Json> {
        let mut all = rights::objects(&self.namespace);
        all.extend(policy::objects());
        all
    }

    /// The namespace. Nothing in it needs more than pods may have that are kept on a short lead.
    pub fn namespace(&self) -> Json {
        let labels = json!({
            "app.kubernetes.io/name": "groma",
            "pod-security.kubernetes.io/enforce": "restricted",
        });
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace, "labels": labels}})
    }

    /// What runs the operator.
    pub fn deployment(&self) -> Json {
        deployment::deployment(&self.namespace, &self.image)
    }

    /// Who may connect to the operator, and where it may connect to.
    pub fn network_policy(&self) -> Json {
        network::operator(&self.namespace)
    }

    /// Where metrics are read.
    pub fn service(&self) -> Json {
        deployment::service(&self.namespace)
    }
}

/// Where pods of Jobs may connect to: a policy for each namespace with such runs, made by whoever has it.
pub fn network_policy_for_runs() -> Json {
    network::runs()
}

/// Objects as one file.
pub fn yaml(objects: &[Json]) -> Result<String, YamlError> {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false, compact_list_indent: true };
    let mut text = String::new();
    for object in objects {
        text.push_str("---\n");
        serde_saphyr::to_fmt_writer_with_options(&mut text, object, options.clone())
            .map_err(|problem| YamlError(problem.to_string()))?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;

    const MADE: &str =
        "# Made by a test of crates/operator/src/install.rs: `UPDATE_EXPECT=1 cargo test -p groma-operator install`.\n";

    fn made(objects: &[Json]) -> String {
        format!("{MADE}{}", yaml(objects).unwrap())
    }

    fn without_namespace(install: &Install) -> Vec<Json> {
        let mut all = install.rights();
        all.extend([install.deployment(), install.service(), install.network_policy()]);
        all
    }

    #[test]
    fn the_file_to_install_from_is_what_is_printed() {
        expect_file!["../../../deploy/install.yaml"].assert_eq(&made(&Install::default().objects()));
    }

    #[test]
    fn the_parts_for_kustomize_are_the_same() {
        let install = Install::default();
        expect_file!["../../../deploy/kustomize/base/crds.yaml"].assert_eq(&made(&definitions()));
        expect_file!["../../../deploy/kustomize/base/namespace.yaml"].assert_eq(&made(&[install.namespace()]));
        expect_file!["../../../deploy/kustomize/base/operator.yaml"].assert_eq(&made(&without_namespace(&install)));
    }

    #[test]
    fn the_component_for_objects_of_tofu_controller_is_the_same() {
        expect_file!["../../../deploy/kustomize/components/terraform-objects/crd.yaml"]
            .assert_eq(&made(&[terraform_definition()]));
        expect_file!["../../../deploy/kustomize/components/terraform-objects/role.yaml"]
            .assert_eq(&made(&[terraform_role()]));
    }

    #[test]
    fn the_parts_for_helm_are_the_same() {
        // What stands in braces is filled in by helm. The Deployment is written by hand, as more of it can be chosen.
        let install = Install { namespace: "{{ .Release.Namespace }}".to_owned(), image: String::new() };
        expect_file!["../../../deploy/helm/groma/crds/crds.yaml"].assert_eq(&made(&definitions()));
        let mut objects = install.rights();
        objects.push(install.service());
        expect_file!["../../../deploy/helm/groma/templates/rights.yaml"].assert_eq(&made(&objects));
        let policy = yaml(&[install.network_policy()]).unwrap();
        let chosen = format!("{{{{- if .Values.networkPolicy.enabled }}}}\n{MADE}{policy}{{{{- end }}}}\n");
        expect_file!["../../../deploy/helm/groma/templates/network.yaml"].assert_eq(&chosen);
    }

    #[test]
    fn the_policy_for_runs_is_there_to_be_applied() {
        expect_file!["../../../deploy/network/runs.yaml"].assert_eq(&made(&[network_policy_for_runs()]));
    }

    #[test]
    fn the_chart_has_our_version() {
        let chart: Json = serde_saphyr::from_str(include_str!("../../../deploy/helm/groma/Chart.yaml")).unwrap();
        assert_eq!(
            (&chart["version"], &chart["appVersion"]),
            (&json!(env!("CARGO_PKG_VERSION")), &json!(env!("CARGO_PKG_VERSION")))
        );
    }

    /// What can be chosen with helm is left out; the rest of its Deployment is ours.
    #[test]
    fn the_deployment_of_the_chart_is_the_same() {
        let written = include_str!("../../../deploy/helm/groma/templates/deployment.yaml");
        let install = Install { namespace: "{{ .Release.Namespace | quote }}".to_owned(), image: "IMAGE".to_owned() };
        let plain = |text: &str| {
            let lines = text.lines().map(|line| line.trim().trim_start_matches("- ").replace('"', ""));
            lines.filter(|line| !line.contains("{{") && line != "---").collect::<std::collections::BTreeSet<_>>()
        };
        let ours = plain(&yaml(&[install.deployment()]).unwrap());
        let theirs = plain(written);
        let missing: Vec<&String> = ours.difference(&theirs).collect();
        let chosen = [
            "-image=IMAGE",
            "cpu: 100m",
            "image: IMAGE",
            "limits:",
            "memory: 128Mi",
            "memory: 2Gi",
            "requests:",
            "terminationGracePeriodSeconds: 300",
        ];
        assert_eq!(missing, chosen);
    }

    #[test]
    fn what_is_written_is_read_as_the_same() {
        let objects = Install::default().objects();
        let read: Vec<Json> = serde_saphyr::from_multiple(&yaml(&objects).unwrap()).unwrap();
        assert_eq!(read, objects);
    }

    #[test]
    fn everything_is_where_it_is_asked_for() {
        let install =
            Install { namespace: "elsewhere".to_owned(), image: "registry.example/groma@sha256:00".to_owned() };
        let text = yaml(&install.objects()).unwrap();
        assert!(!text.contains(NAMESPACE) && !text.contains(IMAGE), "{text}");
        assert!(text.contains("image: registry.example/groma@sha256:00"), "{text}");
    }
}
