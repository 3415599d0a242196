//! What Go 1.26 answers to the same questions.

use proptest::prelude::*;

use super::*;

fn read(text: &str) -> String {
    match Moment::parse(text) {
        Ok(moment) => format!("{} {} {}", moment.to_rfc3339(), moment.unix, moment.nanos),
        Err(error) => error,
    }
}

#[test]
fn times_are_read_as_go_reads_them() {
    for (text, expected) in [
        ("2020-02-12T06:36:13Z", "2020-02-12T06:36:13Z 1581489373 0"),
        ("2020-02-12T6:36:13Z", "2020-02-12T06:36:13Z 1581489373 0"),
        ("2020-02-12T06:36:13.5Z", "2020-02-12T06:36:13Z 1581489373 500000000"),
        ("2020-02-12T06:36:13,5Z", "2020-02-12T06:36:13Z 1581489373 500000000"),
        ("2020-02-12T06:36:13.123456789123Z", "2020-02-12T06:36:13Z 1581489373 123456789"),
        ("2020-02-12T06:36:13-00:00", "2020-02-12T06:36:13Z 1581489373 0"),
        ("2020-02-12T06:36:13+24:00", "2020-02-12T06:36:13+24:00 1581402973 0"),
        ("2020-02-12T06:36:13+01:60", "2020-02-12T06:36:13+02:00 1581482173 0"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z -62167219200 0"),
    ] {
        assert_eq!(read(text), expected);
    }
}

#[test]
fn what_is_no_time_is_refused_as_go_does() {
    let layout = r#"as "2006-01-02T15:04:05Z07:00": cannot parse"#;
    for (text, expected) in [
        ("2020-02-12t06:36:13Z", format!("{layout} \"t06:36:13Z\" as \"T\"")),
        ("2020-02-12T06:36:13z", format!("{layout} \"z\" as \"Z07:00\"")),
        ("2020-02-12T06:36:13+0100", format!("{layout} \"+0100\" as \"Z07:00\"")),
        ("2020-02-12T06:36:13.Z", format!("{layout} \".Z\" as \"Z07:00\"")),
        ("2020-2-12T06:36:13Z", format!("{layout} \"2-12T06:36:13Z\" as \"01\"")),
        ("2020-02-12T06:36:1Z", format!("{layout} \"1Z\" as \"05\"")),
        ("2020-02-12", format!("{layout} \"\" as \"T\"")),
        ("abcdef", format!("{layout} \"abcdef\" as \"2006\"")),
        ("", format!("{layout} \"\" as \"2006\"")),
    ] {
        assert_eq!(read(text), format!("parsing time {text:?} {expected}"));
    }
    for (text, expected) in [
        ("2020-02-12T06:36:13+25:00", "time zone offset hour out of range"),
        ("2020-02-12T06:36:13+01:61", "time zone offset minute out of range"),
        ("2020-02-30T06:36:13Z", "day out of range"),
        ("2020-02-00T06:36:13Z", "day out of range"),
        ("2020-13-01T06:36:13Z", "month out of range"),
        ("2020-00-12T06:36:13Z", "month out of range"),
        ("2020-02-12T24:36:13Z", "hour out of range"),
        ("2020-02-12T06:60:13Z", "minute out of range"),
        ("2020-02-12T06:36:60Z", "second out of range"),
        ("2020-02-12T06:36:13Zx", "extra text: \"x\""),
    ] {
        assert_eq!(read(text), format!("parsing time {text:?}: {expected}"));
    }
}

#[test]
fn days_run_over_into_the_next_month() {
    let moved = |text: &str, (years, months, days): (i64, i64, i64)| {
        Moment::parse(text).unwrap().plus_date(years, months, days).unwrap().to_rfc3339()
    };
    let base = "2024-01-31T10:00:00Z";
    assert_eq!(moved(base, (0, 1, 0)), "2024-03-02T10:00:00Z");
    assert_eq!(moved(base, (-3, 13, 400)), "2023-04-07T10:00:00Z");
    assert_eq!(moved("2024-02-29T01:02:03Z", (1, 0, 0)), "2025-03-01T01:02:03Z");
    assert_eq!(moved(base, (9000, 0, 0)), "11024-01-31T10:00:00Z");
    assert_eq!(moved(base, (-2030, 0, 0)), "-0006-01-31T10:00:00Z");
    assert_eq!(moved("2024-01-31T23:00:00-08:00", (0, 0, 1)), "2024-02-01T23:00:00-08:00");
}

#[test]
fn fields_and_weeks_are_those_of_the_offset() {
    let moment = Moment::parse("1996-12-19T16:39:57-08:00").unwrap();
    let f = moment.fields();
    assert_eq!((f.year, f.month, f.day, f.hour, f.minute, f.second), (1996, 12, 19, 16, 39, 57));
    assert_eq!((f.year_day, f.weekday, moment.unix()), (354, 4, 851_042_397));
    assert_eq!(moment.iso_week(), (1996, 51));
    assert_eq!(Moment::parse("2021-01-03T00:00:00Z").unwrap().iso_week(), (2020, 53));
    assert_eq!(Moment::parse("2024-12-30T00:00:00Z").unwrap().iso_week(), (2025, 1));
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(unix in -62_167_219_200_i64..253_402_300_800) {
        let moment = Moment::from_unix(unix);
        prop_assert_eq!(Moment::parse(&moment.to_rfc3339()), Ok(moment));
    }

    #[test]
    fn moving_never_panics(unix: i64, seconds: i64, years: i64, months: i64, days: i64) {
        let moment = Moment::from_unix(unix % 60_000_000_000_000);
        let _ = moment.plus_date(years, months, days);
        if let Ok(moved) = moment.plus_seconds(seconds.into()) {
            prop_assert_eq!(moved.unix(), moment.unix() + seconds);
            let _ = (moved.to_rfc3339(), moved.iso_week());
        }
    }

    #[test]
    fn days_move_on_by_as_many(unix in -62_000_000_000_i64..250_000_000_000, days in -100_000_i64..100_000) {
        let moment = Moment::from_unix(unix);
        prop_assert_eq!(moment.plus_date(0, 0, days).unwrap().unix(), unix + days * 86_400);
        let year_on = moment.plus_date(1, 0, 0).unwrap();
        prop_assert_eq!(moment.plus_date(0, 12, 0).unwrap(), year_on);
    }

    #[test]
    fn any_text_is_read_or_refused(text: String) {
        let _ = Moment::parse(&text);
    }
}
