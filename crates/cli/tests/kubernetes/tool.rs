//! Who runs the provider: groma, with what it has built in or with the plugin, or one of the others with the plugin.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sandbox::{Outcome, Sandbox};

/// Who runs the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "not all tests have others")]
pub(crate) enum Tool {
    /// With what it has built in.
    Groma,
    GromaWithPlugin,
    Terraform,
    OpenTofu,
}

const SOURCE: &str = "jmorris0x0/k8sconnect";
const VERSION: &str = "0.3.8";

impl Tool {
    /// Has a directory ready for it.
    pub(crate) fn prepare(self, sandbox: Sandbox) -> Sandbox {
        let host = match self {
            Self::Groma => return sandbox,
            Self::GromaWithPlugin | Self::OpenTofu => "registry.opentofu.org",
            Self::Terraform => "registry.terraform.io",
        };
        let address = format!("{host}/{SOURCE}");
        let sandbox = sandbox.mirror(&[(&address, VERSION)]).program(&address, VERSION, &plugin());
        let arguments: &[&str] = if self == Self::GromaWithPlugin { &["init", "-builtin=false"] } else { &["init"] };
        // It is done once more when there is a configuration; then everything is known already.
        let sandbox = sandbox.file("main.tf", crate::space::HEADER);
        let outcome = self.run(&sandbox, arguments);
        assert_eq!(outcome.code, 0, "{}{}", outcome.stdout, outcome.stderr);
        sandbox
    }

    pub(crate) fn run(self, sandbox: &Sandbox, arguments: &[&str]) -> Outcome {
        let program = match self {
            Self::Groma | Self::GromaWithPlugin => return sandbox.run(arguments),
            Self::Terraform => program("GROMA_TERRAFORM"),
            Self::OpenTofu => program("GROMA_TOFU"),
        };
        let output = Command::new(program)
            .args(arguments)
            .current_dir(sandbox.path("."))
            .env_clear()
            .envs(environment())
            .env("TF_CLI_CONFIG_FILE", sandbox.path(".tofurc"))
            .env("HOME", sandbox.path("."))
            .env("KUBECONFIG", sandbox.path("kubeconfig"))
            .env("CHECKPOINT_DISABLE", "1")
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Outcome { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

#[expect(clippy::disallowed_methods, reason = "programs of the system are found by it")]
fn environment() -> Option<(&'static str, std::ffi::OsString)> {
    std::env::var_os("PATH").map(|path| ("PATH", path))
}

/// The program that the environment names.
#[expect(clippy::disallowed_methods, reason = "the peers are named by the environment")]
fn program(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set; run `cargo xtask test`")).into()
}

/// The plugin: where the environment says, or where cargo puts it beside groma.
#[expect(clippy::disallowed_methods, reason = "the environment may name it")]
fn plugin() -> PathBuf {
    let beside = || Path::new(env!("CARGO_BIN_EXE_groma")).with_file_name("terraform-provider-k8sconnect");
    let plugin = std::env::var_os("GROMA_PROVIDER_K8SCONNECT").map_or_else(beside, PathBuf::from);
    assert!(plugin.exists(), "{} is not there; build groma-kubernetes with its feature plugin", plugin.display());
    plugin
}
