//! What `random_string` and `random_password` share: the wishes, the drawing, the schema, and stored objects of old.

use groma_model::diag::{Diagnostic, Diagnostics};
use groma_model::ty::Type;
use groma_model::value::Value;
use serde_json::json;

use super::amount;
use crate::chance::Chance;
use crate::kit::spec::{Replace, optional, optional_computed, required};
use crate::kit::{Attr, Call, JsonObject, Object, Planned, Spec, at, checks};

const DIGITS: &str = "0123456789";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const SPECIAL: &str = "!@#$%&*()-_=+[]{}<>:?";

const CLASSES: [&str; 4] = ["upper", "lower", "numeric", "special"];
const MINIMA: [&str; 4] = ["min_upper", "min_lower", "min_numeric", "min_special"];

/// Draws a text by the wishes of an object, for which defaults stand in.
pub(super) fn draw(chance: &Chance, wishes: &Object) -> Result<String, Diagnostic> {
    let special = wishes.text("override_special").filter(|text| !text.is_empty()).unwrap_or(SPECIAL);
    let classes = [UPPER, LOWER, DIGITS, special].map(|class| class.chars().collect::<Vec<char>>());
    let length = amount(wishes.int("length"), "length")?;
    let mut drawn: Vec<char> = Vec::with_capacity(length);
    let mut draw = |from: &[char], count: usize| -> Result<(), Diagnostic> {
        for _ in 0..count {
            drawn.push(*chance.one_of(from)?.ok_or_else(nothing_to_draw)?);
        }
        Ok(())
    };
    let mut all = Vec::new();
    let mut least = 0;
    for ((class, name), minimum) in classes.iter().zip(CLASSES).zip(MINIMA) {
        let count = amount(wishes.int(minimum), minimum)?;
        least += count;
        draw(class, count)?;
        if wishes.flag(name).unwrap_or(true) {
            all.extend_from_slice(class);
        }
    }
    let rest = length.checked_sub(least).ok_or_else(|| too_short(length as i64))?;
    draw(&all, rest)?;
    chance.shuffle(&mut drawn)?;
    Ok(drawn.into_iter().collect())
}

fn nothing_to_draw() -> Diagnostic {
    let detail = "There are no characters to draw from: at least one class of characters must be included.";
    Diagnostic::error("Random Read Error", detail)
}

fn too_short(length: i64) -> Diagnostic {
    let detail = format!("Attribute length value must be at least sum of {}, got: {length}", MINIMA.join(" + "));
    Diagnostic::error("Invalid Attribute Value", detail).at_path(at("length"))
}

/// The wishes, without what is drawn.
pub(super) fn stored_wishes(spec: Spec) -> Spec {
    let note = "Use `numeric`: this is its old name.";
    let flag = |doc: &str| class(doc).default(true).replace();
    let minimum = |doc: &str| least(doc).default(Value::from(0)).replace();
    spec.attr("length", length().replace())
        .attr("special", flag(SPECIAL_DOC))
        .attr("upper", flag(UPPER_DOC))
        .attr("lower", flag(LOWER_DOC))
        .attr("number", class("The old name of `numeric`.").deprecated(note).replace())
        .attr("numeric", class(NUMERIC_DOC).replace())
        .attr("min_numeric", minimum(MIN_NUMERIC_DOC))
        .attr("min_upper", minimum(MIN_UPPER_DOC))
        .attr("min_lower", minimum(MIN_LOWER_DOC))
        .attr("min_special", minimum(MIN_SPECIAL_DOC))
        .attr("override_special", optional(Type::String).doc(OVERRIDE_DOC).replace_when(Replace::If(override_replaces)))
}

/// The wishes of something that is not stored.
pub(super) fn ephemeral_wishes(spec: Spec) -> Spec {
    spec.attr("length", length())
        .attr("special", class(SPECIAL_DOC))
        .attr("upper", class(UPPER_DOC))
        .attr("lower", class(LOWER_DOC))
        .attr("numeric", class(NUMERIC_DOC))
        .attr("min_numeric", least(MIN_NUMERIC_DOC))
        .attr("min_upper", least(MIN_UPPER_DOC))
        .attr("min_lower", least(MIN_LOWER_DOC))
        .attr("min_special", least(MIN_SPECIAL_DOC))
        .attr("override_special", optional(Type::String).doc(OVERRIDE_DOC))
}

