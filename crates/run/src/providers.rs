//! Providers of a working directory: where they come from, which are used, and installing them.

mod book;
mod builtins;
mod install;
mod oracle;
mod other_commands;
pub mod requirements;
mod source;
mod surroundings;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;

use groma_model::address::Provider;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_provider::install::Settings;

use crate::online::Online;

use crate::session::{Loaded, Session};
use crate::view::schema::schemas as schemas_to_json;
pub(crate) use book::Started;
pub use book::{ProviderAccess, ProviderBook, Strictness};
pub use builtins::ProgramBuiltins;
pub use groma_provider::install::{
    AuthenticationResult, BuiltInUse, Event, LockChange, Locks, Observer, Platform, Requirements, Trust,
};
pub use install::{InstallOptions, LockFileChange, ProvidersInstalled};
pub(crate) use oracle::BookOracle;
pub use other_commands::ObserverOf;
pub use source::{Mirror, provider_source};

/// What is said outside the configuration about which providers are used.
#[derive(Debug, Clone, Default)]
pub struct ProviderChoice {
    /// Providers that run already (`TF_REATTACH_PROVIDERS`), as its text says.
    pub reattach: Option<String>,
    /// When providers that are part of the program are used.
    pub built_in_use: BuiltInUse,
}

impl Session {
    /// Where packages of providers are, and what is used instead of them.
    pub(crate) fn provider_settings(&self, online: &Online, choice: &ProviderChoice) -> Result<Settings, Diagnostic> {
        let target = self.start().working_dir.join(&self.start().data_dir).join("providers");
        let config = online.config();
        let overrides = config.installation.as_ref().map(|installation| installation.dev_overrides.clone());
        Ok(Settings {
            cache: config.plugin_cache_dir.clone(),
            cache_may_break_lock_file: config.may_break_lock_file,
            overrides: overrides
                .unwrap_or_default()
                .into_iter()
                .map(|(provider, dir)| self.absolute(provider, dir))
                .collect(),
            unmanaged: source::reattached(choice.reattach.as_deref())?,
            built_in_use: choice.built_in_use,
            signatures: source::signature_policy(online),
            ..Settings::new(target)
        })
    }

    /// Providers of the objects in the state.
    pub fn state_providers(&mut self) -> Result<BTreeSet<Provider>, Diagnostics> {
        let state = self.stored_state()?;
        Ok(state.iter().flat_map(|state| state.providers()).cloned().collect())
    }

    /// Records where providers were looked for, if that was not the usual place.
    pub fn record_plugin_dirs(&self, dirs: &[PathBuf]) -> Result<(), Diagnostic> {
        let data_dir = self.start().working_dir.join(&self.start().data_dir);
        let record = data_dir.join("plugin_path");
        let written = if dirs.is_empty() {
            match fs::remove_file(&record) {
                Err(problem) if problem.kind() != io::ErrorKind::NotFound => Err(problem),
                _ => Ok(()),
            }
        } else {
            let text = serde_json::to_string_pretty(dirs).unwrap_or_default();
            fs::create_dir_all(&data_dir).and_then(|()| fs::write(&record, text))
        };
        written.map_err(|problem| Diagnostic::error("Error saving -plugin-path values", problem.to_string()))
    }

    fn absolute(&self, provider: Provider, dir: PathBuf) -> (Provider, PathBuf) {
        (provider, self.start().working_dir.join(dir))
    }
}

/// What to say when providers are taken from directories, whatever the lock file says.
pub fn override_warning(overrides: &BTreeMap<Provider, PathBuf>, consequence: &str) -> Option<Diagnostic> {
    if overrides.is_empty() {
        return None;
    }
    let shown = |(provider, dir): (&Provider, &PathBuf)| format!(" - {} in {}", provider.for_display(), dir.display());
    let list: Vec<String> = overrides.iter().map(shown).collect();
    let list = list.join("\n");
    let detail = format!(
        "The following provider development overrides are set in the CLI configuration:\n{list}\n\n{consequence}"
    );
    Some(Diagnostic::warning("Provider development overrides are in effect", detail))
}

impl Session {
    /// The schemas of all providers of the configuration and its state, as JSON.
    pub fn schemas_json(&mut self, access: &ProviderAccess) -> Result<String, Diagnostics> {
        let Loaded { tree, diagnostics, .. } = self.load();
        let (Some(tree), false) = (tree, diagnostics.has_errors()) else { return Err(diagnostics) };
        let (mut needed, problems) = requirements::of_tree(&tree);
        if problems.has_errors() {
            return Err(problems);
        }
        needed.add_state(&self.state_providers()?);
        let (book, problems) = self.provider_book(access, &needed.all, Strictness::Consistent);
        if problems.has_errors() {
            return Err(problems);
        }
        let schemas = needed.all.keys().filter_map(|provider| Some((provider.to_string(), book.schema(provider)?)));
        let json = schemas_to_json(&schemas.collect()).map_err(|problem| {
            Diagnostic::error("Failed to marshal provider schemas to json", problem.to_string()).into()
        });
        book.close(&access.online);
        json
    }
}
