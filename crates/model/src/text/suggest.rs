//! Finding the name that was meant by a misspelt one.

/// The first of `candidates` that differs from `given` by fewer than three edits.
pub fn suggestion<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates.into_iter().find(|candidate| distance(given, candidate) < 3)
}

/// The number of insertions, deletions and replacements between two texts.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) >= 3 {
        return 3;
    }
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for (row, x) in a.iter().enumerate() {
        let mut current = Vec::with_capacity(previous.len());
        current.push(row + 1);
        for (column, y) in b.iter().enumerate() {
            let replaced = previous[column] + usize::from(x != y);
            let best = replaced.min(previous[column + 1] + 1).min(current[column] + 1);
            current.push(best);
        }
        previous = current;
    }
    previous.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_found() {
        assert_eq!(suggestion("uper", ["lower", "upper"]), Some("upper"));
        assert_eq!(suggestion("nothing", ["lower", "upper"]), None);
        assert_eq!(suggestion("nmae", ["count", "name"]), Some("name"));
        assert_eq!(suggestion("", ["ab"]), Some("ab"));
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "ab"), 2);
    }
}
