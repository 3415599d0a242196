//! What `path` and `terraform` (or `tofu`) stand for, wherever an expression is evaluated.

use std::path::Path;

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::suggestion;
use groma_model::value::Value;

use crate::environment::Environment;
use crate::refs::Reference;

/// Where an expression stands.
pub struct Places<'p> {
    /// Knows where the user is.
    pub environment: &'p dyn Environment,
    /// The directory of the expression's module, as users see it.
    pub module_dir: &'p Path,
    /// The directory of the root module, as users see it.
    pub root_dir: &'p Path,
    /// The name of the workspace.
    pub workspace: &'p str,
}

impl Places<'_> {
    /// `path.name`
    pub fn path(&self, name: &str, reference: &Reference) -> Result<Value, Diagnostics> {
        match name {
            "cwd" => Ok(slashes(&self.environment.invocation_dir())),
            "module" => Ok(slashes(self.module_dir)),
            "root" => Ok(slashes(self.root_dir)),
            _ => {
                let advice = match suggestion(name, ["cwd", "module", "root"]) {
                    Some(meant) => format!(" Did you mean \"{meant}\"?"),
                    None => String::new(),
                };
                let detail = format!("The \"path\" object does not have an attribute named \"{name}\".{advice}");
                Err(invalid("path", detail, reference))
            }
        }
    }

    /// `terraform.name` or `tofu.name`, but for what depends on the phase of a run.
    pub fn tool(&self, root: &str, name: &str, reference: &Reference) -> Result<Value, Diagnostics> {
        let detail = match name {
            "workspace" => return Ok(Value::string(self.workspace)),
            "env" => format!(
                "The {root}.env attribute was deprecated in v0.10 and removed in v0.12. The \"state environment\" concept \
                 was renamed to \"workspace\" in v0.12, and so the workspace name can now be accessed using the \
                 {root}.workspace attribute."
            ),
            _ => format!(
                "The \"{root}\" object does not have an attribute named \"{name}\". The only supported attribute is \
                 {root}.workspace, the name of the currently-selected workspace."
            ),
        };
        Err(invalid(root, detail, reference))
    }
}

fn slashes(path: &Path) -> Value {
    let text = path.to_string_lossy().replace('\\', "/");
    Value::string(if text.is_empty() { ".".to_owned() } else { text })
}

fn invalid(object: &str, detail: String, reference: &Reference) -> Diagnostics {
    Diagnostic::error(format!("Invalid \"{object}\" attribute"), detail).at(reference.span).into()
}
