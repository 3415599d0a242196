//! Carrying out conversions on values.

use super::dynamic::{settle_dynamic, unknown_result};
use super::plan::{Change, How, Plan, Slot};
use super::unify::{Unification, types_of};
use super::{ConvertError, Safety, convert, mismatch_message};
use crate::number::Number;
use crate::path::{PathKey, PathStep};
use crate::text::Str;
use crate::ty::Type;
use crate::value::{Entries, Value, ValueKind, common_type, go_quote};

type Converted = Result<Value, ConvertError>;

impl Plan {
    /// Converts a value of the type that the plan was made for.
    pub(super) fn apply(&self, value: &Value) -> Converted {
        match self {
            Plan::Keep => Ok(value.clone()),
            Plan::Forget => Ok(Value::dynamic().with_marks(&value.marks_deep())),
            Plan::Change(change) => change.apply(value),
            Plan::Fail(reason) => Err(ConvertError::new(&**reason)),
        }
    }
}

impl Change {
    fn apply(&self, value: &Value) -> Converted {
        if matches!(self.how, How::Pass) {
            return Ok(value.clone());
        }
        let result = match value.kind() {
            ValueKind::Unknown(known) => {
                let from = value.ty();
                unknown_result(known, &from, settle_dynamic(&from, &self.target.without_optional()))
            }
            ValueKind::Null => Value::null(settle_dynamic(&value.ty(), &self.target.without_optional())),
            _ => self.apply_known(value)?,
        };
        Ok(result.with_marks(value.marks()))
    }

    fn apply_known(&self, value: &Value) -> Converted {
        match &self.how {
            How::Pass => Ok(value.clone()),
            How::Late => convert(value, &self.target),
            How::Primitive => primitive(value, &self.target),
            How::ToList(plan) => self.to_list(value, plan),
            How::ToSet(plan) => self.to_set(value, plan),
            How::MapToMap(plan) => self.map_to_map(value, plan),
            How::TupleToList(plans, safety) => self.tuple_to_list(value, plans, *safety),
            How::TupleToSet(plans) => {
                let items = each_item(items_of(value), plans.iter())?;
                self.set_of(value, items)
            }
            How::TupleToTuple(plans) => each_item(items_of(value), plans.iter()).map(Value::tuple),
            How::ObjectToMap { element, plans, safety } => object_to_map(value, element, plans, *safety),
            How::ObjectToObject(slots) => object_to_object(value, slots),
            How::MapToObject(slots) => map_to_object(value, slots),
        }
    }

    /// The element type of an empty result: rather a concrete one than `any`.
    fn element_when_empty(&self, value: &Value) -> Type {
        match (self.target.element(), value.element_type()) {
            (Some(Type::Dynamic), Some(own)) => own.clone(),
            (Some(element), _) => element.without_optional(),
            (None, _) => Type::Dynamic,
        }
    }

    fn to_list(&self, value: &Value, plan: &Plan) -> Converted {
        let length = value.length().ok();
        if length.is_none_or(|length| !length.is_known()) {
            // Unknown elements of a set may turn out equal to others.
            let target = self.target.without_optional();
            return Ok(Value::unknown(settle_dynamic(&value.ty(), &target)));
        }
        let items = each_item(items_of(value), std::iter::repeat(plan))?;
        self.list_of(value, items)
    }

    fn list_of(&self, value: &Value, items: Vec<Value>) -> Converted {
        if items.is_empty() {
            return Ok(Value::list(self.element_when_empty(value), items));
        }
        match common_type(&items) {
            Some(element) => Ok(Value::list(element, items)),
            None => Err(ConvertError::new("element types must all match for conversion to list")),
        }
    }

    fn to_set(&self, value: &Value, plan: &Plan) -> Converted {
        let items = each_item(items_of(value), std::iter::repeat(plan))?;
        self.set_of(value, items)
    }

    fn set_of(&self, value: &Value, items: Vec<Value>) -> Converted {
        if items.is_empty() {
            return Ok(Value::set(self.element_when_empty(value), items));
        }
        match common_type(&items) {
            Some(element) => Ok(Value::set(element, items)),
            None => Err(ConvertError::new("element types must all match for conversion to set")),
        }
    }

