//! A moment and the date it falls on: the Gregorian calendar, without leap seconds.

use std::fmt;

const DAY: i64 = 86_400;

/// A moment as seen from some offset to UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Seconds since 1970, UTC.
    seconds: i64,
    nanoseconds: u32,
    /// Seconds that local time is ahead.
    offset: i32,
}

/// A date and time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
}

impl Moment {
    /// Seconds since 1970, seen from UTC.
    pub(super) fn utc(seconds: i64) -> Self {
        Self { seconds, nanoseconds: 0, offset: 0 }
    }

    /// What a clock shows that is `offset` seconds ahead of UTC.
    pub(super) fn from_civil(civil: Civil, nanoseconds: u32, offset: i32) -> Self {
        let time = civil.hour * 3600 + civil.minute * 60 + civil.second;
        let local = days_from_civil(civil.year, civil.month, civil.day) * DAY + i64::from(time);
        Self { seconds: local - i64::from(offset), nanoseconds, offset }
    }

    /// Orders moments, whatever offset they are seen from.
    pub(super) fn instant(&self) -> (i64, u32) {
        (self.seconds, self.nanoseconds)
    }

    /// A later (or earlier) moment.
    pub(super) fn plus(self, nanoseconds: i64) -> Self {
        let total = i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanoseconds) + i128::from(nanoseconds);
        let seconds = total.div_euclid(1_000_000_000) as i64;
        Self { seconds, nanoseconds: total.rem_euclid(1_000_000_000) as u32, offset: self.offset }
    }

    /// What a clock there shows.
    pub(super) fn civil(&self) -> Civil {
        let local = self.seconds + i64::from(self.offset);
        let (year, month, day) = civil_from_days(local.div_euclid(DAY));
        let time = local.rem_euclid(DAY) as u32;
        Civil { year, month, day, hour: time / 3600, minute: time / 60 % 60, second: time % 60 }
    }

    /// The day of the week there, from Sunday.
    pub(super) fn weekday(&self) -> usize {
        let days = (self.seconds + i64::from(self.offset)).div_euclid(DAY);
        (days + 4).rem_euclid(7) as usize
    }

    /// The offset as `+hh`, a separator and `mm`.
    pub(super) fn offset_text(&self, separator: &str) -> String {
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.unsigned_abs() / 60;
        format!("{sign}{:02}{separator}{:02}", minutes / 60, minutes % 60)
    }

    /// `Z`, or the offset as `+hh:mm`.
    pub(super) fn zone(&self) -> String {
        if self.offset == 0 { "Z".into() } else { self.offset_text(":") }
    }
}

/// RFC 3339 without a fraction of the second.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, hour, minute, second } = self.civil();
        let sign = if year < 0 { "-" } else { "" };
        write!(f, "{sign}{:04}-{month:02}-{day:02}T", year.unsigned_abs())?;
        write!(f, "{hour:02}:{minute:02}:{second:02}{}", self.zone())
    }
}

/// How many days a month has.
pub(super) fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970. Years are counted from March here, so that the leap day is the last of a year, and in cycles of 400.
fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let cycle = year.div_euclid(400);
    let year_of_cycle = year.rem_euclid(400);
    let day_of_year = i64::from((153 * ((month + 9) % 12) + 2) / 5 + day) - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    cycle * 146_097 + day_of_cycle - 719_468
}

fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let cycle = days.div_euclid(146_097);
    let day_of_cycle = days.rem_euclid(146_097);
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year = (day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100)) as u32;
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (cycle * 400 + year_of_cycle + i64::from(month <= 2), month, day)
}
