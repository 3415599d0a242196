//! Rows whose columns begin at the same place, and times as people say them.

use groma_operator::api::run::PlanCounts;
use jiff::Timestamp;
use unicode_width::UnicodeWidthStr as _;

/// Between two columns.
const GAP: usize = 3;

/// Rows behind a header. The last column is as long as it likes.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|&title| title.to_owned()).collect();
    let all: Vec<&Vec<String>> = [&header].into_iter().chain(rows).collect();
    let width =
        |column: usize| all.iter().filter_map(|row| row.get(column)).map(|text| text.width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    for row in all {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width.saturating_sub(cell.width()) + GAP));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The first line of a text, cut where it gets long.
pub(super) fn line(text: &str, most: usize) -> String {
    let first = text.lines().next().unwrap_or_default();
    if first.chars().count() <= most {
        return first.to_owned();
    }
    let kept: String = first.chars().take(most.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// How long ago something was: `5m`, `3h`, `2d`.
pub(super) fn age(then: Option<Timestamp>, now: Timestamp) -> String {
    let Some(then) = then else { return "-".to_owned() };
    let seconds = now.duration_since(then).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// `+1 ~2 -3`
pub(super) fn counts(counts: &PlanCounts) -> String {
    format!("+{} ~{} -{}", counts.add, counts.change, counts.destroy)
}

/// Nothing, shown.
pub(super) fn or_dash(text: Option<String>) -> String {
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| "-".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_begin_at_the_same_place() {
        let rows = [
            vec!["a".to_owned(), "\u{e4}b".to_owned(), "x".to_owned()],
            vec!["abc".to_owned(), "-".to_owned(), String::new()],
        ];
        assert_eq!(table(&["N", "S", "MORE"], &rows), "N     S    MORE\na     \u{e4}b   x\nabc   -\n");
    }

    #[test]
    fn times_are_told_in_one_unit() {
        let then = Timestamp::from_second(1_000_000).unwrap();
        let after = |seconds: i64| age(Some(then), Timestamp::from_second(1_000_000 + seconds).unwrap());
        let told = [0, 119, 120, 7_199, 7_200, 172_800].map(after);
        assert_eq!(told, ["0s", "119s", "2m", "119m", "2h", "2d"]);
        assert_eq!((after(-5), age(None, then)), ("0s".to_owned(), "-".to_owned()));
    }

    #[test]
    fn long_lines_are_cut() {
        assert_eq!(line("one\ntwo", 20), "one");
        assert_eq!(line("one two three", 8), "one t...");
    }
}
