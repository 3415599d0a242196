//! What was planned against what came of it: what was known must be so, what was unknown may be anything that fits.

use groma_model::path::{Path, PathKey, PathStep};
use groma_model::schema::{Block, NestedBlock, Nesting};
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};

use super::{Mismatch, items, part, shown};

/// Everything in an actual object that contradicts the planned one.
pub fn contradictions(schema: &Block, planned: &Value, actual: &Value) -> Vec<Mismatch> {
    let mut check = Check { path: Path::root(), found: Vec::new() };
    check.block(schema, planned, actual);
    check.found
}

struct Check {
    path: Path,
    found: Vec<Mismatch>,
}

impl Check {
    fn wrong(&mut self, message: impl Into<String>) {
        self.found.push(Mismatch::new(&self.path, message));
    }

    fn at(&mut self, step: PathStep, check: impl FnOnce(&mut Self)) {
        self.path.push(step);
        check(self);
        self.path.pop();
    }

    fn block(&mut self, schema: &Block, planned: &Value, actual: &Value) {
        let whole = if self.path.is_empty() { "root object " } else { "" };
        match (planned.is_null(), actual.is_null()) {
            (true, false) => self.wrong(format!("{whole}was absent, but now present")),
            (false, true) => self.wrong(format!("{whole}was present, but now absent")),
            (true, true) => {}
            (false, false) => self.inside_block(schema, planned, actual),
        }
    }

    fn inside_block(&mut self, schema: &Block, planned: &Value, actual: &Value) {
        for (name, attribute) in &schema.attributes {
            let of = |object: &Value| part(object, name, || attribute.implied_type());
            let (planned, actual) = (of(planned), of(actual));
            self.at(PathStep::Attr(name.clone()), |check| {
                let before = check.found.len();
                check.value(&planned, &actual);
                if (attribute.hides(&planned) || attribute.hides(&actual)) && check.found.len() > before {
                    check.found.truncate(before);
                    check.wrong("inconsistent values for sensitive attribute");
                }
            });
        }
        for (name, nested) in &schema.block_types {
            let of = |object: &Value| part(object, name, || nested.implied_type());
            let (planned, actual) = (of(planned), of(actual));
            self.at(PathStep::Attr(name.clone()), |check| check.nested_block(nested, &planned, &actual));
        }
    }

    fn nested_block(&mut self, nested: &NestedBlock, planned: &Value, actual: &Value) {
        if let Nesting::Single | Nesting::Group = nested.nesting {
            // What was not known to be there may turn out not to be.
            if planned.is_known() || !actual.is_null() {
                self.block(&nested.block, planned, actual);
            }
            return;
        }
        if !planned.is_known() || !actual.is_known() || planned.is_null() || actual.is_null() {
            return;
        }
        match nested.nesting {
            Nesting::Set => {
                self.sets(planned, actual, &|planned, actual| {
                    contradictions(&nested.block, planned, actual).is_empty()
                });
                let (before, now) = (items(planned).len(), items(actual).len());
                if before < now {
                    self.wrong(format!("block set length changed from {before} to {now}"));
                }
            }
            Nesting::Map if matches!(planned.kind(), ValueKind::Object(_)) => {
                self.keyed_blocks(nested, planned, actual);
            }
            _ => self.counted_blocks(nested, planned, actual),
        }
    }

    fn counted_blocks(&mut self, nested: &NestedBlock, planned: &Value, actual: &Value) {
        let (before, now) = (planned.children(), actual.children());
        if before.len() != now.len() {
            self.wrong(format!("block count changed from {} to {}", before.len(), now.len()));
            return;
        }
        for (step, planned) in before {
            if let Some((_, actual)) = now.iter().find(|(other, _)| *other == step) {
                self.at(step, |check| check.block(&nested.block, planned, actual));
            }
        }
    }

    fn keyed_blocks(&mut self, nested: &NestedBlock, planned: &Value, actual: &Value) {
        let (Some(before), Some(now)) = (planned.as_entries(), actual.as_entries()) else { return };
        for (name, planned) in before.iter() {
            match now.get(name) {
                None => self.wrong(format!("block key {:?} has vanished", name.as_str())),
                Some(actual) => {
                    self.at(PathStep::Attr(name.clone()), |check| check.block(&nested.block, planned, actual));
                }
            }
        }
        for (name, _) in now.iter().filter(|(name, _)| !before.contains(name)) {
            self.wrong(format!("new block key {:?} has appeared", name.as_str()));
        }
    }

    fn value(&mut self, planned: &Value, actual: &Value) {
        // Anything goes.
        if matches!(planned.ty(), Type::Dynamic) {
            return;
        }
        if !actual.conforms_to(&planned.ty()) {
            self.wrong(format!("wrong final value type: {} required", planned.ty().friendly_name()));
            return;
        }
        match (planned.kind(), actual.kind()) {
            (ValueKind::Unknown(refinement), _) => {
                if !refinement.allows(actual) {
                    let (actual, planned) = (shown(actual), shown(planned));
                    self.wrong(format!("final value {actual} does not conform to planning placeholder {planned}"));
                }
            }
            (ValueKind::Null, ValueKind::Null) => {}
            (_, ValueKind::Null) => self.wrong(format!("was {}, but now null", shown(planned))),
            (ValueKind::Null, _) => self.wrong(format!("was null, but now {}", shown(actual))),
            (_, ValueKind::Unknown(_)) => self.wrong("was known, but now unknown"),
            (ValueKind::Set(before), ValueKind::Set(now)) => {
                self.sets(planned, actual, &|planned, actual| values_agree(planned, actual));
                if before.len() < now.len() {
                    self.wrong(format!("length changed from {} to {}", before.len(), now.len()));
                }
            }
            (ValueKind::List(_) | ValueKind::Tuple(_) | ValueKind::Map(_) | ValueKind::Object(_), _) => {
                self.elements(planned, actual);
            }
            _ if planned == actual => {}
            _ => self.wrong(format!("was {}, but now {}", shown(planned), shown(actual))),
        }
    }

