//! Putting the files of a directory together to a module: no two declarations of the same thing. Overrides are in [`crate::merge`].

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};

use super::file::File;
use super::read::place;
use super::{Module, Resource, ResourceMode};
use crate::merge;

/// Makes a module of its files.
pub(crate) fn assemble(map: &SourceMap, primary: Vec<File>, overrides: Vec<File>) -> (Module, Diagnostics) {
    let mut assembly = Assembly { map, module: Module::default(), diagnostics: Diagnostics::new() };
    assembly.collect_requirements(&primary, &overrides);
    for file in primary {
        assembly.append(file);
    }
    let Assembly { mut module, mut diagnostics, .. } = assembly;
    for file in overrides {
        diagnostics.extend(merge::apply(map, &mut module, file));
    }
    resolve_providers(&mut module);
    (module, diagnostics)
}

struct Assembly<'a> {
    map: &'a SourceMap,
    module: Module,
    diagnostics: Diagnostics,
}

/// Which provider each declaration belongs to, now that all requirements are known.
fn resolve_providers(module: &mut Module) {
    let required = &module.required_providers;
    for resource in module.resources.values_mut() {
        let key = resource.provider_key();
        resource.provider = required.provider_of(&key.name);
    }
    for config in module.provider_configs.values_mut() {
        config.provider = required.provider_of(&config.key.name);
    }
    for import in &mut module.imports {
        let name = match (&import.provider_ref, &import.target) {
            (Some(reference), _) => reference.key.name.as_str(),
            (None, Some((_, resource))) => resource.implied_provider(),
            (None, None) => continue,
        };
        import.provider = Some(required.provider_of(name));
    }
}

