//! Names of companion objects, and what they say together: which chains there are, and where each one ends.

use std::collections::BTreeMap;
use std::fmt;

use groma_state::journal::RunId;

use super::Companion;

/// What one run has begun. Later ones are greater.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Chain {
    generation: u64,
    run: String,
}

impl Chain {
    /// The name of one of its objects. Names sort like their numbers.
    pub(super) fn name(&self, number: u64) -> String {
        format!("{self}-{number:08}")
    }

    /// The chain and the number that a name stands for.
    fn parse(name: &str) -> Option<(Chain, u64)> {
        let mut parts = name.splitn(3, '-');
        let (generation, run, number) = (parts.next()?, parts.next()?, parts.next()?);
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        RunId::parse(run)?;
        Some((Chain { generation: digits(generation)?, run: run.to_owned() }, digits(number)?))
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08}-{}", self.generation, self.run)
    }
}

/// All chains, each with the sizes of its objects by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Chains(BTreeMap<Chain, BTreeMap<u64, u64>>);

impl Chains {
    pub(super) fn of(companions: Vec<Companion>) -> Self {
        let mut chains: BTreeMap<Chain, BTreeMap<u64, u64>> = BTreeMap::new();
        for companion in companions {
            // What somebody else has put there is none of ours.
            if let Some((chain, number)) = Chain::parse(&companion.name) {
                chains.entry(chain).or_default().insert(number, companion.size);
            }
        }
        Chains(chains)
    }

    /// All, oldest first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Chain> {
        self.0.keys()
    }

    /// Those that have their beginning, oldest first. Of the others only an end is left, or litter.
    pub(super) fn started(&self) -> impl Iterator<Item = &Chain> {
        self.0.iter().filter(|(_, numbers)| numbers.contains_key(&0)).map(|(chain, _)| chain)
    }

    /// Those that something can still be added to, with the number of what comes next.
    pub(super) fn open(&self) -> impl Iterator<Item = (&Chain, u64)> {
        self.started().filter(|chain| self.fence(chain).is_none()).filter_map(|chain| Some((chain, self.end(chain)?)))
    }

    /// The number at which a chain ends, whether or not somebody has ended it.
    pub(super) fn end(&self, chain: &Chain) -> Option<u64> {
        let last = self.data(chain).last();
        last.map(|last| last + 1).or_else(|| self.fence(chain))
    }

    /// The numbers of objects that say something.
    pub(super) fn data(&self, chain: &Chain) -> impl Iterator<Item = u64> {
        self.0.get(chain).into_iter().flatten().filter(|(_, size)| **size > 0).map(|(number, _)| *number)
    }

    /// The number at which somebody has ended a chain.
    pub(super) fn fence(&self, chain: &Chain) -> Option<u64> {
        let (number, size) = self.0.get(chain)?.last_key_value()?;
        (*size == 0).then_some(*number)
    }

    /// A chain that comes after all of these.
    pub(super) fn next(&self, run: RunId) -> Chain {
        let last = self.0.last_key_value().map_or(0, |(chain, _)| chain.generation);
        Chain { generation: last + 1, run: run.to_string() }
    }
}
