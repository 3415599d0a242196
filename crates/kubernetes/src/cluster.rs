//! The attribute `cluster`: how to reach a cluster, as it is written. What it takes to talk to it is in `api`.

mod validation;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use groma_kit::Object;
use groma_kit::spec::{Attr, optional, required};
use groma_model::schema::Nesting;
use groma_model::ty::Type;
use groma_model::value::Value;

pub(crate) use validation::{pem_text, validate};

/// The name of the attribute.
pub(crate) const CLUSTER: &str = "cluster";

/// How to reach a cluster. Credentials are never shown.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct ClusterSpec {
    pub(crate) host: Option<String>,
    pub(crate) cluster_ca_certificate: Option<String>,
    pub(crate) kubeconfig: Option<String>,
    pub(crate) kubeconfig_path: Option<String>,
    pub(crate) context: Option<String>,
    pub(crate) in_cluster: bool,
    pub(crate) token: Option<String>,
    pub(crate) token_file: Option<String>,
    pub(crate) client_certificate: Option<String>,
    pub(crate) client_key: Option<String>,
    pub(crate) insecure: bool,
    pub(crate) proxy_url: Option<String>,
    pub(crate) tls_server_name: Option<String>,
    pub(crate) impersonate_user: Option<String>,
    pub(crate) impersonate_groups: Vec<String>,
    pub(crate) exec: Option<ExecSpec>,
}

/// A program that gets credentials.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct ExecSpec {
    pub(crate) api_version: String,
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
}

impl fmt::Debug for ClusterSpec {
    /// Only what is no secret. A proxy may have a password, arguments of programs may have anything.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ClusterSpec");
        shown.field("host", &self.host).field("kubeconfig_path", &self.kubeconfig_path);
        shown.field("context", &self.context).field("in_cluster", &self.in_cluster);
        shown.field("insecure", &self.insecure).finish_non_exhaustive()
    }
}

impl fmt::Debug for ExecSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecSpec").field("command", &self.command).finish_non_exhaustive()
    }
}

/// A connection that is given, left to the provider, or not known yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Given {
    /// By the resource.
    Here(Box<ClusterSpec>),
    /// Not by the resource: the provider's own is used.
    Default,
    /// Parts are unknown.
    Unknown,
}

/// The attribute, for resources and data sources.
pub(crate) fn attribute() -> Attr {
    let text = |doc: &str| optional(Type::String).doc(doc);
    let exec = [
        (
            "api_version",
            required(Type::String).doc("Version of the interface, such as `client.authentication.k8s.io/v1`."),
        ),
        ("command", required(Type::String).doc("The program.")),
        ("args", optional(Type::list(Type::String)).doc("Its arguments.")),
        ("env", optional(Type::map(Type::String)).doc("Its environment, beside that of this process.")),
    ];
    let attributes = [
        ("host", text("URL of the API server.")),
        ("cluster_ca_certificate", text("Certificate of the server's authority, PEM or base64 of it.").sensitive()),
        ("kubeconfig", text("What a kubeconfig says: its content, not its path.").sensitive()),
        ("kubeconfig_path", text("Path of a kubeconfig. Nothing of what it says is stored.")),
        ("context", text("Context of the kubeconfig. Default: its current context, or the only one.")),
        ("in_cluster", optional(Type::Bool).doc("Whether to use the service account of the pod that this runs in.")),
        ("token", text("Token that is sent to the server.").sensitive()),
        ("token_file", text("File that has the token; read again when it changes.")),
        ("client_certificate", text("Certificate of the client, PEM or base64 of it.").sensitive()),
        ("client_key", text("Private key of the client, PEM or base64 of it.").sensitive()),
        ("insecure", optional(Type::Bool).doc("Whether anybody is trusted to be the server.")),
        ("proxy_url", text("URL of the proxy on the way to the server, with `host` only.")),
        ("tls_server_name", text("Name that the server's certificate must have, if it is not that of the URL.")),
        ("impersonate_user", text("User to act as.")),
        ("impersonate_groups", optional(Type::list(Type::String)).doc("Groups of the user to act as.")),
        (
            "exec",
            optional(Type::Dynamic)
                .nested(Nesting::Single, exec)
                .sensitive()
                .doc("A program that gets credentials. It is asked again when they expire."),
        ),
    ];
    optional(Type::Dynamic).nested(Nesting::Single, attributes).doc(
        "How to reach the cluster: either `host` with credentials, or `kubeconfig`, or `kubeconfig_path`, or \
         `in_cluster`. Without it the provider's own `cluster` is used, which is never stored.",
    )
}

/// Reads the attribute `cluster` of a resource or data source.
pub(crate) fn read(object: &Object) -> Given {
    let value = object.get(CLUSTER);
    if !value.is_wholly_known() {
        return Given::Unknown;
    }
    if value.is_null() {
        return Given::Default;
    }
    Given::Here(Box::new(spec(&Object::of(&value))))
}

fn spec(cluster: &Object) -> ClusterSpec {
    let text = |name: &str| cluster.text(name).map(str::to_owned);
    ClusterSpec {
        host: text("host"),
        cluster_ca_certificate: text("cluster_ca_certificate"),
        kubeconfig: text("kubeconfig"),
        kubeconfig_path: text("kubeconfig_path"),
        context: text("context"),
        in_cluster: cluster.flag("in_cluster").unwrap_or(false),
        token: text("token"),
        token_file: text("token_file"),
        client_certificate: text("client_certificate"),
        client_key: text("client_key"),
        insecure: cluster.flag("insecure").unwrap_or(false),
        proxy_url: text("proxy_url"),
        tls_server_name: text("tls_server_name"),
        impersonate_user: text("impersonate_user"),
        impersonate_groups: owned(cluster.texts("impersonate_groups")),
        exec: exec(&cluster.get("exec")),
    }
}

fn exec(value: &Value) -> Option<ExecSpec> {
    if value.is_null() {
        return None;
    }
    let exec = Object::of(value);
    let env = exec.text_map("env").unwrap_or_default();
    Some(ExecSpec {
        api_version: exec.text("api_version").unwrap_or_default().to_owned(),
        command: exec.text("command").unwrap_or_default().to_owned(),
        args: owned(exec.texts("args")),
        env: env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
    })
}

fn owned(texts: Option<Vec<&str>>) -> Vec<String> {
    texts.unwrap_or_default().into_iter().map(str::to_owned).collect()
}
