//! The forms of `formatdate`: letters stand for parts of the date, everything else for itself.

use std::fmt::Write as _;

use groma_model::value::go_quote;

use super::calendar::Moment;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Writes a moment in the given form.
pub(super) fn format(form: &str, moment: &Moment) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = form;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => quoted(rest, &mut out)?,
            'a'..='z' | 'A'..='Z' => {
                let length = rest.chars().take_while(|c| *c == first).count();
                part(&rest[..length], moment, &mut out)?;
                length
            }
            _ => {
                out.push(first);
                first.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    Ok(out)
}

/// A text in quotes, in which two quotes stand for one. Gives its length.
fn quoted(text: &str, out: &mut String) -> Result<usize, String> {
    if text.starts_with("''") {
        out.push('\'');
        return Ok(2);
    }
    let mut at = 1;
    loop {
        let Some(length) = text[at..].find('\'') else {
            // A quote for two at the very end may stand for the closing one as well.
            let closed = at == text.len() && at > 1;
            return if closed { Ok(at) } else { Err("unterminated literal '".into()) };
        };
        out.push_str(&text[at..at + length]);
        at += length + 1;
        if !text[at..].starts_with('\'') {
            return Ok(at);
        }
        out.push('\'');
        at += 1;
    }
}

fn part(verb: &str, moment: &Moment, out: &mut String) -> Result<(), String> {
    let civil = moment.civil();
    let numeric = |out: &mut String, value: i64, what: &str| {
        if verb.len() > 2 {
            return Err(wrong(verb, what));
        }
        push(out, format_args!("{value:0width$}", width = verb.len()));
        Ok(())
    };
    match &verb[..1] {
        "Y" => match verb.len() {
            2 => push(out, format_args!("{:02}", civil.year % 100)),
            4 => push(out, format_args!("{:04}", civil.year)),
            _ => return Err(wrong(verb, "year must either be \"YY\" or \"YYYY\"")),
        },
        "M" => {
            let name = MONTHS[civil.month as usize - 1];
            match verb.len() {
                3 => out.push_str(&name[..3]),
                4 => out.push_str(name),
                _ => numeric(out, civil.month.into(), "month must be \"M\", \"MM\", \"MMM\", or \"MMMM\"")?,
            }
        }
        "D" => numeric(out, civil.day.into(), "day of month must either be \"D\" or \"DD\"")?,
        "E" => match verb.len() {
            3 => out.push_str(&WEEKDAYS[moment.weekday()][..3]),
            4 => out.push_str(WEEKDAYS[moment.weekday()]),
            _ => return Err(wrong(verb, "day of week must either be \"EEE\" or \"EEEE\"")),
        },
        "h" => numeric(out, civil.hour.into(), "24-hour must either be \"h\" or \"hh\"")?,
        "H" => {
            let hour = (civil.hour + 11) % 12 + 1;
            numeric(out, hour.into(), "12-hour must either be \"H\" or \"HH\"")?;
        }
        letter @ ("A" | "a") => {
            if verb.len() != 2 {
                return Err(wrong(verb, &format!("must be \"{letter}{letter}\"")));
            }
            out.push_str(match (civil.hour < 12, letter) {
                (true, "A") => "AM",
                (true, _) => "am",
                (false, "A") => "PM",
                (false, _) => "pm",
            });
        }
        "m" => numeric(out, civil.minute.into(), "minute must either be \"m\" or \"mm\"")?,
        "s" => numeric(out, civil.second.into(), "second must either be \"s\" or \"ss\"")?,
        "Z" => zone(verb, moment, out)?,
        _ => return Err(format!("invalid date format verb {}", go_quote(verb))),
    }
    Ok(())
}

fn zone(verb: &str, moment: &Moment, out: &mut String) -> Result<(), String> {
    match verb.len() {
        1 => out.push_str(&moment.zone()),
        3 if moment.zone() == "Z" => out.push_str("UTC"),
        3 | 4 => out.push_str(&moment.offset_text("")),
        5 => out.push_str(&moment.offset_text(":")),
        _ => return Err(wrong(verb, "timezone must be Z, ZZZZ, or ZZZZZ")),
    }
    Ok(())
}

fn wrong(verb: &str, what: &str) -> String {
    format!("invalid date format verb {}: {what}", go_quote(verb))
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}
