//! Objects as a provider could have made them: what is configured, what a test says, and made-up values for the rest.
//!
//! Made-up values depend on the type of the resource alone, so that a test sees the same ones each time.

use std::collections::BTreeMap;

use groma_builtin::GoRand;
use groma_model::convert::convert;
use groma_model::diag::{Diagnostic, Diagnostics, Severity};
use groma_model::schema::{Attribute, Block, NestedBlock, Nesting};
use groma_model::text::Str;
use groma_model::ty::Type;
use groma_model::value::{Entries, Value};

/// What made-up texts consist of.
const CHARACTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890";
/// How long they are: at least, and less than.
const LENGTHS: (i64, i64) = (4, 16);

/// Values for what a provider would decide.
pub(super) type Values = BTreeMap<Str, Value>;

/// An object of a resource type: configuration without marks, values that a test gives, and made-up ones.
pub(super) fn object(ty: &str, block: &Block, config: &Value, values: &Values) -> (Value, Diagnostics) {
    let mut composer = Composer { random: GoRand::new(i64::from(checksum(ty))), diagnostics: Diagnostics::new() };
    let value = composer.block(block, config, values);
    (value, composer.diagnostics)
}

/// 32-bit FNV-1.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum: u32, byte| sum.wrapping_mul(0x0100_0193) ^ u32::from(byte))
}

struct Composer {
    random: GoRand,
    diagnostics: Diagnostics,
}

impl Composer {
    fn block(&mut self, block: &Block, config: &Value, values: &Values) -> Value {
        let given = config.as_entries();
        let mut entries: Vec<(Str, Value)> = Vec::new();
        for (name, attribute) in &block.attributes {
            let configured = given.and_then(|given| given.get(name)).filter(|value| !value.is_null());
            let value = self.attribute(name, attribute, configured, values.get(name));
            entries.push((name.clone(), value));
        }
        for (name, nested) in &block.block_types {
            let configured = given.and_then(|given| given.get(name));
            let value = self.nested(name, nested, configured, values.get(name));
            entries.push((name.clone(), value));
        }
        for name in values.keys() {
            if !block.attributes.contains_key(name) && !block.block_types.contains_key(name) {
                self.error(
                    format!("Invalid override for block field `{name}`"),
                    "There is no such field. Only fields of the resource can be given values.",
                );
            }
        }
        Value::object(entries)
    }

    /// The value of an attribute: configured, given by the test, made up, or null, in this order.
    fn attribute(
        &mut self,
        name: &str,
        attribute: &Attribute,
        configured: Option<&Value>,
        given: Option<&Value>,
    ) -> Value {
        let ty = attribute.implied_type();
        let given = given.and_then(|given| self.checked(name, attribute, configured.is_some(), given));
        if attribute.write_only {
            return Value::null(ty);
        }
        let may_be_configured = attribute.required || attribute.optional;
        match (configured, given) {
            (Some(value), _) if may_be_configured => value.clone(),
            (None, _) if attribute.required => {
                self.invalid(name, "It is required, and not configured.");
                Value::null(ty)
            }
            (_, Some(given)) => given,
            (Some(_), None) => {
                self.invalid(name, "Only the provider decides its value, so it cannot be configured.");
                self.made_up(&ty)
            }
            (None, None) if attribute.computed => self.made_up(&ty),
            (None, None) => Value::null(ty),
        }
    }

