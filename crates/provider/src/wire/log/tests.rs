//! Lines that real plugins print.

use super::*;

fn line(text: &str) -> Line {
    parse(text)
}

#[test]
fn structured_lines_keep_their_level_and_fields() {
    let text = r#"{"@level":"warn","@message":"it is late","@module":"provider.clock","@timestamp":"2024-01-31T10:00:00.000000Z","hour":23,"who":"me too","ok":true}"#;
    let line = line(text);
    assert_eq!(line.level, Level::Warn);
    assert_eq!(line.message, "it is late");
    assert_eq!(line.module.as_deref(), Some("provider.clock"));
    assert_eq!(line.fields.as_deref(), Some(r#"hour=23 who="me too" ok=true"#));
    assert_eq!(line.shown(), r#"WARN: it is late: hour=23 who="me too" ok=true"#);
}

#[test]
fn text_lines_may_name_their_level() {
    assert_eq!(line("2024/01/31 10:00:00 [ERROR] no disk").level, Level::Error);
    assert_eq!(line("[INFO] ready").level, Level::Info);
    assert_eq!(line("2024-01-31T10:00:00.000Z [TRACE] x: y=[1]").level, Level::Trace);
    assert_eq!(line("a list [1 2]").level, Level::Debug);
    assert_eq!(line("{not json").level, Level::Debug);
    assert_eq!(line(r#"{"json":"of another kind"}"#).level, Level::Debug);
    assert_eq!(line("]][").level, Level::Debug);
}

#[test]
fn a_panic_is_an_error_up_to_the_next_log_line() {
    let output = Output::default();
    output.take("just before");
    assert_eq!(output.take("panic: runtime error: index out of range [5] with length 3").level, Level::Error);
    assert_eq!(output.take("").level, Level::Error);
    assert_eq!(output.take("goroutine 1 [running]:").level, Level::Error);
    assert_eq!(output.take(r#"{"@level":"debug","@message":"another thread"}"#).level, Level::Debug);
    assert_eq!(output.take("text").level, Level::Debug);
    let lines = output.last_lines();
    assert_eq!(lines[0], "panic: runtime error: index out of range [5] with length 3");
    assert_eq!(lines.len(), 3);
    assert!(line("thread 'main' (7) panicked at src/main.rs:3:5:").starts_panic);
    assert!(line("fatal error: all goroutines are asleep - deadlock!").starts_panic);
}

#[test]
fn the_last_lines_are_kept_and_the_chatter_is_not() {
    let output = Output::default();
    for number in 0..80 {
        output.take(&format!("line {number}"));
        output.take(r#"{"@level":"trace","@message":"waiting for RPC"}"#);
    }
    let lines = output.last_lines();
    assert_eq!(lines.len(), KEPT_LINES);
    assert_eq!(lines.last().map(String::as_str), Some("line 79"));
    assert_eq!(lines[0], "line 30");
}

#[test]
fn chatter_is_better_than_nothing() {
    let output = Output::default();
    output.take(r#"{"@level":"debug","@message":"starting"}"#);
    assert_eq!(output.last_lines(), ["DEBUG: starting"]);
}

#[test]
fn terminals_are_left_alone() {
    let output = Output::default();
    output.take("red \u{1b}[31malert\u{7}");
    assert_eq!(output.last_lines(), ["red  [31malert "]);
}

#[tokio::test]
async fn a_line_without_end_is_cut() {
    let output = Output::default();
    let endless = vec![b'x'; LONGEST_LINE as usize * 2 + 10];
    relay("test".to_owned(), endless.as_slice(), output.clone()).await;
    let lines = output.last_lines();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.len() as u64 <= LONGEST_LINE));
}
