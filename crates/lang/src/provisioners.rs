//! The schemas of the built-in provisioners and of `connection` blocks. Running them is the engine's work.

use std::sync::LazyLock;

use groma_model::schema::{Attribute, Block};
use groma_model::ty::Type;

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
