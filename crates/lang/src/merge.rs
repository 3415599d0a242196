//! Override files: each of their declarations is merged over the one that the primary files have made.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_syntax::ast::Traversal;

use crate::config::file::File;
use crate::config::read::place;
use crate::config::resource::IgnoreChanges;
use crate::config::{Module, ModuleCall, Output, ProviderConfig, Repetition, Resource, ResourceMode, Variable};

/// Merges an override file into a module.
pub(crate) fn apply(map: &SourceMap, module: &mut Module, file: File) -> Diagnostics {
    let mut merge = Merge { map, diagnostics: Diagnostics::new() };
    merge.settings(module, &file);
    for config in file.provider_configs {
        merge.provider_config(module, config);
    }
    merge.named(module, file.variables, file.locals, file.outputs);
    for call in file.module_calls {
        merge.module_call(module, call);
    }
    for resource in file.resources {
        merge.resource(module, resource);
    }
    for moved in &file.moved {
        merge.error(
            "Cannot override 'moved' blocks",
            "Records of moved objects can appear only in normal files, not in override files.",
            moved.header,
        );
    }
    for import in &file.imports {
        merge.error(
            "Cannot override 'import' blocks",
            "Import blocks can appear only in normal files, not in override files.",
            import.header,
        );
    }
    for removed in &file.removed {
        merge.error(
            "Cannot override 'Removed' blocks",
            "Removed blocks can appear only in normal files, not in override files.",
            removed.header,
        );
    }
    module.core_versions.extend(file.core_versions);
    merge.diagnostics
}

struct Merge<'a> {
    map: &'a SourceMap,
    diagnostics: Diagnostics,
}

/// Replaces what the override says something about.
fn replace<T>(base: &mut Option<T>, over: Option<T>) {
    if over.is_some() {
        *base = over;
    }
}

