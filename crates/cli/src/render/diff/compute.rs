//! How two values differ: what is the same for values of all types. Collections are in `collection`, blocks in `block`.

use std::sync::LazyLock;

use groma_model::schema::{Attribute, AttributeKind, NestedObject, Nesting};
use groma_model::ty::Type;
use groma_model::value::{Value, ValueKind};

use super::{Act, Diff, Nested, Paths, Secrecy, Shape, collection};

/// Stands for what is below something that is not known.
static UNKNOWN: LazyLock<Value> = LazyLock::new(Value::dynamic);

/// What is compared. Nothing at all is not the same as null: an element of a map may be null, an attribute that is null is not
/// there.
#[derive(Debug, Clone)]
pub(in crate::render) struct Pair<'v, 'p> {
    pub(in crate::render) before: Option<&'v Value>,
    pub(in crate::render) after: Option<&'v Value>,
    /// Where the reasons for a replacement are.
    pub(in crate::render) replace: Paths<'p>,
    /// What is of interest. All else counts as unchanged.
    pub(in crate::render) relevant: Paths<'p>,
    /// Whether it was said already that this must not be shown.
    pub(in crate::render) revealed: bool,
}

impl<'v> Pair<'v, '_> {
    /// Two values of which everything is of interest.
    pub(in crate::render) fn new(before: Option<&'v Value>, after: Option<&'v Value>) -> Self {
        Self { before, after, replace: Paths::none(), relevant: Paths::All, revealed: false }
    }

    /// A value as it is.
    pub(in crate::render) fn same(value: &'v Value) -> Self {
        Self::new(Some(value), Some(value))
    }

    /// Null is nothing here.
    pub(in crate::render) fn implicit(self) -> Self {
        let Self { before, after, .. } = self;
        Self { before: before.filter(|value| !value.is_null()), after: after.filter(|value| !value.is_null()), ..self }
    }

    pub(super) fn with(&self, before: Option<&'v Value>, after: Option<&'v Value>) -> Self {
        Self { before, after, ..self.clone() }
    }

    /// As if it went.
    pub(super) fn dropped(&self) -> Self {
        self.with(self.before, None)
    }

    /// The attribute or element of that name, on both sides.
    pub(super) fn name(&self, name: &str) -> Self {
        let child = |side: Option<&'v Value>| side.and_then(Value::as_entries).and_then(|entries| entries.get(name));
        let (replace, relevant) = (self.replace.name(name), self.relevant.name(name));
        let pair =
            Self { before: child(self.before), after: child(self.after), replace, relevant, revealed: self.revealed };
        pair.if_relevant()
    }

    /// Elements at these places.
    pub(super) fn elements(&self, before: Option<&'v Value>, after: Option<&'v Value>, index: usize) -> Self {
        let (replace, relevant) = (self.replace.index(index), self.relevant.index(index));
        Self { before, after, replace, relevant, revealed: self.revealed }
    }

    /// Unchanged, if nobody is interested.
    pub(super) fn if_relevant(self) -> Self {
        if self.relevant.pass_here() { self } else { Self { after: self.before, ..self } }
    }

    /// Whether there is something, null or not, but for what is not known.
    pub(super) fn present(&self) -> (bool, bool) {
        let there = |side: Option<&Value>| side.is_some_and(|value| !value.is_null());
        (there(self.before), there(self.after))
    }

    pub(super) fn act_by_presence(&self) -> Act {
        let (before, after) = self.present();
        Act::of_presence(before, after)
    }

    pub(super) fn secrecy(&self) -> Secrecy {
        let secret = |side: Option<&Value>| !self.revealed && side.is_some_and(|value| value.marks().is_sensitive());
        Secrecy { before: secret(self.before), after: secret(self.after) }
    }

    pub(super) fn diff(&self, act: Act, shape: Shape<'v>) -> Diff<'v> {
        Diff { act, replace: self.replace.end_here(), shape }
    }

    /// What is shown instead, if this must not be shown or is not known.
    pub(super) fn veiled(&self, secrecy: Secrecy, compute: &dyn Fn(Self) -> Diff<'v>) -> Option<Diff<'v>> {
        if secrecy.any() {
            let inner = compute(Self { revealed: true, ..self.clone() });
            let act = secret_act(inner.act, secrecy, self.before.is_some() || self.after.is_some());
            return Some(self.diff(act, Shape::Sensitive(Box::new(inner), secrecy)));
        }
        self.unknown(|| compute(self.dropped()))
    }

    /// What is shown if it is not known what it becomes.
    pub(super) fn unknown(&self, before: impl FnOnce() -> Diff<'v>) -> Option<Diff<'v>> {
        if self.after.is_none_or(Value::is_known) {
            return None;
        }
        if self.before.is_none() {
            return Some(self.diff(Act::Add, Shape::Unknown(None)));
        }
        // One word about a replacement is enough.
        let before = Diff { replace: false, ..before() };
        Some(self.diff(Act::Change, Shape::Unknown(Some(Box::new(before)))))
    }
}

/// What happens to a secret: that it becomes one, or is none any more, is a change as well.
pub(super) fn secret_act(inner: Act, secrecy: Secrecy, there: bool) -> Act {
    if inner == Act::Keep && secrecy.changes() && there { Act::Change } else { inner }
}

/// An attribute with its schema. `parent` is what happens to the object around it.
pub(super) fn attribute<'v>(pair: &Pair<'v, '_>, attribute: &'v Attribute, parent: Act) -> Diff<'v> {
    if attribute.write_only {
        let forced = parent == Act::Keep && pair.replace.end_here();
        return pair.diff(if forced { Act::Change } else { parent }, Shape::WriteOnly);
    }
    let compute = |pair: Pair<'v, '_>| match &attribute.ty {
        AttributeKind::Type(ty) => typed(&pair, ty),
        AttributeKind::Nested(object) => nested(&pair, object, object.nesting),
    };
    if attribute.sensitive && !pair.revealed {
        let secrecy = Secrecy { before: true, after: true };
        if let Some(diff) = pair.veiled(secrecy, &compute) {
            return diff;
        }
    }
    compute(pair.clone())
}

