//! Randomness for making keys: as many bytes as wanted from one seed that was asked for outside.

use rsa::rand_core::{CryptoRng, Error, RngCore};
use sha2::{Digest as _, Sha512};

use crate::kit::outside::{Randomness, RandomnessError};

/// Bytes that follow from a seed and that nobody can guess who does not know it: hashes of the seed with a counter.
/// Unlike the source outside, this cannot fail half way through making a key.
pub(super) struct Seeded {
    seed: [u8; 64],
    counter: u64,
    block: [u8; 64],
    used: usize,
}

impl Seeded {
    /// Takes a seed.
    pub(super) fn from(randomness: &dyn Randomness) -> Result<Self, RandomnessError> {
        let mut seed = [0; 64];
        randomness.fill(&mut seed)?;
        Ok(Self { seed, counter: 0, block: [0; 64], used: 64 })
    }
}

impl RngCore for Seeded {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.fill_bytes(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill_bytes(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn fill_bytes(&mut self, out: &mut [u8]) {
        for byte in out {
            if self.used == self.block.len() {
                let hash = Sha512::new().chain_update(self.seed).chain_update(self.counter.to_be_bytes()).finalize();
                self.block.copy_from_slice(&hash);
                self.counter += 1;
                self.used = 0;
            }
            *byte = self.block[self.used];
            self.used += 1;
        }
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(out);
        Ok(())
    }
}

impl CryptoRng for Seeded {}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl Randomness for Fixed {
        fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessError> {
            bytes.fill(7);
            Ok(())
        }
    }

    #[test]
    fn bytes_do_not_repeat_and_follow_from_the_seed() {
        let mut first = [0; 1000];
        Seeded::from(&Fixed).unwrap().fill_bytes(&mut first);
        let mut second = [0; 1000];
        Seeded::from(&Fixed).unwrap().fill_bytes(&mut second);
        assert_eq!(first, second);
        assert!(first.chunks_exact(8).collect::<std::collections::BTreeSet<_>>().len() == 125);
    }
}
