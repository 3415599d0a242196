//! Points in time as the published plugins read, move and write them: RFC 3339 with the offset kept, and months and years
//! that run over into the next ones.

use std::time::{Duration, SystemTime};

/// The layout that messages name.
const LAYOUT: &str = "2006-01-02T15:04:05Z07:00";
const DAY: i128 = 86_400;
/// Beyond this, a year cannot be shown with its month and day in 64 bits of seconds.
const MAX_YEARS: i128 = 200_000_000;

/// A point in time, with the offset from UTC that it is shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970 in UTC.
    unix: i64,
    nanos: u32,
    /// Seconds east of UTC.
    offset: i32,
}

/// Year, month and so on, in the offset of the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields {
    /// The year; 0 and below are before the common era.
    pub year: i64,
    /// From 1.
    pub month: i64,
    /// From 1.
    pub day: i64,
    /// From 0.
    pub hour: i64,
    /// From 0.
    pub minute: i64,
    /// From 0.
    pub second: i64,
    /// The day in the year, from 1.
    pub year_day: i64,
    /// Sunday is 0.
    pub weekday: i64,
}

/// A result beyond the time that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the time is out of range")]
pub struct OutOfRange;

impl Moment {
    /// A moment in UTC.
    pub fn from_unix(unix: i64) -> Self {
        Self { unix, nanos: 0, offset: 0 }
    }

