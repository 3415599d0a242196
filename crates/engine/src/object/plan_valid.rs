//! What a provider may plan: what is configured, what was before if it means the same, and anything where it computes.

use groma_model::path::{Path, PathKey, PathStep};
use groma_model::schema::{Attribute, AttributeKind, Block, NestedBlock, NestedObject, Nesting};
use groma_model::value::{Value, ValueKind};

use super::{Mismatch, items, part, same_but_refinements, shown};

/// Everything in a planned object that the provider must not have planned.
pub fn violations(schema: &Block, prior: &Value, config: &Value, planned: &Value) -> Vec<Mismatch> {
    let mut check = Check { path: Path::root(), found: Vec::new() };
    check.block(schema, prior, config, planned);
    check.found
}

/// The values of one place.
struct Values {
    prior: Value,
    config: Value,
    planned: Value,
}

impl Values {
    /// Whether any of them must not be shown.
    fn are_hidden_by(&self, attribute: &Attribute) -> bool {
        [&self.prior, &self.config, &self.planned].into_iter().any(|value| attribute.hides(value))
    }
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

    /// Whether both are there, so that the inside can be compared.
    fn both_exist(&mut self, config: &Value, planned: &Value) -> bool {
        match (config.is_null(), planned.is_null()) {
            (false, true) => self.wrong("planned for absence but config wants existence"),
            (true, false) => self.wrong("planned for existence but config wants absence"),
            (true, true) => {}
            (false, false) => return true,
        }
        false
    }

    fn block(&mut self, schema: &Block, prior: &Value, config: &Value, planned: &Value) {
        if !self.both_exist(config, planned) {
            return;
        }
        for (name, attribute) in &schema.attributes {
            let of = |object: &Value| part(object, name, || attribute.implied_type());
            let values = Values { prior: of(prior), config: of(config), planned: of(planned) };
            self.at(PathStep::Attr(name.clone()), |check| check.attribute(attribute, &values));
        }
        for (name, nested) in &schema.block_types {
            let of = |object: &Value| part(object, name, || nested.implied_type());
            let values = Values { prior: of(prior), config: of(config), planned: of(planned) };
            self.at(PathStep::Attr(name.clone()), |check| check.nested_block(nested, &values));
        }
    }

    fn attribute(&mut self, attribute: &Attribute, values: &Values) {
        let Values { prior, config, planned } = values;
        let keeps_prior = || !prior.is_null() && !config.is_null() && same_but_refinements(planned, prior);
        if same_but_refinements(planned, config) || keeps_prior() {
            return;
        }
        // The configuration of a computed attribute is a mistake, but not the provider's.
        if attribute.computed && (!attribute.optional || config.is_null()) {
            return;
        }
        if config.is_null() && !planned.is_null() {
            self.wrong(if attribute.hides(planned) {
                "sensitive planned value for a non-computed attribute".to_owned()
            } else {
                format!("planned value {} for a non-computed attribute", shown(planned))
            });
            return;
        }
        if attribute.write_only && planned.is_null() {
            return;
        }
        match &attribute.ty {
            AttributeKind::Nested(object) => self.nested_attribute(object, values),
            AttributeKind::Type(_) => self.wrong(disagreement(attribute, values)),
        }
    }

    fn nested_attribute(&mut self, object: &NestedObject, values: &Values) {
        let Values { prior, config, planned } = values;
        if !self.both_exist(config, planned) {
            return;
        }
        if !planned.is_known() {
            self.wrong("planned unknown for configured value");
            return;
        }
        match object.nesting {
            Nesting::Single | Nesting::Group => self.attributes(object, prior, config, planned),
            Nesting::List => {
                if !self.same_count(config, planned) {
                    return;
                }
                for (at, (config, planned)) in items(config).iter().zip(items(planned)).enumerate() {
                    let prior = items(prior).get(at).cloned().unwrap_or_else(|| Value::null(planned.ty()));
                    let step = PathStep::Index(PathKey::Number((at as u64).into()));
                    self.at(step, |check| check.attributes(object, &prior, config, planned));
                }
            }
            Nesting::Map => {
                if self.same_count(config, planned) {
                    self.by_key("map key", &object.implied_type(), values, &mut |check, values| {
                        check.attributes(object, &values.prior, &values.config, &values.planned);
                    });
                }
            }
            // Elements have no keys by which they could be told apart; the provider is trusted.
            Nesting::Set => {
                if planned.is_wholly_known() && config.is_wholly_known() {
                    self.same_count(config, planned);
                }
            }
        }
    }

