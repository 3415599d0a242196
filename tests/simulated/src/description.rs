//! What a cloud is like: its types of resources, and what it does not let happen. Read from JSON.
//!
//! An attribute is described by words: its type (`string` if there is none), `computed` (the cloud decides), `generated` (the cloud decides
//! if nobody else does), `new` (a change needs a new object), `required`, `sensitive`, `write_only`; and after `default=` what the cloud
//! decides, in which `{other}` is another attribute. Without that it makes something up that nobody else has.

use std::collections::BTreeMap;

use groma_model::schema::{Attribute, AttributeKind, Block, NestedBlock, Nesting, Schema};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_provider::api::ProviderSchema;
use serde::Deserialize;

/// A cloud.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The name of its provider.
    pub provider: String,
    /// Its types of resources.
    pub types: BTreeMap<String, ResourceType>,
}

/// A type of resources.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceType {
    /// What objects hold.
    #[serde(flatten)]
    pub fields: Fields,
    /// What an object is known by, if it has no identity of its own: whoever makes it again writes over it, and whoever deletes it deletes
    /// it for all.
    #[serde(default)]
    pub identity: Vec<String>,
    /// What only one object can have, by the name of what is claimed. The first path is that, the others say where; `~` stands before
    /// ranges of addresses, which must not overlap.
    #[serde(default)]
    pub claims: BTreeMap<String, Vec<String>>,
    /// Which of the claims stay taken when an object is gone.
    #[serde(default)]
    pub quarantine: Option<Quarantine>,
    /// Attributes that name other objects, which cannot go while they do: `type.attribute`.
    #[serde(default)]
    pub uses: BTreeMap<String, Names>,
    /// Attributes that name other objects, which must be there whenever this one is updated.
    #[serde(default)]
    pub needs: BTreeMap<String, Names>,
    /// Attributes that name other objects, which do not care.
    #[serde(default)]
    pub follows: BTreeMap<String, Names>,
}

/// One `type.attribute`, or several.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Names {
    /// One.
    One(String),
    /// Any of these.
    Several(Vec<String>),
}

impl Names {
    /// All of them, as types and attributes.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = match self {
            Names::One(one) => std::slice::from_ref(one),
            Names::Several(several) => several.as_slice(),
        };
        all.iter().filter_map(|name| name.split_once('.'))
    }
}

/// Names that stay taken.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quarantine {
    /// The claim.
    pub claim: String,
    /// Not for objects that have this value.
    #[serde(default)]
    pub unless: Option<(String, serde_json::Value)>,
}

/// Attributes and blocks.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Fields {
    /// Attributes, by name.
    #[serde(default)]
    pub attributes: BTreeMap<String, Words>,
    /// Blocks, by name.
    #[serde(default)]
    pub blocks: BTreeMap<String, BlockType>,
}

/// A kind of block.
#[derive(Debug, Clone, Deserialize)]
pub struct BlockType {
    /// What it holds.
    #[serde(flatten)]
    pub fields: Fields,
    /// Whether the order does not matter.
    #[serde(default)]
    pub set: bool,
    /// Whether any change needs a new object.
    #[serde(default)]
    pub new: bool,
}

/// What an attribute is like.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Words {
    /// What it holds.
    pub ty: Type,
    /// Whether a change needs a new object.
    pub new: bool,
    /// Whether the cloud decides, always or if nobody else does.
    pub decided: bool,
    /// What it decides.
    pub default: Option<String>,
    attribute: Attribute,
}

impl TryFrom<String> for Words {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut words = Words {
            ty: Type::String,
            new: false,
            decided: false,
            default: None,
            attribute: Attribute { optional: true, ..Attribute::of_type(Type::String) },
        };
        for word in text.split_whitespace() {
            let attribute = &mut words.attribute;
            match word {
                "new" => words.new = true,
                "computed" => (words.decided, attribute.computed, attribute.optional) = (true, true, false),
                "generated" => (words.decided, attribute.computed) = (true, true),
                "required" => (attribute.required, attribute.optional) = (true, false),
                "sensitive" => attribute.sensitive = true,
                "write_only" => attribute.write_only = true,
                _ => match word.strip_prefix("default=") {
                    Some(default) => words.default = Some(default.to_owned()),
                    None => {
                        words.ty = type_named(word).ok_or_else(|| format!("{word:?} is no word for an attribute"))?;
                    }
                },
            }
        }
        words.attribute.ty = AttributeKind::Type(words.ty.clone());
        Ok(words)
    }
}

impl Words {
    /// Whether it goes to the provider and is never stored.
    pub fn is_write_only(&self) -> bool {
        self.attribute.write_only
    }
}

fn type_named(word: &str) -> Option<Type> {
    let inside = |kind: &str| word.strip_prefix(kind)?.strip_prefix('(')?.strip_suffix(')').and_then(type_named);
    match word {
        "string" => Some(Type::String),
        "number" => Some(Type::Number),
        "bool" => Some(Type::Bool),
        "dynamic" => Some(Type::Dynamic),
        _ => inside("list")
            .map(Type::list)
            .or_else(|| inside("set").map(Type::set))
            .or_else(|| inside("map").map(Type::map)),
    }
}

impl Fields {
    /// In the terms of providers.
    pub fn block(&self) -> Block {
        let nested = |kind: &BlockType| NestedBlock {
            block: kind.fields.block(),
            nesting: if kind.set { Nesting::Set } else { Nesting::List },
            min_items: 0,
            max_items: 0,
        };
        Block {
            attributes: self
                .attributes
                .iter()
                .map(|(name, words)| (Str::from(name.as_str()), words.attribute.clone()))
                .collect(),
            block_types: self.blocks.iter().map(|(name, kind)| (Str::from(name.as_str()), nested(kind))).collect(),
            ..Block::default()
        }
    }
}

impl Description {
    /// Reads one. Every type has an `id`, which need not be said.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut description: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let id = Words::try_from("computed".to_owned())?;
        for ty in description.types.values_mut() {
            ty.fields.attributes.entry("id".to_owned()).or_insert_with(|| id.clone());
        }
        Ok(description)
    }

    /// What the provider offers.
    pub fn schema(&self) -> ProviderSchema {
        let resource = |ty: &ResourceType| Schema { version: 0, block: ty.fields.block() }.into();
        ProviderSchema {
            provider: Schema { version: 0, block: provider_block() }.into(),
            resources: self.types.iter().map(|(name, ty)| (Str::from(name.as_str()), resource(ty))).collect(),
            ..ProviderSchema::default()
        }
    }

    /// One of its types.
    pub fn resource(&self, name: &str) -> Option<&ResourceType> {
        self.types.get(name)
    }
}

/// What providers are configured with, which changes nothing here.
fn provider_block() -> Block {
    let optional = |name: &str| (Str::from(name), Attribute { optional: true, ..Attribute::of_type(Type::String) });
    Block { attributes: ["region", "project"].into_iter().map(optional).collect(), ..Block::default() }
}
