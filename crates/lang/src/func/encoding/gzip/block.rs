//! Writing tokens as blocks: stored, with the fixed codes or with codes of their own, whichever takes the fewest bits.

use super::codes::{Code, best_codes, canonical};

/// A literal byte or a repetition of earlier bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Token {
    Literal(u8),
    Match { length: u16, distance: u16 },
}

const END_OF_BLOCK: usize = 256;
const LITERALS: usize = 286;
const DISTANCES: usize = 30;
/// The largest block that can be stored as it is.
const MAX_STORED: usize = 65535;

/// How code lengths are coded: 0 to 15 are lengths, the rest repeat.
const REPEAT_LAST: u8 = 16;
const FEW_ZEROS: u8 = 17;
const MANY_ZEROS: u8 = 18;
/// The order in which the lengths of those codes are written.
const LENGTH_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// A symbol for a length or distance, with the rest of it in extra bits.
struct Symbol {
    code: usize,
    extra: u32,
    extra_bits: u32,
}

/// The symbol for a match length (257 and up).
fn length_symbol(length: u16) -> Symbol {
    match u32::from(length) - 3 {
        255 => Symbol { code: 285, extra: 0, extra_bits: 0 },
        value @ 0..=7 => Symbol { code: 257 + value as usize, extra: 0, extra_bits: 0 },
        value => {
            let extra_bits = value.ilog2() - 2;
            let code = 257 + 4 * (extra_bits as usize) + (value >> extra_bits) as usize;
            Symbol { code, extra: value & ((1 << extra_bits) - 1), extra_bits }
        }
    }
}

fn distance_symbol(distance: u16) -> Symbol {
    match u32::from(distance) - 1 {
        value @ 0..=3 => Symbol { code: value as usize, extra: 0, extra_bits: 0 },
        value => {
            let extra_bits = value.ilog2() - 1;
            let code = 2 * (extra_bits as usize) + (value >> extra_bits) as usize;
            Symbol { code, extra: value & ((1 << extra_bits) - 1), extra_bits }
        }
    }
}

/// A pair of codes, and how often each of their symbols occurs.
struct Codes {
    literals: Vec<Code>,
    distances: Vec<Code>,
}

impl Codes {
    fn fixed() -> Self {
        let lengths = |symbol: usize| match symbol {
            0..=143 => 8,
            144..=255 => 9,
            256..=279 => 7,
            _ => 8,
        };
        // The last two literal symbols are never used, but have a place in the code.
        let literals: Vec<u8> = (0..288).map(lengths).collect();
        Self { literals: canonical(&literals), distances: canonical(&[5; DISTANCES]) }
    }

    fn size(&self, frequencies: &Frequencies) -> usize {
        cost(&self.literals, &frequencies.literals) + cost(&self.distances, &frequencies.distances)
    }
}

fn cost(codes: &[Code], frequencies: &[u32]) -> usize {
    codes.iter().zip(frequencies).map(|(code, frequency)| usize::from(code.length) * *frequency as usize).sum()
}

struct Frequencies {
    literals: [u32; LITERALS],
    distances: [u32; DISTANCES],
    extra_bits: usize,
}

impl Frequencies {
    fn of(tokens: &[Token]) -> Self {
        let mut this = Self { literals: [0; LITERALS], distances: [0; DISTANCES], extra_bits: 0 };
        for token in tokens {
            match *token {
                Token::Literal(byte) => this.literals[usize::from(byte)] += 1,
                Token::Match { length, distance } => {
                    let (length, distance) = (length_symbol(length), distance_symbol(distance));
                    this.literals[length.code] += 1;
                    this.distances[distance.code] += 1;
                    this.extra_bits += (length.extra_bits + distance.extra_bits) as usize;
                }
            }
        }
        this.literals[END_OF_BLOCK] += 1;
        if this.distances.iter().all(|frequency| *frequency == 0) {
            // A code needs at least one symbol.
            this.distances[0] = 1;
        }
        this
    }
}

/// What comes before the tokens of a block with codes of its own.
struct DynamicHeader {
    literal_count: usize,
    distance_count: usize,
    length_codes: Vec<Code>,
    length_code_count: usize,
    /// Lengths and repetitions, each with its extra bits.
    lengths: Vec<(u8, u32, u32)>,
}

impl DynamicHeader {
    fn of(codes: &Codes) -> Self {
        let used = |codes: &[Code]| codes.iter().rposition(|code| code.length > 0).map_or(0, |last| last + 1);
        let (literal_count, distance_count) = (used(&codes.literals), used(&codes.distances));
        let all: Vec<u8> = codes.literals[..literal_count]
            .iter()
            .chain(&codes.distances[..distance_count])
            .map(|code| code.length)
            .collect();
        let lengths = run_lengths(&all);
        let mut frequencies = [0u32; 19];
        for (symbol, ..) in &lengths {
            frequencies[usize::from(*symbol)] += 1;
        }
        let last_used = LENGTH_ORDER.iter().rposition(|symbol| frequencies[*symbol] > 0).unwrap_or(0);
        Self {
            literal_count,
            distance_count,
            length_codes: best_codes(&frequencies, 7),
            length_code_count: (last_used + 1).max(4),
            lengths,
        }
    }

