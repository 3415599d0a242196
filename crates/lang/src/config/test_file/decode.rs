//! Reading test files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use groma_model::diag::Diagnostics;
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::Value;
use groma_syntax::ast::{Expr, Traversal};
use groma_syntax::body::{Attribute, Block, Body, BodySchema, Content};
use groma_syntax::is_identifier;

use super::{
    MockProvider, OverrideModule, OverrideResource, Overrides, PlanOptions, TestCommand, TestFile, TestModule, TestRun,
};
use crate::config::addresses::{self, Keys};
use crate::config::module_call::decode_providers;
use crate::config::read::{Decoder, NAME_RULE, label};
use crate::config::{CheckRule, Declared, ProviderConfig, ProviderConfigKey, ResourceMode, VersionConstraint};

/// Reads a test file.
pub(crate) fn decode(map: &SourceMap, body: &Body) -> (TestFile, Diagnostics) {
    let mut decoder = Decoder::new(map, false);
    let mut file = TestFile::default();
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
    for block in &content.blocks {
        match block.kind.name.as_str() {
            "run" => file.runs.push(decode_run(&mut decoder, block)),
            "variables" => {
                let found = decode_variables(&mut decoder, &mut seen_variables, block, "This test file");
                file.variables.extend(found);
            }
            "provider" => {
                let config = ProviderConfig::decode(&mut decoder, block);
                file.providers.extend(config.map(|config| (config.key.clone(), config)));
            }
            "mock_provider" => decode_mock_provider(&mut decoder, block, &mut file.mocks),
            _ => decode_override(&mut decoder, block, &mut file.overrides),
        }
    }
    (file, decoder.diagnostics)
}

fn decode_variables<'b>(
    decoder: &mut Decoder<'_>,
    seen: &mut Option<&'b Block>,
    block: &'b Block,
    owner: &str,
) -> BTreeMap<Str, Arc<Expr>> {
    let already = format!("{owner} already has a variables block defined");
    if !decoder.only_once(seen, block, "Multiple \"variables\" blocks", &already) {
        return BTreeMap::new();
    }
    let (attributes, diagnostics) = block.body.just_attributes();
    decoder.diagnostics.extend(diagnostics);
    attributes.into_iter().map(|attribute| (attribute.name.name, attribute.expr)).collect()
}

fn decode_run(decoder: &mut Decoder<'_>, block: &Block) -> TestRun {
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
    let name = label(block, 0);
    decoder.check_name(&name, "Invalid run block name");
    let mut run = TestRun {
        name: name.text,
        command: TestCommand::Apply,
        options: PlanOptions::default(),
        variables: BTreeMap::new(),
        providers: Vec::new(),
        asserts: Vec::new(),
        module: None,
        expect_failures: Vec::new(),
        overrides: Overrides::default(),
        declared: Declared::of(block),
    };
    decode_run_blocks(decoder, &content, &mut run);
    let command = decode_keyword(decoder, &content, "command", &["apply", "plan"], "apply or plan.");
    if command.as_deref() == Some("plan") {
        run.command = TestCommand::Plan;
    }
    if let Some(attribute) = content.attr("providers") {
        run.providers = decode_providers(decoder, &attribute.expr);
    }
    run.expect_failures = references(decoder, &content, "expect_failures");
    run
}

fn decode_run_blocks(decoder: &mut Decoder<'_>, content: &Content, run: &mut TestRun) {
    let (mut seen_options, mut seen_variables, mut seen_module) = (None, None, None);
    for inner in &content.blocks {
        match inner.kind.name.as_str() {
            "assert" => run.asserts.push(CheckRule::decode(decoder, inner)),
            "plan_options" => {
                let already = "This run block already has a plan_options block defined";
                if decoder.only_once(&mut seen_options, inner, "Multiple \"plan_options\" blocks", already) {
                    run.options = decode_plan_options(decoder, inner);
                }
            }
            "variables" => {
                run.variables.extend(decode_variables(decoder, &mut seen_variables, inner, "This run block"));
            }
            "module" => {
                let already = "This run block already has a module block defined";
                decoder.only_once(&mut seen_module, inner, "Multiple \"module\" blocks", already);
                run.module = decode_module(decoder, inner);
            }
            _ => decode_override(decoder, inner, &mut run.overrides),
        }
    }
}

fn decode_plan_options(decoder: &mut Decoder<'_>, block: &Block) -> PlanOptions {
    let schema = BodySchema::new().optional("mode").optional("refresh").optional("replace").optional("target");
    let content = decoder.content(&block.body, &schema);
    let mode = decode_keyword(decoder, &content, "mode", &["normal", "refresh-only"], "normal or refresh-only");
    let refresh = content.attr("refresh").map(|attribute| (decoder.constant_bool(attribute), attribute.span));
    let options = PlanOptions {
        refresh_only: mode.as_deref() == Some("refresh-only"),
        refresh: !matches!(refresh, Some((Some(false), _))),
        replace: references(decoder, &content, "replace"),
        target: references(decoder, &content, "target"),
    };
    if let (true, Some((Some(false), span))) = (options.refresh_only, refresh) {
        decoder.error(
            "Incompatible plan options",
            "The \"refresh\" option cannot be set to false when running a test in \"refresh-only\" mode.",
            span,
        );
    }
    options
}

