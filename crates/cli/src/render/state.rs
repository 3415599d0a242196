//! States as text, as `show` and `state show` show them.

use std::fmt::Write as _;
use std::sync::Arc;

use groma_model::address::{AbsInstance, AbsResource, DeposedKey, Provider, ResourceMode};
use groma_model::codec::json;
use groma_model::mark::{Mark, Marks};
use groma_model::schema::Schema;
use groma_model::secrets::with_echoes_hidden;
use groma_model::value::{PathMarks, Value};
use groma_run::engine::pending;
use groma_run::state::{Attributes, ObjectState, ObjectStatus, State};

use super::Look;
use super::diff::{self, Mode, Pair, Printer};
use super::paint::Paint;

/// Where schemas of resources come from. Without one nothing of an object is shown, unless secrets
/// may be shown.
pub(crate) type Schemas<'a> = dyn Fn(&Provider, ResourceMode, &str) -> Option<Arc<Schema>> + 'a;

/// What is said instead of attributes that may hold secrets.
const WITHHELD: &str = "{\n    # Only the schema of its provider says what of this object is sensitive, so without that it is not \
                        displayed.\n}";

/// A whole state: all objects, then the outputs.
pub(crate) fn state(state: &State, schemas: &Schemas<'_>, look: &Look) -> String {
    if state.is_empty() {
        return "The state file is empty. No resources are represented.\n".to_owned();
    }
    let mut out = String::new();
    let mut module = None;
    for (address, resource) in &state.resources {
        let schema = schemas(&resource.provider.provider, address.resource.mode, &address.resource.ty);
        for (key, instance) in &resource.instances {
            let current = instance.current.iter().map(|object| (None, object));
            let deposed = instance.deposed.iter().map(|(key, object)| (Some(key), object));
            for (deposed, object) in current.chain(deposed) {
                if module.is_some_and(|module| module != &address.module) {
                    out.push('\n');
                }
                if module.is_some() {
                    out.push('\n');
                }
                module = Some(&address.module);
                let _ = writeln!(out, "# {}:{}", address.instance(key.clone()), condition(object, deposed));
                written(&mut out, address, object, schema.as_deref(), look);
            }
        }
    }
    outputs(&mut out, state, look);
    out
}

/// The current object of one instance. None if there is none.
pub(crate) fn instance(state: &State, address: &AbsInstance, schemas: &Schemas<'_>, look: &Look) -> Option<String> {
    let resource = state.resources.get(&address.resource())?;
    let object = resource.instances.get(address.key())?.current.as_ref()?;
    let place = address.resource();
    let schema = schemas(&resource.provider.provider, place.resource.mode, &place.resource.ty);
    let mut out = String::new();
    let _ = writeln!(out, "# {address}:{}", condition(object, None));
    written(&mut out, &place, object, schema.as_deref(), look);
    Some(out)
}

/// What is unusual about an object.
fn condition(object: &ObjectState, deposed: Option<&DeposedKey>) -> String {
    match deposed {
        Some(key) => format!(" (deposed object {})", key.as_str()),
        None if object.status == ObjectStatus::Tainted => " (tainted)".to_owned(),
        None => match pending::of_stored(object) {
            Some(pending) => format!(" (not ready: waiting for {})", pending.waiting_for),
            None => String::new(),
        },
    }
}

/// An object, as if it were in a configuration.
fn written(out: &mut String, address: &AbsResource, object: &ObjectState, schema: Option<&Schema>, look: &Look) {
    let kind = if address.resource.mode == ResourceMode::Managed { "resource" } else { "data" };
    let _ = write!(out, "{kind} \"{}\" \"{}\" ", address.resource.ty, address.resource.name);
    let decoded = schema.and_then(|schema| Some((schema, decoded(object, schema)?)));
    let mut printer = Printer::new(out, Paint(look.style.color), look.show_sensitive);
    printer.hide_symbols = true;
    let mode = Mode { everything: true, ..Mode::default() };
    match &decoded {
        Some((schema, value)) => printer.diff(&diff::block(&Pair::same(value), &schema.block), 0, mode),
        None => match as_stored(object).filter(|_| look.show_sensitive) {
            Some(value) => printer.diff(&diff::dynamic(&Pair::same(&value)), 0, mode),
            None => printer.out.push_str(WITHHELD),
        },
    }
    out.push('\n');
}

/// The object by its schema, if it follows that.
fn decoded(object: &ObjectState, schema: &Schema) -> Option<Value> {
    let Attributes::Json(text) = &object.attributes else { return None };
    let mut document = json::Json::parse(text).ok()?;
    let ty = schema.block.implied_type();
    document.retain_known(&ty);
    let value = json::from_json(&document, &ty).ok()?;
    let mut marks = schema.sensitive_marks(&value);
    marks.extend(secrets(object));
    Some(with_echoes_hidden(value.with_path_marks(&marks), Some(&schema.block)))
}

/// The object as it is written down.
fn as_stored(object: &ObjectState) -> Option<Value> {
    let value = match &object.attributes {
        Attributes::Json(text) => json::decode_implied(text).ok()?,
        Attributes::Flat(entries) => {
            let strings = entries.iter().map(|(name, value)| (name.as_str(), Value::string(value.as_str())));
            Value::object(strings)
        }
    };
    Some(with_echoes_hidden(value.with_path_marks(&secrets(object).collect::<Vec<_>>()), None))
}

fn secrets(object: &ObjectState) -> impl Iterator<Item = PathMarks> {
    let marked = |path: &groma_model::path::Path| PathMarks { path: path.clone(), marks: Marks::one(Mark::Sensitive) };
    object.sensitive.iter().map(marked)
}