    fn elements(&mut self, planned: &Value, actual: &Value) {
        let (before, now) = (planned.children(), actual.children());
        for (step, planned) in &before {
            match now.iter().find(|(other, _)| other == step) {
                None => self.wrong(format!("element {} has vanished", key_text(step))),
                Some((_, actual)) => self.at(step.clone(), |check| check.value(planned, actual)),
            }
        }
        for (step, _) in now.iter().filter(|(step, _)| !before.iter().any(|(other, _)| other == step)) {
            self.wrong(format!("new element {} has appeared", key_text(step)));
        }
    }

    /// Every planned element must agree with an actual one, and the other way round.
    fn sets(&mut self, planned: &Value, actual: &Value, agree: &dyn Fn(&Value, &Value) -> bool) {
        let unmatched = |from: &Value, test: &dyn Fn(&Value) -> bool| {
            items(from).iter().filter(|item| !test(item)).cloned().collect()
        };
        let lost: Vec<Value> = unmatched(planned, &|planned| items(actual).iter().any(|actual| agree(planned, actual)));
        for item in &lost {
            self.wrong(format!("planned set element {} does not correlate with any element in actual", shown(item)));
        }
        if !lost.is_empty() {
            return;
        }
        let new: Vec<Value> = unmatched(actual, &|actual| items(planned).iter().any(|planned| agree(planned, actual)));
        for item in &new {
            self.wrong(format!("actual set element {} does not correlate with any element in plan", shown(item)));
        }
    }
}

fn values_agree(planned: &Value, actual: &Value) -> bool {
    let mut check = Check { path: Path::root(), found: Vec::new() };
    check.value(planned, actual);
    check.found.is_empty()
}

fn key_text(step: &PathStep) -> String {
    match step {
        PathStep::Attr(name) => format!("{:?}", name.as_str()),
        PathStep::Index(PathKey::String(key)) => format!("{:?}", key.as_str()),
        PathStep::Index(PathKey::Number(number)) => number.to_string(),
        PathStep::Element(value) => shown(value),
    }
}

#[cfg(test)]
mod tests {
    use groma_model::ty::Type;
    use groma_model::value::Refinement;

    use super::super::testing::{block, object, optional, set_of, text, with_blocks};
    use super::*;

    fn messages(schema: &Block, planned: &Value, actual: &Value) -> Vec<String> {
        contradictions(schema, planned, actual).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_was_known_must_be_so() {
        let schema = block([("a", optional(Type::String)), ("l", optional(Type::list(Type::String)))]);
        let of = |a: Value, l: Value| object([("a", a), ("l", l)]);
        let planned = of(Value::unknown(Type::String), Value::strings(["x"]).clone());
        assert_eq!(messages(&schema, &planned, &of(text("any"), Value::strings(["x"]))), [""; 0]);
        assert_eq!(
            messages(&schema, &planned, &of(text("any"), Value::strings(["y", "z"]))),
            [".l[0]: was \"x\", but now \"y\"", ".l: new element 1 has appeared"]
        );
        let gone = Value::null(schema.implied_type());
        assert_eq!(messages(&schema, &planned, &gone), ["root object was present, but now absent"]);
    }

    #[test]
    fn placeholders_keep_their_promises() {
        let schema = block([("a", optional(Type::String))]);
        let planned = object([("a", Value::unknown_refined(Type::String, Refinement::prefix("arn:")))]);
        assert_eq!(messages(&schema, &planned, &object([("a", text("arn:1"))])), [""; 0]);
        assert_eq!(messages(&schema, &planned, &object([("a", text("id"))])).len(), 1);
        assert_eq!(messages(&schema, &planned, &object([("a", Value::null(Type::String))])).len(), 1);
    }

    #[test]
    fn sets_of_blocks_are_matched() {
        let inner = block([("name", optional(Type::String)), ("id", optional(Type::String))]);
        let schema = with_blocks(block([]), [("disk", Nesting::Set, inner.clone())]);
        let disk = |name: &str, id: Value| object([("name", text(name)), ("id", id)]);
        let of = |items: Vec<Value>| object([("disk", set_of(&inner, items))]);
        let unknown = || Value::unknown(Type::String);
        let planned = of(vec![disk("a", unknown()), disk("b", unknown())]);
        assert_eq!(messages(&schema, &planned, &of(vec![disk("b", text("2")), disk("a", text("1"))])), [""; 0]);
        assert_eq!(messages(&schema, &planned, &of(vec![disk("b", text("2")), disk("c", text("1"))])).len(), 1);
    }

    #[test]
    fn secrets_are_not_shown() {
        let secret = groma_model::schema::Attribute { sensitive: true, ..optional(Type::String) };
        let schema = block([("a", secret)]);
        let found = messages(&schema, &object([("a", text("x"))]), &object([("a", text("y"))]));
        assert_eq!(found, [".a: inconsistent values for sensitive attribute"]);
    }
}
