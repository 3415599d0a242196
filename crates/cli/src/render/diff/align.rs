//! Which elements of two sequences belong together.

/// Where an element is in either sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Aligned(pub(super) Option<usize>, pub(super) Option<usize>);

/// The table of the exact method has a cell for each pair of elements. Beyond so many a faster one does, which may find less in
/// common.
const MAX_CELLS: usize = 4 << 20;

/// Goes through both sequences at once. What is in a longest common subsequence stays together; of the rest, `belong` says
/// which elements are versions of the same.
pub(super) fn align(before: &[u32], after: &[u32], belong: &dyn Fn(usize, usize) -> bool) -> Vec<Aligned> {
    let common = common(before, after);
    let mut aligned = Vec::with_capacity(before.len().max(after.len()));
    let (mut b, mut a) = (0, 0);
    for next in common.iter().map(Some).chain([None]) {
        while before.get(b).is_some_and(|id| Some(id) != next) {
            let partner = after.get(a).is_some_and(|id| Some(id) != next) && belong(b, a);
            aligned.push(Aligned(Some(b), partner.then_some(a)));
            b += 1;
            a += usize::from(partner);
        }
        while after.get(a).is_some_and(|id| Some(id) != next) {
            aligned.push(Aligned(None, Some(a)));
            a += 1;
        }
        if next.is_some() {
            aligned.push(Aligned(Some(b), Some(a)));
            b += 1;
            a += 1;
        }
    }
    aligned
}

/// A longest common subsequence.
fn common(before: &[u32], after: &[u32]) -> Vec<u32> {
    let prefix = before.iter().zip(after).take_while(|(b, a)| b == a).count();
    let (head, before, after) = (&before[..prefix], &before[prefix..], &after[prefix..]);
    let suffix = before.iter().rev().zip(after.iter().rev()).take_while(|(b, a)| b == a).count();
    let (before, tail) = before.split_at(before.len() - suffix);
    let after = &after[..after.len() - suffix];
    let middle = match before.len().saturating_mul(after.len()) {
        0 => Vec::new(),
        cells if cells <= MAX_CELLS => exactly(before, after),
        _ => quickly(before, after),
    };
    [head, &middle, tail].concat()
}

/// By the table of all pairs.
fn exactly(before: &[u32], after: &[u32]) -> Vec<u32> {
    let width = before.len() + 1;
    let mut lengths = vec![0_u32; width * (after.len() + 1)];
    for (y, a) in after.iter().enumerate() {
        for (x, b) in before.iter().enumerate() {
            let here = (y + 1) * width + x + 1;
            let unequal = lengths[here - 1].max(lengths[here - width]);
            lengths[here] = if a == b { lengths[here - width - 1] + 1 } else { unequal };
        }
    }
    let mut found = Vec::new();
    let (mut x, mut y) = (before.len(), after.len());
    while x > 0 && y > 0 {
        let here = y * width + x;
        if before[x - 1] == after[y - 1] {
            found.push(before[x - 1]);
            x -= 1;
            y -= 1;
        } else if lengths[here - 1] > lengths[here - width] {
            x -= 1;
        } else {
            y -= 1;
        }
    }
    found.reverse();
    found
}

fn quickly(before: &[u32], after: &[u32]) -> Vec<u32> {
    let operations = similar::capture_diff_slices(similar::Algorithm::Patience, before, after);
    let equal = operations.iter().filter(|operation| operation.tag() == similar::DiffTag::Equal);
    equal.flat_map(|operation| before[operation.old_range()].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &[u32], after: &[u32]) -> String {
        let one = |Aligned(b, a): &Aligned| match (b, a) {
            (Some(b), None) => format!("-{}", before[*b]),
            (None, Some(a)) => format!("+{}", after[*a]),
            (Some(b), Some(_)) => format!(" {}", before[*b]),
            (None, None) => String::new(),
        };
        align(before, after, &|_, _| false).iter().map(one).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn what_is_common_stays() {
        assert_eq!(shown(&[1, 2, 3], &[1, 3, 4]), " 1,-2, 3,+4");
        assert_eq!(shown(&[1, 2], &[2, 2]), "-1, 2,+2");
        assert_eq!(shown(&[], &[1]), "+1");
        assert_eq!(shown(&[1], &[]), "-1");
        assert_eq!(shown(&[1, 1, 2], &[1, 2]), " 1,-1, 2");
    }

    #[test]
    fn versions_of_the_same_are_shown_as_one() {
        assert_eq!(align(&[1, 2], &[3, 2], &|_, _| true), [Aligned(Some(0), Some(0)), Aligned(Some(1), Some(1))]);
        // What both have is not taken for a version of something else.
        assert_eq!(align(&[2], &[1, 2], &|_, _| true), [Aligned(None, Some(0)), Aligned(Some(0), Some(1))]);
    }

    #[test]
    fn long_sequences_take_no_table() {
        let before: Vec<u32> = (0..100_000).collect();
        let after: Vec<u32> = (0..100_000).filter(|n| n % 1000 != 5).chain([7]).collect();
        let kept =
            align(&before, &after, &|_, _| false).iter().filter(|Aligned(b, a)| b.is_some() && a.is_some()).count();
        assert_eq!(kept, 99_900);
    }
}
