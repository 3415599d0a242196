//! Dates in, dates out. Expected results are those of OpenTofu.

use groma_model::value::Value;

use super::super::support::testing::{call, string_of};
use super::functions;

fn run(name: &str, a: &str, b: &str) -> String {
    match call(functions, name, &[a.into(), b.into()]) {
        Ok(value) if value.as_str().is_none() => format!("{value:?}"),
        other => string_of(other),
    }
}

#[test]
fn dates_are_formatted() {
    let cases = [
        ("EEEE, DD-MMM-YY hh:mm:ss ZZZ", "2018-01-02T23:12:01Z", "Tuesday, 02-Jan-18 23:12:01 UTC"),
        ("EEE D MMMM YYYY H:mmaa", "2016-02-29T00:05:09-08:00", "Mon 29 February 2016 12:05am"),
        ("HHAA s M ZZZ ZZZZ ZZZZZ Z", "2018-01-02T13:12:01+05:30", "01PM 1 1 +0530 +0530 +05:30 +05:30"),
        ("h'h' 'o''clock' ''é", "2018-01-02T03:12:01Z", "3h o'clock 'é"),
    ];
    for (form, time, expected) in cases {
        assert_eq!(run("formatdate", form, time), expected, "{form}");
    }
    assert_eq!(
        run("formatdate", "YYY", "2018-01-02T03:12:01Z"),
        "error: invalid date format verb \"YYY\": year must either be \"YY\" or \"YYYY\""
    );
    assert_eq!(run("formatdate", "'x", "2018-01-02T03:12:01Z"), "error: unterminated literal '");
    assert_eq!(run("formatdate", "Q", "2018-01-02T03:12:01Z"), "error: invalid date format verb \"Q\"");
}

#[test]
fn wrong_timestamps_are_named() {
    let cases = [
        ("2018-01-02", "missing required time introducer 'T'"),
        ("2018", "end of string where \"-\" is expected"),
        ("", "end of string before year"),
        ("2018/01", "found \"/01\" where \"-\" is expected"),
        ("2018-13-02T23:12:01Z", "cannot use \"-02T23:12:01Z\" as month"),
        ("2018-02-30T23:12:01Z", "day out of range"),
        ("2018-01-02T24:12:01Z", "hour must be between 0 and 23 inclusive"),
        ("2018-01-02T3:12:01Z", "hour must have exactly two digits"),
        ("2018-01-02T23:12:01z", "cannot use \"z\" as UTC offset"),
        ("2018-01-02T23:12:01", "end of string before UTC offset"),
    ];
    for (time, problem) in cases {
        let expected = format!("error: not a valid RFC3339 timestamp: {problem}");
        assert_eq!(run("formatdate", "YYYY", time), expected, "{time}");
    }
}

#[test]
fn durations_are_added() {
    let cases = [
        ("2017-11-22T00:00:00Z", "-1.5h", "2017-11-21T22:30:00Z"),
        ("2017-11-22T00:00:00+02:00", "1h30m10.5s", "2017-11-22T01:30:10+02:00"),
        ("2016-02-29T00:00:00Z", "24h", "2016-03-01T00:00:00Z"),
        ("2000-01-01T00:00:00Z", "-100000h", "1988-08-04T08:00:00Z"),
        ("2017-11-22T00:00:00.999Z", "1ms", "2017-11-22T00:00:01Z"),
        ("2017-11-22T00:00:00Z", "1d", "error: time: unknown unit \"d\" in duration \"1d\""),
        ("2017-11-22T00:00:00Z", "1", "error: time: missing unit in duration \"1\""),
        ("2017-11-22T00:00:00Z", "1000000000000h", "error: time: invalid duration \"1000000000000h\""),
    ];
    for (time, duration, expected) in cases {
        assert_eq!(run("timeadd", time, duration), expected, "{time} {duration}");
    }
}

#[test]
fn moments_are_compared() {
    assert_eq!(run("timecmp", "2017-11-22T01:00:00+01:00", "2017-11-22T00:00:00Z"), "0");
    assert_eq!(run("timecmp", "2017-11-22T00:00:00Z", "2017-11-22T00:00:00.1Z"), "-1");
    assert_eq!(run("timecmp", "2017-11-22T3:00:00Z", "2017-11-22T00:00:00Z"), "1");
}

#[test]
fn the_clock_is_the_callers() {
    assert_eq!(call(functions, "timestamp", &[]), Ok(Value::string("2023-11-14T22:13:20Z")));
    assert_eq!(call(functions, "plantimestamp", &[]), Ok(Value::string("2020-09-13T12:26:40Z")));
}