fn decode_keyword(
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

fn references(decoder: &mut Decoder<'_>, content: &Content, name: &str) -> Vec<Traversal> {
    let Some(attribute) = content.attr(name) else { return Vec::new() };
    let mut found = Vec::new();
    for item in decoder.list(&attribute.expr) {
        let item = decoder.unquoted(item, false);
        found.extend(decoder.traversal(&item));
    }
    found
}

fn decode_module(decoder: &mut Decoder<'_>, block: &Block) -> Option<TestModule> {
    let content = decoder.content(&block.body, &BodySchema::new().optional("source").optional("version"));
    let version = content.attr("version").and_then(|attribute| VersionConstraint::decode(decoder, attribute));
    let Some(attribute) = content.attr("source") else {
        decoder.error(
            "Missing \"source\" attribute for module block",
            "You must specify a source attribute when executing alternate modules during test executions.",
            block.header_span,
        );
        return None;
    };
    let source = decoder.constant_string(attribute)?;
    Some(TestModule { source, source_span: attribute.expr.span, version, header: block.header_span })
}

fn decode_override(decoder: &mut Decoder<'_>, block: &Block, overrides: &mut Overrides) {
    let is_module = block.kind.name == "override_module";
    let given = if is_module { "outputs" } else { "values" };
    let content = decoder.content(&block.body, &BodySchema::new().required("target").optional(given));
    let target = content.attr("target").and_then(|attribute| decoder.traversal(&attribute.expr));
    let target = match target.map(|traversal| addresses::parse(&traversal, Keys::Refused)) {
        Some(Ok(target)) => Some(target),
        Some(Err(diagnostic)) => {
            decoder.diagnostics.push(*diagnostic);
            None
        }
        None => None,
    };
    let values = content.attr(given).map(|attribute| decode_object(decoder, attribute)).unwrap_or_default();
    let Some(target) = target else { return };
    if is_module {
        overrides.modules.push(OverrideModule { target, outputs: values });
    } else {
        let mode = if block.kind.name == "override_data" { ResourceMode::Data } else { ResourceMode::Managed };
        overrides.resources.push(OverrideResource { mode, target, values });
    }
}

fn decode_object(decoder: &mut Decoder<'_>, attribute: &Attribute) -> BTreeMap<Str, Value> {
    let errors_before = decoder.diagnostics.len();
    let value = decoder.constant(&attribute.expr);
    if decoder.diagnostics.len() > errors_before {
        return BTreeMap::new();
    }
    match (value.ty(), value.as_entries()) {
        (Type::Object(_), Some(entries)) => {
            return entries.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        }
        (Type::Object(_), None) => {}
        _ => decoder.error(
            "Object expected",
            format!("The attribute `{}` must be an object.", attribute.name.name),
            attribute.span,
        ),
    }
    BTreeMap::new()
}

fn decode_mock_provider(
    decoder: &mut Decoder<'_>,
    block: &Block,
    mocks: &mut BTreeMap<ProviderConfigKey, MockProvider>,
) {
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
    let mut mock = MockProvider {
        key: ProviderConfigKey { name: name.text, alias: None },
        for_each: content.attr("for_each").map(|attribute| Arc::clone(&attribute.expr)),
        defaults: BTreeMap::new(),
        overrides: Overrides::default(),
        declared: Declared::of(block),
    };
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
            mock.key.alias = Some(alias);
        }
        (None, Some(attribute)) => decoder.error(
            "Alias required when using \"for_each\"",
            "The for_each argument is allowed only for provider configurations with an alias.",
            attribute.expr.span,
        ),
        (None, None) => {}
    }
    decode_mocks(decoder, block, &content, &mut mock);
    let key = mock.key.clone();
    if decoder.diagnostics.len() > errors_before {
        return;
    }
    if mocks.contains_key(&key) {
        decoder.error(
            "Duplicated `mock_provider` block",
            format!("It is not allowed to have multiple `mock_provider` blocks with the same address: `{key}`."),
            block.header_span,
        );
        return;
    }
    mocks.insert(key, mock);
}

/// What a `mock_provider` block says about resources.
fn decode_mocks(decoder: &mut Decoder<'_>, block: &Block, content: &Content, mock: &mut MockProvider) {
    let mut seen = BTreeSet::new();
    for inner in &content.blocks {
        let kind = inner.kind.name.as_str();
        if kind.starts_with("override_") {
            decode_override(decoder, inner, &mut mock.overrides);
            continue;
        }
        let content = decoder.content(&inner.body, &BodySchema::new().optional("defaults"));
        let defaults = content.attr("defaults").map(|attribute| decode_object(decoder, attribute));
        let ty = label(inner, 0).text;
        let mode = if kind == "mock_data" { ResourceMode::Data } else { ResourceMode::Managed };
        if !seen.insert((mode, ty.clone())) {
            decoder.error(
                format!("Duplicated `{kind}` block"),
                format!("`{kind}.{ty}` is already defined in `mock_provider` block."),
                block.header_span,
            );
            continue;
        }
        mock.defaults.insert((mode, ty), defaults.unwrap_or_default());
    }
    let mut targets = BTreeSet::new();
    for found in &mock.overrides.resources {
        if !targets.insert(found.target.to_string()) {
            decoder.error(
                format!("Duplicated `{}` block", found.block_name()),
                format!(
                    "`{}` with target `{}` is already defined in `mock_provider` block.",
                    found.block_name(),
                    found.target
                ),
                block.header_span,
            );
        }
    }
}
