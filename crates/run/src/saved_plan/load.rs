//! Loading a configuration so that it can be saved with a plan, and loading it again from there.

use groma_lang::load;
use groma_lang::static_eval::StaticScope;
use groma_model::diag::Diagnostics;

use super::{Recorder, SavedPlan, Snapshot};
use crate::disk::Disk;
use crate::inputs;
use crate::operate::VariablePrompt;
use crate::session::{Loaded, Session};

impl Session {
    /// Loads the configuration, asks for values that are missing, and remembers every file that was read.
    pub(crate) fn load_recording(&mut self, prompt: &mut VariablePrompt) -> (Loaded, Snapshot) {
        let disk = Disk::new(self.start().working_dir.clone(), &self.start().data_dir);
        let recorder = Recorder::new(&disk);
        let loaded = self.load_with(&recorder, Some(prompt));
        (loaded, recorder.finish())
    }

    /// Loads the configuration of a saved plan, with the values of variables that it was made with. Files that have changed
    /// since do not matter.
    pub(crate) fn load_saved(&mut self, saved: &SavedPlan) -> Loaded {
        let modules = saved.configuration();
        let root_dir = self.start().root_dir.clone();
        let mut diagnostics = Diagnostics::new();
        let (root, found) = load::load_module(self.sources_mut(), modules, &root_dir);
        diagnostics.extend(found);
        let start = self.start().clone();
        let collected = inputs::collect(self.sources_mut(), &start, &root.variables);
        diagnostics.extend(collected.diagnostics);
        let (inputs, found) = saved.inputs(&collected.values, &root.variables);
        diagnostics.extend(found);
        let about_values = collected.about_values;
        if diagnostics.has_errors() {
            return Loaded { tree: None, inputs, diagnostics, about_values };
        }
        let (machine, workspace) = (self.machine().clone(), saved.backend().workspace.clone());
        let statics =
            StaticScope { environment: &machine, root_dir: &root_dir, workspace: &workspace, inputs: &inputs };
        let (tree, found) = load::load_tree(self.sources_mut(), modules, root, &statics);
        diagnostics.extend(found);
        Loaded { tree: Some(tree), inputs, diagnostics, about_values }
    }
}
