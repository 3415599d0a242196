//! `language` blocks, and the version gate: what a module says about the versions that it works with.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::span::{SourceMap, Span};
use groma_model::version::Version;
use groma_syntax::body::{Attribute, Block, Body, BodySchema};

use super::VersionConstraint;
use super::read::Decoder;
use super::version::COMPATIBLE_VERSION;

/// The only edition of the language.
const EDITION: &str = "tofu2024";

/// Checks a `language` block. Nothing of it is kept but the versions, which the gate reads.
pub(super) fn check(decoder: &mut Decoder<'_>, block: &Block) {
    if decoder.is_override {
        decoder.error(
            "Language selections in override file",
            "Language-related settings in \"language\" blocks are not allowed in override files. \
             Place these settings in a normal configuration file.",
            block.header_span,
        );
        return;
    }
    let schema = BodySchema::new().optional("edition").optional("experiments").block("compatible_with", &[]);
    let content = decoder.content(&block.body, &schema);
    if let Some(attribute) = content.attr("edition") {
        check_edition(decoder, attribute);
    }
    if let Some(attribute) = content.attr("experiments") {
        check_experiments(decoder, attribute);
    }
    let mut first: Option<VersionConstraint> = None;
    for inner in &content.blocks {
        if let Some(first) = &first {
            let place = decoder.place(first.span);
            decoder.error(
                "Duplicate compatible_with block",
                format!(
                    "Each language block may have at most one compatible_with block referring to OpenTofu. \
                     The OpenTofu version constraint was already declared at {place}."
                ),
                block.header_span,
            );
            continue;
        }
        first = compatible_with(decoder, inner);
        let admits_too_old =
            first.as_ref().zip(Version::parse("1.11.0")).is_some_and(|(constraint, old)| constraint.admits(&old));
        if let Some(constraint) = first.as_ref().filter(|_| admits_too_old) {
            decoder.warning(
                "Ineffective version constraint",
                "The compatible_with block was added in OpenTofu v1.12.0, so any constraint specified this way should \
                 exclude earlier versions of OpenTofu, such as by including \">= 1.12.0\".",
                constraint.span,
            );
        }
    }
}

fn compatible_with(decoder: &mut Decoder<'_>, block: &Block) -> Option<VersionConstraint> {
    let (content, _) = decoder.partial_content(&block.body, &BodySchema::new().optional("opentofu"));
    VersionConstraint::decode(decoder, content.attr("opentofu")?)
}

fn check_edition(decoder: &mut Decoder<'_>, attribute: &Attribute) {
    let (summary, detail) = match attribute.expr.as_keyword().as_deref() {
        Some(EDITION) => return,
        None => (
            "Invalid language edition",
            format!(
                "The \"edition\" argument expects a bare language edition keyword. \
                 The only language edition is {EDITION}, which is the default."
            ),
        ),
        Some(edition) if edition.starts_with("TF") => (
            "Unsupported language edition",
            format!(
                "Language edition {edition:?} is not supported. This module may be intended for use with other software."
            ),
        ),
        Some(edition) => (
            "Unsupported language edition",
            format!("Language edition {edition:?} is not supported. The only language edition is {EDITION}."),
        ),
    };
    decoder.error(summary, detail, attribute.expr.span);
}

fn check_experiments(decoder: &mut Decoder<'_>, attribute: &Attribute) {
    for item in decoder.list(&attribute.expr) {
        match item.as_keyword() {
            Some(word) => decoder.error(
                "Unknown experiment keyword",
                format!("There is no current experiment with the keyword {:?}.", word.as_str()),
                item.span,
            ),
            None => decoder.error(
                "Invalid experiment keyword",
                "Elements of \"experiments\" must all be keywords representing active experiments.",
                item.span,
            ),
        }
    }
}

