//! IP addresses and networks: reading, printing and arithmetic. Leading zeros in IPv4 addresses are accepted and mean nothing.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use num_bigint::{BigInt, BigUint};

/// An address, IPv4 or IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address {
    bits: u128,
    width: u32,
}

/// A network: an address whose host bits are zero, and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Network {
    address: Address,
    length: u32,
}

impl Address {
    /// Reads an address; the first dot or colon tells its kind.
    pub(super) fn parse(text: &str) -> Option<Address> {
        match text.chars().find(|c| matches!(c, '.' | ':'))? {
            '.' => parse_v4(text),
            _ => parse_v6(text),
        }
    }

    /// Whether it is IPv4, be it written as IPv6.
    pub(super) fn is_v4(self) -> bool {
        self.as_v4().is_some()
    }

    fn as_v4(self) -> Option<Ipv4Addr> {
        match self.width {
            32 => Some(Ipv4Addr::from_bits(self.bits as u32)),
            _ => Ipv6Addr::from_bits(self.bits).to_ipv4_mapped(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_v4() {
            Some(v4) => v4.fmt(f),
            None => Ipv6Addr::from_bits(self.bits).fmt(f),
        }
    }
}

fn parse_v4(text: &str) -> Option<Address> {
    let mut bits = 0u128;
    let mut count = 0;
    for part in text.split('.') {
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let value: u8 = match part.trim_start_matches('0') {
            "" => 0,
            digits => digits.parse().ok()?,
        };
        bits = bits << 8 | u128::from(value);
        count += 1;
    }
    (count == 4).then_some(Address { bits, width: 32 })
}

fn parse_v6(text: &str) -> Option<Address> {
    // An IPv4 address at the end may have leading zeros, too.
    let text = match text.rfind(':') {
        Some(at) if text[at..].contains('.') => {
            let v4 = parse_v4(&text[at + 1..])?;
            format!("{}{}", &text[..=at], Ipv4Addr::from_bits(v4.bits as u32))
        }
        _ => text.to_owned(),
    };
    let bits = shortened_groups(&text).parse::<Ipv6Addr>().ok()?.to_bits();
    Some(Address { bits, width: 128 })
}

/// Groups with more than four digits are fine as long as the leading ones are zeros.
fn shortened_groups(text: &str) -> String {
    let short = |group: &str| {
        let trimmed = group.trim_start_matches('0');
        if group.len() > 4 && trimmed.len() <= 4 && !group.contains('.') {
            format!("{trimmed:0>1}")
        } else {
            group.to_owned()
        }
    };
    text.split(':').map(short).collect::<Vec<_>>().join(":")
}

impl Network {
    /// The network of that prefix length that an address is in.
    pub(super) fn new(address: Address, length: u32) -> Network {
        let bits = address.bits & !host_mask(address.width, length);
        Network { address: Address { bits, ..address }, length }
    }

    /// Reads `address/length`.
    pub(super) fn parse(text: &str) -> Option<Network> {
        let (address, length) = text.split_once('/')?;
        let address = parse_v4(address).or_else(|| parse_v6(address))?;
        if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let length: u32 = length.parse().ok().filter(|length| *length <= address.width)?;
        Some(Network::new(address, length))
    }

    /// How many bits addresses have.
    pub(super) fn width(self) -> u32 {
        self.address.width
    }

    /// How many bits the prefix has.
    pub(super) fn length(self) -> u32 {
        self.length
    }

    /// The first address.
    pub(super) fn first(self) -> Address {
        self.address
    }

    /// The last address.
    pub(super) fn last(self) -> Address {
        Address { bits: self.address.bits | host_mask(self.width(), self.length), ..self.address }
    }

    /// Whether an address lies in it.
    pub(super) fn contains(self, address: Address) -> bool {
        match (self.address.as_v4(), address.as_v4()) {
            (Some(own), Some(other)) => {
                let length = if self.width() == 32 { self.length } else { self.length.saturating_sub(96) };
                let mask = !(host_mask(32, length) as u32);
                own.to_bits() & mask == other.to_bits() & mask
            }
            (None, None) => address.bits & !host_mask(128, self.length) == self.address.bits,
            _ => false,
        }
    }

    /// The mask, if this is an IPv4 network.
    pub(super) fn mask_v4(self) -> Option<Ipv4Addr> {
        self.address.as_v4()?;
        let length = if self.width() == 32 { self.length } else { self.length.saturating_sub(96) };
        Some(Ipv4Addr::from_bits(!(host_mask(32, length) as u32)))
    }

    /// The first address with some more bits set; none if there is no room for them.
    pub(super) fn with_bits(self, bits: &BigInt) -> Option<Address> {
        let combined = BigInt::from(self.address.bits) | bits;
        let magnitude: &BigUint = combined.magnitude();
        if magnitude.bits() > u64::from(self.width()) {
            return None;
        }
        let value = magnitude.iter_u64_digits().rev().fold(0u128, |value, digit| value << 64 | u128::from(digit));
        Some(Address { bits: value, ..self.address })
    }

    /// The network of that prefix length that ends where this one begins.
    pub(super) fn previous(self, length: u32) -> Network {
        let bits = self.address.bits.wrapping_sub(1) & all_ones(self.width());
        Network::new(Address { bits, ..self.address }, length)
    }

    /// The next network of that prefix length that begins after this one ends; none after the last.
    pub(super) fn next(self, length: u32) -> Option<Network> {
        let last = Network::new(self.last(), length).last();
        let bits = last.bits.wrapping_add(1) & all_ones(self.width());
        (bits != 0).then(|| Network::new(Address { bits, ..last }, length))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mapped = self.width() == 128 && self.address.is_v4();
        let length = if mapped { self.length.saturating_sub(96) } else { self.length };
        write!(f, "{}/{length}", self.address)
    }
}

fn all_ones(width: u32) -> u128 {
    u128::MAX.checked_shr(128 - width).unwrap_or(0)
}

fn host_mask(width: u32, length: u32) -> u128 {
    all_ones(width).checked_shr(length).unwrap_or(0)
}
