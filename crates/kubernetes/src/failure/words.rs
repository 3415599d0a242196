//! Failures in words: what could not be done, why, and what to do next.

use groma_model::diag::Diagnostic;

use super::{Failure, FailureKind};
use crate::manifest::{ObjectRef, kinds};

/// More causes than these are counted only.
const MOST_CAUSES: usize = 10;

impl Failure {
    /// As a diagnostic about an object: `doing` is "plan", "create", "read", … .
    pub(crate) fn diagnostic(&self, doing: &str, object: &ObjectRef) -> Diagnostic {
        let (summary, advice) = self.advice(object);
        let what = format!("Could not {doing} {}: ", named(object));
        Diagnostic::error(summary, format!("{what}{}{advice}", self.why()))
    }

    /// The server's reasons: one sentence, or a line for each field.
    fn why(&self) -> String {
        let told = self.causes.iter().filter(|(field, message)| !field.is_empty() || !message.is_empty());
        let told: Vec<_> = told.collect();
        let lists = matches!(self.kind, FailureKind::Invalid | FailureKind::Immutable | FailureKind::Conflict);
        if told.len() < 2 || !lists {
            return ended(&self.message);
        }
        let mut lines = format!("{} problems.", told.len());
        for (field, message) in told.iter().take(MOST_CAUSES) {
            let field = field.trim_start_matches('.');
            let line = if field.is_empty() { message.clone() } else { format!("{field}: {message}") };
            lines.push_str("\n  - ");
            lines.push_str(&line);
        }
        if told.len() > MOST_CAUSES {
            let more = format!("\n  - and {} more", told.len() - MOST_CAUSES);
            lines.push_str(&more);
        }
        lines
    }

    fn advice(&self, object: &ObjectRef) -> (&'static str, String) {
        match self.kind {
            FailureKind::Unauthenticated => (
                "Not authenticated by the cluster",
                "\n\nThe server does not know who is asking: the token, certificate or program for credentials in \
                 cluster is missing, wrong or too old. Renew it and run again."
                    .to_owned(),
            ),
            FailureKind::Denied => ("Not allowed by the cluster", denied(object)),
            FailureKind::Unreachable => ("Cluster cannot be reached", self.unreachable()),
            FailureKind::UnknownKind => ("Kind is not known to the cluster", unknown_kind(object)),
            FailureKind::NoNamespace => ("Namespace does not exist", no_namespace(object)),
            FailureKind::Conflict => (
                "Fields are managed by others",
                "\n\nAnother program manages these fields. Take them out of the manifest, name them in ignore_fields, or \
                 set force_conflicts = true to take them over."
                    .to_owned(),
            ),
            FailureKind::AlreadyExists => (
                "Object exists already",
                "\n\nImport it, give this one another name, or delete the one that is there.".to_owned(),
            ),
            FailureKind::UnknownField => (
                "Unknown field in manifest",
                format!(
                    "\n\nA field is misspelt, in the wrong place, there twice, or not in this version of the API. See \
                     which ones there are: kubectl explain {} --api-version={} --recursive",
                    object.kind.to_ascii_lowercase(),
                    object.api_version
                ),
            ),
            FailureKind::Immutable => (
                "Field cannot be changed",
                "\n\nThe server does not change this field of an object that exists. Set it back, or have the object \
                 replaced (-replace)."
                    .to_owned(),
            ),
            FailureKind::Invalid => self.invalid(object),
            FailureKind::Busy if self.message.contains("failed calling webhook") => (
                "Admission webhook does not answer",
                "\n\nThe cluster asks this webhook about every such object, and it was asked several times. See whether its \
                 pods run and its service is right; if what it belongs to is gone, delete its webhook configuration."
                    .to_owned(),
            ),
            FailureKind::Busy => (
                "Cluster is not able to answer now",
                "\n\nIt was asked several times. If the message names an extension, see whether its pods run; otherwise \
                 wait for the control plane to recover and run again."
                    .to_owned(),
            ),
            FailureKind::Outdated => (
                "Object was changed meanwhile",
                "\n\nSomebody else changed or replaced it at the same time. Run again.".to_owned(),
            ),
            FailureKind::Other if self.code == Some(404) => ("Object does not exist", String::new()),
            FailureKind::Other => ("Request to the cluster failed", String::new()),
        }
    }

