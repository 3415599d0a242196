//! `cargo xtask`: every chore of this repository, as one program without scripts.
//! Each task is one module with `Args` and `run`; nothing of the product lives here.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a developer tool talks to the terminal directly")]
#![expect(clippy::disallowed_methods, reason = "xtask is an edge: it reads the environment and measures wall time")]

mod bench;
mod cluster;
mod codegen;
mod conformance;
mod dist;
mod fuzz;
mod image;
mod ladder;
mod peers;
mod process;
mod product;
mod test;
mod tidy;
mod torture;
mod tour;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The chores of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    Test(test::Args),
    Tidy(tidy::Args),
    Conformance(conformance::Args),
    Bench(bench::Args),
    Peers(peers::Args),
    Cluster(cluster::Args),
    Fuzz(fuzz::Args),
    Dist(dist::Args),
    Image(image::Args),
    Codegen(codegen::Args),
    Torture(torture::Args),
    Tour(tour::Args),
    /// Run one program and report its wall time and peak memory (used by `bench`).
    #[command(hide = true)]
    Measure(bench::MeasureArgs),
}

fn main() -> ExitCode {
    if let Some(code) = fuzz::compiler::run() {
        return code;
    }
    let result = match Cli::parse().task {
        Task::Test(args) => test::run(&args),
        Task::Tidy(args) => tidy::run(&args),
        Task::Conformance(args) => conformance::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Peers(args) => peers::run(&args),
        Task::Cluster(args) => cluster::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Dist(args) => dist::run(&args),
        Task::Image(args) => image::run(&args),
        Task::Codegen(args) => codegen::run(&args),
        Task::Torture(args) => torture::run(&args),
        Task::Tour(args) => tour::run(&args),
        Task::Measure(args) => bench::measure(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
