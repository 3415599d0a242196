//! Ranges of addresses, as people write them: `10.96.0.0/12`, `fd00::/8`, or one address alone.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    base: IpAddr,
    bits: u8,
}

/// A text that is no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// It is nothing like it.
    #[error("{0:?} is no range of addresses; write it as 10.96.0.0/12 or fd00::/8, or as one address")]
    Format(String),
    /// The address has more in it than the range.
    #[error("{0} has more bits set than its first {1}; the range is {2}")]
    Beyond(String, u8, Range),
}

impl Range {
    /// One address.
    pub fn only(address: IpAddr) -> Self {
        Self { base: address, bits: width(address) }
    }

    /// How many bits are the same for all addresses.
    pub(crate) fn bits(&self) -> u8 {
        self.bits
    }

    /// Whether an address is in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.base, address) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                same(u128::from(base.to_bits()), u128::from(address.to_bits()), 32 - self.bits)
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => same(base.to_bits(), address.to_bits(), 128 - self.bits),
            _ => false,
        }
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Whether two numbers are the same without so many of their last bits.
fn same(one: u128, other: u128, last: u8) -> bool {
    // All of them are more than can be shifted.
    one.checked_shr(u32::from(last)).unwrap_or(0) == other.checked_shr(u32::from(last)).unwrap_or(0)
}

impl FromStr for Range {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let wrong = || RangeError::Format(text.to_owned());
        let (address, bits) =
            text.trim().split_once('/').map_or((text.trim(), None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.trim_matches(['[', ']']).parse().map_err(|_| wrong())?;
        let bits = match bits {
            None => width(address),
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= width(address)).ok_or_else(wrong)?,
        };
        let base = cut(address, bits);
        let range = Self { base, bits };
        if base == address { Ok(range) } else { Err(RangeError::Beyond(text.to_owned(), bits, range)) }
    }
}

/// The first address with the same first bits.
fn cut(address: IpAddr, bits: u8) -> IpAddr {
    let last = u32::from(width(address) - bits);
    match address {
        IpAddr::V4(address) => {
            IpAddr::V4(address.to_bits().checked_shr(last).and_then(|kept| kept.checked_shl(last)).unwrap_or(0).into())
        }
        IpAddr::V6(address) => {
            IpAddr::V6(address.to_bits().checked_shr(last).and_then(|kept| kept.checked_shl(last)).unwrap_or(0).into())
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.bits)
    }
}
