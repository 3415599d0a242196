//! Instance keys: what tells the instances of `count` and `for_each` apart.

use std::fmt;

use super::AddressError;
use super::traversal::{IndexKey, Step, StepKind};
use crate::text::Str;
use crate::value::{Value, is_printable};

/// The key of an instance. Ordered as instances are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstanceKey {
    /// The only instance of an object without `count` and `for_each`.
    #[default]
    None,
    /// An instance of `count`.
    Int(i64),
    /// An instance of `for_each`.
    String(Str),
}

impl InstanceKey {
    /// Whether there is no key.
    pub fn is_none(&self) -> bool {
        *self == InstanceKey::None
    }

    /// The key as a value of the language; none if there is no key.
    pub fn to_value(&self) -> Option<Value> {
        match self {
            InstanceKey::None => None,
            InstanceKey::Int(index) => Some(Value::number(*index)),
            InstanceKey::String(key) => Some(Value::string(key.clone())),
        }
    }

    /// Takes the key from the first step if that is an index.
    pub(super) fn take<'s>(steps: &'s [Step], what: &str) -> Result<(InstanceKey, &'s [Step]), AddressError> {
        let Some((step, rest)) = steps.split_first() else {
            return Ok((InstanceKey::None, steps));
        };
        let StepKind::Index(key) = &step.kind else {
            return Ok((InstanceKey::None, steps));
        };
        let key = match key {
            IndexKey::String(key) => InstanceKey::String(key.clone()),
            IndexKey::Number(number) => {
                let invalid =
                    || AddressError::invalid(step.offset, format!("Invalid {what}: a whole number is required."));
                InstanceKey::Int(number.to_i64().ok_or_else(invalid)?)
            }
        };
        Ok((key, rest))
    }
}

/// `[0]`, `["key"]`, or nothing at all.
impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstanceKey::None => Ok(()),
            InstanceKey::Int(index) => write!(f, "[{index}]"),
            InstanceKey::String(key) => write!(f, "[{}]", quote(key)),
        }
    }
}

impl From<usize> for InstanceKey {
    fn from(index: usize) -> Self {
        InstanceKey::Int(index as i64)
    }
}

impl From<&str> for InstanceKey {
    fn from(key: &str) -> Self {
        InstanceKey::String(key.into())
    }
}

impl From<Str> for InstanceKey {
    fn from(key: Str) -> Self {
        InstanceKey::String(key)
    }
}

/// A text in quotes as the configuration language would write it, template signs escaped.
pub fn quote(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '$' | '%' => {
                out.push(c);
                if chars.peek() == Some(&'{') {
                    out.push(c);
                }
            }
            c if is_printable(c) => out.push(c),
            c => {
                let code = c as u32;
                // Writing to a String cannot fail.
                let _ = if code < 0x10000 { write!(out, "\\u{code:04x}") } else { write!(out, "\\U{code:08x}") };
            }
        }
    }
    out.push('"');
    out
}
