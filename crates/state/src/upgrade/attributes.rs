//! Flat maps of versions 1 and 2, which counted the entries of maps as they counted those of lists.

use std::collections::{BTreeMap, BTreeSet};

/// Counts maps under `%` instead of `#`, as version 3 does, and drops the counts of what is empty: nobody can tell
/// whether it was a map or a list, and the provider will.
pub(super) fn mark_maps(flat: &mut BTreeMap<String, String>) {
    let prefixes: Vec<String> =
        flat.keys().filter_map(|key| key.strip_suffix('#')).filter(|key| key.ends_with('.')).map(Into::into).collect();
    for prefix in prefixes {
        let count_key = format!("{prefix}#");
        let keys = element_keys(flat, &prefix);
        if keys.is_empty() {
            flat.remove(&count_key);
        } else if keys.iter().any(|key| key.parse::<i64>().is_err())
            && let Some(count) = flat.remove(&count_key)
        {
            flat.insert(format!("{prefix}%"), count);
        }
    }
}

/// The keys or indices right behind a prefix.
fn element_keys(flat: &BTreeMap<String, String>, prefix: &str) -> BTreeSet<String> {
    let behind = flat.range(prefix.to_owned()..).map_while(|(key, _)| key.strip_prefix(prefix));
    let key = |rest: &str| match rest.split_once('.') {
        Some((key, _)) if !key.is_empty() => key.to_owned(),
        _ => rest.to_owned(),
    };
    behind.filter(|rest| *rest != "#").map(key).collect()
}