    /// The server or somebody that it asks does not want the object.
    fn invalid(&self, object: &ObjectRef) -> (&'static str, String) {
        let said = |words: &str| self.message.contains(words);
        if said("exceeded quota") {
            let look = kubectl("describe resourcequota", None, object.namespace.as_deref());
            let advice =
                format!("\n\nAsk for less, delete what is not needed, or raise the quota. See it with: {look}");
            return ("Quota exceeded", advice);
        }
        if said("admission webhook") {
            let name = self.message.split('"').nth(1).filter(|_| said("admission webhook \""));
            let by = name.map_or_else(String::new, |name| format!(" {name:?}"));
            let advice = format!(
                "\n\nThe API accepts the object, but the admission webhook{by} of this cluster does not. Change what it \
                 asks for, or ask who runs it."
            );
            return ("Denied by an admission webhook", advice);
        }
        if said("ValidatingAdmissionPolicy") {
            let advice = "\n\nA policy of this cluster does not accept the object. Change what it asks for, or ask who \
                          made it (kubectl get validatingadmissionpolicies).";
            return ("Denied by an admission policy", advice.to_owned());
        }
        if said("violates PodSecurity") {
            let advice = "\n\nThe namespace accepts only pods that are more restricted. Set the securityContext that is \
                          named, or change the labels pod-security.kubernetes.io/* of the namespace.";
            return ("Pod security violated", advice.to_owned());
        }
        if said("quantities must match") || said("unable to parse quantity") {
            let advice = "\n\nAn amount is not written as such. Write it as 500m, 2, 128Mi or 1Gi.";
            return ("Invalid quantity", advice.to_owned());
        }
        ("Object is not valid", "\n\nMend the manifest and run again.".to_owned())
    }

    fn unreachable(&self) -> String {
        let said = |words: &str| self.message.to_ascii_lowercase().contains(words);
        let advice = if said("http request to an https server") {
            "The server speaks HTTPS: write host with https://."
        } else if said("certificate") || said("unknownissuer") {
            "The server's certificate is not trusted. Give the certificate of its authority (cluster_ca_certificate), or \
             the name that the certificate has (tls_server_name)."
        } else if said("dns") || said("lookup") || said("resolve") || said("name or service") {
            "There is no such host. See whether its name in cluster is right, and whether this machine can resolve it."
        } else if said("refused") {
            "Nothing listens there. See whether the port is right and the server runs."
        } else if said("timed out") || said("timeout") || said("deadline") {
            "There was no answer in time. See whether a firewall, VPN or proxy is between."
        } else {
            "See whether host and port in cluster are right, and whether a firewall, VPN or proxy is between."
        };
        format!("\n\n{advice}")
    }
}

/// What an object is called, in messages: `Deployment "shop/web"`.
pub(crate) fn named(object: &ObjectRef) -> String {
    match &object.namespace {
        Some(namespace) => format!("{} \"{namespace}/{}\"", object.kind, object.name),
        None => format!("{} \"{}\"", object.kind, object.name),
    }
}

/// A command that people can run. Kinds without namespaces get none.
pub(crate) fn kubectl(verb: &str, what: Option<&ObjectRef>, namespace: Option<&str>) -> String {
    let what = what.map_or_else(String::new, |object| format!(" {} {}", resource(object), object.name));
    let namespace = namespace.map_or_else(String::new, |namespace| format!(" -n {namespace}"));
    format!("kubectl {verb}{what}{namespace}")
}

/// The kind with its group, so that kubectl takes no other one of the same name.
fn resource(object: &ObjectRef) -> String {
    let kind = object.kind.to_ascii_lowercase();
    match object.api_version.split_once('/') {
        Some((group, _)) if usual(&object.kind).as_ref() != Some(&object.api_version) => format!("{kind}.{group}"),
        _ => kind,
    }
}

/// The `apiVersion` of a kind that only Kubernetes itself has, and only once.
fn usual(kind: &str) -> Option<String> {
    kinds::only(kind).map(|known| known.api_version())
}

fn denied(object: &ObjectRef) -> String {
    let scope = match &object.namespace {
        Some(namespace) => format!("in namespace \"{namespace}\""),
        None => "in the whole cluster".to_owned(),
    };
    format!(
        "\n\nWho is asking needs the verbs get, list, watch, create, patch and delete for {} of {} {scope}: give them \
         with a role and a binding.",
        object.kind, object.api_version
    )
}

fn unknown_kind(object: &ObjectRef) -> String {
    match usual(&object.kind) {
        Some(right) if right != object.api_version => {
            format!(
                "\n\n{} is of apiVersion {right}, not {}. Write: apiVersion: {right}",
                object.kind, object.api_version
            )
        }
        _ if kinds::is_own_group(object.group()) => format!(
            "\n\nKubernetes itself has no such kind there, or not in this version of the server. See what there is: kubectl \
             api-resources --api-group={:?}",
            object.group()
        ),
        _ => {
            let group = object.api_version.split_once('/').map_or("", |(group, _)| group);
            let look = if group.is_empty() { String::new() } else { format!(" --api-group={group}") };
            format!(
                "\n\nThe CustomResourceDefinition of {} ({}) is not installed, or not yet. Install it first, with \
                 depends_on if that is done in the same configuration. See what there is: kubectl api-resources{look}",
                object.kind, object.api_version
            )
        }
    }
}

fn no_namespace(object: &ObjectRef) -> String {
    let name = object.namespace.as_deref().unwrap_or("default");
    format!(
        "\n\nThere is no namespace \"{name}\", or it is being deleted. Create it first, with depends_on if that is done \
         in the same configuration, or write another one. See which there are: kubectl get namespaces"
    )
}

fn ended(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', '…']) { text.to_owned() } else { format!("{text}.") }
}
