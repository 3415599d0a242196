//! Preparing the backend: what the configuration says is recorded, and states are taken along if it says something else than
//! before.

use std::path::Path;

use groma_lang::config::Module;
use groma_lang::eval::{EmptyScope, evaluate};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_model::value::Value;
use groma_state::WorkspaceName;

use super::record::Record;
use super::settings::Settings;
use super::{Backend, Encryption, PathOverrides, unsupported};
use crate::session::Session;
use crate::state_access::{LockWish, StateAccess};

/// How the backend is prepared.
#[derive(Debug, Clone, Copy, Default)]
pub struct BackendWishes<'a> {
    /// `-backend-config`, as given.
    pub config: &'a [String],
    /// `-reconfigure`: what was there before does not matter.
    pub reconfigure: bool,
    /// `-migrate-state`: states are taken along.
    pub migrate_state: bool,
    /// `-force-copy`: without asking.
    pub force_copy: bool,
}

/// Asks whether to go on: a question, and what to know about it. None if nobody can be asked.
pub type Confirm<'a> = Option<&'a mut dyn FnMut(&str, &str) -> bool>;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackendReady {
    /// It is as it was.
    Unchanged,
    /// It is recorded now.
    Configured(String),
    /// It is not used any more.
    Unset(String),
}

impl Session {
    /// Prepares the backend that a root module asks for.
    pub fn init_backend(
        &mut self,
        root: &Module,
        wishes: BackendWishes<'_>,
        mut confirm: Confirm<'_>,
    ) -> (Option<BackendReady>, Diagnostics) {
        let mut diagnostics = Diagnostics::new();
        if root.backend.is_none() && root.cloud.is_none() && !wishes.config.is_empty() {
            let detail = "-backend-config was used without a \"backend\" block in the configuration.\n\nIf you intended to \
                          override the default local backend configuration, no action is required, but you may add an \
                          explicit backend block to your configuration to clear this warning:\n\nterraform {\n  backend \
                          \"local\" {}\n}";
            diagnostics.push(Diagnostic::warning("Missing backend configuration", detail));
        }
        let ready = self.prepare(root, wishes, &mut confirm);
        (diagnostics.take(ready), diagnostics)
    }

    fn prepare(
        &mut self,
        root: &Module,
        wishes: BackendWishes<'_>,
        confirm: &mut Confirm<'_>,
    ) -> Result<BackendReady, Diagnostics> {
        if let Some(problem) = unsupported(root) {
            return Err(problem.into());
        }
        let data_dir = self.data_dir();
        let before = if wishes.reconfigure { None } else { Record::load(&data_dir)? };
        let Some(backend) = &root.backend else {
            let Some(before) = before else {
                if wishes.reconfigure {
                    Record::save(None, &data_dir)?;
                }
                return Ok(BackendReady::Unchanged);
            };
            if !(wishes.migrate_state || wishes.force_copy) {
                return Err(changed().into());
            }
            let inputs = self.root_inputs(root);
            let encryption = self.encryption(root, &inputs)?;
            self.take_along((&before, &Settings::default()), encryption, wishes, confirm)?;
            Record::save(None, &data_dir)?;
            return Ok(BackendReady::Unset(before.kind));
        };
        let inputs = self.root_inputs(root);
        let written = self.backend_settings(root, backend, &inputs)?;
        let wanted = self.with_arguments(written.clone(), wishes.config, backend.header)?;
        let record = Record::new(&wanted, written.hash());
        match before {
            Some(before) if before == record => return Ok(BackendReady::Unchanged),
            // Settings that were given as arguments then need not be given again.
            Some(before) if before.kind == record.kind && before.hash == record.hash && wishes.config.is_empty() => {
                return Ok(BackendReady::Unchanged);
            }
            Some(before) if before.kind == record.kind && before.settings().as_ref() == Some(&wanted) => {
                Record::save(Some(&record), &data_dir)?;
                return Ok(BackendReady::Unchanged);
            }
            Some(before) => {
                if !(wishes.migrate_state || wishes.force_copy) {
                    return Err(changed().into());
                }
                let encryption = self.encryption(root, &inputs)?;
                self.take_along((&before, &wanted), encryption, wishes, confirm)?;
            }
            None if wishes.reconfigure => {}
            None => {
                let default = Record::new(&Settings::default(), 0);
                let encryption = self.encryption(root, &inputs)?;
                self.take_along((&default, &wanted), encryption, wishes, confirm)?;
            }
        }
        Record::save(Some(&record), &data_dir)?;
        Ok(BackendReady::Configured(record.kind))
    }

