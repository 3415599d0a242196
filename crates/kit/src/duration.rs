//! Durations as the published plugins read them: `300ms`, `-1.5h`, `2h45m`.

/// Nanoseconds in each unit.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];
const LIMIT: u64 = 1 << 63;

/// Reads a duration in nanoseconds. The error says what the plugins say.
pub fn parse_duration(text: &str) -> Result<i64, String> {
    let (negative, rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    let total = if rest.is_empty() { None } else { sum(rest, text)? };
    match total {
        Some(LIMIT) if negative => Ok(i64::MIN),
        Some(nanos) if nanos < LIMIT => Ok(if negative { -(nanos as i64) } else { nanos as i64 }),
        _ => Err(invalid(text)),
    }
}

fn invalid(text: &str) -> String {
    format!("time: invalid duration {text:?}")
}

/// The sum of all parts; none if it is too large.
fn sum(mut rest: &str, text: &str) -> Result<Option<u64>, String> {
    let mut total = 0_u64;
    while !rest.is_empty() {
        let whole_end = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (whole, behind) = rest.split_at(whole_end);
        let (fraction, behind) = match behind.strip_prefix('.') {
            Some(behind) => behind.split_at(behind.bytes().take_while(u8::is_ascii_digit).count()),
            None => ("", behind),
        };
        if whole.is_empty() && fraction.is_empty() {
            return Err(invalid(text));
        }
        let unit_end = behind.bytes().take_while(|byte| *byte != b'.' && !byte.is_ascii_digit()).count();
        let (unit, behind) = behind.split_at(unit_end);
        if unit.is_empty() {
            return Err(format!("time: missing unit in duration {text:?}"));
        }
        let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("time: unknown unit {unit:?} in duration {text:?}"));
        };
        let Some(part) = part(whole, fraction, *scale) else { return Ok(None) };
        let Some(sum) = total.checked_add(part).filter(|sum| *sum <= LIMIT) else { return Ok(None) };
        (total, rest) = (sum, behind);
    }
    Ok(Some(total))
}

fn part(whole: &str, fraction: &str, scale: u64) -> Option<u64> {
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let nanos = whole.checked_mul(scale).filter(|nanos| *nanos <= LIMIT)?;
    // Digits beyond those that fit are dropped, as Go does; the rest is rounded as floating point.
    let (mut digits, mut divisor) = (0_u64, 1_f64);
    for digit in fraction.bytes().map(|byte| u64::from(byte - b'0')) {
        let Some(more) = digits.checked_mul(10).and_then(|digits| digits.checked_add(digit)) else { break };
        if more > LIMIT {
            break;
        }
        (digits, divisor) = (more, divisor * 10.0);
    }
    nanos.checked_add((digits as f64 * (scale as f64 / divisor)) as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, nanos) in [
            ("1h", 3_600_000_000_000),
            ("-1.5h", -5_400_000_000_000),
            ("0", 0),
            ("+5s", 5_000_000_000),
            ("1.s", 1_000_000_000),
            (".5s", 500_000_000),
            ("1h30m", 5_400_000_000_000),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
            ("1µs", 1_000),
            ("1μs", 1_000),
            ("0.100000000000000000000h", 360_000_000_000),
            ("2540400h10m10.000000000s", 9_145_440_610_000_000_000),
            ("1.9999999999999999999999s", 2_000_000_000),
        ] {
            assert_eq!(parse_duration(text), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_as_go_does() {
        for text in ["", "-", ".s", "9223372036854775808ns", "99999999999999999999s", "--1s"] {
            assert_eq!(parse_duration(text), Err(format!("time: invalid duration {text:?}")));
        }
        assert_eq!(parse_duration("3").unwrap_err(), "time: missing unit in duration \"3\"");
        assert_eq!(parse_duration("1h 2m").unwrap_err(), "time: unknown unit \"h \" in duration \"1h 2m\"");
        assert_eq!(parse_duration("1d").unwrap_err(), "time: unknown unit \"d\" in duration \"1d\"");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = parse_duration(&text);
        }

        #[test]
        fn whole_units_are_exact(hours in 0_i64..1_000_000, minutes in 0_i64..60, seconds in 0_i64..60) {
            let text = format!("{hours}h{minutes}m{seconds}s");
            prop_assert_eq!(parse_duration(&text), Ok(((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000));
        }
    }
}
