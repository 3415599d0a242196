//! Durations as Go writes them: `1h30m`, `-1.5s`, `100ms`.

use groma_model::value::go_quote;

/// Nanoseconds.
pub(super) fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", go_quote(text));
    let (negative, mut rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total = 0u64;
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = match after.strip_prefix('.') {
            Some(after) => digits(after),
            None => ("", after),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid());
        }
        let unit_end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {}", go_quote(text)));
        }
        let Some(scale) = nanoseconds_per(unit) else {
            return Err(format!("time: unknown unit {} in duration {}", go_quote(unit), go_quote(text)));
        };
        total = add(total, whole, fraction, scale).ok_or_else(invalid)?;
        rest = after;
    }
    match (negative, i64::try_from(total)) {
        (false, Ok(value)) => Ok(value),
        (true, Ok(value)) => Ok(-value),
        (true, Err(_)) if total == 1 << 63 => Ok(i64::MIN),
        (_, Err(_)) => Err(invalid()),
    }
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

fn nanoseconds_per(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// Adds `whole.fraction` units. None beyond what a duration can be.
fn add(total: u64, whole: &str, fraction: &str, scale: u64) -> Option<u64> {
    const LIMIT: u64 = 1 << 63;
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut value = whole.checked_mul(scale).filter(|value| *value <= LIMIT)?;
    // More digits than these are beyond nanoseconds in every unit.
    let fraction = &fraction[..fraction.len().min(18)];
    if !fraction.is_empty() {
        let numerator: f64 = fraction.parse().ok()?;
        value += (numerator * (scale as f64 / 10f64.powi(fraction.len() as i32))) as u64;
    }
    total.checked_add(value).filter(|total| *total <= LIMIT)
}
