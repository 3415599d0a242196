//! The configuration as machines are told: the `configuration` of a plan, `show -json -config` and `show -json -module=DIR`.

mod expressions;
mod providers;

use groma_lang::config::{Module, ModuleCall, Output, Repetition, Resource, ResourceMode, Traversal, Variable};
use groma_lang::load::{ModuleNode, ModuleTree};
use groma_lang::oracle::SchemaSource;
use groma_lang::provisioners;
use groma_lang::refs::Reference;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::{Attribute, Block};
use groma_model::span::SourceMap;
use groma_model::text::Str;
use groma_model::ty::Type;
use serde_json::{Map, Value};

use super::change::mode_name;
use super::value::{Plain, type_value};
use expressions::{body_expressions, expression, subject};
use providers::ProviderConfigs;

/// A configuration to be shown.
#[derive(Clone, Copy)]
pub struct ConfigView<'a> {
    /// The modules.
    pub tree: &'a ModuleTree,
    /// The texts that they were read from.
    pub sources: &'a SourceMap,
    /// The schemas of everything in them.
    pub schemas: &'a dyn SchemaSource,
}

/// The document for a whole configuration.
pub fn config_json(view: &ConfigView<'_>) -> Result<Value, Diagnostics> {
    config_document(view)
        .map_err(|problem| Diagnostic::error("Failed to marshal configuration to JSON", problem).into())
}

/// The document for one module, without what only schemas and the modules that it calls could tell.
pub fn module_json(module: &Module, sources: &SourceMap) -> Result<Value, Diagnostics> {
    let known = providers::of_module(module);
    let writer = Writer { sources, schemas: None, providers: &known };
    match writer.module(None, module, "") {
        Ok(root) => Ok(document(known, root)),
        Err(problem) => Err(Diagnostic::error("Failed to marshal module contents to JSON", problem).into()),
    }
}

/// As [`config_json`]; the error is a sentence.
pub(super) fn config_document(view: &ConfigView<'_>) -> Result<Value, String> {
    let mut known = providers::of_tree(view);
    let writer = Writer { sources: view.sources, schemas: Some(view.schemas), providers: &known };
    let root = writer.module(Some(&view.tree.root), &view.tree.root.module, "")?;
    known.drop_inherited();
    Ok(document(known, root))
}

fn document(providers: ProviderConfigs, root: Map<String, Value>) -> Value {
    let mut document = Map::new();
    let providers = providers.into_json();
    if !providers.is_empty() {
        document.insert("provider_config".into(), providers.into());
    }
    document.insert("root_module".into(), root.into());
    document.into()
}

struct Writer<'a> {
    sources: &'a SourceMap,
    /// None if only one module is shown: then no expressions are.
    schemas: Option<&'a dyn SchemaSource>,
    providers: &'a ProviderConfigs,
}

