//! The real OpenTofu with plugins from a directory, and state files between it and us.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value as Json, json};

use super::peer;

/// A directory in which OpenTofu runs, with some published plugins.
pub struct Workspace<'d> {
    dir: &'d Path,
}

/// A resource of a configuration and of a state.
#[derive(Debug, Clone)]
pub struct Stored {
    /// Its type; the name is always `it`.
    pub ty: String,
    /// The schema version.
    pub version: i64,
    /// The attributes.
    pub attributes: Json,
}

impl<'d> Workspace<'d> {
    /// With a configuration, and plugins by name and the variable that names the program.
    pub fn new(dir: &'d Path, resources: &[(&str, Json)], plugins: &[(&str, &str)]) -> Self {
        let mut overrides = String::new();
        for (name, variable) in plugins {
            let place = dir.join("plugins").join(name);
            std::fs::create_dir_all(&place).unwrap();
            std::os::unix::fs::symlink(peer(variable), place.join(format!("terraform-provider-{name}"))).unwrap();
            writeln!(overrides, "    \"hashicorp/{name}\" = \"{}\"", place.display()).unwrap();
        }
        let rc = format!("provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n  direct {{}}\n}}\n");
        std::fs::write(dir.join("tofurc"), rc).unwrap();
        let mut all = serde_json::Map::new();
        for (ty, config) in resources {
            all.insert((*ty).to_owned(), json!({"it": config}));
        }
        std::fs::write(dir.join("main.tf.json"), json!({"resource": all}).to_string()).unwrap();
        Self { dir }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(peer("GROMA_TOFU"));
        command.args(arguments).current_dir(self.dir).env_clear();
        command.env("TF_CLI_CONFIG_FILE", self.dir.join("tofurc"));
        command.env("HOME", self.dir).env("CHECKPOINT_DISABLE", "1");
        command.output().expect("OpenTofu runs")
    }

    /// Applies the configuration, and gives the resources of the state.
    pub fn apply(&self) -> Vec<Stored> {
        let output = self.run(&["apply", "-auto-approve", "-no-color", "-input=false"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let state: Json = serde_json::from_slice(&std::fs::read(self.dir.join("terraform.tfstate")).unwrap()).unwrap();
        let resources = state["resources"].as_array().unwrap().iter().map(|resource| Stored {
            ty: resource["type"].as_str().unwrap().to_owned(),
            version: resource["instances"][0]["schema_version"].as_i64().unwrap(),
            attributes: resource["instances"][0]["attributes"].clone(),
        });
        resources.collect()
    }

    /// Writes a state.
    pub fn store(&self, resources: &[(Stored, &str)]) {
        let resource = |(stored, provider): &(Stored, &str)| {
            json!({
                "mode": "managed", "type": stored.ty, "name": "it", "provider": format!("provider[{provider:?}]"),
                "instances": [{
                    "schema_version": stored.version, "attributes": stored.attributes, "sensitive_attributes": [],
                }],
            })
        };
        let state = json!({
            "version": 4, "terraform_version": "1.12.0", "serial": 1,
            "lineage": "3f6a9b6e-5f0e-4d0e-9d53-0d3c1a4b5c6d", "outputs": {},
            "resources": resources.iter().map(resource).collect::<Vec<_>>(), "check_results": null,
        });
        std::fs::write(self.dir.join("terraform.tfstate"), state.to_string()).unwrap();
    }

    /// Checks that OpenTofu would change nothing.
    pub fn sees_no_changes(&self) {
        let output = self.run(&["plan", "-detailed-exitcode", "-no-color", "-input=false"]);
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "0 means no changes; OpenTofu said:\n{text}\n{errors}");
        assert!(text.contains("No changes"), "{text}");
    }
}
