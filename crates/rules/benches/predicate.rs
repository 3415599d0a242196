//! How long it takes to ask a predicate: `predicate/{kind}/{small,large}`.

mod scene;

use std::hint::black_box;

use criterion::{BatchSize, Criterion};

use scene::{Scene, large, small};

fn predicates(criterion: &mut Criterion) {
    let scene = Scene::new();
    let mut group = criterion.benchmark_group("predicate");
    for asked in small().into_iter().chain(large()) {
        group.bench_function(asked.name, |bencher| {
            bencher.iter_batched(
                || scene.case(),
                |case| black_box(asked.predicate.ask(&case, false)),
                BatchSize::SmallInput,
            );
        });
    }
    for asked in small() {
        group.bench_function(format!("{}/with_steps", asked.name), |bencher| {
            bencher.iter_batched(
                || scene.case(),
                |case| black_box(asked.predicate.ask(&case, true)),
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    predicates(&mut criterion);
    criterion.final_summary();
}