/// What the version gate found in a file.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// All constraints on the core.
    pub(super) versions: Vec<VersionConstraint>,
    /// Constraints that this program does not satisfy. If there are any, nothing else is worth reporting.
    pub(super) refused: Diagnostics,
    /// What is wrong with the constraints themselves, and warnings.
    pub(super) diagnostics: Diagnostics,
}

/// Reads what a file says about versions, without looking at anything that a later version may have changed.
///
/// `required_version` is meant for Terraform, unless the file is only for OpenTofu: then it is as strict as
/// `compatible_with`. Elsewhere it is only worth a warning.
pub(super) fn gate(map: &SourceMap, body: &Body) -> Gate {
    let mut gate = Gate::default();
    let schema = BodySchema::new().block("terraform", &[]).block("language", &[]);
    // What is wrong with the headers is found here and once more when the file is decoded; so it is in OpenTofu.
    let (content, _, diagnostics) = body.partial_content(&schema);
    gate.diagnostics.extend(diagnostics);
    for block in &content.blocks {
        if block.kind.name == "language" {
            let (inner, _, diagnostics) = block.body.partial_content(&BodySchema::new().block("compatible_with", &[]));
            gate.diagnostics.extend(diagnostics);
            for block in &inner.blocks {
                let (inner, _, _) = block.body.partial_content(&BodySchema::new().optional("opentofu"));
                if let Some(attribute) = inner.attr("opentofu") {
                    gate.strict(map, attribute);
                }
            }
            continue;
        }
        let (inner, _, _) = block.body.partial_content(&BodySchema::new().optional("required_version"));
        let Some(attribute) = inner.attr("required_version") else { continue };
        let file = map.file(block.header_span.file).name();
        // As everywhere, endings are told apart by case.
        if [".tofu", ".tofu.json"].iter().any(|ending| file.ends_with(ending)) {
            gate.strict(map, attribute);
        } else {
            gate.lenient(map, attribute);
        }
    }
    gate
}

impl Gate {
    fn strict(&mut self, map: &SourceMap, attribute: &Attribute) {
        let mut decoder = Decoder::new(map, false);
        let constraint = VersionConstraint::decode(&mut decoder, attribute);
        self.diagnostics.extend(decoder.diagnostics);
        let Some(constraint) = constraint else { return };
        let mut usable = true;
        for part in constraint.parts.iter().filter(|part| !part.version.prerelease.is_empty()) {
            usable = false;
            self.diagnostics.push(prerelease_refused(&part.version, constraint.span));
        }
        if usable && !is_satisfied(&constraint) {
            self.refused.push(
                Diagnostic::error(
                    "Incompatible module",
                    format!(
                        "This module is not compatible with OpenTofu v{COMPATIBLE_VERSION}, whose language this is.\n\n\
                         To proceed, update this version constraint. Version constraints are normally set for good \
                         reason, so updating the constraint may lead to other errors or unexpected behavior."
                    ),
                )
                .at(constraint.span),
            );
        }
        self.versions.push(constraint);
    }

    fn lenient(&mut self, map: &SourceMap, attribute: &Attribute) {
        let mut decoder = Decoder::new(map, false);
        let Some(constraint) = VersionConstraint::decode(&mut decoder, attribute) else { return };
        if !is_satisfied(&constraint) {
            self.diagnostics.push(
                Diagnostic::warning(
                    "Unsupported required_version",
                    format!(
                        "This module asks for another version of the language than {COMPATIBLE_VERSION}. \
                         It is used all the same, but may not work as its author meant."
                    ),
                )
                .at(constraint.span),
            );
        }
        self.versions.push(constraint);
    }
}

fn is_satisfied(constraint: &VersionConstraint) -> bool {
    Version::parse(COMPATIBLE_VERSION).is_some_and(|version| constraint.admits(&version))
}

fn prerelease_refused(version: &Version, at: Span) -> Diagnostic {
    Diagnostic::error(
        "Invalid required_version constraint",
        format!(
            "Prerelease version constraints are not supported: {version}. \
             Remove the prerelease information from the constraint."
        ),
    )
    .at(at)
}