    fn tuple_to_list(&self, value: &Value, plans: &[Plan], safety: Safety) -> Converted {
        let items = each_item(items_of(value), plans.iter())?;
        let items = match unify_parts(&items, safety) {
            Ok(unified) => unified.unwrap_or(items),
            Err((at, error)) => {
                let at = at.unwrap_or(items.len().saturating_sub(1));
                return Err(error.under(index_step(at)));
            }
        };
        self.list_of(value, items)
    }

    fn map_to_map(&self, value: &Value, plan: &Plan) -> Converted {
        let entries = entries_of(value);
        let items = each_entry(entries, std::iter::repeat(plan))?;
        if items.is_empty() {
            return Ok(Value::map(self.element_when_empty(value), Entries::default()));
        }
        let unifies = self.target.element().is_some_and(has_parts);
        map_of(entries, items, unifies.then_some(Safety::Safe), "element types must all match for conversion to map")
    }
}

fn object_to_map(value: &Value, element: &Type, plans: &[Plan], safety: Safety) -> Converted {
    let entries = entries_of(value);
    let items = each_entry(entries, plans.iter())?;
    if items.is_empty() {
        return Ok(Value::map(element.without_optional(), Entries::default()));
    }
    let unify = has_parts(element).then_some(safety);
    map_of(entries, items, unify, "attribute types must all match for conversion to map")
}

/// The short way for a tuple or object whose parts have the wanted type already, or one type where any will do: it
/// becomes a collection as it is, and the type of the whole is not worked out.
pub(super) fn collect_parts(value: &Value, target: &Type) -> Option<Value> {
    let fits = |parts: &[Value], wanted: &Type| -> Option<Type> {
        let first = parts.first()?;
        let element = if *wanted == Type::Dynamic { first.ty() } else { wanted.clone() };
        (!element.has_dynamic() && parts.iter().all(|part| part.is_of_type(&element))).then_some(element)
    };
    let collection = match (value.kind(), target) {
        (ValueKind::Tuple(items), Type::List(wanted)) => Value::list(fits(items, wanted)?, items.to_vec()),
        (ValueKind::Tuple(items), Type::Set(wanted)) => Value::set(fits(items, wanted)?, items.to_vec()),
        (ValueKind::Object(entries), Type::Map(wanted)) => Value::map(fits(entries.values(), wanted)?, entries.clone()),
        _ => return None,
    };
    Some(collection.with_marks(value.marks()))
}

fn has_parts(element: &Type) -> bool {
    element.is_collection() || matches!(element, Type::Object(_))
}

fn map_of(names: &Entries, items: Vec<Value>, unify: Option<Safety>, mismatch: &str) -> Converted {
    let unified = match unify {
        None => None,
        Some(safety) => unify_parts(&items, safety).map_err(|(at, error)| match at {
            Some(at) => error.under(key_step(&names.names()[at])),
            None => error,
        })?,
    };
    let items = unified.unwrap_or(items);
    match common_type(&items) {
        Some(element) => Ok(Value::map(element, Entries::with_names(names.names().clone(), items))),
        None => Err(ConvertError::new(mismatch)),
    }
}

/// Makes parts have one type after `any` in the target left them with several. None if they have one already.
/// An error tells at which part it is, unless it is about all.
fn unify_parts(items: &[Value], safety: Safety) -> Result<Option<Vec<Value>>, (Option<usize>, ConvertError)> {
    let Some((first, rest)) = items.split_first() else { return Ok(None) };
    if rest.iter().all(|item| item.has_type_of(first)) {
        return Ok(None);
    }
    let Some(unification) = Unification::find(&types_of(items), safety) else {
        return Err((None, ConvertError::new("cannot find a common base type for all elements")));
    };
    let mut unified = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        unified.push(unification.apply(at, item).map_err(|error| (Some(at), error))?);
    }
    Ok(Some(unified))
}