    /// Settings of the command line: `name=value`, or a file of them.
    fn with_arguments(
        &mut self,
        mut settings: Settings,
        arguments: &[String],
        header: Span,
    ) -> Result<Settings, Diagnostics> {
        let mut diagnostics = Diagnostics::new();
        let unexpected = |name: &str| {
            let detail = format!(
                "The backend configuration argument {name:?} given on the command line is not expected for the selected \
                 backend type."
            );
            Diagnostic::error("Invalid backend configuration argument", detail)
        };
        for argument in arguments {
            let given = match argument.split_once('=') {
                Some((name, value)) => vec![(name.trim().to_owned(), Value::string(value.trim()))],
                None => diagnostics.take(self.settings_file(argument)).unwrap_or_default(),
            };
            for (name, value) in given {
                match settings.set(&name, &value) {
                    Ok(true) => {}
                    Ok(false) => diagnostics.push(unexpected(&name)),
                    Err(problem) => diagnostics.push(problem),
                }
            }
        }
        diagnostics.extend(settings.check().into_iter().map(|problem| problem.at(header)).collect::<Diagnostics>());
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(settings) }
    }

    fn settings_file(&mut self, path: &str) -> Result<Vec<(String, Value)>, Diagnostics> {
        let text = std::fs::read_to_string(self.start().working_dir.join(path)).map_err(|problem| {
            let detail = format!("The file {path:?} could not be read: {problem}.");
            Diagnostic::error("Failed to read file", detail)
        })?;
        let file = self.add_source(path, &text);
        let parsed = if Path::new(path).extension().is_some_and(|extension| extension == "json") {
            groma_syntax::parse_json(self.sources(), file)
        } else {
            groma_syntax::parse_native(self.sources(), file)
        };
        let mut diagnostics = parsed.diagnostics;
        let (attributes, found) = parsed.value.literal_attributes();
        diagnostics.extend(found);
        let mut settings = Vec::new();
        for attribute in &attributes {
            let (value, found) = evaluate(&attribute.expr, &EmptyScope);
            diagnostics.extend(found);
            settings.push((attribute.name.name.to_string(), value));
        }
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(settings) }
    }

    /// Copies the states of all workspaces from one backend to another.
    fn take_along(
        &self,
        (from, to): (&Record, &Settings),
        encryption: Encryption,
        wishes: BackendWishes<'_>,
        confirm: &mut Confirm<'_>,
    ) -> Result<(), Diagnostics> {
        let Some(before) = from.settings() else {
            let detail = format!(
                "The state is kept by the backend {:?}, which is not supported. Move it with the tool that it was made with, or \
                 run \"groma init -reconfigure\" to go on without it.",
                from.kind
            );
            return Err(Diagnostic::error("Unsupported backend type", detail).into());
        };
        let paths = PathOverrides::default();
        let open = |settings| Ok::<_, Diagnostics>(self.backend_of(settings, &paths)?.encrypted(encryption.clone()));
        let (from, to) = (open(before)?, open(to.clone())?);
        let moving = Moving { session: self, from: &from, to: &to };
        let found = moving.states()?;
        if found.is_empty() {
            return Ok(());
        }
        let agreed = wishes.force_copy
            || {
                let Some(ask) = confirm else {
                    let detail = "There is a state where it was kept before. Run \"groma init -migrate-state -force-copy\" to \
                              copy it, or \"groma init -reconfigure\" to go on without it.";
                    return Err(Diagnostic::error("Error asking for state migration action", detail).into());
                };
                ask(
                    "Do you want to copy existing state to the new backend?",
                    "Pre-existing state was found while the backend was being set up. Enter \"yes\" to copy it, and \"no\" to \
                 start with what is at the new place.",
                )
            };
        if agreed { moving.copy(&found) } else { Ok(()) }
    }
}

/// From one place to another.
struct Moving<'a> {
    session: &'a Session,
    from: &'a Backend,
    to: &'a Backend,
}

impl Moving<'_> {
    /// The workspaces that have a state with something in it at the old place, and another place at the new one.
    fn states(&self) -> Result<Vec<WorkspaceName>, Diagnostics> {
        let mut found = Vec::new();
        // Where there is only one, it is the default one.
        let names = self.from.list().unwrap_or_else(|_| vec![WorkspaceName::default_workspace()]);
        for name in names {
            let is_same = match (self.from.local(), self.to.local()) {
                (Some(from), Some(to)) => from.paths(&name).read == to.paths(&name).read,
                _ => self.from.settings == self.to.settings,
            };
            if is_same {
                continue;
            }
            let state = self.access(self.from, &name)?.read()?;
            if state.is_some_and(|state| !state.is_empty()) {
                found.push(name);
            }
        }
        Ok(found)
    }

    fn access(&self, backend: &Backend, name: &WorkspaceName) -> Result<StateAccess, Diagnostics> {
        StateAccess::in_workspace(backend.clone(), name.clone(), self.session.machine().clone())
    }

    fn copy(&self, names: &[WorkspaceName]) -> Result<(), Diagnostics> {
        for name in names {
            let (mut from, mut to) = (self.access(self.from, name)?, self.access(self.to, name)?);
            from.lock("migration source state", LockWish::default())?;
            let copied = to.lock("migration destination state", LockWish::default()).and_then(|()| {
                let copied = copy_state(&mut from, &mut to);
                let mut unlocked = to.unlock();
                unlocked.extend(copied.err().unwrap_or_default());
                if unlocked.has_errors() { Err(unlocked) } else { Ok(()) }
            });
            let mut unlocked = from.unlock();
            unlocked.extend(copied.err().unwrap_or_default());
            if unlocked.has_errors() {
                return Err(unlocked);
            }
        }
        Ok(())
    }
}

fn copy_state(from: &mut StateAccess, to: &mut StateAccess) -> Result<(), Diagnostics> {
    let Some(state) = from.read()? else { return Ok(()) };
    to.push(&state, false).map_err(|problem| {
        let detail = format!(
            "Error copying state of the workspace {:?} from {} to {}: {problem}.\n\nThe state at the old place is as it was.",
            from.workspace().as_str(),
            from.name(),
            to.name()
        );
        Diagnostic::error("Error copying state", detail)
    })?;
    Ok(())
}

/// Something else was recorded.
fn changed() -> Diagnostic {
    let detail = "A change in the backend configuration has been detected, which may require migrating existing state.\n\nIf \
                  you wish to attempt automatic migration of the state, use \"groma init -migrate-state\".\nIf you wish to \
                  store the current configuration with no changes to the state, use \"groma init -reconfigure\".";
    Diagnostic::error("Backend configuration changed", detail)
}
