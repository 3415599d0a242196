//! Orders of small graphs by hand, and of many at random.

use proptest::prelude::*;

use super::*;
use Order::{CreateFirst, DeleteFirst};

fn wish(node: Node, order: Order, strength: Strength) -> Wish {
    Wish { node, order, strength }
}

fn resolved(needs: &[Vec<Node>], replaced: &[Node], wishes: &[Wish]) -> Resolved {
    resolve(&Web { needs, has_order: &|node| replaced.contains(&node) }, wishes)
}

fn orders(resolved: &Resolved) -> Vec<(Node, Order)> {
    resolved.decided.iter().map(|(node, (order, _))| (*node, *order)).collect()
}

const A: Node = 0;
const B: Node = 1;
const M: Node = 2;

/// B needs A.
fn two() -> Vec<Vec<Node>> {
    vec![vec![], vec![A]]
}

#[test]
fn who_is_created_first_takes_what_it_needs_along() {
    let found = resolved(&two(), &[A, B], &[wish(B, CreateFirst, Strength::Lifecycle)]);
    assert_eq!(orders(&found), [(A, CreateFirst), (B, CreateFirst)]);
    assert_eq!(found.decided[&A].1, 0);
}

#[test]
fn who_is_deleted_first_takes_along_what_needs_it() {
    let wishes = [wish(A, DeleteFirst, Strength::RootRule), wish(B, CreateFirst, Strength::Lifecycle)];
    let found = resolved(&two(), &[A, B], &wishes);
    assert_eq!(orders(&found), [(A, DeleteFirst), (B, DeleteFirst)]);
    assert_eq!(found.overridden, [(1, 0)]);
}

#[test]
fn the_other_mixture_is_possible() {
    let wishes = [wish(A, CreateFirst, Strength::RootRule), wish(B, DeleteFirst, Strength::RootRule)];
    let found = resolved(&two(), &[A, B], &wishes);
    assert_eq!(orders(&found), [(A, CreateFirst), (B, DeleteFirst)]);
}

#[test]
fn equals_that_exclude_each_other_are_told_with_the_way_between_them() {
    // B needs M needs A.
    let needs = [vec![], vec![M], vec![A]];
    let wishes = [wish(A, DeleteFirst, Strength::CommandLine), wish(B, CreateFirst, Strength::CommandLine)];
    let found = resolved(&needs, &[A, B], &wishes);
    assert_eq!(found.clashes, [Clash { create_first: 1, delete_first: 0, chain: vec![B, M, A] }]);
    assert_eq!(orders(&found), []);
}

#[test]
fn equals_that_clash_leave_others_alone() {
    // 1 needs 0; 3 needs 2.
    let needs = [vec![], vec![0], vec![], vec![2]];
    let wishes = [
        wish(0, DeleteFirst, Strength::Catalogue),
        wish(1, CreateFirst, Strength::Catalogue),
        wish(3, CreateFirst, Strength::Catalogue),
    ];
    let found = resolved(&needs, &[0, 1, 2, 3], &wishes);
    assert_eq!(found.clashes.len(), 1);
    assert_eq!(orders(&found), [(2, CreateFirst), (3, CreateFirst)]);
}

#[test]
fn what_lies_between_passes_wishes_on() {
    let needs = [vec![], vec![M], vec![A]];
    let wishes = [wish(B, CreateFirst, Strength::Lifecycle), wish(A, DeleteFirst, Strength::Catalogue)];
    let found = resolved(&needs, &[A, B], &wishes);
    assert_eq!(orders(&found), [(A, CreateFirst), (B, CreateFirst)]);
    assert_eq!(found.overridden, [(1, 0)]);
}

#[test]
fn who_is_not_replaced_wants_it_of_what_it_needs_unless_a_rule_says_otherwise() {
    let lifecycle = wish(B, CreateFirst, Strength::Lifecycle);
    let found = resolved(&two(), &[A], std::slice::from_ref(&lifecycle));
    assert_eq!(orders(&found), [(A, CreateFirst)]);

    let found = resolved(&two(), &[A], &[lifecycle, wish(A, DeleteFirst, Strength::RootRule)]);
    assert_eq!(orders(&found), [(A, DeleteFirst)]);
}

prop_compose! {
    /// Anything may need anything, itself excluded: what is configured and what is stored may contradict each other.
    fn any_case()(size in 2..40_usize)(
        edges in proptest::collection::vec((0..size, 0..size), 0..size * 3),
        replaced in proptest::collection::vec(any::<bool>(), size),
        wishes in proptest::collection::vec((0..size, any::<bool>(), 0..5_usize), 0..size),
    ) -> (Vec<Vec<Node>>, Vec<bool>, Vec<Wish>) {
        let mut needs = vec![Vec::new(); replaced.len()];
        for (from, to) in edges {
            if from != to {
                needs[from].push(to);
            }
        }
        let wish = |(node, first, strength): (Node, bool, usize)| {
            let order = if first { CreateFirst } else { DeleteFirst };
            Wish { node, order, strength: STRENGTHS[strength] }
        };
        let wishes = wishes.into_iter().map(wish).filter(|wish| wish.order == CreateFirst || replaced[wish.node]);
        (needs, replaced.clone(), wishes.collect())
    }
}

/// Everything that a node needs, directly or through others.
fn closure(needs: &[Vec<Node>], from: Node) -> Vec<Node> {
    let mut found = vec![false; needs.len()];
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for &next in &needs[node] {
            if !std::mem::replace(&mut found[next], true) {
                open.push(next);
            }
        }
    }
    (0..needs.len()).filter(|node| found[*node]).collect()
}

proptest! {
    #[test]
    fn nothing_is_created_first_that_needs_what_is_deleted_first((needs, replaced, wishes) in any_case()) {
        let found = resolve(&Web { needs: &needs, has_order: &|node| replaced[node] }, &wishes);
        let order = |node: Node| found.decided.get(&node).map_or(DeleteFirst, |(order, _)| *order);
        for node in (0..needs.len()).filter(|node| replaced[*node] && order(*node) == CreateFirst) {
            for need in closure(&needs, node).into_iter().filter(|need| replaced[*need]) {
                prop_assert_eq!(order(need), CreateFirst, "{} needs {}", node, need);
            }
        }
        // Every wish came true, was overridden by a stronger one, or clashes with an equal one.
        for (at, wish) in wishes.iter().enumerate().filter(|(_, wish)| replaced[wish.node]) {
            let clashes = found.clashes.iter().any(|clash| clash.create_first == at || clash.delete_first == at);
            let overridden = found.overridden.iter().find(|(own, _)| *own == at);
            match overridden {
                Some((_, by)) => prop_assert!(wishes[*by].strength > wish.strength),
                None if clashes => {}
                None => prop_assert_eq!(order(wish.node), wish.order),
            }
        }
    }
}
