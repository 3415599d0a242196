//! JSON pointers (RFC 6901): places as JSON patches write them.

use crate::Json;
use crate::path::{FieldPath, Step};

/// Where a pointer leads in an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// To a place, which may have nothing in it.
    At(FieldPath),
    /// Behind the last element of a list (`-`).
    EndOf(FieldPath),
}

/// The parts of a pointer, decoded. None if it is no pointer.
pub(super) fn parts(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    pointer.strip_prefix('/')?.split('/').map(decoded).collect()
}

fn decoded(part: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = part.chars();
    while let Some(character) = rest.next() {
        match (character, character == '~') {
            (_, true) => text.push(match rest.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            }),
            (plain, false) => text.push(plain),
        }
    }
    Some(text)
}

/// Where a pointer leads. Whether a number is an index or a name depends on what is there.
pub(super) fn place(pointer: &str, object: &Json) -> Option<Place> {
    let mut path = FieldPath::default();
    let mut inside = Some(object);
    for part in parts(pointer)? {
        let step = match inside {
            Some(Json::Array(_)) if part == "-" => return Some(Place::EndOf(path)),
            Some(Json::Array(_)) => Step::Index(part.parse().ok()?),
            _ => Step::Field(part),
        };
        inside = inside.and_then(|inside| FieldPath(vec![step.clone()]).find(inside));
        path = path.join(step);
    }
    Some(Place::At(path))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(pointer: &str, expected: &str) {
        let object = json!({"a/b": {"c~d": [1, {"0": 2}]}, "list": []});
        let shown = match place(pointer, &object) {
            Some(Place::At(path)) => path.to_string(),
            Some(Place::EndOf(path)) => format!("end of {path}"),
            None => "nothing".to_owned(),
        };
        assert_eq!(shown, expected, "{pointer}");
    }

    #[test]
    fn slashes_and_tildes_are_decoded() {
        assert_eq!(parts("/a~1b/c~0d/~01"), Some(vec!["a/b".to_owned(), "c~d".to_owned(), "~1".to_owned()]));
        assert_eq!(parts("/"), Some(vec![String::new()]));
        assert_eq!(parts(""), Some(Vec::new()));
        for wrong in ["a", "/~", "/~2"] {
            assert_eq!(parts(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_are_indices_in_lists_and_names_elsewhere() {
        let last = FieldPath::of(["a/b", "c~d"]).join(Step::Index(1)).join(Step::Field("0".to_owned()));
        check("/a~1b/c~0d/1/0", &last.to_string());
        check("/list/x", "nothing");
    }

    #[test]
    fn a_dash_is_the_end_of_a_list_only() {
        check("/list/-", "end of list");
        check("/new/-", &FieldPath::of(["new", "-"]).to_string());
    }
}