    fn size(&self) -> usize {
        let lengths = self.lengths.iter().map(|(symbol, _, extra_bits)| {
            usize::from(self.length_codes[usize::from(*symbol)].length) + *extra_bits as usize
        });
        3 + 5 + 5 + 4 + 3 * self.length_code_count + lengths.sum::<usize>()
    }
}

/// Code lengths with runs shortened.
fn run_lengths(lengths: &[u8]) -> Vec<(u8, u32, u32)> {
    let mut out = Vec::new();
    for run in lengths.chunk_by(|a, b| a == b) {
        let length = run[0];
        let mut count = run.len();
        if length == 0 {
            while count >= 11 {
                let taken = count.min(138);
                out.push((MANY_ZEROS, (taken - 11) as u32, 7));
                count -= taken;
            }
            if count >= 3 {
                out.push((FEW_ZEROS, (count - 3) as u32, 3));
                count = 0;
            }
        } else {
            out.push((length, 0, 0));
            count -= 1;
            while count >= 3 {
                let taken = count.min(6);
                out.push((REPEAT_LAST, (taken - 3) as u32, 2));
                count -= taken;
            }
        }
        out.extend(std::iter::repeat_n((length, 0, 0), count));
    }
    out
}

/// Writes blocks, bit by bit.
pub(super) struct BlockWriter {
    out: Vec<u8>,
    bits: u64,
    bit_count: u32,
    fixed: Codes,
}

impl BlockWriter {
    /// Writes after what is there already.
    pub(super) fn new(out: Vec<u8>) -> Self {
        Self { out, bits: 0, bit_count: 0, fixed: Codes::fixed() }
    }

    /// The bytes, the last one filled up.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.align();
        self.out
    }

    /// Writes a block in the shortest form. `bytes` are what the tokens stand for, if they are still at hand.
    pub(super) fn block(&mut self, tokens: &[Token], bytes: Option<&[u8]>) {
        let frequencies = Frequencies::of(tokens);
        let own = Codes {
            literals: best_codes(&frequencies.literals, 15),
            distances: best_codes(&frequencies.distances, 15),
        };
        let header = DynamicHeader::of(&own);
        let fixed_size = 3 + self.fixed.size(&frequencies);
        let own_size = header.size() + own.size(&frequencies);
        // Extra bits are the same in both forms, but not in a stored block.
        let size = fixed_size.min(own_size) + frequencies.extra_bits;
        if let Some(bytes) = bytes.filter(|bytes| bytes.len() <= MAX_STORED && (bytes.len() + 5) * 8 < size) {
            self.stored(bytes, false);
        } else if own_size < fixed_size {
            self.dynamic_header(&header);
            self.tokens(tokens, &own);
        } else {
            self.put(0b010, 3);
            let fixed = std::mem::replace(&mut self.fixed, Codes { literals: Vec::new(), distances: Vec::new() });
            self.tokens(tokens, &fixed);
            self.fixed = fixed;
        }
    }

    /// Writes bytes as they are.
    pub(super) fn stored(&mut self, bytes: &[u8], last: bool) {
        self.put(u32::from(last), 3);
        self.align();
        let length = bytes.len() as u16;
        self.out.extend_from_slice(&length.to_le_bytes());
        self.out.extend_from_slice(&(!length).to_le_bytes());
        self.out.extend_from_slice(bytes);
    }

    fn dynamic_header(&mut self, header: &DynamicHeader) {
        self.put(0b100, 3);
        self.put((header.literal_count - 257) as u32, 5);
        self.put((header.distance_count - 1) as u32, 5);
        self.put((header.length_code_count - 4) as u32, 4);
        for symbol in &LENGTH_ORDER[..header.length_code_count] {
            self.put(u32::from(header.length_codes[*symbol].length), 3);
        }
        for (symbol, extra, extra_bits) in &header.lengths {
            self.code(header.length_codes[usize::from(*symbol)]);
            self.put(*extra, *extra_bits);
        }
    }

    fn tokens(&mut self, tokens: &[Token], codes: &Codes) {
        for token in tokens {
            match *token {
                Token::Literal(byte) => self.code(codes.literals[usize::from(byte)]),
                Token::Match { length, distance } => {
                    let (length, distance) = (length_symbol(length), distance_symbol(distance));
                    self.code(codes.literals[length.code]);
                    self.put(length.extra, length.extra_bits);
                    self.code(codes.distances[distance.code]);
                    self.put(distance.extra, distance.extra_bits);
                }
            }
        }
        self.code(codes.literals[END_OF_BLOCK]);
    }

    fn code(&mut self, code: Code) {
        self.put(u32::from(code.bits), u32::from(code.length));
    }

    fn put(&mut self, bits: u32, count: u32) {
        self.bits |= u64::from(bits) << self.bit_count;
        self.bit_count += count;
        while self.bit_count >= 8 {
            self.out.push(self.bits as u8);
            self.bits >>= 8;
            self.bit_count -= 8;
        }
    }

    fn align(&mut self) {
        if self.bit_count > 0 {
            self.out.push(self.bits as u8);
        }
        self.bits = 0;
        self.bit_count = 0;
    }
}
