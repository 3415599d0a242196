//! What a configuration needs that must be there before anything is evaluated: providers and provisioners.

use std::collections::BTreeSet;

use groma_model::address::Provider;
use groma_model::diag::{Diagnostic, Diagnostics};

use super::Walk;
use crate::config::Provisioner;
use crate::provisioners;

impl Walk<'_> {
    /// Says which providers and provisioners are missing.
    pub(super) fn check_requirements(&self) -> Diagnostics {
        let mut providers: BTreeSet<Provider> = BTreeSet::new();
        let mut unknown_provisioners: Vec<&Provisioner> = Vec::new();
        for entry in &self.graph.modules {
            let module = &entry.node.module;
            providers.extend(module.required_providers.entries.values().map(|required| required.provider.clone()));
            providers
                .extend(module.provider_configs.keys().map(|key| module.required_providers.provider_of(&key.name)));
            for resource in module.resources.values() {
                providers.insert(resource.provider.clone());
                let all = resource.managed.provisioners.iter();
                unknown_provisioners.extend(all.filter(|each| provisioners::schema(&each.kind).is_none()));
            }
        }
        let missing = providers.iter().filter(|provider| self.settings.oracle.provider(provider).is_none());
        let mut diagnostics: Diagnostics = missing.map(missing_provider).collect();
        diagnostics.extend(unknown_provisioners.into_iter().map(missing_provisioner));
        diagnostics
    }
}

fn missing_provider(provider: &Provider) -> Diagnostic {
    let detail = if provider.is_builtin() {
        format!("This configuration requires the built-in provider {provider}, which does not exist.")
    } else {
        format!(
            "This configuration requires provider {provider}, but that provider isn't available. You may be able to install \
             it automatically by running:\n  groma init"
        )
    };
    Diagnostic::error("Missing required provider", detail)
}

fn missing_provisioner(provisioner: &Provisioner) -> Diagnostic {
    let detail = format!(
        "This configuration requires the provisioner {:?}, which is not available. There are \"local-exec\", \
         \"remote-exec\" and \"file\"; external provisioner plugins are not supported.",
        provisioner.kind.as_str()
    );
    Diagnostic::error("Missing required provisioner plugin", detail).at(provisioner.kind_span)
}
