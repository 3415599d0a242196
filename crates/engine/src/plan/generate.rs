//! Configuration for objects that exist but that nobody wrote down: the text of a `resource` block, and what that text means.
//! Files are written elsewhere.

mod imports;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use groma_lang::written;
use groma_model::address::{AbsInstance, ProviderConfig};
use groma_model::codec::json;
use groma_model::schema::{Attribute, AttributeKind, Block, NestedBlock, NestedObject, Nesting};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};

pub(super) use imports::check_targets;

/// The text of a block that describes an object. What cannot be set, what must not be shown and what is discouraged is left out.
/// The object has neither unknown values nor marks.
pub fn resource_block(address: &AbsInstance, provider: &ProviderConfig, block: &Block, object: &Value) -> String {
    let resource = &address.instance.resource;
    let (ty, name) = (written::string(&resource.ty), written::string(&resource.name));
    let mut writer = Writer { text: format!("resource {ty} {name} {{\n") };
    if provider.provider.ty.as_str() != resource.implied_provider() || provider.alias.is_some() {
        let alias = provider.alias.as_ref().map(|alias| format!(".{alias}")).unwrap_or_default();
        writer.line(&format!("provider = {}{alias}", provider.provider.ty));
    }
    writer.block(block, object);
    writer.text.push('}');
    written::layout(&writer.text)
}

/// What [`resource_block`] means: the object as it would be configured.
pub(crate) fn configuration(block: &Block, object: &Value) -> Value {
    let attributes = configured_attributes(&block.attributes, object);
    let blocks = block.block_types.iter().map(|(name, nested)| {
        let value = part(object, name).filter(|_| !nested.block.deprecated);
        (name.clone(), value.map_or_else(|| nested.empty_value(), |value| configured_blocks(nested, value)))
    });
    Value::object(attributes.into_iter().chain(blocks))
}

struct Writer {
    text: String,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn block(&mut self, block: &Block, object: &Value) {
        self.attributes(&block.attributes, object);
        for (name, nested) in block.block_types.iter().filter(|(_, nested)| !nested.block.deprecated) {
            if let Some(value) = part(object, name) {
                self.nested_block(name, nested, value);
            }
        }
    }

    fn attributes(&mut self, attributes: &BTreeMap<Str, Attribute>, object: &Value) {
        for (name, attribute) in attributes.iter().filter(|(name, attribute)| is_written(name, attribute)) {
            match &attribute.ty {
                AttributeKind::Type(_) => self.attribute(name, attribute, part(object, name)),
                AttributeKind::Nested(nested) => self.nested_attribute(name, attribute, nested, part(object, name)),
            }
        }
    }

    fn attribute(&mut self, name: &str, attribute: &Attribute, value: Option<&Value>) {
        let (value, comment) = if attribute.sensitive {
            ("null".to_owned(), comment(attribute, "sensitive"))
        } else {
            (value.map_or_else(|| "null".to_owned(), expression), comment(attribute, ""))
        };
        self.line(&format!("{name} = {value}{comment}"));
    }

    fn nested_attribute(&mut self, name: &str, attribute: &Attribute, nested: &NestedObject, value: Option<&Value>) {
        if attribute.sensitive {
            let nothing = match nested.nesting {
                // Others write `{}`, which is wrong where something inside is required. That it is not there is no secret.
                _ if value.is_none_or(Value::is_null) => "null",
                Nesting::List | Nesting::Set => "[]",
                _ => "{}",
            };
            return self.line(&format!("{name} = {nothing}{}", comment(attribute, "sensitive")));
        }
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return self.line(&format!("{name} = null{}", comment(attribute, "")));
        };
        match nested.nesting {
            Nesting::Single | Nesting::Group => {
                self.line(&format!("{name} = {{"));
                self.attributes(&nested.attributes, value);
                self.line("}");
            }
            Nesting::List | Nesting::Set => {
                self.line(&format!("{name} = ["));
                for item in value.as_elements().unwrap_or_default() {
                    self.line("{");
                    self.attributes(&nested.attributes, item);
                    self.line("},");
                }
                self.line("]");
            }
            Nesting::Map => {
                self.line(&format!("{name} = {{"));
                for (key, item) in value.as_entries().into_iter().flat_map(Entries::iter) {
                    self.line(&format!("{} = {{", written::name(key)));
                    self.attributes(&nested.attributes, item);
                    self.line("}");
                }
                self.line("}");
            }
        }
    }

    fn nested_block(&mut self, name: &str, nested: &NestedBlock, value: &Value) {
        if value.is_null() {
            return;
        }
        match nested.nesting {
            Nesting::Single | Nesting::Group => self.one_block(name, &nested.block, value),
            Nesting::List | Nesting::Set => {
                for item in value.as_elements().unwrap_or_default() {
                    self.one_block(name, &nested.block, item);
                }
            }
            Nesting::Map => {
                for (key, item) in value.as_entries().into_iter().flat_map(Entries::iter) {
                    self.one_block(&format!("{name} {}", written::string(key)), &nested.block, item);
                }
            }
        }
    }

    fn one_block(&mut self, header: &str, block: &Block, object: &Value) {
        self.line(&format!("{header} {{"));
        self.block(block, object);
        self.line("}");
    }
}