fn outputs(out: &mut String, state: &State, look: &Look) {
    if state.outputs.is_empty() {
        return;
    }
    out.push_str("\n\nOutputs:\n\n");
    for (name, output) in &state.outputs {
        let mut value = output.value.clone();
        if output.sensitive {
            value = value.mark(Mark::Sensitive);
        }
        let _ = write!(out, "{name} = ");
        let mut printer = Printer::new(out, Paint(look.style.color), look.show_sensitive);
        printer.hide_symbols = true;
        let diff = diff::typed(&Pair::same(&value), &value.ty());
        printer.diff(&diff, 0, Mode { everything: true, ..Mode::default() });
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_raw_string_hashes, reason = "the tool that updates snapshots writes hashes")]

    use std::collections::BTreeMap;

    use expect_test::expect;
    use groma_model::address::{Module, ProviderConfig, Traversal};
    use groma_model::path::Path;
    use groma_model::schema::{Attribute, Block};
    use groma_model::ty::Type;
    use groma_run::state::{InstanceState, OutputState, ResourceState};

    use super::*;
    use crate::render::Style;

    const LOOK: Look = Look {
        style: Style { color: false, width: 78, ascii: false },
        fold: false,
        show_sensitive: false,
        in_automation: false,
    };

    fn address(text: &str) -> AbsInstance {
        AbsInstance::from_traversal(&Traversal::parse(text).unwrap()).unwrap()
    }

    fn schema() -> Arc<Schema> {
        let argument = |ty: Type| Attribute { optional: true, ..Attribute::of_type(ty) };
        let attributes = BTreeMap::from([
            ("id".into(), argument(Type::String)),
            ("pin".into(), Attribute { sensitive: true, ..argument(Type::Number) }),
            ("secret_wo".into(), Attribute { write_only: true, ..argument(Type::String) }),
            ("tags".into(), argument(Type::map(Type::String))),
        ]);
        Arc::new(Schema { version: 0, block: Block { attributes, ..Block::default() } })
    }

    fn object(attributes: &str) -> ObjectState {
        ObjectState::new(0, Attributes::Json(attributes.to_owned()))
    }

    fn add(state: &mut State, at: &str, instance: InstanceState) {
        let address = address(at);
        let provider = ProviderConfig::default_in(Module::root(), Provider::builtin("terraform"));
        let resource = state.resources.entry(address.resource());
        let resource = resource.or_insert_with(|| ResourceState { provider, instances: BTreeMap::new() });
        resource.instances.insert(address.key().clone(), instance);
    }

    #[test]
    fn objects_are_shown_without_their_secrets() {
        let mut given = State::default();
        let mut secret = object(r#"{"id":"i","pin":4711,"secret_wo":null,"tags":{"a":"hush","b":"open"},"old":1}"#);
        secret.sensitive = vec![Path::root().attr("tags").key("a")];
        let mut tainted = object(r#"{"id":"t"}"#);
        tainted.status = ObjectStatus::Tainted;
        let deposed = DeposedKey::parse("0123abcd").unwrap();
        let both = InstanceState {
            current: Some(tainted),
            deposed: BTreeMap::from([(deposed, object(r#"{"id":"d"}"#))]),
            ..InstanceState::default()
        };
        add(&mut given, "a_thing.a[0]", secret.into());
        add(&mut given, "a_thing.b", both);
        add(&mut given, "data.a_thing.d", object(r#"{"id":"x"}"#).into());
        add(&mut given, "module.m.a_thing.c", object(r#"{"id":"y"}"#).into());
        add(&mut given, "module.m.unknown_thing.u", object(r#"{"id":"hush"}"#).into());
        let output = |value, sensitive| OutputState { value, sensitive, deprecated: None };
        given.outputs.insert("o".into(), output(Value::strings(["a", "b"]), false));
        given.outputs.insert("s".into(), output(Value::string("hush"), true));
        let schemas = |_: &Provider, _: ResourceMode, ty: &str| (ty == "a_thing").then(schema);
        let text = state(&given, &schemas, &LOOK);
        assert!(!text.contains("hush") && !text.contains("4711"));
        expect![[r##"
            # data.a_thing.d:
            data "a_thing" "d" {
                id        = "x"
                secret_wo = (write-only attribute)
            }

            # a_thing.a[0]:
            resource "a_thing" "a" {
                id        = "i"
                pin       = (sensitive value)
                secret_wo = (write-only attribute)
                tags      = {
                    "a" = (sensitive value)
                    "b" = "open"
                }
            }

            # a_thing.b: (tainted)
            resource "a_thing" "b" {
                id        = "t"
                secret_wo = (write-only attribute)
            }

            # a_thing.b: (deposed object 0123abcd)
            resource "a_thing" "b" {
                id        = "d"
                secret_wo = (write-only attribute)
            }


            # module.m.a_thing.c:
            resource "a_thing" "c" {
                id        = "y"
                secret_wo = (write-only attribute)
            }

            # module.m.unknown_thing.u:
            resource "unknown_thing" "u" {
                # Only the schema of its provider says what of this object is sensitive, so without that it is not displayed.
            }


            Outputs:

            o = [
                "a",
                "b",
            ]
            s = (sensitive value)
        "##]].assert_eq(&text);
        let shown = state(&given, &schemas, &Look { show_sensitive: true, ..LOOK });
        assert_eq!(shown.matches("hush").count(), 3);
        assert!(shown.contains("4711"));
        let one = instance(&given, &address("a_thing.a[0]"), &schemas, &LOOK).unwrap();
        assert!(text.contains(&one));
        assert!(instance(&given, &address("a_thing.a[1]"), &schemas, &LOOK).is_none());
        assert_eq!(
            state(&State::default(), &schemas, &LOOK),
            "The state file is empty. No resources are represented.\n"
        );
    }
}
