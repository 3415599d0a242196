//! What in a configuration starts programs. Another engine would start them without asking, so whoever does not allow it has to know
//! before the engine is run.

use groma_lang::config::{Module, ProviderConfig, Provisioner};
use groma_lang::load::ModuleNode;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::Span;
use groma_run::session::Session;

/// Provisioners that start nothing on this machine. Whatever else there may be is a plugin.
const HARMLESS: [&str; 2] = ["file", "remote-exec"];
/// Types of resources that are there to start programs.
const STARTING: [&str; 2] = ["external", "local_command"];
/// A block of providers that get their credentials from a program.
const EXEC: &str = "exec";

/// What starts programs in the root module, which is all that an engine looks at before it has fetched modules. An error for each,
/// with what is advised; and what keeps the module from being read.
pub fn programs_of_root(session: &mut Session, advice: &str) -> Diagnostics {
    let (root, mut found) = session.load_root();
    found.extend(of_module(&root, advice));
    found
}

/// The same for all modules, when they are there.
pub fn programs_of_tree(session: &mut Session, advice: &str) -> Diagnostics {
    let loaded = session.load();
    let mut found = loaded.diagnostics;
    if let Some(tree) = &loaded.tree {
        of_node(&tree.root, advice, &mut found);
    }
    found
}

fn of_node(node: &ModuleNode, advice: &str, found: &mut Diagnostics) {
    found.extend(of_module(&node.module, advice));
    for child in node.children.values() {
        of_node(child, advice, found);
    }
}

fn of_module(module: &Module, advice: &str) -> Diagnostics {
    let mut found = Diagnostics::new();
    let mut refuse = |what: String, at: Span| {
        let detail = format!("Programs may not be started here. {advice}");
        found.push(Diagnostic::error(format!("{what} refused"), detail).at(at));
    };
    let own = module.resources.values().flat_map(|resource| &resource.managed.provisioners);
    let of_removed = module.removed.iter().flat_map(|removed| &removed.provisioners);
    for provisioner in own.chain(of_removed).filter(|provisioner| is_program(provisioner)) {
        refuse(format!("{} provisioner", provisioner.kind), provisioner.header);
    }
    for resource in module.resources.values().filter(|resource| STARTING.contains(&resource.key.ty.as_str())) {
        refuse(resource.key.to_string(), resource.declared.header);
    }
    for provider in module.provider_configs.values().filter(|provider| has_exec(provider)) {
        refuse(format!("exec of provider {:?}", provider.key.name.as_str()), provider.declared.header);
    }
    let parts = module.encryption.iter().flat_map(|own| own.key_providers.iter().chain(&own.methods));
    for part in parts.filter(|part| STARTING.contains(&part.kind.as_str())) {
        refuse(format!("Encryption with {:?}", part.kind.as_str()), part.header);
    }
    found
}

fn is_program(provisioner: &Provisioner) -> bool {
    !HARMLESS.contains(&provisioner.kind.as_str())
}

/// Whether a provider is told to get its credentials from a program: `exec {}`, also within `kubernetes {}`.
fn has_exec(provider: &ProviderConfig) -> bool {
    let Some((attributes, blocks)) = provider.config.native_items() else {
        // In JSON the same words stand for both.
        let (attributes, _) = provider.config.just_attributes();
        return attributes.iter().any(|attribute| attribute.name.name == *EXEC);
    };
    let inner = blocks.iter().filter_map(|block| block.body.native_items()).flat_map(|(_, blocks)| blocks);
    attributes.iter().any(|attribute| attribute.name.name == *EXEC)
        || blocks.iter().chain(inner).any(|block| block.kind.name == *EXEC)
}
