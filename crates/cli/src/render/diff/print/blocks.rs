//! Blocks as text: attributes, then nested blocks, kind by kind.

use groma_model::value::go_quote;

use super::{Mode, Printer, attribute_name};
use crate::render::diff::compute::secret_act;
use crate::render::diff::{Act, Blocks, Diff};

impl Printer<'_> {
    pub(super) fn block(
        &mut self,
        diff: &Diff<'_>,
        attributes: &[(&str, Diff<'_>)],
        blocks: &[Blocks<'_>],
        indent: usize,
        mode: Mode,
    ) {
        self.out.push('{');
        if attributes.is_empty() && blocks.is_empty() {
            self.out.push('}');
            return self.forces(diff.replace, mode);
        }
        self.forces(diff.replace, mode);
        self.out.push('\n');
        self.attributes(attributes, indent, mode);
        let mut hidden = 0;
        for group in blocks {
            hidden += self.blocks(group, !attributes.is_empty(), indent, mode);
        }
        if hidden > 0 {
            self.out.push('\n');
            self.hidden("block", hidden, indent);
        }
        self.line_start(indent, Act::Keep);
        self.out.push('}');
    }

    /// The blocks of one kind, and how many of them stay as they are and are not shown.
    fn blocks(&mut self, group: &Blocks<'_>, apart: bool, indent: usize, mode: Mode) -> usize {
        let mut hidden = 0;
        let mut any_shown = false;
        for (label, part) in &group.items {
            let veiled = match part.act {
                Act::Add => group.secrecy.after,
                Act::Drop => group.secrecy.before,
                Act::Change | Act::Keep => group.secrecy.any(),
            } && !self.show_sensitive;
            let act = if veiled { secret_act(part.act, group.secrecy, true) } else { part.act };
            if act == Act::Keep && !mode.everything {
                hidden += 1;
                continue;
            }
            if apart && !any_shown {
                self.out.push('\n');
            }
            any_shown = true;
            if veiled {
                self.secrecy_warning("block", group.secrecy, part.act, indent + 1);
            } else {
                self.warnings(part, indent + 1);
            }
            self.line_start(indent + 1, act);
            self.out.push_str(&attribute_name(group.name));
            if let Some(label) = label {
                self.out.push(' ');
                self.out.push_str(&go_quote(label));
            }
            self.out.push(' ');
            let part_mode = Mode { forces: group.replace, ..mode };
            if veiled {
                self.sensitive_block(part.replace, indent + 1, part_mode);
            } else {
                self.diff(part, indent + 1, part_mode);
            }
            self.out.push('\n');
        }
        hidden
    }

    pub(super) fn sensitive_block(&mut self, replace: bool, indent: usize, mode: Mode) {
        self.out.push('{');
        self.forces(replace, mode);
        for line in [
            "  # At least one attribute in this block is (or was) sensitive,",
            "  # so its contents will not be displayed.",
            "}",
        ] {
            self.out.push('\n');
            self.line_start(indent, Act::Keep);
            self.out.push_str(line);
        }
    }
}
