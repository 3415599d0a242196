//! Test files (`*.tftest.hcl`): checked like everything else beside a module, though nothing here runs tests.

use std::collections::BTreeSet;

use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use groma_model::ty::Type;
use groma_syntax::body::{Attribute, Block, Body, BodySchema, Content};
use groma_syntax::is_identifier;

use super::addresses::{self, Keys};
use super::module_call::decode_providers;
use super::read::{Decoder, NAME_RULE, label};
use super::{CheckRule, ProviderConfig, VersionConstraint};

/// What is wrong with a test file.
pub(crate) fn check(map: &SourceMap, body: &Body) -> Diagnostics {
    let mut decoder = Decoder::new(map, false);
    let schema = BodySchema::new()
        .block("run", &["name"])
        .block("provider", &["name"])
        .block("variables", &[])
        .block("override_resource", &[])
        .block("override_data", &[])
        .block("override_module", &[])
        .block("mock_provider", &["name"]);
    let content = decoder.content(body, &schema);
    let mut seen_variables = None;
    let mut mocked = BTreeSet::new();
    for block in &content.blocks {
        match block.kind.name.as_str() {
            "run" => check_run(&mut decoder, block),
            "variables" => check_variables(&mut decoder, &mut seen_variables, block, "This test file"),
            "provider" => {
                ProviderConfig::decode(&mut decoder, block);
            }
            "mock_provider" => check_mock_provider(&mut decoder, block, &mut mocked),
            _ => check_override(&mut decoder, block),
        }
    }
    decoder.diagnostics
}

fn check_variables<'b>(decoder: &mut Decoder<'_>, seen: &mut Option<&'b Block>, block: &'b Block, owner: &str) {
    let already = format!("{owner} already has a variables block defined");
    if decoder.only_once(seen, block, "Multiple \"variables\" blocks", &already) {
        let (_, diagnostics) = block.body.just_attributes();
        decoder.diagnostics.extend(diagnostics);
    }
}

fn check_run(decoder: &mut Decoder<'_>, block: &Block) {
    let schema = BodySchema::new()
        .optional("command")
        .optional("providers")
        .optional("expect_failures")
        .block("plan_options", &[])
        .block("assert", &[])
        .block("variables", &[])
        .block("module", &[])
        .block("override_resource", &[])
        .block("override_data", &[])
        .block("override_module", &[]);
    let content = decoder.content(&block.body, &schema);
    decoder.check_name(&label(block, 0), "Invalid run block name");
    let (mut seen_options, mut seen_variables, mut seen_module) = (None, None, None);
    for inner in &content.blocks {
        match inner.kind.name.as_str() {
            "assert" => {
                CheckRule::decode(decoder, inner);
            }
            "plan_options" => {
                let already = "This run block already has a plan_options block defined";
                if decoder.only_once(&mut seen_options, inner, "Multiple \"plan_options\" blocks", already) {
                    check_plan_options(decoder, inner);
                }
            }
            "variables" => check_variables(decoder, &mut seen_variables, inner, "This run block"),
            "module" => {
                let already = "This run block already has a module block defined";
                decoder.only_once(&mut seen_module, inner, "Multiple \"module\" blocks", already);
                check_module(decoder, inner);
            }
            _ => check_override(decoder, inner),
        }
    }
    check_keyword(decoder, &content, "command", &["apply", "plan"], "apply or plan.");
    if let Some(attribute) = content.attr("providers") {
        decode_providers(decoder, &attribute.expr);
    }
    references(decoder, &content, "expect_failures");
}

fn check_plan_options(decoder: &mut Decoder<'_>, block: &Block) {
    let schema = BodySchema::new().optional("mode").optional("refresh").optional("replace").optional("target");
    let content = decoder.content(&block.body, &schema);
    let mode = check_keyword(decoder, &content, "mode", &["normal", "refresh-only"], "normal or refresh-only");
    let refresh = content.attr("refresh").map(|attribute| (decoder.constant_bool(attribute), attribute.span));
    references(decoder, &content, "replace");
    references(decoder, &content, "target");
    if let (Some("refresh-only"), Some((Some(false), span))) = (mode.as_deref(), refresh) {
        decoder.error(
            "Incompatible plan options",
            "The \"refresh\" option cannot be set to false when running a test in \"refresh-only\" mode.",
            span,
        );
    }
}

