//! The numbers that Go's `math/rand` gives for a seed, so that a seed gives what the published plugin gives.
//!
//! It adds up two of the last 607 numbers, 273 apart. A seed fills those 607 by a smaller generator, mixed with a table.

mod table;

use table::MIXED_IN;

const LONG: usize = 607;
const SHORT: usize = 273;
const PRIME: i64 = (1 << 31) - 1;

/// A generator with a seed.
pub struct GoRand {
    numbers: Vec<u64>,
    added: usize,
    replaced: usize,
}

impl GoRand {
    /// From a text, by its checksum.
    pub(crate) fn seeded(seed: &str) -> Self {
        Self::new(checksum(seed.as_bytes()) as i64)
    }

    /// From a number.
    pub fn new(seed: i64) -> Self {
        let mut small = match seed.rem_euclid(PRIME) {
            0 => 89_482_311,
            seed => seed,
        };
        let mut next = || {
            small = small * 48_271 % PRIME;
            small as u64
        };
        for _ in 0..20 {
            next();
        }
        let mut filled = |mixed_in: &u64| {
            let (high, middle, low) = (next(), next(), next());
            (high << 40) ^ (middle << 20) ^ low ^ mixed_in
        };
        Self { numbers: MIXED_IN.iter().map(&mut filled).collect(), added: 0, replaced: LONG - SHORT }
    }

    fn word(&mut self) -> u64 {
        let back = |at: usize| if at == 0 { LONG - 1 } else { at - 1 };
        (self.added, self.replaced) = (back(self.added), back(self.replaced));
        let sum = self.numbers[self.replaced].wrapping_add(self.numbers[self.added]);
        self.numbers[self.replaced] = sum;
        sum
    }

    /// 63 bits.
    fn long(&mut self) -> i64 {
        (self.word() & (u64::MAX >> 1)) as i64
    }

    /// 31 bits.
    fn short(&mut self) -> i64 {
        self.long() >> 32
    }

    /// A number below the limit, which must not be below 1.
    pub fn below(&mut self, limit: i64) -> i64 {
        let limit = limit.max(1);
        let (bits, draw): (u32, fn(&mut Self) -> i64) =
            if limit < 1 << 31 { (31, Self::short) } else { (63, Self::long) };
        if limit & (limit - 1) == 0 {
            return draw(self) & (limit - 1);
        }
        let numbers = 1_u64 << bits;
        let largest = (numbers - 1 - numbers % limit as u64) as i64;
        loop {
            let number = draw(self);
            if number <= largest {
                return number % limit;
            }
        }
    }

    /// The numbers below `count` in some order.
    pub(crate) fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order = vec![0; count];
        for at in 0..count {
            let other = usize::try_from(self.below(at as i64 + 1)).unwrap_or(0);
            order[at] = order[other];
            order[other] = at;
        }
        order
    }
}

/// CRC-64 with the polynomial of ISO 3309.
fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = u64::MAX;
    for byte in bytes {
        sum ^= u64::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xd800_0000_0000_0000 } else { sum >> 1 };
        }
    }
    !sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seeds_give_what_go_gives() {
        type Expected<'a> = (&'a str, i64, [usize; 7], (i64, i64, i64), [usize; 3]);
        let expected: [Expected<'_>; 5] = [
            ("12345", 5_018_153_484_283_805_696, [4, 5, 0, 6, 3, 2, 1], (252, 274_706_920_729, 33), [2, 0, 1]),
            ("123456", 5_149_202_137_622_978_560, [0, 3, 2, 5, 6, 1, 4], (773, 297_509_155_279, 30), [0, 2, 1]),
            ("-", 6_007_801_902_912_241_664, [0, 5, 1, 4, 6, 2, 3], (173, 906_005_235_359, 47), [0, 1, 2]),
            ("hello", 4_341_169_748_886_683_648, [2, 4, 3, 1, 5, 6, 0], (921, 937_529_414_352, 0), [1, 0, 2]),
            ("Über", 3_297_433_546_494_312_448, [5, 4, 1, 3, 2, 0, 6], (901, 370_899_605_152, 54), [2, 0, 1]),
        ];
        for (seed, sum, first, numbers, last) in expected {
            assert_eq!(checksum(seed.as_bytes()) as i64, sum);
            let mut go = GoRand::seeded(seed);
            assert_eq!(go.permutation(7), first);
            assert_eq!((go.below(1000), go.below(1 << 40), go.below(64)), numbers);
            assert_eq!(go.permutation(3), last);
        }
    }

    proptest! {
        #[test]
        fn numbers_stay_below_the_limit(seed: String, limit in 1_i64..i64::MAX) {
            let mut go = GoRand::seeded(&seed);
            for _ in 0..10 {
                prop_assert!((0..limit).contains(&go.below(limit)));
            }
        }

        #[test]
        fn permutations_are_complete(seed: String, count in 0_usize..200) {
            let mut order = GoRand::seeded(&seed).permutation(count);
            order.sort_unstable();
            prop_assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }
}
