//! The picture of a run: how far it is, what is under way, who waits for that.

use std::time::Duration;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::clock::Moment;
use super::lines::duration;
use super::tracker::{Running, Tracker};
use crate::render::Style;
use crate::render::paint::{Paint, Tone};

/// So much of what is under way is shown.
const ROWS: usize = 10;

/// So many of those who wait are named.
const NAMES: usize = 3;

/// The picture, line by line. Empty if nothing is under way.
pub(super) fn draw(tracker: &Tracker, style: Style, now: Moment) -> Vec<String> {
    let running: Vec<&Running> = tracker.running().take(ROWS).collect();
    let count = tracker.running().len();
    if count == 0 {
        return Vec::new();
    }
    let paint = Paint(style.color);
    let mut lines = vec![paint.text(Tone::Bold, &cut(&headline(tracker, count, now.passed), style.width))];
    let hidden = count - running.len();
    for (at, running) in running.iter().enumerate() {
        let last = hidden == 0 && at + 1 == count;
        let (branch, below) = if last { ("└─", "  ") } else { ("├─", "│ ") };
        let with = running.with.as_ref().map(|with| format!(" ({with})")).unwrap_or_default();
        let elapsed = duration(now.passed.saturating_sub(running.since));
        let tail = format!(": {}{with} {elapsed}", running.doing.verb());
        let name = shortened(&running.address.to_string(), style.width.saturating_sub(tail.width() + 4));
        lines.push(cut(&format!("{branch} {name}{tail}"), style.width));
        let waiting = tracker.waits.for_object(&running.address, NAMES);
        if waiting.count > 0 {
            let more = if waiting.count > waiting.names.len() { ", …" } else { "" };
            let plus = if waiting.and_more { "+" } else { "" };
            let verb = if waiting.count == 1 { "waits" } else { "wait" };
            let text = format!("{below}   {}{plus} {verb} for it: {}{more}", waiting.count, waiting.names.join(", "));
            lines.push(paint.text(Tone::Faint, &cut(&text, style.width)));
        }
    }
    if hidden > 0 {
        lines.push(paint.text(Tone::Faint, &cut(&format!("└─ … and {hidden} more"), style.width)));
    }
    lines
}

fn headline(tracker: &Tracker, running: usize, passed: Duration) -> String {
    let passed = duration(passed);
    match tracker.total {
        Some(total) => {
            let waiting = total.saturating_sub(tracker.over + running);
            format!("Applying: {} of {total} done, {running} running, {waiting} waiting, {passed}", tracker.over)
        }
        None => format!("Planning: {} read, {running} running, {passed}", tracker.over),
    }
}

/// A name with its end left out, if it is too long.
fn shortened(name: &str, width: usize) -> String {
    if name.width() <= width { name.to_owned() } else { cut(name, width) + "…" }
}

/// The text, as far as it fits on a line.
fn cut(text: &str, width: usize) -> String {
    let mut room = width.saturating_sub(1);
    let fits = |c: &char| {
        let width = c.width().unwrap_or_default();
        let fits = width <= room;
        room = room.saturating_sub(width);
        fits
    };
    text.chars().filter(|c| !c.is_control()).take_while(fits).collect()
}
