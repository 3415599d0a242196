//! One configuration file: its blocks in the order they are written, before they are put together to a module.

use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use groma_syntax::body::{Body, BodySchema};

use super::backend::{self, Backend, Cloud, ProviderMeta};
use super::encryption::Encryption;
use super::language;
use super::named::{Local, Output};
use super::provider::requirements::RequiredProviders;
use super::read::Decoder;
use super::resource::{self, Placement};
use super::{Check, Import, ModuleCall, Moved, ProviderConfig, Removed, Resource, Variable, VersionConstraint};

/// The blocks of a file.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) variables: Vec<Variable>,
    pub(crate) locals: Vec<Local>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) module_calls: Vec<ModuleCall>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) provider_configs: Vec<ProviderConfig>,
    pub(crate) required_providers: Vec<RequiredProviders>,
    pub(crate) provider_metas: Vec<ProviderMeta>,
    pub(crate) backends: Vec<Backend>,
    pub(crate) clouds: Vec<Cloud>,
    pub(crate) encryptions: Vec<Encryption>,
    pub(crate) moved: Vec<Moved>,
    pub(crate) removed: Vec<Removed>,
    pub(crate) imports: Vec<Import>,
    pub(crate) checks: Vec<(Check, Option<Resource>)>,
    pub(crate) core_versions: Vec<VersionConstraint>,
}

/// A file and what is wrong with it.
#[derive(Debug, Default)]
pub(crate) struct DecodedFile {
    /// Its blocks.
    pub(crate) file: File,
    /// What is wrong.
    pub(crate) diagnostics: Diagnostics,
    /// Versions that it asks for and this program is not. Then nothing else is worth reporting.
    pub(crate) refused: Diagnostics,
}

fn schema() -> BodySchema {
    BodySchema::new()
        .block("language", &[])
        .block("required_providers", &[])
        .block("provider", &["name"])
        .block("variable", &["name"])
        .block("locals", &[])
        .block("output", &["name"])
        .block("module", &["name"])
        .block("resource", &["type", "name"])
        .block("data", &["type", "name"])
        .block("ephemeral", &["type", "name"])
        .block("moved", &[])
        .block("import", &[])
        .block("check", &["name"])
        .block("removed", &[])
        .block("terraform", &[])
}

/// Reads all blocks of a file.
pub(crate) fn decode(map: &SourceMap, body: &Body, is_override: bool) -> DecodedFile {
    let gate = language::gate(map, body);
    let mut decoder = Decoder::new(map, is_override);
    decoder.diagnostics.extend(gate.diagnostics);
    let mut file = File { core_versions: gate.versions, ..File::default() };
    let content = decoder.content(body, &schema());
    for block in &content.blocks {
        let decoder = &mut decoder;
        match block.kind.name.as_str() {
            "language" => language::check(decoder, block),
            "terraform" => backend::decode_terraform(decoder, block, &mut file),
            "required_providers" => decoder.error(
                "Invalid required_providers block",
                "A \"required_providers\" block must be nested inside a \"terraform\" block.",
                block.kind.span,
            ),
            "provider" => file.provider_configs.extend(ProviderConfig::decode(decoder, block)),
            "variable" => file.variables.push(Variable::decode(decoder, block)),
            "locals" => file.locals.extend(Local::decode_all(decoder, block)),
            "output" => file.outputs.push(Output::decode(decoder, block)),
            "module" => file.module_calls.push(ModuleCall::decode(decoder, block)),
            "resource" => file.resources.push(resource::decode_managed(decoder, block)),
            "data" => file.resources.push(resource::decode_data(decoder, block, Placement::TopLevel)),
            "ephemeral" => file.resources.push(resource::decode_ephemeral(decoder, block)),
            "moved" => file.moved.push(Moved::decode(decoder, block)),
            "import" => file.imports.push(Import::decode(decoder, block)),
            "removed" => file.removed.push(Removed::decode(decoder, block)),
            _ => file.checks.push(Check::decode(decoder, block)),
        }
    }
    DecodedFile { file, diagnostics: decoder.diagnostics, refused: gate.refused }
}
