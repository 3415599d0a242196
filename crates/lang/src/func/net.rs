//! Functions on IP networks in CIDR notation.

mod network;

use groma_model::ty::Type;
use groma_model::value::Value;
use num_bigint::{BigInt, Sign};

use super::support::{Outcome, integer, number, number_param, text, text_param};
use super::{CallContext, Function, FunctionError};
use network::{Address, Network};

/// Prefixes may not be extended by more in `cidrsubnets`.
const MAX_EXTENSION: i64 = 32;

/// The functions of this group.
pub(super) fn functions() -> Vec<Function> {
    let prefix = || text_param("prefix").about("A network, such as `10.0.0.0/16`.");
    vec![
        Function::new(
            "cidrcontains",
            "Tells whether an address or network lies in another network.",
            vec![
                text_param("containing_prefix").about("The network that may contain it."),
                text_param("contained_ip_or_prefix").about("The address or network that may be contained."),
            ],
            Type::Bool,
            contains,
        )
        .or_null(),
        Function::new(
            "cidrhost",
            "The address of a host in a network, by its number.",
            vec![prefix(), number_param("hostnum").about("The number of the host; counted from the end if negative.")],
            Type::String,
            host,
        ),
        Function::new(
            "cidrnetmask",
            "The mask of an IPv4 network, written as an address.",
            vec![prefix()],
            Type::String,
            netmask,
        ),
        Function::new(
            "cidrsubnet",
            "A part of a network, by the length of its prefix and its number.",
            vec![
                prefix(),
                number_param("newbits").about("How many bits to add to the prefix."),
                number_param("netnum").about("The number of the part."),
            ],
            Type::String,
            subnet,
        ),
        Function::new(
            "cidrsubnets",
            "Parts of a network, one after the other, by the lengths of their prefixes.",
            vec![prefix()],
            Type::list(Type::String),
            subnets,
        )
        .rest(number_param("newbits").about("How many bits to add to the prefix for each part.")),
    ]
}

fn parse_network(text: &str) -> Result<Network, String> {
    Network::parse(text).ok_or_else(|| format!("invalid CIDR address: {text}"))
}

fn network_argument(args: &[Value]) -> Result<Network, FunctionError> {
    parse_network(text(args, 0)).map_err(|problem| FunctionError::new(format!("invalid CIDR expression: {problem}")))
}

fn whole_number(args: &[Value], at: usize) -> Result<BigInt, FunctionError> {
    number(args, at).to_bigint().ok_or_else(|| FunctionError::new("value must be a whole number"))
}

fn contains(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let (prefix, inner) = (text(args, 0), text(args, 1));
    let network = parse_network(prefix).map_err(FunctionError::new)?;
    let (first, last) = match Address::parse(inner) {
        Some(address) => (address, address),
        None => match Network::parse(inner) {
            Some(inner) => (inner.first(), inner.last()),
            None => return Err(FunctionError::new(format!("invalid IP address or prefix: {inner}"))),
        },
    };
    if first.is_v4() != network.first().is_v4() {
        return Err(FunctionError::new(format!("address family mismatch: {prefix} vs. {inner}")));
    }
    Ok(Value::bool(network.contains(first) && network.contains(last)))
}

fn host(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let mut wanted = whole_number(args, 1)?;
    let network = network_argument(args)?;
    let host_bits = network.width() - network.length();
    let max = (BigInt::from(1) << host_bits) - 1;
    // Only the lowest bits are compared with the limit, as other tools do.
    let low_bits = wanted.iter_u64_digits().next().unwrap_or(0) as i64;
    let mut compared = BigInt::from(low_bits);
    if wanted.sign() == Sign::Minus {
        compared = -wanted - 1;
        wanted = &max - &compared;
    }
    // IPv4 addresses in IPv6 clothes are treated as short ones, but have their bits elsewhere. So be it.
    let shift = if network.width() == 128 && network.first().is_v4() { 96 } else { 0 };
    let address = (compared <= max).then(|| network.with_bits(&(&wanted << shift))).flatten();
    let Some(address) = address else {
        let length = network.length();
        return Err(FunctionError::new(format!("prefix of {length} does not accommodate a host numbered {wanted}")));
    };
    Ok(Value::string(address.to_string()))
}

fn netmask(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let network = network_argument(args)?;
    let Some(mask) = network.mask_v4() else {
        let prefix = text(args, 0);
        return Err(FunctionError::new(format!("IPv6 addresses cannot have a netmask: {prefix}")));
    };
    Ok(Value::string(mask.to_string()))
}

fn subnet(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let new_bits = integer(args, 1)?;
    let wanted = whole_number(args, 2)?;
    let network = network_argument(args)?;
    let old_length = network.length();
    let length = i64::from(old_length).checked_add(new_bits).filter(|length| *length <= network.width().into());
    let Some(length) = length else {
        let message = format!("insufficient address space to extend prefix of {old_length} by {new_bits}");
        return Err(FunctionError::new(message));
    };
    let max = u32::try_from(new_bits).ok().and_then(|bits| 1u64.checked_shl(bits)).map_or(u64::MAX, |count| count - 1);
    let low_bits = wanted.iter_u64_digits().next().unwrap_or(0);
    let found = u32::try_from(length).ok().filter(|_| low_bits <= max).and_then(|length| {
        let address = network.with_bits(&(&wanted << (network.width() - length)))?;
        Some(Network::new(address, length))
    });
    match found {
        Some(found) => Ok(Value::string(found.to_string())),
        None => Err(FunctionError::new(format!(
            "prefix extension of {new_bits} does not accommodate a subnet numbered {wanted}"
        ))),
    }
}

