//! The schemas of the built-in provisioners and of `connection` blocks. Running them is the engine's work.

use std::sync::LazyLock;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::schema::{Attribute, Block};
use groma_model::ty::Type;
use groma_model::value::Value;

/// The arguments of a provisioner. None if there is none of that name.
pub fn schema(kind: &str) -> Option<&'static Block> {
    static LOCAL_EXEC: LazyLock<Block> = LazyLock::new(|| {
        block(
            &["command"],
            &[
                ("interpreter", Type::list(Type::String)),
                ("working_dir", Type::String),
                ("environment", Type::map(Type::String)),
                ("quiet", Type::Bool),
            ],
        )
    });
    static REMOTE_EXEC: LazyLock<Block> = LazyLock::new(|| {
        block(
            &[],
            &[("inline", Type::list(Type::String)), ("script", Type::String), ("scripts", Type::list(Type::String))],
        )
    });
    static FILE: LazyLock<Block> =
        LazyLock::new(|| block(&["destination"], &[("source", Type::String), ("content", Type::String)]));
    match kind {
        "local-exec" => Some(&LOCAL_EXEC),
        "remote-exec" => Some(&REMOTE_EXEC),
        "file" => Some(&FILE),
        _ => None,
    }
}

/// The arguments of `connection`, of all connection types together.
pub fn connection_schema() -> &'static Block {
    static CONNECTION: LazyLock<Block> = LazyLock::new(|| {
        let strings = [
            "type",
            "user",
            "password",
            "timeout",
            "script_path",
            "target_platform",
            "private_key",
            "certificate",
            "host_key",
            "agent_identity",
            "proxy_scheme",
            "proxy_host",
            "proxy_user_name",
            "proxy_user_password",
            "bastion_host",
            "bastion_host_key",
            "bastion_user",
            "bastion_password",
            "bastion_private_key",
            "bastion_certificate",
            "cacert",
        ];
        let mut optional: Vec<(&str, Type)> = strings.into_iter().map(|name| (name, Type::String)).collect();
        optional.extend(["port", "proxy_port", "bastion_port"].map(|name| (name, Type::Number)));
        optional.extend(["agent", "https", "insecure", "use_ntlm"].map(|name| (name, Type::Bool)));
        block(&["host"], &optional)
    });
    &CONNECTION
}

/// Checks of a provisioner's configuration that its schema cannot make.
pub fn check_config(kind: &str, config: &Value) -> Diagnostics {
    let attribute = |name: &str| config.as_entries().and_then(|entries| entries.get(name));
    let is_null = |name: &str| attribute(name).is_none_or(Value::is_null);
    let is_empty = |name: &str| is_null(name) || attribute(name).and_then(Value::as_str) == Some("");
    let invalid = |summary: &str, detail: &str| Diagnostics::from(Diagnostic::error(summary, detail));
    let scripts = ["inline", "script", "scripts"].into_iter().filter(|name| !is_null(name)).count();
    match kind {
        _ if !config.is_known() => Diagnostics::new(),
        "local-exec" if is_empty("command") => {
            invalid("Invalid local-exec provisioner command", "The command must be a non-empty string.")
        }
        "remote-exec" if scripts != 1 => invalid(
            "Invalid remote-exec provisioner configuration",
            "Only one of \"inline\", \"script\", or \"scripts\" must be set",
        ),
        "file" if is_empty("destination") => {
            invalid("Invalid file provisioner configuration", "The destination must be a non-empty string.")
        }
        "file" if !is_null("source") && !is_null("content") => invalid("Cannot set both 'source' and 'content'", ""),
        "file" if is_null("source") && is_null("content") => invalid("Must provide one of 'source' or 'content'", ""),
        _ => Diagnostics::new(),
    }
}

/// What is to be said about a `connection` that its schema allows.
pub fn check_connection(connection: &Value) -> Diagnostics {
    let (connection, _) = connection.clone().unmark_deep();
    let ty = connection.as_entries().and_then(|entries| entries.get("type")).and_then(Value::as_str);
    if ty != Some("winrm") {
        return Diagnostics::new();
    }
    let detail = "Provisioners cannot connect over WinRM, and fail when they run. Modern Windows systems support SSH \
                  natively: use a connection of type \"ssh\" with target_platform = \"windows\".";
    Diagnostic::warning("WinRM connection type is not supported", detail).at_path(Path::root().attr("type")).into()
}

fn block(required: &[&str], optional: &[(&str, Type)]) -> Block {
    let mut block = Block::default();
    for name in required {
        let attribute = Attribute { required: true, ..Attribute::of_type(Type::String) };
        block.attributes.insert((*name).into(), attribute);
    }
    for (name, ty) in optional {
        let attribute = Attribute { optional: true, ..Attribute::of_type(ty.clone()) };
        block.attributes.insert((*name).into(), attribute);
    }
    block
}