    /// The system's time in UTC.
    pub fn from_system(time: SystemTime) -> Self {
        match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => Self { unix: since.as_secs() as i64, nanos: since.subsec_nanos(), offset: 0 },
            Err(before) => {
                let before = before.duration();
                let (seconds, nanos) = (before.as_secs() as i64, before.subsec_nanos());
                let borrow = i64::from(nanos > 0);
                Self { unix: -seconds - borrow, nanos: (1_000_000_000 - nanos) % 1_000_000_000, offset: 0 }
            }
        }
    }

    /// Reads RFC 3339. The error says what the plugins say.
    pub fn parse(text: &str) -> Result<Self, String> {
        Reader { text, rest: text }.moment()
    }

    /// Seconds since 1970 in UTC.
    pub fn unix(self) -> i64 {
        self.unix
    }

    /// Whether it is later than another one, to the nanosecond.
    pub fn is_after(self, other: Self) -> bool {
        (self.unix, self.nanos) > (other.unix, other.nanos)
    }

    /// Year, month and so on.
    pub fn fields(self) -> Fields {
        let local = i128::from(self.unix) + i128::from(self.offset);
        let (days, second) = (local.div_euclid(DAY), local.rem_euclid(DAY) as i64);
        let (year, month, day) = civil(days);
        Fields {
            year: year as i64,
            month: month as i64,
            day: day as i64,
            hour: second / 3600,
            minute: second / 60 % 60,
            second: second % 60,
            year_day: (days - days_before(year, 1, 1)) as i64 + 1,
            weekday: (days + 4).rem_euclid(7) as i64,
        }
    }

    /// The ISO 8601 year and week.
    pub fn iso_week(self) -> (i64, i64) {
        let fields = self.fields();
        // The Thursday of the same week decides the year.
        let days = (i128::from(self.unix) + i128::from(self.offset)).div_euclid(DAY);
        let thursday = days + 3 - i128::from((fields.weekday + 6) % 7);
        let (year, _, _) = civil(thursday);
        let week = (thursday - days_before(year, 1, 1)) / 7 + 1;
        (year as i64, week as i64)
    }

    /// Moved by a duration in seconds.
    pub fn plus_seconds(self, seconds: i128) -> Result<Self, OutOfRange> {
        let unix = i64::try_from(i128::from(self.unix) + seconds).map_err(|_| OutOfRange)?;
        let moved = Self { unix, ..self };
        if i128::from(unix).abs() / DAY / 365 > MAX_YEARS { Err(OutOfRange) } else { Ok(moved) }
    }

    /// Moved by a duration.
    pub fn plus(self, duration: Duration) -> Result<Self, OutOfRange> {
        let nanos = u64::from(self.nanos) + u64::from(duration.subsec_nanos());
        let carried = i128::from(duration.as_secs()) + i128::from(nanos / 1_000_000_000);
        Self { nanos: (nanos % 1_000_000_000) as u32, ..self }.plus_seconds(carried)
    }

    /// Moved by years, months and days on the calendar. A day that the month does not have runs over into the next.
    pub fn plus_date(self, years: i64, months: i64, days: i64) -> Result<Self, OutOfRange> {
        let local = i128::from(self.unix) + i128::from(self.offset);
        let (year, month, day) = civil(local.div_euclid(DAY));
        let months = month - 1 + i128::from(months);
        let year = year + i128::from(years) + months.div_euclid(12);
        if year.abs() > MAX_YEARS {
            return Err(OutOfRange);
        }
        let days = days_before(year, months.rem_euclid(12) + 1, 1) + day - 1 + i128::from(days);
        let seconds = days * DAY + local.rem_euclid(DAY) - local;
        self.plus_seconds(seconds)
    }

    /// RFC 3339 without fractions of seconds.
    pub fn to_rfc3339(self) -> String {
        let f = self.fields();
        let sign = if f.year < 0 { "-" } else { "" };
        let (year, month, day) = (f.year.abs(), f.month, f.day);
        let local = format!("{sign}{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}", f.hour, f.minute, f.second);
        if self.offset == 0 {
            return format!("{local}Z");
        }
        let minutes = self.offset.abs() / 60;
        let sign = if self.offset < 0 { '-' } else { '+' };
        format!("{local}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// The days from 1970-01-01 to a date of the Gregorian calendar.
fn days_before(year: i128, month: i128, day: i128) -> i128 {
    // Years begin in March here, so that the leap day is the last one.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil(days: i128) -> (i128, i128, i128) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i128::from(month <= 2), month, day)
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl Reader<'_> {
    fn moment(mut self) -> Result<Moment, String> {
        let year = self.digits(4, 4, "2006")?;
        self.literal("-")?;
        let month = self.digits(2, 2, "01")?;
        self.within(month, 1..=12, "month")?;
        self.literal("-")?;
        let day = self.digits(2, 2, "02")?;
        self.literal("T")?;
        let hour = self.digits(1, 2, "15")?;
        self.within(hour, 0..=23, "hour")?;
        self.literal(":")?;
        let minute = self.digits(2, 2, "04")?;
        self.within(minute, 0..=59, "minute")?;
        self.literal(":")?;
        let second = self.digits(2, 2, "05")?;
        self.within(second, 0..=59, "second")?;
        let nanos = self.fraction();
        let offset = self.offset()?;
        if !self.rest.is_empty() {
            return Err(format!("parsing time {:?}: extra text: {:?}", self.text, self.rest));
        }
        self.within(day, 1..=days_in_month(year, month), "day")?;
        let days = days_before(year.into(), month.into(), day.into());
        let local = days as i64 * DAY as i64 + hour * 3600 + minute * 60 + second;
        Ok(Moment { unix: local - offset, nanos, offset: offset as i32 })
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T, String> {
        let (text, rest) = (self.text, self.rest);
        Err(format!("parsing time {text:?} as {LAYOUT:?}: cannot parse {rest:?} as {wanted:?}"))
    }

    fn within(&self, value: i64, range: std::ops::RangeInclusive<i64>, what: &str) -> Result<(), String> {
        if range.contains(&value) {
            return Ok(());
        }
        Err(format!("parsing time {:?}: {what} out of range", self.text))
    }

    fn literal(&mut self, wanted: &str) -> Result<(), String> {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => self.unexpected(wanted),
        }
    }

    fn leading_digits(text: &str) -> usize {
        text.bytes().take_while(u8::is_ascii_digit).count()
    }

    fn digits(&mut self, least: usize, most: usize, wanted: &str) -> Result<i64, String> {
        let count = Self::leading_digits(self.rest).min(most);
        match self.rest.get(..count).filter(|_| count >= least).and_then(|digits| digits.parse().ok()) {
            Some(value) => {
                self.rest = self.rest.get(count..).unwrap_or_default();
                Ok(value)
            }
            None => self.unexpected(wanted),
        }
    }

    /// Nanoseconds; more digits than nine are dropped. Without any digit there is no fraction.
    fn fraction(&mut self) -> u32 {
        let Some(rest) = self.rest.strip_prefix(['.', ',']) else { return 0 };
        let count = Self::leading_digits(rest);
        if count == 0 {
            return 0;
        }
        let digits: String = rest.chars().take(count.min(9)).chain("000000000".chars()).take(9).collect();
        self.rest = rest.get(count..).unwrap_or_default();
        digits.parse().unwrap_or_default()
    }

    fn offset(&mut self) -> Result<i64, String> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let wanted = "Z07:00";
        let sign = match self.rest.as_bytes().first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return self.unexpected(wanted),
        };
        let number = |range: std::ops::Range<usize>| {
            self.rest.get(range).filter(|text| text.bytes().all(|b| b.is_ascii_digit())).and_then(|t| t.parse().ok())
        };
        let (hours, minutes): (Option<i64>, Option<i64>) = (number(1..3), number(4..6));
        let (Some(hours), Some(b':'), Some(minutes)) = (hours, self.rest.as_bytes().get(3), minutes) else {
            return self.unexpected(wanted);
        };
        self.within(hours, 0..=24, "time zone offset hour")?;
        self.within(minutes, 0..=60, "time zone offset minute")?;
        self.rest = self.rest.get(6..).unwrap_or_default();
        Ok(sign * (hours * 3600 + minutes * 60))
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let (year, month) = (i128::from(year), i128::from(month));
    let next = if month == 12 { days_before(year + 1, 1, 1) } else { days_before(year, month + 1, 1) };
    (next - days_before(year, month, 1)) as i64
}

#[cfg(test)]
mod tests;
