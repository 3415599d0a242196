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
    let text = format!(
        "{what} incomplete! Resources: {}; {failures} failed, {skipped} not begun.",
        counts(report, destroy)
    );
    paint.write(&mut out, Tone::Bad, &text);
    out.push('\n');
    for (object, verb) in report.failed.iter().take(NAMED) {
        let _ = writeln!(out, "  {object}: failed {verb}");
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