    /// A value that a test gives, as the attribute holds it.
    fn checked(&mut self, name: &str, attribute: &Attribute, configured: bool, given: &Value) -> Option<Value> {
        if configured {
            self.invalid(name, "It is configured, and what is configured cannot be overridden.");
        }
        if !attribute.computed {
            self.error(
                format!("Non-computed field `{name}` is not allowed to be overridden"),
                "Only what the provider decides can be given a value.",
            );
        }
        if attribute.write_only {
            let detail = "Write-only attributes are always null once the provider has answered.";
            let summary = format!("Encountered override for write-only attribute `{name}`");
            self.diagnostics.push(Diagnostic::warning(summary, detail));
        }
        match convert(given, &attribute.implied_type()) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.invalid(name, &format!("The value does not have the type of the field: {problem}."));
                None
            }
        }
    }

    /// Blocks are as configured; only what is inside of them can be made up.
    fn nested(&mut self, name: &str, nested: &NestedBlock, configured: Option<&Value>, given: Option<&Value>) -> Value {
        let problem = |summary: &str| format!("{summary} `{name}`");
        if let Some(given) = given.filter(|given| !matches!(given.ty(), Type::Object(_))) {
            let detail = format!("Blocks can be overridden by objects only, not by {}.", given.friendly_type_name());
            self.error(problem("Invalid override for block field"), detail);
            return nested.empty_value();
        }
        let is_there = |value: &&Value| {
            let is_empty = value.as_elements().is_some_and(<[Value]>::is_empty)
                || (nested.nesting == Nesting::Map && value.as_entries().is_some_and(Entries::is_empty));
            !value.is_null() && value.is_known() && !is_empty
        };
        let Some(config) = configured.filter(is_there) else {
            if given.is_some() {
                let detail = "The block is not configured, so there is nothing that could be overridden.";
                self.error(problem("Invalid override for block field"), detail);
            }
            // What is not known yet stays so.
            return configured.filter(|value| !value.is_known()).cloned().unwrap_or_else(|| nested.empty_value());
        };
        let values: Values = given
            .and_then(Value::as_entries)
            .map(|entries| entries.iter().map(|(name, value)| (name.clone(), value.clone())).collect())
            .unwrap_or_default();
        let element = nested.object_type();
        match (nested.nesting, config.as_elements(), config.as_entries()) {
            (Nesting::List, Some(items), _) => {
                let items: Vec<Value> = items.iter().map(|item| self.block(&nested.block, item, &values)).collect();
                // Where types are open, the blocks need not be alike.
                if element.has_dynamic() { Value::tuple(items) } else { Value::list(element, items) }
            }
            (Nesting::Set, Some(items), _) => {
                let items = items.iter().map(|item| self.block(&nested.block, item, &values)).collect();
                Value::set(element, items)
            }
            (Nesting::Map, _, Some(entries)) => {
                let made: Entries =
                    entries.iter().map(|(key, item)| (key.clone(), self.block(&nested.block, item, &values))).collect();
                if element.has_dynamic() { Value::object_of(made) } else { Value::map(element, made) }
            }
            _ => self.block(&nested.block, config, &values),
        }
    }

    fn made_up(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Number => Value::number(0),
            Type::Bool => Value::bool(false),
            Type::String => Value::string(self.text()),
            Type::List(element) => Value::list(element.as_ref().clone(), Vec::new()),
            Type::Set(element) => Value::set(element.as_ref().clone(), Vec::new()),
            Type::Map(element) => Value::map(element.as_ref().clone(), Entries::default()),
            Type::Object(attributes) => {
                let made: Vec<(Str, Value)> =
                    attributes.iter().map(|(name, attribute)| (name.clone(), self.made_up(&attribute.ty))).collect();
                Value::object(made)
            }
            Type::Tuple(_) => Value::tuple(Vec::new()),
            Type::Dynamic => Value::null(Type::Dynamic),
        }
    }

    fn text(&mut self) -> String {
        let (least, limit) = LENGTHS;
        let length = self.random.below(limit - least) + least;
        let draw = |_| {
            let at = usize::try_from(self.random.below(CHARACTERS.len() as i64)).unwrap_or_default();
            char::from(CHARACTERS[at.min(CHARACTERS.len() - 1)])
        };
        (0..length).map(draw).collect()
    }

    fn invalid(&mut self, name: &str, detail: &str) {
        self.error(format!("Invalid mock/override field `{name}`"), detail);
    }

    fn error(&mut self, summary: String, detail: impl Into<String>) {
        let mut problem = Diagnostic::error(summary, detail);
        problem.severity = Severity::Error;
        self.diagnostics.push(problem);
    }
}
