//! Paths into objects as they are in the world: `name`, `disk[0].source`, `nic[*].ip`. Where something has parts, a path means all of them.

use serde_json::Value as Json;

/// A step of a path: a name, and which of the parts of what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    name: String,
    index: Option<usize>,
}

fn steps(path: &str) -> Vec<Step> {
    let step = |text: &str| match text.split_once('[') {
        Some((name, index)) => Step { name: name.to_owned(), index: index.trim_end_matches(']').parse().ok() },
        None => Step { name: text.to_owned(), index: None },
    };
    path.split('.').map(step).collect()
}

/// Everything at a path, with the parts that it was found in.
fn found<'j>(object: &'j Json, steps: &[Step]) -> Vec<(Vec<Step>, &'j Json)> {
    let Some((step, rest)) = steps.split_first() else { return vec![(Vec::new(), object)] };
    let Some(value) = object.get(&step.name) else { return Vec::new() };
    let parts: Vec<(Option<usize>, &Json)> = match value {
        Json::Array(items) => {
            let all = items.iter().enumerate().map(|(at, item)| (Some(at), item));
            all.filter(|(at, _)| step.index.is_none() || step.index == *at).collect()
        }
        other => vec![(None, other)],
    };
    let mut all = Vec::new();
    for (index, part) in parts {
        for (deeper, value) in found(part, rest) {
            let own = Step { name: step.name.clone(), index };
            all.push((std::iter::once(own).chain(deeper).collect(), value));
        }
    }
    all
}

/// Everything at a path.
pub(crate) fn values<'j>(object: &'j Json, path: &str) -> Vec<&'j Json> {
    found(object, &steps(path)).into_iter().map(|(_, value)| value).collect()
}

/// What is at several paths together: for each thing at the first one, what is beside it at the others.
pub(crate) fn tuples(object: &Json, paths: &[&str]) -> Vec<Vec<Json>> {
    let Some((first, others)) = paths.split_first() else { return Vec::new() };
    let beside = |place: &[Step], path: &str| {
        let mut wanted = steps(path);
        for (step, there) in wanted.iter_mut().zip(place) {
            if step.name != there.name {
                break;
            }
            step.index = step.index.or(there.index);
        }
        found(object, &wanted).first().map_or(Json::Null, |(_, value)| (*value).clone())
    };
    let firsts = found(object, &steps(first)).into_iter().filter(|(_, value)| !is_nothing(value));
    firsts
        .map(|(place, value)| {
            std::iter::once(value.clone()).chain(others.iter().map(|path| beside(&place, path))).collect()
        })
        .collect()
}

/// Clouds do not tell nothing from an empty text.
pub(crate) fn is_nothing(value: &Json) -> bool {
    value.is_null() || value.as_str() == Some("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_beside_each_other_stays_together() {
        let object = json!({"nic": [{"ip": "a", "net": "x"}, {"ip": "b", "net": "y"}, {"ip": null}], "zone": "z"});
        assert_eq!(
            tuples(&object, &["nic[*].ip", "nic[*].net", "zone"]),
            [[json!("a"), json!("x"), json!("z")], [json!("b"), json!("y"), json!("z")]]
        );
        assert_eq!(values(&object, "nic[1].ip"), [&json!("b")]);
        assert_eq!(tuples(&object, &["disk[*].id"]), Vec::<Vec<Json>>::new());
    }
}
