//! Loading a configuration so that it can be saved with a plan, and loading it again from there.

use std::collections::BTreeMap;
use std::path::Path;

use groma_engine::plan::Plan;
use groma_lang::config::Module;
use groma_lang::load::{self, ModuleTree};
use groma_lang::static_eval::StaticScope;
use groma_lang::walk::{InputSource, InputValue};
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::text::Str;
use groma_rules::Rules;
use groma_state::encryption::EncryptionError;

use super::{Recorder, SavedPlan, Snapshot};
use crate::disk::Disk;
use crate::inputs;
use crate::operate::VariablePrompt;
use crate::providers::requirements;
use crate::providers::{ProviderAccess, ProviderBook, Strictness};
use crate::session::{Loaded, Session};
use crate::showing;

/// A saved plan that is only looked at: the state may have changed since, and nothing is locked.
pub struct Looked {
    /// The plan.
    pub plan: Plan,
    /// The configuration that it was made from.
    pub tree: ModuleTree,
    /// The values of the root module's variables, but for ephemeral ones.
    pub inputs: BTreeMap<Str, InputValue>,
    book: ProviderBook,
    access: ProviderAccess,
}

impl Looked {
    /// The providers and their schemas.
    pub fn book(&self) -> &ProviderBook {
        &self.book
    }

    /// Ends the providers.
    pub fn close(self) {
        self.book.close(&self.access.online);
    }
}

impl Session {
    /// Opens a plan file, encrypted as the configuration says. Whatever was changed in it is named.
    pub fn open_plan(&mut self, path: &Path) -> Result<SavedPlan, Diagnostics> {
        SavedPlan::open_with(path, |bytes| self.decode_plan(bytes))
    }

    /// The same for its bytes. The error says in a sentence what is wrong.
    pub fn decode_plan(&mut self, bytes: Vec<u8>) -> Result<SavedPlan, String> {
        let encryption = self.own_encryption(None).map_err(|problems| {
            let said = |problem: &Diagnostic| format!("{}: {}", problem.summary, problem.detail);
            problems.iter().filter(|problem| problem.is_error()).map(said).collect::<Vec<_>>().join("\n")
        })?;
        let bytes = match &encryption.plan {
            None => bytes,
            Some(target) => target.open(bytes).map_err(|problem| match problem {
                EncryptionError::NotEncrypted => {
                    "encountered unencrypted payload without unencrypted method configured: the \
                                                  plan is not encrypted, and the configuration says that it must be."
                        .to_owned()
                }
                problem => format!("{problem}."),
            })?,
        };
        SavedPlan::decode(&bytes)
    }

    /// Loads the configuration, asks for values that are missing, and remembers every file that was read.
    pub(crate) fn load_recording(&mut self, prompt: &mut VariablePrompt) -> (Loaded, Snapshot) {
        let disk = Disk::new(self.start().working_dir.clone(), &self.start().data_dir);
        let recorder = Recorder::new(&disk);
        let loaded = self.load_with(&recorder, Some(prompt));
        (loaded, recorder.finish())
    }

    /// Reads a saved plan to show it. Its providers must be there, since they know what its values are like.
    pub fn look_into(&mut self, saved: &SavedPlan, access: ProviderAccess) -> (Option<Looked>, Diagnostics) {
        let given = |(name, value): (&Str, &groma_model::value::Value)| {
            (name.clone(), InputValue { value: value.clone(), source: InputSource::Outside })
        };
        let inputs: BTreeMap<Str, InputValue> = saved.variables().iter().map(given).collect();
        let (root, mut diagnostics) = self.saved_root(saved);
        let tree = self.saved_tree(saved, root, &inputs, &mut diagnostics);
        let (mut needed, found) = requirements::of_tree(&tree);
        diagnostics.extend(found);
        if diagnostics.has_errors() {
            return (None, diagnostics);
        }
        needed.add_state(saved.providers());
        let (book, found) = self.provider_book(&access, &needed.all, Strictness::WhatIsThere);
        diagnostics.extend(found);
        let is_complete = diagnostics.take(showing::require(&book, saved.providers())).is_some();
        let plan = if diagnostics.has_errors() || !is_complete { None } else { diagnostics.take(saved.plan(&book)) };
        let Some(plan) = plan else {
            book.close(&access.online);
            return (None, diagnostics);
        };
        (Some(Looked { plan, tree, inputs, book, access }), diagnostics)
    }

    /// Loads the configuration of a saved plan, with the values of variables that it was made with. Files that have changed
    /// since do not matter.
    pub(crate) fn load_saved(&mut self, saved: &SavedPlan) -> Loaded {
        let (root, mut diagnostics) = self.saved_root(saved);
        let start = self.start().clone();
        let collected = inputs::collect(self.sources_mut(), &start, &root.variables);
        diagnostics.extend(collected.diagnostics);
        let (inputs, found) = saved.inputs(&collected.values, &root.variables);
        diagnostics.extend(found);
        let about_values = collected.about_values;
        if diagnostics.has_errors() {
            let (rules, about_rules) = (Rules::default(), Diagnostics::new());
            return Loaded { tree: None, inputs, diagnostics, about_values, rules, about_rules };
        }
        let tree = self.saved_tree(saved, root, &inputs, &mut diagnostics);
        let (rules, about_rules) = groma_rules::load(self.sources_mut(), saved.configuration(), &tree);
        Loaded { tree: Some(tree), inputs, diagnostics, about_values, rules, about_rules }
    }

    fn saved_root(&mut self, saved: &SavedPlan) -> (Module, Diagnostics) {
        let root_dir = self.start().root_dir.clone();
        load::load_module(self.sources_mut(), saved.configuration(), &root_dir)
    }

    fn saved_tree(
        &mut self,
        saved: &SavedPlan,
        root: Module,
        inputs: &BTreeMap<Str, InputValue>,
        diagnostics: &mut Diagnostics,
    ) -> ModuleTree {
        let (machine, root_dir) = (self.machine().clone(), self.start().root_dir.clone());
        let workspace = saved.backend().workspace.clone();
        let statics = StaticScope { environment: &machine, root_dir: &root_dir, workspace: &workspace, inputs };
        let (tree, found) = load::load_tree(self.sources_mut(), saved.configuration(), root, &statics);
        diagnostics.extend(found);
        tree
    }
}