/// A value of a type.
pub(in crate::render) fn typed<'v>(pair: &Pair<'v, '_>, ty: &Type) -> Diff<'v> {
    if let Some(veiled) = pair.veiled(pair.secrecy(), &|pair| typed(&pair, ty)) {
        return veiled;
    }
    match ty {
        Type::Dynamic => dynamic(pair),
        Type::Bool | Type::Number | Type::String => leaf(pair),
        // A null in a collection. Nothing could be shown of it otherwise.
        _ if pair.present() == (false, false) && (pair.before.is_some() || pair.after.is_some()) => leaf(pair),
        Type::Object(object) => {
            let attributes = object.iter().map(|(name, attribute)| (name.as_str(), &attribute.ty));
            let mut parts = Vec::new();
            let mut act = pair.act_by_presence();
            for (name, ty) in attributes {
                // Names live as long as the values, whose objects have them all.
                let Some(name) = name_in(pair, name) else { continue };
                let child = pair.name(name).implicit();
                let diff = typed(&child, ty);
                if diff.act == Act::Keep && child.before.is_none() && child.after.is_none() {
                    continue;
                }
                act = act.and(diff.act);
                parts.push((name, diff));
            }
            pair.diff(act, Shape::Object(parts, Nested::No))
        }
        Type::Map(element) => collection::map(pair, Nested::No, &|pair| typed(pair, element)),
        Type::List(element) => {
            let objects = matches!(**element, Type::Object(_));
            collection::list(pair, &|_, _| objects, &|pair| typed(pair, element))
        }
        Type::Tuple(types) => collection::tuple(pair, &|pair, at| typed(pair, types.get(at).unwrap_or(&Type::Dynamic))),
        Type::Set(element) => collection::set(pair, Nested::No, &|pair| typed(pair, element)),
    }
}

/// The name as one of the two objects has it.
fn name_in<'v>(pair: &Pair<'v, '_>, name: &str) -> Option<&'v str> {
    let find = |side: Option<&'v Value>| {
        let names = side?.as_entries()?.names();
        let at = names.binary_search_by(|candidate| candidate.as_str().cmp(name)).ok()?;
        names.get(at).map(groma_model::text::Str::as_str)
    };
    find(pair.before).or_else(|| find(pair.after))
}

/// An attribute that holds objects with a schema of their own.
pub(super) fn nested<'v>(pair: &Pair<'v, '_>, object: &'v NestedObject, nesting: Nesting) -> Diff<'v> {
    let secrecy = pair.secrecy();
    if secrecy.any()
        && let Some(veiled) = pair.veiled(secrecy, &|pair| nested(&pair, object, nesting))
    {
        return veiled;
    }
    let of_before = || match nesting {
        Nesting::Single | Nesting::Group => nested_object(&pair.dropped(), object, Some(&*UNKNOWN)),
        _ => nested(&pair.dropped(), object, nesting),
    };
    if let Some(unknown) = pair.unknown(of_before) {
        return unknown;
    }
    let one = |pair: &Pair<'v, '_>| nested(pair, object, Nesting::Single);
    match nesting {
        Nesting::Single | Nesting::Group => nested_object(pair, object, None),
        Nesting::List => collection::zipped(pair, &one),
        Nesting::Set => collection::set(pair, Nested::Yes, &one),
        Nesting::Map => collection::map(pair, Nested::Yes, &one),
    }
}

