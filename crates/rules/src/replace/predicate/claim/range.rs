//! Ranges of network addresses.

use std::net::IpAddr;

/// `10.0.0.0/16`, of either version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    first: u128,
    last: u128,
    v6: bool,
}

impl Range {
    /// None if it is something else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let length: u32 = length.parse().ok()?;
        let (bits, number, v6) = match address.parse().ok()? {
            IpAddr::V4(address) => (32_u32, u128::from(address.to_bits()), false),
            IpAddr::V6(address) => (128, address.to_bits(), true),
        };
        let host = bits.checked_sub(length)?;
        let mask = if host == 128 { u128::MAX } else { (1 << host) - 1 };
        Some(Self { first: number & !mask, last: number | mask, v6 })
    }

    /// Whether some address is in both.
    pub(super) fn overlaps(&self, other: &Range) -> bool {
        self.v6 == other.v6 && self.first <= other.last && other.first <= self.last
    }
}