fn subnets(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let network = parse_network(text(args, 0))
        .map_err(|problem| FunctionError::arg(0, format!("invalid CIDR expression: {problem}")))?;
    let mut current: Option<Network> = None;
    let mut found = Vec::with_capacity(args.len() - 1);
    for at in 1..args.len() {
        let extension = integer(args, at).map_err(|error| FunctionError::arg(at, error.message))?;
        if extension < 1 {
            return Err(FunctionError::arg(at, "must extend prefix by at least one bit"));
        }
        if extension > MAX_EXTENSION {
            return Err(FunctionError::arg(at, "may not extend prefix by more than 32 bits"));
        }
        let length = network.length() + extension as u32;
        if length > network.width() {
            let family = if network.width() == 32 { "IPv4" } else { "IPv6" };
            let message = format!("would extend prefix to {length} bits, which is too long for an {family} address");
            return Err(FunctionError::arg(at, message));
        }
        let before = current.unwrap_or_else(|| network.previous(length));
        let Some(next) = before.next(length).filter(|next| network.contains(next.first())) else {
            let message = format!(
                "not enough remaining address space for a subnet with a prefix of {length} bits after {before}"
            );
            return Err(FunctionError::arg(at, message));
        };
        found.push(Value::string(next.to_string()));
        current = Some(next);
    }
    Ok(Value::list(Type::String, found))
}

#[cfg(test)]
mod tests {
    use super::super::support::testing::{call, string_of};
    use super::*;

    fn run(name: &str, prefix: &str, numbers: &[i64]) -> String {
        let mut args = vec![Value::string(prefix)];
        args.extend(numbers.iter().map(|number| Value::number(*number)));
        match call(functions, name, &args) {
            Ok(value) if name == "cidrsubnets" => {
                value.as_elements().unwrap().iter().map(|item| item.as_str().unwrap()).collect::<Vec<_>>().join(" ")
            }
            other => string_of(other),
        }
    }

    #[test]
    fn networks_are_divided() {
        let cases: &[(&str, &str, &[i64], &str)] = &[
            ("cidrhost", "10.12.112.0/20", &[16], "10.12.112.16"),
            ("cidrhost", "10.12.112.0/20", &[-1], "10.12.127.255"),
            ("cidrhost", "fd00:fd12:3456:7890:00a2::/72", &[34], "fd00:fd12:3456:7890::22"),
            ("cidrhost", "10.0.0.0/24", &[256], "error: prefix of 24 does not accommodate a host numbered 256"),
            ("cidrhost", "010.001.0.0/24", &[9], "10.1.0.9"),
            ("cidrhost", "10.0.0/24", &[1], "error: invalid CIDR expression: invalid CIDR address: 10.0.0/24"),
            ("cidrnetmask", "172.16.0.0/12", &[], "255.240.0.0"),
            ("cidrnetmask", "fe80::/10", &[], "error: IPv6 addresses cannot have a netmask: fe80::/10"),
            ("cidrsubnet", "172.16.0.0/12", &[4, 2], "172.18.0.0/16"),
            ("cidrsubnet", "fd00:fd12:3456:7890::/56", &[16, 162], "fd00:fd12:3456:7800:a200::/72"),
            ("cidrsubnet", "10.0.0.0/30", &[4, 0], "error: insufficient address space to extend prefix of 30 by 4"),
            (
                "cidrsubnet",
                "10.0.0.0/16",
                &[1, 2],
                "error: prefix extension of 1 does not accommodate a subnet numbered 2",
            ),
            ("cidrsubnets", "10.1.0.0/16", &[4, 4, 8, 4], "10.1.0.0/20 10.1.16.0/20 10.1.32.0/24 10.1.48.0/20"),
            ("cidrsubnets", "10.0.0.0/8", &[], ""),
            ("cidrsubnets", "10.0.0.0/8", &[0], "error: must extend prefix by at least one bit"),
        ];
        for (name, prefix, numbers, expected) in cases {
            assert_eq!(run(name, prefix, numbers), *expected, "{name} {prefix} {numbers:?}");
        }
    }

    #[test]
    fn containment_needs_one_family() {
        let contains = |outer: &str, inner: &str| call(functions, "cidrcontains", &[outer.into(), inner.into()]);
        assert_eq!(contains("192.168.2.0/20", "192.168.2.1"), Ok(true.into()));
        assert_eq!(contains("192.168.2.0/20", "192.168.128.0/24"), Ok(false.into()));
        assert_eq!(contains("10.0.0.0/8", "10.0.0.0/7"), Ok(false.into()));
        assert_eq!(
            contains("10.0.0.0/8", "fe80::1").unwrap_err().message,
            "address family mismatch: 10.0.0.0/8 vs. fe80::1"
        );
        assert_eq!(contains("10.0.0.0/8", "x").unwrap_err().message, "invalid IP address or prefix: x");
    }
}
