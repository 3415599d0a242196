//! Variables of the environment that a Stack cannot set: they would decide for the operator what only it decides.

use crate::api::stack::{Engine, StackSpec};

/// What starts with this is read by the place where states are kept, which would be reached somewhere else with our credentials.
const OF_THE_HOME: &str = "KUBE_";
/// What Terraform and OpenTofu may be told. Everything else that starts with `TF_` changes how they are driven.
const TF_ALLOWED: [&str; 4] = ["TF_VAR_", "TF_TOKEN_", "TF_HTTP_", "TF_REGISTRY_"];
/// Where programs and settings of the machine are looked for.
const OF_THE_MACHINE: [&str; 2] = ["PATH", "HOME"];
const OF_THE_MACHINE_ALL: [&str; 2] = ["LD_", "XDG_"];
/// What makes other programs start programs; not for those who may start none.
const STARTING: &str = "GIT_";

/// What is wrong with the variables of an environment.
pub(super) fn problems<'a>(spec: &StackSpec, names: impl Iterator<Item = &'a String>, at_home: bool) -> Vec<String> {
    names.filter_map(|name| Some(format!("spec.inputs.env: {name} {}", why_not(spec, name, at_home)?))).collect()
}

fn why_not(spec: &StackSpec, name: &str, at_home: bool) -> Option<&'static str> {
    // Our own engine is told how to reach what is ours, and reads nothing of this.
    if spec.engine == Engine::Native {
        return None;
    }
    if at_home && name.starts_with(OF_THE_HOME) {
        return Some(
            "cannot be set while the state is kept by the operator, which is reached with it too; say it in the provider block, or set \
             spec.backend",
        );
    }
    let is_tf = name.starts_with("TF_") && !TF_ALLOWED.iter().any(|allowed| name.starts_with(allowed));
    let is_machine = OF_THE_MACHINE.contains(&name) || OF_THE_MACHINE_ALL.iter().any(|start| name.starts_with(start));
    if is_tf || is_machine {
        return Some("cannot be set for spec.engine tofu and terraform: it changes how they are driven");
    }
    if name.starts_with(STARTING) && !spec.allow_exec {
        return Some("can start programs; set spec.allowExec to allow it");
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(engine: &str, allow_exec: bool, at_home: bool, name: &str) -> bool {
        let spec = json!({"source": {"inline": {}}, "engine": engine, "allowExec": allow_exec});
        let spec: StackSpec = serde_json::from_value(spec).unwrap();
        !problems(&spec, [name.to_owned()].iter(), at_home).is_empty()
    }

    #[test]
    fn what_decides_for_the_operator_is_refused() {
        for name in
            ["TF_CLI_ARGS", "TF_CLI_CONFIG_FILE", "TF_DATA_DIR", "PATH", "HOME", "LD_PRELOAD", "GIT_SSH_COMMAND"]
        {
            assert!(refused("tofu", false, true, name), "{name}");
            assert!(!refused("native", false, true, name), "{name}");
        }
        for name in ["TF_VAR_a", "TF_TOKEN_example_com", "AWS_REGION", "HOMEPAGE"] {
            assert!(!refused("terraform", false, true, name), "{name}");
        }
        assert!(!refused("tofu", true, true, "GIT_SSH_COMMAND"));
    }

    #[test]
    fn nobody_sends_our_credentials_elsewhere() {
        assert!(refused("tofu", true, true, "KUBE_HOST"));
        assert!(!refused("tofu", true, false, "KUBE_HOST"));
        assert!(!refused("native", true, true, "KUBE_HOST"), "it does not listen to that");
    }
}
