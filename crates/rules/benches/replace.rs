//! How long what rules are made of takes: `expr/{parse,eval}/{8,64}`, `catalogue/load` and `order/{chain,fan,random}/10k`.

#[allow(dead_code, reason = "the other benches use the rest")]
mod scene;

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::Criterion;
use groma_rules::replace::catalogue::Catalogue;
use groma_rules::replace::eval::{Care, judge};
use groma_rules::replace::expr::Expr;
use groma_rules::replace::order::{self, Strength, Web, Wish};
use groma_rules::replace::rule::Order;

use scene::Scene;

/// `p0 OR p1 AND NOT p2 …`, with so many predicates.
fn expression(size: usize) -> String {
    let mut text = String::from("p0");
    for at in 1..size {
        let op = ["AND", "OR", "AND NOT"][at % 3];
        let _ = write!(text, " {op} p{at}");
    }
    text
}

fn expressions(criterion: &mut Criterion) {
    let scene = Scene::new();
    for size in [8, 64] {
        let text = expression(size);
        criterion.bench_function(&format!("expr/parse/{size}"), |bencher| {
            bencher.iter(|| black_box(Expr::parse(black_box(&text)).is_ok()));
        });
        let rule = scene::joined(&text, size);
        for (care, name) in [(Care::Verdict, "eval"), (Care::Full, "eval_in_full")] {
            criterion.bench_function(&format!("expr/{name}/{size}"), |bencher| {
                let case = scene.case();
                bencher.iter(|| black_box(judge(&rule, &case, care)));
            });
        }
    }
}

fn catalogue(criterion: &mut Criterion) {
    criterion.bench_function("catalogue/load", |bencher| bencher.iter(|| black_box(Catalogue::load())));
}

/// How many objects there are, and how many others each needs.
const OBJECTS: usize = 10_000;
const EDGES: usize = 5;

fn orders(criterion: &mut Criterion) {
    let random =
        |at: usize, edge: usize| ((at * EDGES + edge + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % at.max(1);
    let needs = |shape: &str, at: usize| -> Vec<usize> {
        match shape {
            "chain" => (at.saturating_sub(EDGES)..at).collect(),
            "fan" if at >= EDGES => (0..EDGES).collect(),
            "random" if at > 0 => (0..EDGES).map(|edge| random(at, edge)).collect(),
            _ => Vec::new(),
        }
    };
    let wish = |at: usize| Wish {
        node: at,
        order: if at.is_multiple_of(2) { Order::CreateFirst } else { Order::DeleteFirst },
        strength: if at.is_multiple_of(2) { Strength::Catalogue } else { Strength::RootRule },
    };
    let wishes: Vec<Wish> = (0..OBJECTS).step_by(3).map(wish).collect();
    for shape in ["chain", "fan", "random"] {
        let needs: Vec<Vec<usize>> = (0..OBJECTS).map(|at| needs(shape, at)).collect();
        criterion.bench_function(&format!("order/{shape}/10k"), |bencher| {
            let web = Web { needs: &needs, has_order: &|_| true };
            bencher.iter(|| black_box(order::resolve(&web, &wishes)));
        });
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    expressions(&mut criterion);
    catalogue(&mut criterion);
    orders(&mut criterion);
    criterion.final_summary();
}