/// Whether an attribute stands in the text. The `id` that old providers have everywhere usually may not be set.
fn is_written(name: &str, attribute: &Attribute) -> bool {
    let read_only = attribute.computed && !attribute.optional;
    let legacy_id = name == "id" && attribute.computed && attribute.optional;
    let settable = attribute.required || attribute.optional || matches!(attribute.ty, AttributeKind::Nested(_));
    settable && !read_only && !legacy_id && !attribute.deprecated
}

fn comment(attribute: &Attribute, word: &str) -> String {
    let words: Vec<&str> = [word, if attribute.write_only { "write-only" } else { "" }]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() { String::new() } else { format!(" # {}", words.join(" ")) }
}

/// An attribute of an object. None if the object is null.
fn part<'v>(object: &'v Value, name: &str) -> Option<&'v Value> {
    object.as_entries()?.get(name)
}

fn expression(value: &Value) -> String {
    match embedded(value) {
        Some(inner) => format!("jsonencode({})", written::expression(&inner)),
        None => written::expression(value),
    }
}

/// What a text is that is a JSON object or array.
fn embedded(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim();
    if text.starts_with(['{', '[']) { json::decode_implied(text).ok() } else { None }
}

fn configured_attributes(attributes: &BTreeMap<Str, Attribute>, object: &Value) -> Vec<(Str, Value)> {
    let configured = |(name, attribute): (&Str, &Attribute)| {
        let value = part(object, name).filter(|_| is_written(name, attribute));
        let value = match (value, &attribute.ty) {
            (None, _) => Value::null(attribute.implied_type()),
            (Some(_), AttributeKind::Type(_)) if attribute.sensitive => Value::null(attribute.implied_type()),
            (Some(value), AttributeKind::Type(_)) => match embedded(value) {
                Some(inner) => json::encode_plain(&inner).map_or_else(|_| value.clone(), Value::string),
                None => value.clone(),
            },
            (Some(value), AttributeKind::Nested(_)) if value.is_null() => value.clone(),
            (Some(_), AttributeKind::Nested(nested)) if attribute.sensitive => nothing_of(nested),
            (Some(value), AttributeKind::Nested(nested)) => {
                let object = |value: &Value| Value::object(configured_attributes(&nested.attributes, value));
                gathered(nested.nesting, value, &object)
            }
        };
        (name.clone(), value)
    };
    attributes.iter().map(configured).collect()
}

/// What `{}` and `[]` mean for objects with attributes of their own.
fn nothing_of(nested: &NestedObject) -> Value {
    let nulls =
        || nested.attributes.iter().map(|(name, attribute)| (name.clone(), Value::null(attribute.implied_type())));
    let element =
        Type::object(nested.attributes.iter().map(|(name, attribute)| (name.clone(), attribute.implied_type())));
    match nested.nesting {
        Nesting::Single | Nesting::Group => Value::object(nulls()),
        Nesting::List => Value::list(element, Vec::new()),
        Nesting::Set => Value::set(element, Vec::new()),
        Nesting::Map => Value::map(element, Entries::default()),
    }
}

fn configured_blocks(nested: &NestedBlock, value: &Value) -> Value {
    if value.is_null() {
        nested.empty_value()
    } else {
        gathered(nested.nesting, value, &|item| configuration(&nested.block, item))
    }
}

/// A value with the objects in it changed.
fn gathered(nesting: Nesting, value: &Value, change: &dyn Fn(&Value) -> Value) -> Value {
    let items = || -> Vec<Value> { value.as_elements().unwrap_or_default().iter().map(change).collect() };
    let entries =
        || value.as_entries().into_iter().flat_map(Entries::iter).map(|(key, item)| (key.clone(), change(item)));
    match (nesting, value.element_type()) {
        (Nesting::Single | Nesting::Group, _) => change(value),
        (Nesting::List, Some(element)) => Value::list(element.clone(), items()),
        (Nesting::List, None) => Value::tuple(items()),
        (Nesting::Set, element) => Value::set(element.cloned().unwrap_or(Type::Dynamic), items()),
        (Nesting::Map, Some(element)) => Value::map(element.clone(), entries().collect()),
        (Nesting::Map, None) => Value::object(entries()),
    }
}
