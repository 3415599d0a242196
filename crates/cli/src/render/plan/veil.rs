//! Changes as they are shown: what repeats a secret of the same object is hidden as well, though nobody has said so.

use std::borrow::Cow;

use groma_model::secrets::echoes;
use groma_run::engine::change::Change;

/// The change with everything marked that repeats a secret. What is hidden before is hidden after, too: it did not become public.
pub(super) fn veiled(change: &Change) -> Cow<'_, Change> {
    let block = &change.schema.block;
    let mut marks = echoes(&change.before, block);
    marks.extend(echoes(&change.after, block));
    if marks.is_empty() {
        return Cow::Borrowed(change);
    }
    let mut change = change.clone();
    change.before = change.before.with_path_marks(&marks);
    change.after = change.after.with_path_marks(&marks);
    Cow::Owned(change)
}
