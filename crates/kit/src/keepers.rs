//! Maps whose only purpose is that a change of them makes a new object.

use groma_model::value::{Entries, Value};

use super::spec::Replace;

/// A change needs a new object, unless only entries that are null came or were there without being stored: plugins of
/// old did not store those.
pub fn keepers_replace() -> Replace {
    Replace::If(differ)
}

fn differ(old: &Value, new: &Value) -> bool {
    if !new.is_known() {
        return true;
    }
    let nothing = Entries::default();
    let stored = old.as_entries().unwrap_or(&nothing);
    let wanted = new.as_entries().unwrap_or(&nothing);
    let changed = wanted.iter().any(|(key, value)| match stored.get(key) {
        Some(stored) => stored != value,
        None => !value.is_null(),
    });
    changed || stored.names().iter().any(|key| !wanted.contains(key))
}

#[cfg(test)]
mod tests {
    use groma_model::ty::Type;

    use super::*;

    fn map(entries: &[(&str, Option<&str>)]) -> Value {
        let value = |text: Option<&str>| text.map_or_else(|| Value::null(Type::String), Value::string);
        Value::map(Type::String, entries.iter().map(|(key, text)| (*key, value(*text))).collect())
    }

    #[test]
    fn nulls_that_were_never_stored_change_nothing() {
        let null = Value::null(Type::map(Type::String));
        assert!(!differ(&null, &map(&[("a", None)])));
        assert!(!differ(&map(&[("a", Some("1"))]), &map(&[("a", Some("1")), ("b", None)])));
        assert!(!differ(&null, &map(&[])));
        assert!(!differ(&map(&[]), &null));
    }

    #[test]
    fn everything_else_does() {
        let null = Value::null(Type::map(Type::String));
        let one = map(&[("a", Some("1"))]);
        for new in [&null, &map(&[]), &map(&[("a", Some("2"))]), &map(&[("a", None)]), &map(&[("b", Some("1"))])] {
            assert!(differ(&one, new), "{new:?}");
        }
        assert!(differ(&null, &one));
        assert!(differ(&null, &Value::unknown(Type::map(Type::String))));
    }
}
