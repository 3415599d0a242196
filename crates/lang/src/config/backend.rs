//! `terraform` blocks: `backend`, `cloud`, `encryption`, `provider_meta`; their versions and required providers have their own modules.

use groma_model::span::Span;
use groma_model::text::Str;
use groma_syntax::body::{Block, Body, BodySchema};

use super::encryption;
use super::file::File;
use super::provider::requirements::RequiredProviders;
use super::read::{Decoder, label};

/// `backend "kind" { … }`
#[derive(Debug, Clone)]
pub struct Backend {
    /// Its kind, e.g. `local`.
    pub kind: Str,
    /// Where the kind stands.
    pub kind_span: Span,
    /// Its settings, evaluated statically.
    pub config: Body,
    /// The header of its block.
    pub header: Span,
}

/// `cloud { … }`
#[derive(Debug, Clone)]
pub struct Cloud {
    /// Its settings.
    pub config: Body,
    /// The header of its block.
    pub header: Span,
}

/// `provider_meta "name" { … }`
#[derive(Debug, Clone)]
pub struct ProviderMeta {
    /// Local name of the provider.
    pub provider: Str,
    /// Where the name stands.
    pub provider_span: Span,
    /// Constant settings for the provider's own use.
    pub config: Body,
    /// The header of its block.
    pub header: Span,
}

/// Reads a `terraform` block.
pub(super) fn decode_terraform(decoder: &mut Decoder<'_>, block: &Block, file: &mut File) {
    let schema = ["required_version", "experiments", "language"]
        .into_iter()
        .fold(BodySchema::new(), BodySchema::optional)
        .block("backend", &["type"])
        .block("cloud", &[])
        .block("required_providers", &[])
        .block("provider_meta", &["provider"])
        .block("encryption", &[]);
    let content = decoder.content(&block.body, &schema);
    for inner in &content.blocks {
        match inner.kind.name.as_str() {
            "backend" => {
                let kind = label(inner, 0);
                file.backends.push(Backend {
                    kind: kind.text,
                    kind_span: kind.span,
                    config: inner.body.clone(),
                    header: inner.header_span,
                });
            }
            "cloud" => file.clouds.push(Cloud { config: inner.body.clone(), header: inner.header_span }),
            "required_providers" => file.required_providers.push(RequiredProviders::decode(decoder, inner)),
            "provider_meta" => file.provider_metas.extend(decode_provider_meta(decoder, inner)),
            _ => file.encryptions.push(encryption::Encryption::decode(decoder, inner)),
        }
    }
}

fn decode_provider_meta(decoder: &mut Decoder<'_>, block: &Block) -> Option<ProviderMeta> {
    let errors_before = decoder.diagnostics.len();
    let (attributes, diagnostics) = block.body.just_attributes();
    decoder.diagnostics.extend(diagnostics);
    if decoder.diagnostics.len() > errors_before {
        return None;
    }
    for attribute in &attributes {
        decoder.constant(&attribute.expr);
    }
    let name = label(block, 0);
    let name_is_fine = decoder.check_provider_name(&name.text, block.header_span);
    (name_is_fine && decoder.diagnostics.len() == errors_before).then(|| ProviderMeta {
        provider: name.text,
        provider_span: name.span,
        config: block.body.clone(),
        header: block.header_span,
    })
}
