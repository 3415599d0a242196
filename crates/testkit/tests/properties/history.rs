//! A history: steps of edits, each planned and applied.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use groma_testkit::chance::Chance;
use groma_testkit::configuration::{Configuration, Serial};
use groma_testkit::edit::{edit, grow};
use groma_testkit::workspace::Files;
use groma_testkit::writing::{Dialect, write};

use crate::world::{Stepped, World};

/// How reliable the cloud is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weather {
    /// Only what is wrong fails.
    Fair,
    /// Anything may fail, and then works the next time.
    Stormy,
}

/// Edits that are applied together.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) edits: Vec<u64>,
    /// What else happens follows from this.
    pub(crate) seed: u64,
}

/// Everything that happens.
#[derive(Debug, Clone)]
pub(crate) struct History {
    pub(crate) weather: Weather,
    pub(crate) steps: Vec<Step>,
    /// What is left out of every configuration.
    pub(crate) without: BTreeSet<Serial>,
    /// Whether resources have nothing but what they refer to.
    pub(crate) bare: bool,
}

/// What went wrong.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) what: String,
}

impl Failure {
    /// What sort of thing went wrong, whatever it happened to.
    pub(crate) fn sort(&self) -> &str {
        self.what.split(':').next().unwrap_or_default()
    }
}

/// How much was gone through.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    pub(crate) steps: usize,
    pub(crate) cycles: usize,
}

impl History {
    pub(crate) fn new(seed: u64, weather: Weather) -> Self {
        let mut chance = Chance::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(weather as u64));
        let mut steps = Vec::new();
        for at in 0..3 + chance.below(5) {
            let edits = if at == 0 { 3 + chance.below(9) } else { 1 + chance.below(4) };
            let edits = (0..edits).map(|_| chance.number()).collect();
            steps.push(Step { edits, seed: chance.number() });
        }
        Self { weather, steps, without: BTreeSet::new(), bare: false }
    }

    /// Goes through it. What panics on the way has failed as well.
    pub(crate) fn run(&self) -> Result<Passed, Failure> {
        let run = || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            runtime.block_on(self.go())
        };
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(Failure { what: format!("panic: {}", text.unwrap_or_default()) })
        })
    }

    async fn go(&self) -> Result<Passed, Failure> {
        let mut world = World::new(self.weather);
        let mut configuration = Configuration::default();
        let mut passed = Passed::default();
        for (at, step) in self.steps.iter().enumerate() {
            let before = configuration.clone();
            edited(&mut configuration, step, at == 0);
            passed.steps += 1;
            let stepped = world.step(self.written(&configuration), step.seed).await;
            match stepped.map_err(|what| Failure { what })? {
                Stepped::Done => {}
                Stepped::NoOrder => {
                    configuration = before;
                    passed.cycles += 1;
                }
                Stepped::Stuck => passed.cycles += 1,
            }
        }
        world.end().await.map_err(|what| Failure { what })?;
        Ok(passed)
    }

    /// A configuration, without what is left out.
    fn written(&self, configuration: &Configuration) -> Files {
        let mut configuration = configuration.clone();
        configuration.items.retain(|serial, _| !self.without.contains(serial));
        configuration.modules.retain(|serial, _| !self.without.contains(serial));
        configuration.mend();
        if self.bare {
            configuration.strip();
        }
        write(&configuration, Dialect::Simulated)
    }

    /// How many serials are given out in all.
    pub(crate) fn serials(&self) -> Serial {
        let mut configuration = Configuration::default();
        for (at, step) in self.steps.iter().enumerate() {
            edited(&mut configuration, step, at == 0);
        }
        configuration.last
    }

    /// All configurations, one after the other. Those that have no order are left out in a run.
    pub(crate) fn shown(&self) -> String {
        let mut out = String::new();
        let mut configuration = Configuration::default();
        for (at, step) in self.steps.iter().enumerate() {
            edited(&mut configuration, step, at == 0);
            let Files(files) = self.written(&configuration);
            let _ = writeln!(out, "=== step {at}");
            for (path, text) in files {
                let _ = writeln!(out, "--- {}\n{text}", path.display());
            }
        }
        out
    }
}

fn edited(configuration: &mut Configuration, step: &Step, first: bool) {
    configuration.moved.clear();
    for seed in &step.edits {
        if first { grow(configuration, *seed) } else { edit(configuration, *seed) }
    }
}
