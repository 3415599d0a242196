//! The bytes against those of Go, by length and checksum (`tests/oracles/gzip` makes the table).

use super::{compress, decompress};

const WORDS: [&str; 16] = [
    "resource ",
    "variable ",
    "\"aws_instance\" ",
    "{\n  ",
    "}\n",
    "name = ",
    "= ",
    "\"web\"\n",
    "#!/bin/bash\n",
    "apt-get install -y ",
    "nginx ",
    "echo hello\n",
    "true",
    "false",
    "ünïcödé ",
    "0123456789",
];

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as usize
    }
}

fn input(kind: &str, seed: usize, size: usize) -> Vec<u8> {
    let mut rng = Rng(seed as u64 * 2_654_435_761 + 88_172_645_463_325_252);
    let mut out = Vec::new();
    while out.len() < size {
        match kind {
            "random" => out.push(rng.next() as u8),
            "letters" => out.push(b'a' + rng.next() as u8 % 16),
            "words" => out.extend_from_slice(WORDS[rng.next() % WORDS.len()].as_bytes()),
            "same" => out.push(b'x'),
            "period" => out.push((out.len() % (seed + 2)) as u8),
            "skewed" => {
                let value = rng.next();
                out.push((value & (value >> 8) & (value >> 16)) as u8);
            }
            "mixed" => {
                if rng.next().is_multiple_of(3) && out.len() > 300 {
                    let from = rng.next() % (out.len() - 260);
                    let length = rng.next() % 258;
                    out.extend_from_within(from..from + length);
                }
                for _ in 0..rng.next() % 20 {
                    out.push(rng.next() as u8);
                }
            }
            _ => panic!("unknown kind {kind}"),
        }
    }
    out
}

#[test]
fn the_bytes_are_those_of_go() {
    let table = include_str!("../../../../../../tests/oracles/gzip/expected.txt");
    let mut wrong = Vec::new();
    for line in table.lines() {
        let [kind, seed, size, length, checksum] = *line.split(' ').collect::<Vec<_>>() else { panic!("{line}") };
        let input = input(kind, seed.parse().unwrap(), size.parse().unwrap());
        let packed = compress(&input);
        let mut crc = flate2::Crc::new();
        crc.update(&packed);
        if packed.len().to_string() != length || format!("{:08x}", crc.sum()) != checksum {
            wrong.push(format!("{line}: got {} {:08x}", packed.len(), crc.sum()));
        }
        assert!(decompress(&packed).unwrap() == input, "{line}: unpacks to something else");
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn broken_streams_are_errors() {
    assert!(decompress(b"").is_err());
    assert!(decompress(b"not gzip at all").is_err());
    let mut packed = compress(b"hello");
    let last = packed.len() - 1;
    packed[last] ^= 1;
    assert!(decompress(&packed).is_err());
}
