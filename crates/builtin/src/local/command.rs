//! `local_command`: runs a program, as a data source and as an ephemeral resource.

use async_trait::async_trait;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::path::Path;
use groma_model::ty::Type;
use groma_model::value::Value;

use crate::exec::{self, ExecError, Program, shown_status};
use crate::kit::outside::Outside;
use crate::kit::spec::{computed, optional, required};
use crate::kit::{Call, DataSource, Ephemeral, Object, Opened, Spec};

/// Both of them.
pub(super) struct Command(Outside);

fn spec() -> Spec {
    let exit_code = "How the program ended. Anything but 0 is an error unless `allow_non_zero_exit_code` is `true`.";
    Spec::new()
        .markdown("Runs a program on this machine. It sees the environment of this one.")
        .attr("command", required(Type::String).doc("Name of the program on the PATH, or its path."))
        .attr(
            "arguments",
            optional(Type::list(Type::String))
                .markdown("Arguments of the program; those that are `null` are left out."),
        )
        .attr("stdin", optional(Type::String).markdown("What the program gets to read."))
        .attr("working_directory", optional(Type::String).doc("Where the program runs."))
        .attr(
            "allow_non_zero_exit_code",
            optional(Type::Bool).markdown("Whether the program may end with anything but 0. Defaults to false."),
        )
        .attr("exit_code", computed(Type::Number).markdown(exit_code))
        .attr("stdout", computed(Type::String).markdown("What the program wrote to its standard output."))
        .attr("stderr", computed(Type::String).doc("What the program wrote to its standard error output."))
}

impl Command {
    pub(super) fn new(outside: &Outside) -> Self {
        Self(outside.clone())
    }

    async fn run(&self, mut config: Object, call: &Call, kind: &str) -> Result<Object, Diagnostics> {
        let at = Path::root().attr("command");
        let name = config.text("command").unwrap_or_default().to_owned();
        let program = Program {
            name: &name,
            arguments: &config.texts("arguments").unwrap_or_default(),
            directory: config.text("working_directory"),
            input: config.text("stdin").map(str::as_bytes),
        };
        let done = exec::run(&program, &self.0, call).await.map_err(|error| {
            let (summary, doing) = match error {
                ExecError::NotFound(..) => ("Command Lookup Failed", "find"),
                _ => ("Command Execution Failed", "execute"),
            };
            let detail = format!(
                "The {kind} received an unexpected error while attempting to {doing} the command.\n\n\
                 Command: {name}\nError: {error}"
            );
            Diagnostic::error(summary, detail).at_path(at.clone())
        })?;
        let text = |bytes: &[u8]| match bytes {
            [] => Value::null(Type::String),
            bytes => Value::string(String::from_utf8_lossy(bytes).into_owned()),
        };
        config.set_int("exit_code", done.status.code().map_or(-1, i64::from));
        config.set("stdout", text(&done.stdout));
        config.set("stderr", text(&done.stderr));
        if !done.status.success() && config.flag("allow_non_zero_exit_code") != Some(true) {
            let detail = format!(
                "The {kind} executed the command but received a non-zero exit code. If a non-zero exit code is expected \
                 and can be handled in configuration, set \"allow_non_zero_exit_code\" to true.\n\n\
                 Command: {name}\nCommand Error: {}\nState: {}",
                String::from_utf8_lossy(&done.stderr),
                shown_status(done.status)
            );
            return Err(Diagnostic::error("Command Execution Failed", detail).at_path(at).into());
        }
        Ok(config)
    }
}

#[async_trait]
impl DataSource for Command {
    fn type_name(&self) -> &'static str {
        "local_command"
    }

    fn spec(&self) -> Spec {
        spec()
    }

    async fn read(&self, config: Object, call: &mut Call) -> Result<Object, Diagnostics> {
        self.run(config, call, "data source").await
    }
}

#[async_trait]
impl Ephemeral for Command {
    fn type_name(&self) -> &'static str {
        "local_command"
    }

    fn spec(&self) -> Spec {
        spec()
    }

    async fn open(&self, config: Object, call: &mut Call) -> Result<Opened, Diagnostics> {
        let object = self.run(config, call, "ephemeral resource").await?;
        Ok(Opened { object, renew_at: None })
    }
}