    fn attributes(&mut self, object: &NestedObject, prior: &Value, config: &Value, planned: &Value) {
        for (name, attribute) in &object.attributes {
            let of = |object: &Value| part(object, name, || attribute.implied_type());
            let values = Values { prior: of(prior), config: of(config), planned: of(planned) };
            self.at(PathStep::Attr(name.clone()), |check| check.attribute(attribute, &values));
        }
    }

    /// Unless the configuration is unknown, then anything may come.
    fn same_count(&mut self, config: &Value, planned: &Value) -> bool {
        let (Some(wanted), Some(count)) = (count(config), count(planned)) else { return false };
        if wanted != count {
            self.wrong(format!("count in plan ({count}) disagrees with count in config ({wanted})"));
        }
        wanted == count
    }

    fn nested_block(&mut self, nested: &NestedBlock, values: &Values) {
        let Values { prior, config, planned } = values;
        if planned == config {
            return;
        }
        if !config.is_known() {
            // The number of blocks depends on something unknown, which the provider cannot know any better.
            self.wrong(format!("planned value {} for unknown dynamic block", shown(planned)));
            return;
        }
        if !planned.is_known() {
            self.wrong(BLOCK_UNKNOWN);
            return;
        }
        match nested.nesting {
            Nesting::Single | Nesting::Group => self.block(&nested.block, prior, config, planned),
            _ if planned.is_null() => {
                let kind = match nested.nesting {
                    Nesting::Map => "map",
                    Nesting::Set => "set",
                    _ => "list",
                };
                self.wrong(format!(
                    "attribute representing a {kind} of nested blocks must be empty to indicate no blocks, not null"
                ));
            }
            Nesting::List => self.block_list(nested, values),
            Nesting::Map => self.block_map(nested, values),
            Nesting::Set => {
                for planned in items(planned).iter().filter(|planned| !planned.is_known()) {
                    self.at(PathStep::Element(Box::new(planned.clone())), |check| check.wrong(ELEMENT_UNKNOWN));
                }
            }
        }
    }

    fn block_list(&mut self, nested: &NestedBlock, values: &Values) {
        let Values { prior, config, planned } = values;
        let (wanted, count) = (items(config).len(), items(planned).len());
        if wanted != count {
            self.wrong(format!("block count in plan ({count}) disagrees with count in config ({wanted})"));
            return;
        }
        for (at, (config, planned)) in items(config).iter().zip(items(planned)).enumerate() {
            let prior = items(prior).get(at).cloned().unwrap_or_else(|| Value::null(planned.ty()));
            self.at(PathStep::Index(PathKey::Number((at as u64).into())), |check| {
                if planned.is_known() {
                    check.block(&nested.block, &prior, config, planned);
                } else {
                    check.wrong(ELEMENT_UNKNOWN);
                }
            });
        }
    }

    fn block_map(&mut self, nested: &NestedBlock, values: &Values) {
        self.by_key("block key", &nested.block.implied_type(), values, &mut |check, values| {
            if values.planned.is_known() {
                check.block(&nested.block, &values.prior, &values.config, &values.planned);
            } else {
                check.wrong(ELEMENT_UNKNOWN);
            }
        });
    }

    fn by_key(
        &mut self,
        what: &str,
        ty: &groma_model::ty::Type,
        values: &Values,
        check_one: &mut dyn FnMut(&mut Self, &Values),
    ) {
        let of = |value: &Value, name: &str| value.as_entries().and_then(|entries| entries.get(name).cloned());
        let is_object = matches!(values.planned.kind(), ValueKind::Object(_));
        for (name, planned) in values.planned.as_entries().into_iter().flat_map(groma_model::value::Entries::iter) {
            let Some(config) = of(&values.config, name) else {
                self.wrong(format!("{what} {:?} from plan is not present in config", name.as_str()));
                continue;
            };
            let prior = of(&values.prior, name).unwrap_or_else(|| Value::null(ty.clone()));
            let step =
                if is_object { PathStep::Attr(name.clone()) } else { PathStep::Index(PathKey::String(name.clone())) };
            let values = Values { prior, config, planned: planned.clone() };
            self.at(step, |check| check_one(check, &values));
        }
        for (name, _) in values.config.as_entries().into_iter().flat_map(groma_model::value::Entries::iter) {
            if of(&values.planned, name).is_none() {
                self.wrong(format!("{what} {:?} from config is not present in plan", name.as_str()));
            }
        }
    }
}