impl Merge<'_> {
    fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>, at: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(at));
    }

    fn refuse_depends_on(&mut self, depends_on: &[Traversal]) {
        if let Some(first) = depends_on.first() {
            self.error("Unsupported override", "The depends_on argument may not be overridden.", first.span);
        }
    }

    fn settings(&mut self, module: &mut Module, file: &File) {
        // Backend and cloud replace each other.
        match file.backends.as_slice() {
            [] => {}
            [backend] => {
                module.cloud = None;
                module.backend = Some(backend.clone());
            }
            [first, second, ..] => {
                let first = place(self.map, first.header);
                self.error(
                    "Duplicate backend configuration",
                    format!("Each override file may have only one backend configuration. A backend was previously configured at {first}."),
                    second.header,
                );
            }
        }
        match file.clouds.as_slice() {
            [] => {}
            [cloud] => {
                module.backend = None;
                module.cloud = Some(cloud.clone());
            }
            [first, second, ..] => {
                let first = place(self.map, first.header);
                self.error(
                    "Duplicate cloud configurations",
                    format!("A module may have only one 'cloud' block. A cloud backend was previously configured at {first}."),
                    second.header,
                );
            }
        }
        match file.encryptions.as_slice() {
            [] => {}
            [over] => match &mut module.encryption {
                Some(base) => base.overridden_by(over.clone()),
                none => *none = Some(over.clone()),
            },
            [first, second, ..] => {
                let first = place(self.map, first.header);
                self.error(
                    "Duplicate encryption configuration",
                    format!("Each override file may have only one encryption configuration. Encryption was previously configured at {first}."),
                    second.header,
                );
            }
        }
    }

    fn provider_config(&mut self, module: &mut Module, over: ProviderConfig) {
        match module.provider_configs.get_mut(&over.key) {
            Some(base) => {
                replace(&mut base.version, over.version);
                base.config = base.config.overridden_by(&over.config);
            }
            // A missing default configuration means an empty one, which can be overridden.
            None if over.key.alias.is_none() => {
                module.provider_configs.insert(over.key.clone(), over);
            }
            None => self.error(
                "Missing base provider configuration for override",
                format!(
                    "There is no provider configuration {}. An override file can only override an aliased provider \
                     configuration that was already defined in a primary configuration file.",
                    over.key
                ),
                over.declared.header,
            ),
        }
    }

    fn named(
        &mut self,
        module: &mut Module,
        variables: Vec<Variable>,
        locals: Vec<crate::config::Local>,
        outputs: Vec<Output>,
    ) {
        for over in variables {
            match module.variables.get_mut(&over.name) {
                Some(base) => self.variable(base, over),
                None => self.missing(
                    "Missing base variable declaration to override",
                    "variable",
                    &over.name,
                    over.declared.header,
                ),
            }
        }
        for over in locals {
            match module.locals.get_mut(&over.name) {
                Some(base) => *base = over,
                None => self.missing(
                    "Missing base local value definition to override",
                    "local value",
                    &over.name,
                    over.span,
                ),
            }
        }
        for over in outputs {
            match module.outputs.get_mut(&over.name) {
                Some(base) => self.output(base, over),
                None => self.missing(
                    "Missing base output definition to override",
                    "output",
                    &over.name,
                    over.declared.header,
                ),
            }
        }
    }

    fn missing(&mut self, summary: &str, what: &str, name: &str, at: Span) {
        self.error(
            summary,
            format!(
                "There is no {what} named {name:?}. An override file can only override what was already declared in a \
                 primary configuration file."
            ),
            at,
        );
    }

    fn variable(&mut self, base: &mut Variable, over: Variable) {
        let (new_type, new_default) = (over.ty.is_some(), over.default.is_some());
        replace(&mut base.description, over.description);
        replace(&mut base.sensitive, over.sensitive);
        replace(&mut base.ephemeral, over.ephemeral);
        replace(&mut base.nullable, over.nullable);
        replace(&mut base.constant, over.constant);
        replace(&mut base.deprecated, over.deprecated);
        replace(&mut base.default, over.default);
        replace(&mut base.ty, over.ty);
        let Some(default) = &base.default else { return };
        match base.converted(default) {
            Ok(value) => base.default = Some(value),
            Err(problem) => {
                let reason = match (new_type, new_default) {
                    (true, false) => "Overriding this variable's type constraint has made its default value invalid",
                    (false, true) => {
                        "The overridden default value for this variable is not compatible with the variable's type \
                         constraint"
                    }
                    _ => "This variable's default value is not compatible with its type constraint",
                };
                self.error("Invalid default value for variable", format!("{reason}: {problem}."), over.declared.header);
            }
        }
        if !base.is_nullable() && base.default.as_ref().is_some_and(groma_model::value::Value::is_null) {
            self.error(
                "Invalid default value for variable",
                "A null default value is not valid when nullable=false.",
                over.declared.header,
            );
        }
    }

    fn output(&mut self, base: &mut Output, over: Output) {
        replace(&mut base.description, over.description.filter(|text| !text.is_empty()));
        replace(&mut base.expr, over.expr);
        if over.flags_said.0 {
            base.sensitive = over.sensitive;
        }
        if over.flags_said.1 {
            base.ephemeral = over.ephemeral;
        }
        replace(&mut base.deprecated, over.deprecated);
        self.refuse_depends_on(&over.depends_on);
    }

    fn module_call(&mut self, module: &mut Module, over: ModuleCall) {
        let Some(base) = module.module_calls.get_mut(&over.name) else {
            self.missing("Missing module call to override", "module call", &over.name, over.declared.header);
            return;
        };
        replace(&mut base.source, over.source);
        replace(&mut base.version, over.version);
        override_repetition(&mut base.repetition, over.repetition);
        base.config = base.config.overridden_by(&over.config);
        if !over.providers.is_empty() {
            base.providers = over.providers;
        }
        self.refuse_depends_on(&over.depends_on);
    }

    fn resource(&mut self, module: &mut Module, over: Resource) {
        let Some(base) = module.resources.get_mut(&over.key) else {
            let (summary, what) = match over.key.mode {
                ResourceMode::Managed => ("Missing resource to override", "resource"),
                ResourceMode::Data => ("Missing data resource to override", "data resource"),
                ResourceMode::Ephemeral => ("Missing ephemeral resource to override", "ephemeral resource"),
            };
            self.error(
                summary,
                format!(
                    "There is no {} {what} named {:?}. An override file can only override a block defined in a primary \
                     configuration file.",
                    over.key.ty,
                    over.key.name.as_str()
                ),
                over.declared.header,
            );
            return;
        };
        override_repetition(&mut base.repetition, over.repetition);
        replace(&mut base.provider_ref, over.provider_ref);
        let (managed, more) = (&mut base.managed, over.managed);
        replace(&mut managed.connection, more.connection);
        replace(&mut managed.create_before_destroy, more.create_before_destroy);
        replace(&mut managed.prevent_destroy, more.prevent_destroy);
        replace(&mut managed.destroy, more.destroy);
        match more.ignore_changes {
            IgnoreChanges::None => {}
            IgnoreChanges::Paths(paths) if paths.is_empty() => {}
            // Ignoring everything cannot be taken back.
            IgnoreChanges::Paths(_) if matches!(managed.ignore_changes, IgnoreChanges::All) => {}
            over => managed.ignore_changes = over,
        }
        if !more.provisioners.is_empty() {
            managed.provisioners = more.provisioners;
        }
        base.config = base.config.overridden_by(&over.config);
        self.refuse_depends_on(&over.depends_on);
    }
}

/// `count` and `for_each` replace each other; `enabled` is not taken from override files.
fn override_repetition(base: &mut Repetition, over: Repetition) {
    match over {
        Repetition::Count(_) | Repetition::ForEach(_) => *base = over,
        Repetition::Once | Repetition::Enabled(_) => {}
    }
}
