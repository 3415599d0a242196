//! What a cloud does not let happen: two objects that claim the same, the end of something that is used, a name that has been taken before.

use std::io;
use std::net::IpAddr;

use serde_json::Value as Json;

use crate::description::{Description, Names, ResourceType};
use crate::fields::{is_nothing, tuples, values};
use crate::world::{Claimed, Object, Objects, Part};

/// Why something does not happen.
#[derive(Debug)]
pub struct Refusal(pub String);

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self(format!("the world cannot be reached: {error}"))
    }
}

/// What an object claims.
pub fn claims(ty: &ResourceType, fields: &Json) -> Vec<Claimed> {
    let mut all = Vec::new();
    for (what, paths) in &ty.claims {
        let plain: Vec<&str> = paths.iter().map(|path| path.trim_start_matches('~')).collect();
        for tuple in tuples(fields, &plain) {
            let parts = tuple.into_iter().zip(paths);
            let parts = parts.map(|(value, path)| Part { value, range: path.starts_with('~') }).collect();
            all.push(Claimed { what: what.clone(), parts });
        }
    }
    all
}

/// Refuses what another object has, or had.
pub fn may_claim(description: &Description, objects: &Objects, id: &str, object: &Object) -> Result<(), Refusal> {
    let Some(ty) = description.resource(&object.ty) else { return Ok(()) };
    for wanted in claims(ty, &object.fields) {
        if objects.quarantined.iter().any(|taken| collides(taken, &wanted)) {
            return Err(Refusal(format!("{} was deleted and is not available yet", shown(&wanted))));
        }
        for (other, there) in objects.objects.iter().filter(|(other, _)| *other != id) {
            let Some(their_type) = description.resource(&there.ty) else { continue };
            if claims(their_type, &there.fields).iter().any(|taken| collides(taken, &wanted)) {
                return Err(Refusal(format!("{} already exists: {other} has it", shown(&wanted))));
            }
        }
    }
    Ok(())
}

/// Refuses the end of what others use.
pub fn may_go(description: &Description, objects: &Objects, id: &str) -> Result<(), Refusal> {
    let Some(object) = objects.objects.get(id) else { return Ok(()) };
    for (other, there) in objects.objects.iter().filter(|(other, _)| *other != id) {
        let Some(their_type) = description.resource(&there.ty) else { continue };
        if their_type.uses.iter().any(|(path, names)| refers(&there.fields, path, names, object)) {
            return Err(Refusal(format!("{id} is in use by {other}")));
        }
    }
    Ok(())
}

/// Refuses an update of what stands on something that is gone.
pub fn may_change(description: &Description, objects: &Objects, id: &str) -> Result<(), Refusal> {
    let Some(object) = objects.objects.get(id) else { return Err(Refusal(format!("{id} does not exist"))) };
    let Some(ty) = description.resource(&object.ty) else { return Ok(()) };
    for (path, names) in &ty.needs {
        let is_there = objects.objects.values().any(|other| refers(&object.fields, path, names, other));
        if !is_there && values(&object.fields, path).into_iter().any(|value| !is_nothing(value)) {
            return Err(Refusal(format!("what {path} of {id} names was not found")));
        }
    }
    Ok(())
}

/// What stays taken when an object goes.
pub fn left_behind(ty: &ResourceType, fields: &Json) -> Vec<Claimed> {
    let Some(quarantine) = &ty.quarantine else { return Vec::new() };
    if let Some((path, value)) = &quarantine.unless
        && values(fields, path).contains(&value)
    {
        return Vec::new();
    }
    claims(ty, fields).into_iter().filter(|claimed| claimed.what == quarantine.claim).collect()
}

/// Whether an object names another one at a path.
fn refers(fields: &Json, path: &str, names: &Names, other: &Object) -> bool {
    let named = values(fields, path);
    names.all().filter(|(ty, _)| *ty == other.ty).any(|(_, attribute)| {
        values(&other.fields, attribute).into_iter().any(|value| !is_nothing(value) && named.contains(&value))
    })
}

fn collides(one: &Claimed, other: &Claimed) -> bool {
    let same = |(one, other): (&Part, &Part)| match (one.range, is_nothing(&one.value) && is_nothing(&other.value)) {
        (_, true) => true,
        (true, _) => overlap(&one.value, &other.value),
        (false, _) => one.value == other.value,
    };
    one.what == other.what && one.parts.iter().zip(&other.parts).all(same)
}

fn overlap(one: &Json, other: &Json) -> bool {
    match (range(one), range(other)) {
        (Some(one), Some(other)) => one.0 == other.0 && one.1 <= other.2 && other.1 <= one.2,
        _ => one == other,
    }
}

/// How many bits addresses have, and the first and the last of a range.
fn range(value: &Json) -> Option<(u32, u128, u128)> {
    let (address, length) = value.as_str()?.split_once('/')?;
    let (bits, first) = match address.parse().ok()? {
        IpAddr::V4(address) => (32, u128::from(address.to_bits())),
        IpAddr::V6(address) => (128, address.to_bits()),
    };
    let free = u32::checked_sub(bits, length.parse().ok()?)?;
    let size = 1u128.checked_shl(free).unwrap_or(0).wrapping_sub(1);
    Some((bits, first & !size, first | size))
}

fn shown(claimed: &Claimed) -> String {
    let parts: Vec<String> = claimed.parts.iter().map(|part| part.value.to_string()).collect();
    format!("{} {}", claimed.what, parts.join(" in "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ranges_overlap_or_not() {
        for (one, other, expected) in [
            ("10.0.0.0/23", "10.0.1.0/24", true),
            ("10.0.0.0/24", "10.0.1.0/24", false),
            ("fd00::/8", "fd12::/16", true),
            ("0.0.0.0/0", "::/0", false),
            ("range", "range", true),
        ] {
            assert_eq!(overlap(&json!(one), &json!(other)), expected, "{one} {other}");
        }
    }
}