const BLOCK_UNKNOWN: &str =
    "attribute representing nested block must not be unknown itself; set nested attribute values to unknown instead";
const ELEMENT_UNKNOWN: &str =
    "element representing nested block must not be unknown itself; set nested attribute values to unknown instead";

fn count(value: &Value) -> Option<usize> {
    match value.kind() {
        ValueKind::List(items) | ValueKind::Set(items) | ValueKind::Tuple(items) => Some(items.len()),
        ValueKind::Map(entries) | ValueKind::Object(entries) => Some(entries.len()),
        _ => None,
    }
}

fn disagreement(attribute: &Attribute, values: &Values) -> String {
    let Values { prior, config, planned } = values;
    match (values.are_hidden_by(attribute), prior.is_null()) {
        (true, true) => "sensitive planned value does not match config value".to_owned(),
        (true, false) => "sensitive planned value does not match config value nor prior value".to_owned(),
        (false, true) => {
            format!("planned value {} does not match config value {}", shown(planned), shown(config))
        }
        (false, false) => format!(
            "planned value {} does not match config value {} nor prior value {}",
            shown(planned),
            shown(config),
            shown(prior)
        ),
    }
}

#[cfg(test)]
mod tests {
    use groma_model::ty::Type;

    use super::super::testing::{block, computed, list_of, nested, object, optional, text, with_blocks};
    use super::*;

    fn null() -> Value {
        Value::null(Type::String)
    }

    fn messages(schema: &Block, prior: &Value, config: &Value, planned: &Value) -> Vec<String> {
        violations(schema, prior, config, planned).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_provider_may_keep_take_or_compute() {
        let schema = block([("a", optional(Type::String)), ("b", computed(optional(Type::String)))]);
        let of = |a: Value, b: Value| object([("a", a), ("b", b)]);
        let prior = of(text("same thing"), text("old"));
        let config = of(text("SAME THING"), null());
        for planned in [
            of(text("SAME THING"), text("old")),
            of(text("same thing"), Value::unknown(Type::String)),
            of(text("same thing"), null()),
        ] {
            assert_eq!(messages(&schema, &prior, &config, &planned), [""; 0]);
        }
        assert_eq!(
            messages(&schema, &prior, &config, &of(text("other"), null())),
            [".a: planned value \"other\" does not match config value \"SAME THING\" nor prior value \"same thing\""]
        );
        assert_eq!(
            messages(&schema, &prior, &of(null(), null()), &of(text("x"), null())),
            [".a: planned value \"x\" for a non-computed attribute"]
        );
    }

    #[test]
    fn secrets_are_not_shown() {
        let secret = Attribute { sensitive: true, ..optional(Type::String) };
        let schema = block([("a", secret)]);
        let of = |a: Value| object([("a", a)]);
        let found = messages(&schema, &of(text("x")), &of(text("y")), &of(text("z")));
        assert_eq!(found, [".a: sensitive planned value does not match config value nor prior value"]);
    }

    #[test]
    fn blocks_cannot_be_added() {
        let inner = block([("name", optional(Type::String))]);
        let schema = with_blocks(block([]), [("disk", Nesting::List, inner.clone())]);
        let disks = |count: usize| object([("disk", list_of(&inner, vec![object([("name", text("a"))]); count]))]);
        let prior = Value::null(schema.implied_type());
        assert_eq!(
            messages(&schema, &prior, &disks(1), &disks(2)),
            [".disk: block count in plan (2) disagrees with count in config (1)"]
        );
        let unknown = object([("disk", Value::unknown(Type::list(inner.implied_type())))]);
        assert_eq!(messages(&schema, &prior, &disks(1), &unknown).len(), 1);
    }

    #[test]
    fn nested_attributes_are_looked_into() {
        let attribute = nested(Nesting::Map, [("name", optional(Type::String))]);
        let schema = block([("m", attribute.clone())]);
        let of = |name: &str, value: &str| {
            let entries = [(name, object([("name", text(value))]))].into_iter().collect();
            object([("m", Value::map(Type::object([("name", Type::String)]), entries))])
        };
        let prior = Value::null(schema.implied_type());
        assert_eq!(messages(&schema, &prior, &of("k", "a"), &of("k", "a")), [""; 0]);
        assert_eq!(
            messages(&schema, &prior, &of("k", "a"), &of("k", "b")),
            [".m[\"k\"].name: planned value \"b\" does not match config value \"a\""]
        );
        assert_eq!(messages(&schema, &prior, &of("k", "a"), &of("l", "a")).len(), 2);
    }
}