impl Writer<'_> {
    fn module(&self, node: Option<&ModuleNode>, module: &Module, address: &str) -> Result<Map<String, Value>, String> {
        let mut json = Map::new();
        let outputs: Map<String, Value> =
            module.outputs.iter().map(|(name, output)| (name.to_string(), self.output(output))).collect();
        if !outputs.is_empty() {
            json.insert("outputs".into(), outputs.into());
        }
        let mut resources = Vec::new();
        for mode in [ResourceMode::Managed, ResourceMode::Data, ResourceMode::Ephemeral] {
            let mut of_mode: Vec<&Resource> = module.resources_of(mode).collect();
            of_mode.sort_by_cached_key(|resource| resource.key.to_string());
            for resource in of_mode {
                resources.push(self.resource(resource, address)?);
            }
        }
        if !resources.is_empty() {
            json.insert("resources".into(), resources.into());
        }
        let mut calls = Map::new();
        for (name, call) in &module.module_calls {
            let child = node.and_then(|node| node.children.get(name));
            calls.insert(name.to_string(), self.call(call, child, address)?);
        }
        if !calls.is_empty() {
            json.insert("module_calls".into(), calls.into());
        }
        if !module.variables.is_empty() {
            let variables = module.variables.iter().map(|(name, found)| (name.to_string(), variable(found)));
            json.insert("variables".into(), Value::Object(variables.collect()));
        }
        Ok(json)
    }

    fn output(&self, output: &Output) -> Value {
        let mut json = Map::new();
        flag(&mut json, "sensitive", output.sensitive);
        flag(&mut json, "ephemeral", output.ephemeral);
        text(&mut json, "deprecated", output.deprecated.as_deref());
        if let (Some(expr), Some(_)) = (&output.expr, self.schemas) {
            json.insert("expression".into(), expression(expr, self.sources).into());
        }
        depends_on(&mut json, &output.depends_on);
        text(&mut json, "description", output.description.as_deref());
        json.into()
    }

    fn resource(&self, resource: &Resource, module: &str) -> Result<Value, String> {
        let mut json = Map::new();
        json.insert("address".into(), resource.key.to_string().into());
        json.insert("mode".into(), mode_name(resource.key.mode).into());
        json.insert("type".into(), resource.key.ty.as_str().into());
        json.insert("name".into(), resource.key.name.as_str().into());
        let key = self.providers.key_of(&resource.provider_key().to_string(), module);
        json.insert("provider_config_key".into(), key.into());
        let provisioners: Vec<Value> =
            resource.managed.provisioners.iter().map(|found| self.provisioner(found)).collect();
        if !provisioners.is_empty() {
            json.insert("provisioners".into(), provisioners.into());
        }
        if let Some(schemas) = self.schemas {
            let schema = schemas.resource(&resource.provider, resource.key.mode, &resource.key.ty);
            let missing = || format!("no schema found for {} (in provider {})", resource.key, resource.provider);
            let schema = schema.ok_or_else(missing)?;
            self.expressions(&mut json, &resource.config, &schema.block);
            json.insert("schema_version".into(), schema.version.into());
            self.repetition(&mut json, &resource.repetition);
        }
        depends_on(&mut json, &resource.depends_on);
        Ok(json.into())
    }

    fn provisioner(&self, provisioner: &groma_lang::config::Provisioner) -> Value {
        let mut json = Map::new();
        json.insert("type".into(), provisioner.kind.as_str().into());
        if let (Some(_), Some(schema)) = (self.schemas, provisioners::schema(&provisioner.kind)) {
            self.expressions(&mut json, &provisioner.config, schema);
        }
        json.into()
    }

    fn call(&self, call: &ModuleCall, child: Option<&ModuleNode>, caller: &str) -> Result<Value, String> {
        let mut json = Map::new();
        let constant = |expr| groma_lang::config::constant_value(self.sources, expr).0.as_str().map(str::to_owned);
        let source = match child.and_then(|child| child.source.as_ref()) {
            Some(source) => Some(source.to_string()),
            None => call.source.as_ref().and_then(|expr| constant(expr)),
        };
        text(&mut json, "source", source.as_deref());
        if let Some(child) = child {
            let variables = child.module.variables.iter().map(|(name, variable)| {
                let attribute = Attribute { required: variable.is_required(), ..Attribute::of_type(Type::Dynamic) };
                (name.clone(), attribute)
            });
            let schema = Block { attributes: variables.collect(), ..Block::default() };
            self.expressions(&mut json, &call.config, &schema);
            self.repetition(&mut json, &call.repetition);
            let address = match caller {
                "" => format!("module.{}", call.name),
                caller => format!("{caller}.module.{}", call.name),
            };
            json.insert("module".into(), self.module(Some(child), &child.module, &address)?.into());
        }
        let version = call.version.as_ref().and_then(|attribute| constant(&attribute.expr));
        text(&mut json, "version_constraint", version.as_deref());
        depends_on(&mut json, &call.depends_on);
        Ok(json.into())
    }

    fn repetition(&self, json: &mut Map<String, Value>, repetition: &Repetition) {
        let (name, expr) = match repetition {
            Repetition::Count(expr) => ("count_expression", expr),
            Repetition::ForEach(expr) => ("for_each_expression", expr),
            Repetition::Once | Repetition::Enabled(_) => return,
        };
        let found = expression(expr, self.sources);
        if !found.is_empty() {
            json.insert(name.into(), found.into());
        }
    }

    fn expressions(&self, json: &mut Map<String, Value>, body: &groma_syntax::body::Body, schema: &Block) {
        let found = body_expressions(body, schema, self.sources);
        if !found.is_empty() {
            json.insert("expressions".into(), found.into());
        }
    }
}

fn variable(variable: &Variable) -> Value {
    let mut json = Map::new();
    let constraint = variable.constraint();
    if constraint != Type::Dynamic {
        json.insert("type".into(), type_value(&constraint));
    }
    if let Some(default) = &variable.default {
        json.insert("default".into(), serde_json::to_value(Plain(default)).unwrap_or_default());
    }
    text(&mut json, "description", variable.description.as_deref());
    flag(&mut json, "required", variable.is_required());
    flag(&mut json, "sensitive", variable.is_sensitive());
    flag(&mut json, "ephemeral", variable.is_ephemeral());
    text(&mut json, "deprecated", variable.deprecated.as_deref());
    json.into()
}

fn depends_on(json: &mut Map<String, Value>, references: &[Traversal]) {
    if references.is_empty() {
        return;
    }
    let named = |traversal| Reference::parse(traversal).map(|found| subject(&found.subject)).unwrap_or_default();
    json.insert("depends_on".into(), references.iter().map(named).collect());
}

fn flag(json: &mut Map<String, Value>, name: &str, value: bool) {
    if value {
        json.insert(name.into(), true.into());
    }
}

fn text(json: &mut Map<String, Value>, name: &str, value: Option<&str>) {
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        json.insert(name.into(), value.into());
    }
}

/// `module.a.module.b`; empty for the root.
fn module_address(path: &[Str]) -> String {
    crate::providers::requirements::module_address(path)
}
