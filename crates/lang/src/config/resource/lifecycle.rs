//! `lifecycle` blocks of resources.

use std::sync::Arc;

use groma_model::diag::Diagnostic;
use groma_model::span::Span;
use groma_syntax::ast::Expr;
use groma_syntax::body::{Attribute, Block, BodySchema, Content};

use super::{IgnoreChanges, RelativePath, RepetitionSpans};
use crate::config::read::Decoder;
use crate::config::{CheckRule, Repetition, Resource};
use crate::refs::{Reference, Subject};

/// Arguments that only managed resources have.
const MANAGED_ONLY: [&str; 5] =
    ["create_before_destroy", "prevent_destroy", "destroy", "ignore_changes", "replace_triggered_by"];

fn schema() -> BodySchema {
    MANAGED_ONLY
        .into_iter()
        .fold(BodySchema::new(), BodySchema::optional)
        .optional("enabled")
        .block("precondition", &[])
        .block("postcondition", &[])
}

/// `enabled` and conditions, which all resources have.
fn decode_common(decoder: &mut Decoder<'_>, content: &Content, resource: &mut Resource, spans: &mut RepetitionSpans) {
    if let Some(attribute) = content.attr("enabled") {
        resource.repetition = Repetition::Enabled(Arc::clone(&attribute.expr));
        spans.enabled = Some(attribute.name.span);
    }
    for inner in &content.blocks {
        let kind = inner.kind.name.as_str();
        let rule = CheckRule::decode(decoder, inner);
        rule.refuse_self_reference(decoder, kind, &resource.key);
        if kind == "precondition" {
            resource.preconditions.push(rule);
        } else {
            resource.postconditions.push(rule);
        }
    }
}

pub(super) fn decode_managed(
    decoder: &mut Decoder<'_>,
    block: &Block,
    resource: &mut Resource,
    spans: &mut RepetitionSpans,
) {
    let content = decoder.content(&block.body, &schema());
    let managed = &mut resource.managed;
    if let Some(attribute) = content.attr("create_before_destroy") {
        managed.create_before_destroy = Some(decoder.constant_bool(attribute).unwrap_or(false));
    }
    managed.prevent_destroy = content.attr("prevent_destroy").map(|attribute| Arc::clone(&attribute.expr));
    managed.destroy = content.attr("destroy").map(|attribute| Arc::clone(&attribute.expr));
    if let Some(attribute) = content.attr("replace_triggered_by") {
        managed.replace_triggered_by = decode_replace_triggered_by(decoder, attribute);
    }
    if let Some(attribute) = content.attr("ignore_changes") {
        managed.ignore_changes = decode_ignore_changes(decoder, attribute);
    }
    decode_common(decoder, &content, resource, spans);
}

pub(super) fn decode_data(
    decoder: &mut Decoder<'_>,
    block: &Block,
    resource: &mut Resource,
    spans: &mut RepetitionSpans,
) {
    let content = decoder.content(&block.body, &schema());
    for attribute in content.attributes.iter().filter(|attribute| attribute.name.name != "enabled") {
        decoder.error(
            "Invalid data resource lifecycle argument",
            format!(
                "The lifecycle argument {:?} is defined only for managed resources (\"resource\" blocks), and is not \
                 valid for data resources.",
                attribute.name.name.as_str()
            ),
            attribute.name.span,
        );
    }
    decode_common(decoder, &content, resource, spans);
}

pub(super) fn decode_ephemeral(
    decoder: &mut Decoder<'_>,
    block: &Block,
    resource: &mut Resource,
    spans: &mut RepetitionSpans,
) {
    let content = decoder.content(&block.body, &schema());
    for name in MANAGED_ONLY.into_iter().filter(|name| content.attr(name).is_some()) {
        decoder.error(
            "Invalid lifecycle configuration for ephemeral resource",
            format!(
                "The lifecycle argument {name:?} cannot be used in ephemeral resources. This is meant to be used \
                 strictly in \"resource\" blocks."
            ),
            block.header_span,
        );
    }
    decode_common(decoder, &content, resource, spans);
}

fn decode_ignore_changes(decoder: &mut Decoder<'_>, attribute: &Attribute) -> IgnoreChanges {
    if attribute.expr.as_keyword().as_deref() == Some("all") {
        return IgnoreChanges::All;
    }
    let mut paths: Vec<RelativePath> = Vec::new();
    let mut wildcard: Option<Span> = None;
    for item in decoder.list(&attribute.expr) {
        if item.as_constant_str().as_deref() == Some("*") {
            wildcard = Some(item.span);
            decoder.error(
                "Invalid ignore_changes wildcard",
                "The [\"*\"] form of ignore_changes wildcard was deprecated and is now invalid. \
                 Use \"ignore_changes = all\" to ignore changes to all attributes.",
                attribute.expr.span,
            );
            continue;
        }
        let item = decoder.unquoted(item, false);
        paths.extend(decoder.relative_path(&item));
    }
    match wildcard {
        Some(span) if !paths.is_empty() => {
            decoder.error(
                "Invalid ignore_changes ruleset",
                "Cannot mix wildcard string \"*\" with non-wildcard references.",
                span,
            );
            IgnoreChanges::All
        }
        Some(_) => IgnoreChanges::All,
        None => IgnoreChanges::Paths(paths),
    }
}

fn decode_replace_triggered_by(decoder: &mut Decoder<'_>, attribute: &Attribute) -> Vec<Expr> {
    let mut triggers = Vec::new();
    for item in decoder.list(&attribute.expr) {
        // In the JSON syntax the reference stands in a string.
        let expr = match item.json_expr() {
            Some(parsed) => {
                let failed = parsed.diagnostics.has_errors();
                decoder.diagnostics.extend(parsed.diagnostics);
                if failed {
                    continue;
                }
                parsed.value
            }
            None => item.clone(),
        };
        check_trigger(decoder, &expr);
        triggers.push(expr);
    }
    triggers
}

/// One trigger names exactly one resource, and nothing else but the keys of the instance.
fn check_trigger(decoder: &mut Decoder<'_>, expr: &Expr) {
    let mut references = Vec::new();
    let mut failed = false;
    for traversal in expr.references() {
        match Reference::parse(traversal) {
            Ok(reference) => references.push(reference),
            Err(diagnostic) => {
                failed = true;
                decoder.diagnostics.push(Diagnostic { subject: Some(expr.span), ..diagnostic });
            }
        }
    }
    if failed {
        return;
    }
    let mut resources = 0;
    for reference in &references {
        match &reference.subject {
            Subject::Resource { .. } => resources += 1,
            Subject::Each(name) if *name == "key" => {}
            Subject::Count(name) if *name == "index" => {}
            Subject::Each(_) => decoder.error(
                "Invalid each reference in replace_triggered_by expression",
                "Only each.key may be used in replace_triggered_by.",
                expr.span,
            ),
            Subject::Count(_) => decoder.error(
                "Invalid count reference in replace_triggered_by expression",
                "Only count.index may be used in replace_triggered_by.",
                expr.span,
            ),
            _ => decoder.error(
                "Invalid reference in replace_triggered_by expression",
                "Only resources, count.index, and each.key may be used in replace_triggered_by.",
                expr.span,
            ),
        }
    }
    let problem = match resources {
        0 => "Missing resource reference in replace_triggered_by expression.",
        1 => return,
        _ => "Multiple resource references in replace_triggered_by expression.",
    };
    decoder.error("Invalid replace_triggered_by expression", problem, expr.span);
}