/// One object. `becomes` is what its attributes become, if that does not come from a value.
fn nested_object<'v>(pair: &Pair<'v, '_>, object: &'v NestedObject, becomes: Option<&'v Value>) -> Diff<'v> {
    let (mut attributes, act) = attributes(pair, &object.attributes, pair.act_by_presence(), |child| {
        let mut child = child.implicit();
        child.after = becomes.or(child.after);
        child
    });
    // Blocks always say what is never stored, objects only when there is news.
    attributes.retain(|(_, part)| part.act != Act::Keep || !matches!(part.shape, Shape::WriteOnly));
    pair.diff(act, Shape::Object(attributes, Nested::Yes))
}

/// Attributes by their schemas. What is never stored goes along with all that is.
pub(super) fn attributes<'v, 'p>(
    pair: &Pair<'v, 'p>,
    schemas: &'v std::collections::BTreeMap<groma_model::text::Str, Attribute>,
    start: Act,
    prepare: impl Fn(Pair<'v, 'p>) -> Pair<'v, 'p>,
) -> (Vec<(&'v str, Diff<'v>)>, Act) {
    let mut found = Vec::with_capacity(schemas.len());
    let mut act = start;
    let in_two_turns = schemas.iter().filter(|(_, schema)| !schema.write_only);
    for (name, schema) in in_two_turns.chain(schemas.iter().filter(|(_, schema)| schema.write_only)) {
        let child = prepare(pair.name(name));
        let diff = attribute(&child, schema, act);
        let nothing = diff.act == Act::Keep && child.before.is_none() && child.after.is_none();
        if nothing && !schema.write_only {
            continue;
        }
        act = act.and(diff.act);
        found.push((name.as_str(), diff));
    }
    found.sort_by_key(|(name, _)| *name);
    (found, act)
}

/// What a value is, whatever its type: as JSON sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

fn kind(side: Option<&Value>) -> Kind {
    match side.map(Value::kind) {
        None | Some(ValueKind::Null | ValueKind::Unknown(_)) => Kind::Null,
        Some(ValueKind::Bool(_)) => Kind::Bool,
        Some(ValueKind::Number(_)) => Kind::Number,
        Some(ValueKind::String(_)) => Kind::String,
        Some(ValueKind::List(_) | ValueKind::Set(_) | ValueKind::Tuple(_)) => Kind::Array,
        Some(ValueKind::Map(_) | ValueKind::Object(_)) => Kind::Object,
    }
}

/// Values of any type, which may become values of another: outputs, and attributes that take anything.
pub(in crate::render) fn dynamic<'v>(pair: &Pair<'v, '_>) -> Diff<'v> {
    if let Some(veiled) = pair.veiled(pair.secrecy(), &|pair| dynamic(&pair)) {
        return veiled;
    }
    let (before, after) = (kind(pair.before), kind(pair.after));
    if before == after || pair.before.is_none() || pair.after.is_none() {
        return of_kind(pair, if before == Kind::Null { after } else { before });
    }
    let dropped = of_kind(&pair.dropped(), before);
    let added = of_kind(&pair.with(None, pair.after), after);
    let sides = Shape::Kinds(Box::new(Diff { replace: false, ..dropped }), Box::new(Diff { replace: false, ..added }));
    pair.diff(Act::Change, sides)
}

fn of_kind<'v>(pair: &Pair<'v, '_>, kind: Kind) -> Diff<'v> {
    match kind {
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => leaf(pair),
        Kind::Array => {
            let objects =
                |a: &Value, b: &Value| self::kind(Some(a)) == Kind::Object && self::kind(Some(b)) == Kind::Object;
            collection::list(pair, &objects, &dynamic)
        }
        Kind::Object => collection::dynamic_object(pair, &dynamic),
    }
}

/// Bools, numbers, strings and null.
pub(super) fn leaf<'v>(pair: &Pair<'v, '_>) -> Diff<'v> {
    let act = match (pair.before, pair.after) {
        (None, None) => Act::Keep,
        (None, Some(_)) => Act::Add,
        (Some(_), None) => Act::Drop,
        (Some(before), Some(after)) if collection::same(before, after) => Act::Keep,
        (Some(_), Some(_)) => Act::Change,
    };
    pair.diff(act, Shape::Leaf(pair.before, pair.after))
}
