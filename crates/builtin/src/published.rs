//! For tests: schemas in the form of `providers schema -json`, to compare with what OpenTofu shows of the published
//! plugins. Texts are left out: they are written anew here.

use groma_model::codec::type_json;
use groma_model::schema::{AttributeKind, Block, Description, FunctionSignature, Parameter, Schema, TextKind};
use groma_model::ty::Type;
use groma_provider::api::{Provider, ProviderSchema};
use serde_json::{Map, Value as Json, json};

/// All schemas of a provider. Its own is left out where it holds nothing: the core's provider has none at all.
pub(crate) fn schemas(provider: &dyn Provider) -> Json {
    let ProviderSchema { resources, data_sources, ephemerals, functions, .. } = provider.schema();
    let mut out = Map::new();
    for (name, kinds) in [
        ("resource_schemas", resources),
        ("data_source_schemas", data_sources),
        ("ephemeral_resource_schemas", ephemerals),
    ] {
        let kinds: Map<String, Json> =
            kinds.iter().map(|(name, lazy)| (name.to_string(), schema(lazy.get().unwrap()))).collect();
        if !kinds.is_empty() {
            out.insert(name.to_owned(), kinds.into());
        }
    }
    let functions: Map<String, Json> = functions.iter().map(|(n, f)| (n.to_string(), function(f))).collect();
    if !functions.is_empty() {
        out.insert("functions".to_owned(), functions.into());
    }
    out.into()
}

fn schema(schema: &Schema) -> Json {
    assert_eq!(schema.problems(), Vec::new());
    json!({"version": schema.version, "block": block(&schema.block)})
}

fn block(block: &Block) -> Json {
    let mut out = Map::new();
    let attributes = block.attributes.iter().map(|(name, attribute)| {
        let AttributeKind::Type(ty) = &attribute.ty else { panic!("{name} has nested attributes") };
        let mut out = described(&attribute.description);
        out.insert("type".to_owned(), type_of(ty));
        for (name, flag) in [
            ("required", attribute.required),
            ("optional", attribute.optional),
            ("computed", attribute.computed),
            ("sensitive", attribute.sensitive),
            ("deprecated", attribute.deprecated),
        ] {
            if flag {
                out.insert(name.to_owned(), true.into());
            }
        }
        (name.to_string(), out.into())
    });
    out.insert("attributes".to_owned(), Json::Object(attributes.collect()));
    out.append(&mut described(&block.description));
    assert!(block.block_types.is_empty());
    if block.deprecated {
        out.insert("deprecated".to_owned(), true.into());
    }
    out.into()
}

fn described(description: &Description) -> Map<String, Json> {
    let kind = if description.kind == TextKind::Markdown { "markdown" } else { "plain" };
    Map::from_iter([("description_kind".to_owned(), kind.into())])
}

fn function(function: &FunctionSignature) -> Json {
    let parameter = |parameter: &Parameter| json!({"name": parameter.name.as_str(), "type": type_of(&parameter.ty)});
    json!({
        "return_type": type_of(&function.returns),
        "parameters": function.parameters.iter().map(parameter).collect::<Vec<_>>(),
    })
}

fn type_of(ty: &Type) -> Json {
    serde_json::from_str(&type_json::encode(ty)).unwrap()
}

/// The recorded schemas of a provider, without its own where that holds nothing.
pub(crate) fn recorded(text: &str) -> Json {
    let mut recorded: Json = serde_json::from_str(text).unwrap();
    let own = recorded.as_object_mut().unwrap().remove("provider").unwrap();
    assert!(own["block"]["attributes"].is_null(), "{own}");
    recorded
}
