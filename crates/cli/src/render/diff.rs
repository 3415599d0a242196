//! What differs between two values, as a tree: `compute` makes it, along schemas where there are some, and `print` writes it
//! down in the notation of plans. A value that is compared with itself is simply shown.

mod align;
mod block;
mod collection;
mod compute;
mod paths;
mod print;
mod strings;

#[cfg(test)]
mod tests;

use groma_model::value::Value;

pub(super) use block::block;
pub(super) use compute::{Pair, dynamic, typed};
pub(super) use paths::Paths;
pub(super) use print::{Mode, Printer, attribute_name};

/// What happens to a part of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing.
    Keep,
    /// It is new.
    Add,
    /// It goes.
    Drop,
    /// It becomes another.
    Change,
}

impl Act {
    /// What happens to the whole, when this happens to a further part of it.
    fn and(self, part: Act) -> Act {
        match part {
            Act::Keep => self,
            _ if part == self => self,
            _ => Act::Change,
        }
    }

    /// What happens to something of which it is known only whether it is there.
    fn of_presence(before: bool, after: bool) -> Act {
        match (before, after) {
            (false, true) => Act::Add,
            (true, false) => Act::Drop,
            _ => Act::Keep,
        }
    }
}

/// A difference, or a value that stays.
#[derive(Debug)]
pub(super) struct Diff<'v> {
    /// What happens to it.
    pub(super) act: Act,
    /// Whether that is why the whole object is replaced.
    replace: bool,
    shape: Shape<'v>,
}

/// What is compared.
#[derive(Debug)]
enum Shape<'v> {
    /// Bools, numbers, strings and null.
    Leaf(Option<&'v Value>, Option<&'v Value>),
    /// Elements in order.
    List(Vec<Diff<'v>>, ListKind),
    /// Elements by key.
    Map(Vec<(&'v str, Diff<'v>)>, Nested),
    /// Attributes by name.
    Object(Vec<(&'v str, Diff<'v>)>, Nested),
    /// Attributes and blocks.
    Block(Vec<(&'v str, Diff<'v>)>, Vec<Blocks<'v>>),
    /// Something that must not be shown, before or afterwards.
    Sensitive(Box<Diff<'v>>, Secrecy),
    /// The same for a whole block.
    SensitiveBlock(Box<Diff<'v>>, Secrecy),
    /// It is not known what it becomes; and what it was.
    Unknown(Option<Box<Diff<'v>>>),
    /// Never stored, so nobody can tell.
    WriteOnly,
    /// A value of one kind becomes a value of another.
    Kinds(Box<Diff<'v>>, Box<Diff<'v>>),
}

/// Which kind of elements stand in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListKind {
    /// A list or tuple, whose neighbours help to find the place.
    List,
    /// Objects with a schema of their own.
    NestedList,
    /// A set.
    Set,
    /// A set of objects with a schema of their own.
    NestedSet,
}

/// Whether parts have a schema of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nested {
    Yes,
    No,
}

/// When something must not be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Secrecy {
    before: bool,
    after: bool,
}

impl Secrecy {
    fn any(self) -> bool {
        self.before || self.after
    }

    fn changes(self) -> bool {
        self.before != self.after
    }
}

/// The blocks of one kind.
#[derive(Debug)]
struct Blocks<'v> {
    name: &'v str,
    /// With their label, if they have one.
    items: Vec<(Option<&'v str>, Diff<'v>)>,
    /// Whether all of them are why the object is replaced.
    replace: bool,
    /// Whether all of them must not be shown.
    secrecy: Secrecy,
}
