//! What came of an apply, in a few lines.

use std::fmt::Write as _;
use std::time::Duration;

use super::Look;
use super::paint::{Paint, Tone};
use crate::watch::{Report, duration};

/// A run that took at least so long is worth a word about that.
const LONG: Duration = Duration::from_secs(5);

/// So many of those that were left out are named.
const NAMED: usize = 20;

/// After an apply that did all that was planned: counts, and how long it took.
pub(crate) fn applied(report: &Report, destroy: bool, look: &Look) -> String {
    let paint = Paint(look.style.color);
    let mut out = String::from("\n");
    let what = if destroy { "Destroy" } else { "Apply" };
    paint.write(&mut out, Tone::Good, &format!("{what} complete! Resources: {}.", counts(report, destroy)));
    out.push('\n');
    times(&mut out, report, paint);
    out
}

/// After an apply that did not: what was done, what failed and what was left out because of it. The errors themselves are
/// shown as diagnostics. Empty if nothing was begun.
pub(crate) fn failed(report: &Report, destroy: bool, look: &Look) -> String {
    if report.failed.is_empty() && report.skipped.is_empty() {
        return String::new();
    }
    let paint = Paint(look.style.color);
    let mut out = String::from("\n");
    let what = if destroy { "Destroy" } else { "Apply" };
    let (failures, skipped) = (report.failed.len(), report.skipped.len());
    let text =
        format!("{what} incomplete! Resources: {}; {failures} failed, {skipped} not begun.", counts(report, destroy));
    paint.write(&mut out, Tone::Bad, &text);
    out.push('\n');
    for (object, verb) in report.failed.iter().take(NAMED) {
        let _ = writeln!(out, "  {object}: {verb} failed");
    }
    more(&mut out, failures, "failed");
    for skipped in report.skipped.iter().take(NAMED) {
        let _ = match &skipped.because_of {
            Some(cause) => writeln!(out, "  {}: not begun, because {cause} failed", skipped.address),
            None => writeln!(out, "  {}: not begun, because something that it needs failed", skipped.address),
        };
    }
    more(&mut out, skipped, "were not begun");
    times(&mut out, report, paint);
    out
}

fn more(out: &mut String, count: usize, what: &str) {
    if count > NAMED {
        let _ = writeln!(out, "  … and {} more {what}", count - NAMED);
    }
}

/// `1 added, 0 changed, 0 destroyed`
fn counts(report: &Report, destroy: bool) -> String {
    if destroy {
        return format!("{} destroyed", report.destroyed);
    }
    let mut text = String::new();
    if report.imported > 0 {
        let _ = write!(text, "{} imported, ", report.imported);
    }
    let _ = write!(text, "{} added, {} changed, {} destroyed", report.added, report.changed, report.destroyed);
    if report.forgotten > 0 {
        let _ = write!(text, ", {} forgotten", report.forgotten);
    }
    text
}

/// How long it took, if it took long, and what took longest.
fn times(out: &mut String, report: &Report, paint: Paint) {
    if report.took < LONG {
        return;
    }
    let mut text = format!("It took {}", duration(report.took));
    let slow = report.slowest.iter().filter(|(_, time)| *time >= Duration::from_secs(1));
    let slow: Vec<String> = slow.map(|(object, time)| format!("{object} {}", duration(*time))).collect();
    if !slow.is_empty() {
        let _ = write!(text, "; longest: {}", slow.join(", "));
    }
    text.push('.');
    paint.write(out, Tone::Faint, &text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_raw_string_hashes, reason = "the tool that updates snapshots writes hashes")]

    use expect_test::expect;
    use groma_model::address::{AbsInstance, Traversal};
    use groma_run::engine::change::Action;
    use groma_run::engine::events::Skipped;

    use super::*;
    use crate::render::Style;

    const LOOK: Look = Look {
        style: Style { color: false, width: 78, ascii: false },
        fold: false,
        show_sensitive: false,
        in_automation: false,
    };

    fn address(text: &str) -> AbsInstance {
        AbsInstance::from_traversal(&Traversal::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn counts_and_times() {
        let report = Report { added: 3, destroyed: 1, took: Duration::from_secs(1), ..Report::default() };
        assert_eq!(applied(&report, false, &LOOK), "\nApply complete! Resources: 3 added, 0 changed, 1 destroyed.\n");
        assert_eq!(applied(&report, true, &LOOK), "\nDestroy complete! Resources: 1 destroyed.\n");
        let slowest = vec![("t_x.a".to_owned(), Duration::from_secs(61)), ("t_x.b".to_owned(), Duration::ZERO)];
        let long = Report { imported: 1, forgotten: 2, took: Duration::from_secs(75), slowest, ..report };
        expect![[r#"

            Apply complete! Resources: 1 imported, 3 added, 0 changed, 1 destroyed, 2 forgotten.
            It took 1m15s; longest: t_x.a 1m1s.
        "#]]
        .assert_eq(&applied(&long, false, &LOOK));
    }

    #[test]
    fn what_failed_and_what_was_left_out() {
        assert_eq!(failed(&Report::default(), false, &LOOK), "");
        let skipped = |name: &str, cause: Option<&str>| Skipped {
            address: address(name),
            action: Action::Create,
            because_of: cause.map(address),
        };
        let mut report = Report { added: 1, ..Report::default() };
        report.failed.push(("t_x.a".to_owned(), "creating"));
        report.skipped = vec![skipped("t_x.b", Some("t_x.a")), skipped("t_x.c", None)];
        report.skipped.extend((0..30).map(|index| skipped(&format!("t_x.n[{index}]"), Some("t_x.a"))));
        expect![[r#"

            Apply incomplete! Resources: 1 added, 0 changed, 0 destroyed; 1 failed, 32 not begun.
              t_x.a: creating failed
              t_x.b: not begun, because t_x.a failed
              t_x.c: not begun, because something that it needs failed
              t_x.n[0]: not begun, because t_x.a failed
              t_x.n[1]: not begun, because t_x.a failed
              t_x.n[2]: not begun, because t_x.a failed
              t_x.n[3]: not begun, because t_x.a failed
              t_x.n[4]: not begun, because t_x.a failed
              t_x.n[5]: not begun, because t_x.a failed
              t_x.n[6]: not begun, because t_x.a failed
              t_x.n[7]: not begun, because t_x.a failed
              t_x.n[8]: not begun, because t_x.a failed
              t_x.n[9]: not begun, because t_x.a failed
              t_x.n[10]: not begun, because t_x.a failed
              t_x.n[11]: not begun, because t_x.a failed
              t_x.n[12]: not begun, because t_x.a failed
              t_x.n[13]: not begun, because t_x.a failed
              t_x.n[14]: not begun, because t_x.a failed
              t_x.n[15]: not begun, because t_x.a failed
              t_x.n[16]: not begun, because t_x.a failed
              t_x.n[17]: not begun, because t_x.a failed
              … and 12 more were not begun
        "#]]
        .assert_eq(&failed(&report, false, &LOOK));
    }
}