fn primitive(value: &Value, target: &Type) -> Converted {
    match (value.kind(), target) {
        (ValueKind::Number(number), Type::String) => Ok(Value::string(number.to_string())),
        (ValueKind::Bool(value), Type::String) => Ok(Value::string(if value { "true" } else { "false" })),
        (ValueKind::String(text), Type::Number) => {
            Number::parse(text).map(Value::number).ok_or_else(|| ConvertError::new("a number is required"))
        }
        (ValueKind::String(text), Type::Bool) => match text.as_str() {
            "true" | "1" => Ok(Value::bool(true)),
            "false" | "0" => Ok(Value::bool(false)),
            other => Err(ConvertError::new(not_a_bool(other))),
        },
        _ => Err(ConvertError::new(mismatch_message(&value.ty(), target))),
    }
}

fn not_a_bool(text: &str) -> String {
    match text.to_lowercase().as_str() {
        right @ ("true" | "false") => {
            format!("a bool is required; to convert from string, use lowercase \"{right}\"")
        }
        _ => "a bool is required".to_owned(),
    }
}

fn object_to_object(value: &Value, slots: &[Slot]) -> Converted {
    let entries = entries_of(value);
    let mut items = Vec::with_capacity(slots.len());
    for slot in slots {
        items.push(match (entries.get(&slot.name), &slot.plan) {
            (Some(item), Some(plan)) => {
                plan.apply(item).map_err(|error| error.under(PathStep::Attr(slot.name.clone())))?
            }
            _ => Value::null(slot.ty.without_optional()),
        });
    }
    Ok(object_of(slots, items))
}

fn map_to_object(value: &Value, slots: &[Slot]) -> Converted {
    let entries = entries_of(value);
    let mut items = Vec::with_capacity(slots.len());
    // What is there is looked at before what is missing.
    let mut missing = None;
    for slot in slots {
        items.push(match (entries.get(&slot.name), &slot.plan) {
            (Some(item), Some(plan)) => plan.apply(item).map_err(|error| error.under(key_step(&slot.name)))?,
            (Some(item), None) => {
                let why = mismatch_message(&item.ty(), &slot.ty);
                let name = go_quote(&slot.name);
                return Err(ConvertError::new(format!(
                    "map element type is incompatible with attribute {name}: {why}"
                )));
            }
            (None, _) => {
                if !slot.optional {
                    missing.get_or_insert(slot);
                }
                Value::null(slot.ty.without_optional())
            }
        });
    }
    match missing {
        None => Ok(object_of(slots, items)),
        Some(slot) => {
            let name = go_quote(&slot.name);
            Err(ConvertError::new(format!("map has no element for required attribute {name}")))
        }
    }
}

/// Slots are in name order, as they come from an object type.
fn object_of(slots: &[Slot], items: Vec<Value>) -> Value {
    let names = slots.iter().map(|slot| slot.name.clone()).collect();
    Value::object_of(Entries::with_names(std::sync::Arc::new(names), items))
}

fn each_item<'a>(items: &[Value], plans: impl Iterator<Item = &'a Plan>) -> Result<Vec<Value>, ConvertError> {
    let mut converted = Vec::with_capacity(items.len());
    for (at, (item, plan)) in items.iter().zip(plans).enumerate() {
        converted.push(plan.apply(item).map_err(|error| error.under(index_step(at)))?);
    }
    Ok(converted)
}

fn each_entry<'a>(entries: &Entries, plans: impl Iterator<Item = &'a Plan>) -> Result<Vec<Value>, ConvertError> {
    let mut converted = Vec::with_capacity(entries.len());
    for ((name, item), plan) in entries.iter().zip(plans) {
        converted.push(plan.apply(item).map_err(|error| error.under(key_step(name)))?);
    }
    Ok(converted)
}

fn items_of(value: &Value) -> &[Value] {
    value.as_elements().unwrap_or_default()
}

fn entries_of(value: &Value) -> &Entries {
    static NONE: std::sync::OnceLock<Entries> = std::sync::OnceLock::new();
    value.as_entries().unwrap_or_else(|| NONE.get_or_init(Entries::default))
}

fn index_step(at: usize) -> PathStep {
    PathStep::Index(PathKey::Number(Number::from(at)))
}

fn key_step(name: &Str) -> PathStep {
    PathStep::Index(PathKey::String(name.clone()))
}
