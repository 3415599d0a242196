//! Reading RFC 3339, with messages that say which part is wrong.

use groma_model::value::go_quote;

use super::calendar::{Civil, Moment, days_in_month};

/// How exactly the syntax must be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// To the letter.
    Strict,
    /// Hours of one digit, a comma before the fraction and an offset of 24 hours are let through.
    Lenient,
}

/// What was expected where something else was found.
enum Expected {
    Separator(char),
    Part(&'static str),
}

struct Reader<'a> {
    rest: &'a str,
    strictness: Strictness,
}

/// Reads a date and time.
pub(super) fn parse(text: &str, strictness: Strictness) -> Result<Moment, String> {
    let mut reader = Reader { rest: text, strictness };
    let year = reader.year()?;
    reader.separator('-')?;
    let month = reader.number("month", false, 1..=12)?;
    reader.separator('-')?;
    let day = reader.number("day of month", false, 0..=99)?;
    reader.separator('T')?;
    let before_hour = reader.rest;
    let hour = reader.number("hour", true, 0..=23)?;
    let short_hour = before_hour.len() - reader.rest.len() == 1;
    reader.separator(':')?;
    let minute = reader.number("minute", false, 0..=59)?;
    reader.separator(':')?;
    let second = reader.number("second", false, 0..=59)?;
    let comma = reader.rest.starts_with(',');
    let nanoseconds = reader.fraction();
    let before_zone = reader.rest;
    let offset = reader.zone()?;
    if !reader.rest.is_empty() {
        return Err(wrong(reader.rest, &Expected::Part("timestamp segment"), strictness));
    }
    let civil = Civil { year: i64::from(year), month, day, hour, minute, second };
    if day < 1 || day > days_in_month(civil.year, month) {
        // The two kinds of callers have always put this differently.
        let place =
            if strictness == Strictness::Strict { String::new() } else { format!("parsing time {}: ", go_quote(text)) };
        return Err(format!("not a valid RFC3339 timestamp: {place}day out of range"));
    }
    if strictness == Strictness::Strict {
        if short_hour {
            return Err(wrong(&before_hour[..1], &Expected::Part("hour"), strictness));
        }
        if comma {
            return Err(wrong(",", &Expected::Part("timestamp segment"), strictness));
        }
        if offset.unsigned_abs() >= 24 * 3600 || before_zone.ends_with(":60") {
            return Err(wrong(before_zone, &Expected::Part("UTC offset"), strictness));
        }
    }
    Ok(Moment::from_civil(civil, nanoseconds, offset))
}

fn wrong(found: &str, expected: &Expected, strictness: Strictness) -> String {
    let problem = match (expected, found) {
        (Expected::Part("hour"), _) if strictness == Strictness::Strict && found.contains(':') => {
            "hour must be between 0 and 23 inclusive".to_owned()
        }
        (Expected::Part(part @ ("hour" | "minute")), _)
            if strictness == Strictness::Strict && !found.is_empty() && found.len() != 2 =>
        {
            format!("{part} must have exactly two digits")
        }
        (Expected::Separator('T'), _) => "missing required time introducer 'T'".to_owned(),
        (Expected::Separator(c), "") => format!("end of string where \"{c}\" is expected"),
        (Expected::Separator(c), _) => format!("found {} where \"{c}\" is expected", go_quote(found)),
        (Expected::Part(part), "") => format!("end of string before {part}"),
        (Expected::Part(part), _) => format!("cannot use {} as {part}", go_quote(found)),
    };
    format!("not a valid RFC3339 timestamp: {problem}")
}

impl Reader<'_> {
    fn digit(&self, at: usize) -> Option<u32> {
        self.rest.as_bytes().get(at).filter(|byte| byte.is_ascii_digit()).map(|byte| u32::from(byte - b'0'))
    }

    fn year(&mut self) -> Result<u32, String> {
        let digits: Option<Vec<u32>> = (0..4).map(|at| self.digit(at)).collect();
        let Some(digits) = digits else { return Err(wrong(self.rest, &Expected::Part("year"), self.strictness)) };
        self.rest = &self.rest[4..];
        Ok(digits.into_iter().fold(0, |year, digit| year * 10 + digit))
    }

    /// Two digits, or one where that is allowed.
    fn number(&mut self, part: &'static str, short: bool, range: std::ops::RangeInclusive<u32>) -> Result<u32, String> {
        let (value, length) = match (self.digit(0), self.digit(1)) {
            (Some(tens), Some(ones)) => (tens * 10 + ones, 2),
            (Some(ones), None) if short => (ones, 1),
            _ => return Err(wrong(self.rest, &Expected::Part(part), self.strictness)),
        };
        self.rest = &self.rest[length..];
        if !range.contains(&value) {
            return Err(wrong(self.rest, &Expected::Part(part), self.strictness));
        }
        Ok(value)
    }

    fn separator(&mut self, expected: char) -> Result<(), String> {
        self.rest = self
            .rest
            .strip_prefix(expected)
            .ok_or_else(|| wrong(self.rest, &Expected::Separator(expected), self.strictness))?;
        Ok(())
    }

    fn fraction(&mut self) -> u32 {
        let Some(digits) = self.rest.strip_prefix(['.', ',']) else { return 0 };
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return 0;
        }
        let padded = digits[..length].bytes().chain(std::iter::repeat(b'0'));
        self.rest = &digits[length..];
        padded.take(9).fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
    }

    /// `Z` or `+hh:mm`, in seconds.
    fn zone(&mut self) -> Result<i32, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let strictness = self.strictness;
        let wrong_zone = |found: &str| wrong(found, &Expected::Part("UTC offset"), strictness);
        let bytes = self.rest.as_bytes();
        let parts = (bytes.first(), bytes.get(3), self.digit(1), self.digit(2), self.digit(4), self.digit(5));
        let (Some(sign @ (b'+' | b'-')), Some(b':'), Some(a), Some(b), Some(c), Some(d)) = parts else {
            return Err(wrong_zone(self.rest));
        };
        self.rest = &self.rest[6..];
        let (hours, minutes) = (a * 10 + b, c * 10 + d);
        if hours > 24 || minutes > 60 {
            return Err(wrong_zone(self.rest));
        }
        let seconds = (hours * 60 + minutes) as i32 * 60;
        Ok(if *sign == b'-' { -seconds } else { seconds })
    }
}