fn check_keyword(
    decoder: &mut Decoder<'_>,
    content: &Content,
    name: &str,
    allowed: &[&str],
    shown: &str,
) -> Option<String> {
    let attribute = content.attr(name)?;
    let word = attribute.expr.as_keyword();
    if let Some(word) = word.filter(|word| allowed.contains(&word.as_str())) {
        return Some(word.to_string());
    }
    decoder.error(
        format!("Invalid \"{name}\" keyword"),
        format!("The \"{name}\" argument requires one of the following keywords without quotes: {shown}"),
        attribute.expr.span,
    );
    None
}

fn references(decoder: &mut Decoder<'_>, content: &Content, name: &str) {
    let Some(attribute) = content.attr(name) else { return };
    for item in decoder.list(&attribute.expr) {
        let item = decoder.unquoted(item, false);
        decoder.traversal(&item);
    }
}

fn check_module(decoder: &mut Decoder<'_>, block: &Block) {
    let content = decoder.content(&block.body, &BodySchema::new().optional("source").optional("version"));
    if let Some(attribute) = content.attr("version") {
        VersionConstraint::decode(decoder, attribute);
    }
    match content.attr("source") {
        Some(attribute) => {
            decoder.constant_string(attribute);
        }
        None => decoder.error(
            "Missing \"source\" attribute for module block",
            "You must specify a source attribute when executing alternate modules during test executions.",
            block.header_span,
        ),
    }
}

fn check_override(decoder: &mut Decoder<'_>, block: &Block) {
    let is_module = block.kind.name == "override_module";
    let values = if is_module { "outputs" } else { "values" };
    let content = decoder.content(&block.body, &BodySchema::new().required("target").optional(values));
    let target = content.attr("target").and_then(|attribute| decoder.traversal(&attribute.expr));
    if let Some(Err(diagnostic)) = target.map(|traversal| addresses::parse(&traversal, Keys::Refused)) {
        decoder.diagnostics.push(*diagnostic);
    }
    if let Some(attribute) = content.attr(values) {
        check_object(decoder, attribute);
    }
}

fn check_object(decoder: &mut Decoder<'_>, attribute: &Attribute) {
    let errors_before = decoder.diagnostics.len();
    let value = decoder.constant(&attribute.expr);
    if decoder.diagnostics.len() == errors_before && !matches!(value.ty(), Type::Object(_)) {
        decoder.error(
            "Object expected",
            format!("The attribute `{}` must be an object.", attribute.name.name),
            attribute.span,
        );
    }
}

fn check_mock_provider(decoder: &mut Decoder<'_>, block: &Block, seen: &mut BTreeSet<String>) {
    let errors_before = decoder.diagnostics.len();
    let schema = BodySchema::new()
        .optional("alias")
        .optional("for_each")
        .block("mock_resource", &["type"])
        .block("mock_data", &["type"])
        .block("override_resource", &[])
        .block("override_data", &[]);
    let content = decoder.content(&block.body, &schema);
    let name = label(block, 0);
    if !decoder.check_provider_name(&name.text, block.header_span) {
        return;
    }
    let mut key = name.text.to_string();
    match (content.attr("alias"), content.attr("for_each")) {
        (Some(attribute), _) => {
            let alias = decoder.constant_string(attribute).unwrap_or_else(|| "".into());
            if !is_identifier(&alias) {
                decoder.error(
                    "Invalid mock provider configuration alias",
                    format!("An alias must be a valid name. {NAME_RULE}"),
                    attribute.expr.span,
                );
            }
            key = format!("{key}.{alias}");
        }
        (None, Some(attribute)) => decoder.error(
            "Alias required when using \"for_each\"",
            "The for_each argument is allowed only for provider configurations with an alias.",
            attribute.expr.span,
        ),
        (None, None) => {}
    }
    let mut mocks = BTreeSet::new();
    for inner in &content.blocks {
        let kind = inner.kind.name.as_str();
        if kind.starts_with("override_") {
            check_override(decoder, inner);
            continue;
        }
        let mock = decoder.content(&inner.body, &BodySchema::new().optional("defaults"));
        if let Some(attribute) = mock.attr("defaults") {
            check_object(decoder, attribute);
        }
        let ty = label(inner, 0).text;
        if !mocks.insert((inner.kind.name.clone(), ty.clone())) {
            decoder.error(
                format!("Duplicated `{kind}` block"),
                format!("`{kind}.{ty}` is already defined in `mock_provider` block."),
                block.header_span,
            );
        }
    }
    if decoder.diagnostics.len() == errors_before && !seen.insert(key.clone()) {
        decoder.error(
            "Duplicated `mock_provider` block",
            format!("It is not allowed to have multiple `mock_provider` blocks with the same address: `{key}`."),
            block.header_span,
        );
    }
}
