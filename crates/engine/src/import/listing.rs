//! Finding an object that nobody knows the name of: the provider lists what there is, and the configuration says what it must be like.

use groma_lang::walk::Site;
use groma_model::address::AbsInstance;
use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::schema::Schema;
use groma_model::value::{Value, ValueKind};
use groma_provider::api::{CallError, ListEvent, ListRequest, ListedObject, Provider};

use super::Importer;
use crate::plan::listing::{Known, MOST, query, required};
use crate::stored::object_schema;

impl Importer<'_, '_> {
    /// The only object that is not in the state and is as the configuration wants it. None if that cannot be told.
    pub(super) async fn listed(
        &self,
        site: Site<'_>,
        provider: &dyn Provider,
    ) -> Result<Option<ListedObject>, Diagnostics> {
        let type_name = &site.resource.key.ty;
        let kind = object_schema(self.request.schemas, &*self.request.providers, site.resource)?;
        let (config, problems) = self.walk.resource_config(site, &kind.schema.block);
        if problems.has_errors() {
            return Ok(None);
        }
        provider.keep_secret(&config);
        let config = config.unmark_deep().0;
        let Some(query) = query(provider, type_name, &config) else { return Ok(None) };
        let identity = kind.identity.as_ref().map(|identity| identity.implied_type());
        let known = Known::of(&self.state, type_name, identity.as_ref(), required(provider, type_name));
        let request = ListRequest { type_name: type_name.clone(), config: query, include_object: true, limit: MOST };
        let mut likely: Vec<ListedObject> = Vec::new();
        let mut failed = false;
        let mut sink = |event: ListEvent| {
            failed |= event.diagnostics.has_errors();
            if let Some(found) = event.object.filter(|found| !known.has(found) && is_like(found, &config, &kind.schema))
            {
                likely.push(found);
            }
            likely.len() < 2 && !failed
        };
        match provider.list(request, &mut sink).await {
            Err(CallError::Unsupported { .. }) => return Ok(None),
            done => done.map_err(|error| Diagnostics::from(error.diagnostic()))?,
        }
        // Of several nobody can say which it is.
        Ok(if failed || likely.len() != 1 { None } else { likely.pop() })
    }
}

/// What is said where the list does not help.
pub(super) fn not_listed(target: &AbsInstance) -> Diagnostic {
    let detail = format!("The provider lists no object, or several, that {target} could be.");
    Diagnostic::error("Object cannot be told from others", detail)
}

/// Whether an object is as a configuration wants it: what both tell agrees, and some text is among that. Lists need not tell everything.
fn is_like(found: &ListedObject, config: &Value, schema: &Schema) -> bool {
    let (Some(object), Some(wanted)) = (&found.object, config.as_entries()) else { return false };
    let Some(told) = object.as_entries() else { return false };
    let mut says_something = false;
    for (name, wanted) in wanted.iter() {
        let is_written_only = schema.block.attributes.get(name).is_some_and(|attribute| attribute.write_only);
        let Some(told) = told.get(name).filter(|told| !told.is_null() && !is_written_only) else { continue };
        if !agrees(wanted, told) {
            return false;
        }
        says_something |= wanted.as_str().is_some_and(|text| !text.is_empty());
    }
    says_something
}

/// Whether what is told is as wanted, as far as that is known.
fn agrees(wanted: &Value, told: &Value) -> bool {
    let both = |wanted: &[Value], told: &[Value]| {
        wanted.len() == told.len() && wanted.iter().zip(told).all(|(wanted, told)| agrees(wanted, told))
    };
    match (wanted.kind(), told.kind()) {
        // What is null is not told, as lists need not tell everything.
        (ValueKind::Null | ValueKind::Unknown(_), _) | (_, ValueKind::Null) => true,
        (ValueKind::List(wanted) | ValueKind::Tuple(wanted), ValueKind::List(told) | ValueKind::Tuple(told)) => {
            both(wanted, told)
        }
        (ValueKind::Set(wanted), ValueKind::Set(told)) => {
            wanted.len() == told.len() && wanted.iter().all(|wanted| told.iter().any(|told| agrees(wanted, told)))
        }
        (ValueKind::Map(wanted) | ValueKind::Object(wanted), ValueKind::Map(told) | ValueKind::Object(told)) => {
            wanted.iter().all(|(name, wanted)| told.get(name).is_some_and(|told| agrees(wanted, told)))
        }
        _ => wanted == told,
    }
}

#[cfg(test)]
mod tests {
    use groma_model::schema::Attribute;
    use groma_model::ty::Type;

    use super::*;

    fn object(name: Value, size: Value) -> Value {
        Value::object([("name", name), ("size", size)])
    }

    fn like(wanted: Value, told: Value) -> bool {
        let mut schema = Schema::default();
        schema.block.attributes.insert("name".into(), Attribute::of_type(Type::String));
        schema.block.attributes.insert("size".into(), Attribute::of_type(Type::Number));
        let found = ListedObject { identity: Value::empty_object(), display_name: String::new(), object: Some(told) };
        is_like(&found, &wanted, &schema)
    }

    #[test]
    fn what_is_told_must_agree_and_say_something() {
        let (name, other) = (Value::string("a"), Value::string("b"));
        let (one, two) = (Value::number(1_i64), Value::number(2_i64));
        let nothing = || Value::null(Type::Number);
        assert!(like(object(name.clone(), one.clone()), object(name.clone(), one.clone())));
        assert!(like(object(name.clone(), one.clone()), object(name.clone(), nothing())));
        assert!(like(object(name.clone(), Value::unknown(Type::Number)), object(name.clone(), two.clone())));
        assert!(!like(object(name.clone(), one.clone()), object(name.clone(), two.clone())));
        assert!(!like(object(name.clone(), one.clone()), object(other, one.clone())));
        assert!(
            !like(object(Value::null(Type::String), one.clone()), object(name, one)),
            "a number alone says nothing"
        );
    }

    #[test]
    fn collections_agree_by_what_is_wanted_of_them() {
        let text = |text: &str| Value::string(text);
        let set = |texts: &[&str]| Value::set(Type::String, texts.iter().map(|text| Value::string(*text)).collect());
        assert!(agrees(&set(&["a", "b"]), &set(&["b", "a"])));
        assert!(!agrees(&set(&["a"]), &set(&["a", "b"])));
        let wanted = Value::object([("a", text("x"))]);
        assert!(agrees(&wanted, &Value::object([("a", text("x")), ("computed", text("y"))])));
        assert!(!agrees(&wanted, &Value::object([("b", text("x"))])));
        assert!(!agrees(&Value::tuple(vec![text("x")]), &Value::tuple(Vec::new())));
    }
}
