//! Huffman codes: lengths by package-merge, codes in canonical order.

/// A code, lowest bit first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) bits: u16,
    pub(super) length: u8,
}

/// The best code for these frequencies in which no symbol takes more than `max_length` bits.
pub(super) fn best_codes(frequencies: &[u32], max_length: usize) -> Vec<Code> {
    let mut symbols: Vec<usize> = (0..frequencies.len()).filter(|symbol| frequencies[*symbol] > 0).collect();
    let mut lengths = vec![0u8; frequencies.len()];
    if symbols.len() <= 2 {
        for symbol in symbols {
            lengths[symbol] = 1;
        }
        return canonical(&lengths);
    }
    symbols.sort_by_key(|symbol| (frequencies[*symbol], *symbol));
    let leaves: Vec<u32> = symbols.iter().map(|symbol| frequencies[*symbol]).collect();
    // At every depth the rarest symbols are the ones that go deeper still.
    for deeper in leaves_per_depth(&leaves, max_length.min(leaves.len() - 1)) {
        for symbol in &symbols[..deeper] {
            lengths[*symbol] += 1;
        }
    }
    canonical(&lengths)
}

/// How many of the (sorted) leaves have at least one bit, at least two bits, and so on.
fn leaves_per_depth(leaves: &[u32], max_length: usize) -> Vec<usize> {
    // Every row is the leaves merged with the pairs of the row before; an item is its weight and whether it is a leaf.
    let mut rows: Vec<Vec<(u32, bool)>> = vec![leaves.iter().map(|weight| (*weight, true)).collect()];
    for _ in 1..max_length {
        let last = rows.last().map_or(&[][..], Vec::as_slice);
        let pairs: Vec<u32> = last.chunks_exact(2).map(|pair| pair[0].0 + pair[1].0).collect();
        rows.push(merge(leaves, &pairs));
    }
    let mut wanted = 2 * leaves.len() - 2;
    let mut counts = Vec::with_capacity(max_length);
    for row in rows.iter().rev() {
        let taken = &row[..wanted.min(row.len())];
        let leaf_count = taken.iter().filter(|(_, leaf)| *leaf).count();
        counts.push(leaf_count);
        wanted = 2 * (taken.len() - leaf_count);
    }
    counts
}

/// Both in order of weight; of equal weights a pair comes before a leaf.
fn merge(leaves: &[u32], pairs: &[u32]) -> Vec<(u32, bool)> {
    let mut merged = Vec::with_capacity(leaves.len() + pairs.len());
    let (mut leaf, mut pair) = (0, 0);
    loop {
        match (leaves.get(leaf), pairs.get(pair)) {
            (Some(weight), next) if next.is_none_or(|next| weight < next) => {
                merged.push((*weight, true));
                leaf += 1;
            }
            (_, Some(weight)) => {
                merged.push((*weight, false));
                pair += 1;
            }
            _ => return merged,
        }
    }
}

/// Codes for lengths: shorter ones first, symbols of equal length in order.
pub(super) fn canonical(lengths: &[u8]) -> Vec<Code> {
    let mut codes = vec![Code::default(); lengths.len()];
    let mut next = 0u16;
    for length in 1..=15u8 {
        next <<= 1;
        for (symbol, _) in lengths.iter().enumerate().filter(|(_, own)| **own == length) {
            codes[symbol] = Code { bits: next.reverse_bits() >> (16 - length), length };
            next += 1;
        }
    }
    codes
}
