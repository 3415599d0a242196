//! What came of an apply, in a few lines.

use super::Look;
use crate::watch::Report;

/// After an apply that did all that was planned: counts, and how long it took.
pub(crate) fn applied(report: &Report, destroy: bool, look: &Look) -> String {
    let _ = (report, destroy, look);
    String::new()
}

/// After an apply that did not: what was done, what failed and what was left out because of it. The errors themselves are
/// shown as diagnostics.
pub(crate) fn failed(report: &Report, destroy: bool, look: &Look) -> String {
    let _ = (report, destroy, look);
    String::new()
}
