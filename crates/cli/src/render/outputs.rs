//! Outputs as text, as `output` and `apply` show them.

use std::collections::BTreeMap;

use groma_lang::display;
use groma_model::text::Str;
use groma_run::state::OutputState;

/// All outputs, a line or more for each. Sensitive ones are only named, unless they are to be shown.
pub(crate) fn outputs(outputs: &BTreeMap<Str, OutputState>, show_sensitive: bool) -> String {
    let mut text = String::new();
    for (name, output) in outputs {
        text.push_str(name);
        text.push_str(" = ");
        if output.sensitive && !show_sensitive {
            text.push_str("<sensitive>");
        } else {
            text.push_str(&display::console(&output.value));
        }
        text.push('\n');
    }
    text
}

/// The value of one output, which was asked for by name: it is shown even if it is sensitive. Ends with a line break.
pub(crate) fn output(output: &OutputState) -> String {
    let mut text = display::console(&output.value);
    text.push('\n');
    text
}
