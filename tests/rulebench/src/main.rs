//! How much longer plans take with rules, and how long single steps take. Prints figures with their bars and fails if one is missed.
//!
//! `--json` prints them for machines, which judge themselves, `--rounds N` measures more or less often, and a word restricts it to figures with it in their name.

use std::hint::black_box;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use groma_rulebench::figure::{Figure, Unit};
use groma_rulebench::pair::{clock, expect, times};
use groma_rulebench::world::{Kind, Variant};
use groma_rules::replace::catalogue::Catalogue;
use groma_rules::replace::order::{self, Strength, Web, Wish};
use groma_rules::replace::rule::Order;

/// Fewer rounds do not tell apart what differs by a hundredth.
const ROUNDS: usize = 30;

/// How many objects there are in the order pass.
const OBJECTS: usize = 10_000;

struct Asked {
    json: bool,
    rounds: usize,
    filter: Option<String>,
}

fn main() -> Result<ExitCode> {
    let mut asked = Asked { json: false, rounds: ROUNDS, filter: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => asked.json = true,
            "--rounds" => asked.rounds = arguments.next().context("--rounds needs a number")?.parse()?,
            _ => asked.filter = Some(argument),
        }
    }
    let mut all_hold = true;
    let mut tell = |figures: Vec<Figure>| {
        for figure in figures {
            all_hold &= figure.holds();
            print(&if asked.json { figure.to_json().to_string() } else { figure.to_string() });
        }
    };
    tell(steps(&asked));
    for (objects, size) in [(1_000, "1k"), (10_000, "10k")] {
        for (one_in, share) in [(20, "p05"), (1, "p100")] {
            tell(plans(&asked, (objects, size), (one_in, share))?);
        }
    }
    tell(attached(&asked)?);
    Ok(if all_hold || asked.json { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[expect(clippy::print_stdout, reason = "the result")]
fn print(line: &str) {
    println!("{line}");
}

impl Asked {
    fn wants(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()))
    }
}

/// How many times as long plans take as without rules.
fn plans(asked: &Asked, (objects, size): (usize, &str), (one_in, share): (usize, &str)) -> Result<Vec<Figure>> {
    let (many, few) = if share == "p05" { (1.02, 1.02) } else { (1.05, 1.05) };
    let variants = [(Variant::CatalogueNoMatch, 1.005), (Variant::Rules1, few), (Variant::Rules8, many)];
    let name = |variant: Variant| format!("plan/{}/{size}/{share}", variant.name());
    let wanted: Vec<(Variant, f64)> =
        variants.into_iter().filter(|(variant, _)| asked.wants(&name(*variant))).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut kinds = vec![Kind { variant: Variant::None, objects, one_in }];
    for (variant, _) in &wanted {
        let kind = Kind { variant: *variant, objects, one_in };
        let replaced = objects / one_in;
        let obeyed = matches!(variant, Variant::Rules1 | Variant::Rules8);
        expect(kind, (replaced, if obeyed { replaced } else { 0 }))?;
        kinds.push(kind);
    }
    let times = times(&kinds, asked.rounds)?;
    let figure = |(at, (variant, limit)): (usize, &(Variant, f64))| {
        let ratios: Vec<f64> = times[at + 1].iter().zip(&times[0]).map(|(with, without)| with / without).collect();
        Figure::new(name(*variant), &ratios, Unit::Ratio, *limit)
    };
    Ok(wanted.iter().enumerate().map(figure).collect())
}

/// How much longer a plan takes if somebody wants to know who holds what.
fn attached(asked: &Asked) -> Result<Vec<Figure>> {
    if !asked.wants("attach/10k") {
        return Ok(Vec::new());
    }
    let kinds = [Variant::NotAttached, Variant::Attached].map(|variant| Kind { variant, objects: OBJECTS, one_in: 20 });
    let times = times(&kinds, asked.rounds)?;
    let more: Vec<f64> = times[1].iter().zip(&times[0]).map(|(with, without)| with - without).collect();
    Ok(vec![Figure::new("attach/10k", &more, Unit::Milliseconds, 50.0)])
}

/// What can be measured by itself.
fn steps(asked: &Asked) -> Vec<Figure> {
    let mut figures = Vec::new();
    if asked.wants("catalogue/load") {
        let sample = sample(asked.rounds, || drop(black_box(Catalogue::load())));
        figures.push(Figure::new("catalogue/load", &sample, Unit::Milliseconds, 10.0));
    }
    for (shape, needs) in [("chain", chain as fn(usize) -> Vec<usize>), ("fan", fan), ("random", random)] {
        let name = format!("order/{shape}/10k");
        if !asked.wants(&name) {
            continue;
        }
        let needs: Vec<Vec<usize>> = (0..OBJECTS).map(needs).collect();
        let wishes = wishes();
        let sample = sample(asked.rounds, || {
            drop(black_box(order::resolve(&Web { needs: &needs, has_order: &|_| true }, &wishes)));
        });
        figures.push(Figure::new(name, &sample, Unit::Milliseconds, 25.0));
    }
    figures
}

fn sample(rounds: usize, mut work: impl FnMut()) -> Vec<f64> {
    work();
    let mut one = || {
        let start = clock();
        work();
        clock() - start
    };
    (0..rounds).map(|_| one()).collect()
}

/// Five things that each needs, as far as there are so many: 50,000 edges in all.
const EDGES: usize = 5;

/// Each needs those right before it.
fn chain(at: usize) -> Vec<usize> {
    (at.saturating_sub(EDGES)..at).collect()
}

/// All need a few.
fn fan(at: usize) -> Vec<usize> {
    if at < EDGES { Vec::new() } else { (0..EDGES).collect() }
}

/// Each needs any before it.
fn random(at: usize) -> Vec<usize> {
    let mixed = |edge: usize| (at * EDGES + edge + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    if at == 0 { Vec::new() } else { (0..EDGES).map(|edge| mixed(edge) % at).collect() }
}

/// Somebody wants something of every third object, weakly or strongly, one way or the other.
fn wishes() -> Vec<Wish> {
    let strengths = [Strength::Catalogue, Strength::RootRule, Strength::Lifecycle, Strength::ModuleRule];
    let wish = |at: usize| {
        let strength = strengths[at % strengths.len()];
        // Within one strength all want the same, or else there would be nothing to decide.
        let order = if at.is_multiple_of(2) { Order::CreateFirst } else { Order::DeleteFirst };
        Wish { node: at, order, strength }
    };
    (0..OBJECTS).step_by(3).map(wish).collect()
}