impl Assembly<'_> {
    fn error(&mut self, summary: impl Into<String>, detail: impl Into<String>, at: Span) {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(at));
    }

    fn place(&self, span: Span) -> String {
        place(self.map, span)
    }

    fn collect_requirements(&mut self, primary: &[File], overrides: &[File]) {
        for required in primary.iter().flat_map(|file| &file.required_providers) {
            if let (Some(first), Some(second)) = (self.module.required_providers.header, required.header) {
                let first = self.place(first);
                self.error(
                    "Duplicate required providers configuration",
                    format!(
                        "A module may have only one required providers configuration. \
                         The required providers were previously configured at {first}."
                    ),
                    second,
                );
                continue;
            }
            self.module.required_providers = required.clone();
        }
        for required in overrides.iter().flat_map(|file| &file.required_providers) {
            let entries = required.entries.iter().map(|(name, entry)| (name.clone(), entry.clone()));
            self.module.required_providers.entries.extend(entries);
        }
    }

    fn append(&mut self, file: File) {
        self.append_settings(&file);
        self.append_provider_configs(&file);
        self.append_named(&file);
        for resource in file.resources {
            self.append_resource(resource);
        }
        for (check, data) in file.checks {
            if let Some(data) = data
                && !self.append_resource(data)
            {
                continue;
            }
            if let Some(first) = self.module.checks.get(&check.name) {
                let first = self.place(first.declared.header);
                self.error(
                    format!("Duplicate check {:?} configuration", check.name.as_str()),
                    format!(
                        "A check block named {:?} was already declared at {first}. \
                         Check blocks must be unique within each module.",
                        check.name.as_str()
                    ),
                    check.declared.header,
                );
                continue;
            }
            self.module.checks.insert(check.name.clone(), check);
        }
        for import in file.imports {
            self.check_import(&import);
            self.module.imports.push(import);
        }
        self.module.moved.extend(file.moved);
        self.module.removed.extend(file.removed);
        self.module.core_versions.extend(file.core_versions);
    }

    fn append_settings(&mut self, file: &File) {
        for backend in &file.backends {
            if let Some(first) = &self.module.backend {
                let first = self.place(first.header);
                self.error(
                    "Duplicate backend configuration",
                    format!("A module may have only one backend configuration. The backend was previously configured at {first}."),
                    backend.header,
                );
                continue;
            }
            self.module.backend = Some(backend.clone());
        }
        for cloud in &file.clouds {
            if let Some(first) = &self.module.cloud {
                let first = self.place(first.header);
                self.error(
                    "Duplicate cloud configurations",
                    format!("A module may have only one 'cloud' block. A cloud backend was previously configured at {first}."),
                    cloud.header,
                );
                continue;
            }
            self.module.cloud = Some(cloud.clone());
        }
        if let (Some(backend), Some(cloud)) = (&self.module.backend, &self.module.cloud) {
            let detail = format!(
                "A module may declare either one 'cloud' block or one 'backend' block. \
                 A cloud backend is configured at {}; a backend is configured at {}.",
                self.place(cloud.header),
                self.place(backend.header)
            );
            let at = backend.header;
            self.error("Both a backend and a cloud configuration are present", detail, at);
        }
        for encryption in &file.encryptions {
            if let Some(first) = &self.module.encryption {
                let first = self.place(first.header);
                self.error(
                    "Duplicate encryption configuration",
                    format!("A module may have only one encryption configuration. Encryption was previously configured at {first}."),
                    encryption.header,
                );
                continue;
            }
            self.module.encryption = Some(encryption.clone());
        }
    }

    fn append_provider_configs(&mut self, file: &File) {
        for config in &file.provider_configs {
            if let Some(first) = self.module.provider_configs.get(&config.key) {
                let first = self.place(first.declared.header);
                let name = config.key.name.as_str();
                let detail = match &config.key.alias {
                    None => format!(
                        "A default (non-aliased) provider configuration for {name:?} was already given at {first}. \
                         If multiple configurations are required, set the \"alias\" argument for alternative \
                         configurations."
                    ),
                    Some(alias) => format!(
                        "A provider configuration for {name:?} with alias {:?} was already given at {first}. \
                         Each configuration for the same provider must have a distinct alias.",
                        alias.as_str()
                    ),
                };
                self.error("Duplicate provider configuration", detail, config.declared.header);
                continue;
            }
            self.module.provider_configs.insert(config.key.clone(), config.clone());
        }
        for meta in &file.provider_metas {
            let provider = self.module.required_providers.provider_of(&meta.provider);
            let first = self
                .module
                .provider_meta
                .values()
                .find(|known| self.module.required_providers.provider_of(&known.provider) == provider);
            if let Some(first) = first {
                let detail = format!(
                    "A provider_meta block for provider {:?} was already declared at {}. \
                     Providers may only have one provider_meta block per module.",
                    first.provider.as_str(),
                    self.place(first.header)
                );
                self.error("Duplicate provider_meta block", detail, meta.header);
            }
            self.module.provider_meta.insert(meta.provider.clone(), meta.clone());
        }
    }

    fn append_named(&mut self, file: &File) {
        for variable in &file.variables {
            if let Some(first) = self.module.variables.insert(variable.name.clone(), variable.clone()) {
                let first = self.place(first.declared.header);
                self.error(
                    "Duplicate variable declaration",
                    format!(
                        "A variable named {:?} was already declared at {first}. Variable names must be unique within a module.",
                        variable.name.as_str()
                    ),
                    variable.declared.header,
                );
            }
        }
        for local in &file.locals {
            if let Some(first) = self.module.locals.insert(local.name.clone(), local.clone()) {
                let first = self.place(first.span);
                self.error(
                    "Duplicate local value definition",
                    format!(
                        "A local value named {:?} was already defined at {first}. Local value names must be unique within a module.",
                        local.name.as_str()
                    ),
                    local.span,
                );
            }
        }
        for output in &file.outputs {
            if let Some(first) = self.module.outputs.insert(output.name.clone(), output.clone()) {
                let first = self.place(first.declared.header);
                self.error(
                    "Duplicate output definition",
                    format!(
                        "An output named {:?} was already defined at {first}. Output names must be unique within a module.",
                        output.name.as_str()
                    ),
                    output.declared.header,
                );
            }
        }
        for call in &file.module_calls {
            if let Some(first) = self.module.module_calls.insert(call.name.clone(), call.clone()) {
                let first = self.place(first.declared.header);
                self.error(
                    "Duplicate module call",
                    format!(
                        "A module call named {:?} was already defined at {first}. Module calls must have unique names within a module.",
                        call.name.as_str()
                    ),
                    call.declared.header,
                );
            }
        }
    }

    /// Adds a resource, unless there is one of that name already.
    fn append_resource(&mut self, resource: Resource) -> bool {
        let Some(first) = self.module.resources.get(&resource.key) else {
            self.module.resources.insert(resource.key.clone(), resource);
            return true;
        };
        let first = self.place(first.declared.header);
        let (kind, name) = (&resource.key.ty, &resource.key.name);
        let (summary, noun) = match resource.key.mode {
            ResourceMode::Managed => ("resource", "resource"),
            ResourceMode::Data => ("data", "data resource"),
            ResourceMode::Ephemeral => ("ephemeral resource", "ephemeral resource"),
        };
        self.error(
            format!("Duplicate {summary} {:?} configuration", kind.as_str()),
            format!(
                "A {kind} {noun} named {:?} was already declared at {first}. \
                 Resource names must be unique per type in each module.",
                name.as_str()
            ),
            resource.declared.header,
        );
        false
    }

    fn check_import(&mut self, import: &super::Import) {
        let Some(address) = &import.constant_to else { return };
        let same = |known: &&super::Import| known.constant_to.as_ref().is_some_and(|to| to.same_object(address));
        let places: Vec<String> =
            self.module.imports.iter().filter(same).map(|known| self.place(known.header)).collect();
        for place in places {
            self.error(
                format!("Duplicate import configuration for \"{address}\""),
                format!(
                    "An import block for the resource \"{address}\" was already declared at {place}. \
                     A resource can have only one import block."
                ),
                import.header,
            );
        }
    }
}