const SPECIAL_DOC: &str = "Whether there may be special characters: `!@#$%&*()-_=+[]{}<>:?`. Defaults to `true`.";
const UPPER_DOC: &str = "Whether there may be uppercase letters. Defaults to `true`.";
const LOWER_DOC: &str = "Whether there may be lowercase letters. Defaults to `true`.";
const NUMERIC_DOC: &str = "Whether there may be digits. Defaults to `true`; one class of characters has to remain.";
const MIN_NUMERIC_DOC: &str = "How many digits there are at least. Defaults to `0`.";
const MIN_UPPER_DOC: &str = "How many uppercase letters there are at least. Defaults to `0`.";
const MIN_LOWER_DOC: &str = "How many lowercase letters there are at least. Defaults to `0`.";
const MIN_SPECIAL_DOC: &str = "How many special characters there are at least. Defaults to `0`.";
const OVERRIDE_DOC: &str = "Which characters are special, in place of the usual ones. `special` decides on them too.";

fn length() -> Attr {
    required(Type::Number)
        .doc("How many characters to draw: 1 or more, and no fewer than all minima together.")
        .check(checks::at_least(1))
}

fn class(doc: &str) -> Attr {
    optional_computed(Type::Bool).doc(doc)
}

fn least(doc: &str) -> Attr {
    optional_computed(Type::Number).doc(doc)
}

/// One published version stored an empty text for none: taking that back needs no new object.
fn override_replaces(old: &Value, new: &Value) -> bool {
    new.is_known() && !(new.is_null() && old.as_str() == Some(""))
}

/// Checks that take several attributes.
pub(super) fn validate(config: &Object) -> Diagnostics {
    let mut found = Diagnostics::new();
    if MINIMA.iter().all(|name| !config.is_unknown(name))
        && let Some(length) = config.int("length")
    {
        let sum = MINIMA.iter().filter_map(|name| config.int(name)).fold(0_i64, i64::saturating_add);
        if length < sum {
            found.push(too_short(length));
        }
    }
    let off = |name: &str| config.flag(name) == Some(false);
    for name in ["number", "numeric"] {
        if off(name) && ["special", "upper", "lower"].into_iter().all(off) {
            let detail =
                format!("At least one attribute out of [special,upper,lower,{name}] must be specified as true");
            found.push(Diagnostic::error("Invalid Attribute Combination", detail).at_path(at(name)));
        }
    }
    found
}

/// `number` is the old name of `numeric`; the two are always the same.
pub(super) fn plan(plan: &mut Planned, call: &mut Call) {
    let (number, numeric) = (plan.config.get("number"), plan.config.get("numeric"));
    let both = match (number.is_null(), numeric.is_null()) {
        (true, true) => Value::bool(true),
        (true, false) => numeric,
        (false, true) => number,
        (false, false) => {
            if number.is_known() && numeric.is_known() && number != numeric {
                let summary = "Number and numeric are both configured with different values";
                call.diagnostics.push(Diagnostic::error(summary, "Number is deprecated, use numeric instead"));
            }
            return;
        }
    };
    for name in ["number", "numeric"] {
        plan.object.set(name, both.clone());
        plan.requires_replace.retain(|path| *path != at(name));
        if plan.prior.is_some() && plan.changes(name) {
            plan.replace_for(name);
        }
    }
}

/// What an import knows: the text, and defaults.
pub(super) fn imported(object: &mut Object, text: &str) {
    object.set("result", text);
    object.set_int("length", text.chars().count() as i64);
    for name in ["special", "upper", "lower", "number", "numeric"] {
        object.set(name, true);
    }
    for name in MINIMA {
        object.set_int(name, 0);
    }
}

/// Objects that were imported by versions of old lack most attributes, and older ones have no `numeric`.
pub(super) fn complete(object: &mut JsonObject) {
    let is_null = |object: &JsonObject, name: &str| object.get(name).is_none_or(serde_json::Value::is_null);
    if is_null(object, "length") {
        let text = object.get("result").and_then(serde_json::Value::as_str).unwrap_or_default();
        let length = text.chars().count();
        object.insert("length".to_owned(), json!(length));
    }
    for name in MINIMA {
        if is_null(object, name) {
            object.insert(name.to_owned(), json!(0));
        }
    }
    for name in ["special", "upper", "lower", "number"] {
        if is_null(object, name) {
            object.insert(name.to_owned(), json!(true));
        }
    }
    let number = object.get("number").cloned().unwrap_or(json!(true));
    object.insert("numeric".to_owned(), number);
}
