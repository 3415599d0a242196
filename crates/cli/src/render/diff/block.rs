//! How objects with a schema differ: attributes first, then nested blocks.

use groma_model::schema::{Block, NestedBlock, Nesting};
use groma_model::value::Value;

use super::collection::{by_key, by_place, set_parts};
use super::compute::{Pair, attributes, secret_act};
use super::{Act, Blocks, Diff, Shape};

/// An object, or the content of a nested block.
pub(in crate::render) fn block<'v>(pair: &Pair<'v, '_>, schema: &'v Block) -> Diff<'v> {
    let secrecy = pair.secrecy();
    if secrecy.any() {
        let inner = block(&Pair { revealed: true, ..pair.clone() }, schema);
        let act = secret_act(inner.act, secrecy, pair.before.is_some() || pair.after.is_some());
        return pair.diff(act, Shape::SensitiveBlock(Box::new(inner), secrecy));
    }
    if let Some(unknown) = pair.unknown(|| contents(&pair.dropped(), schema)) {
        return unknown;
    }
    contents(pair, schema)
}

fn contents<'v>(pair: &Pair<'v, '_>, schema: &'v Block) -> Diff<'v> {
    let (attributes, mut act) = attributes(pair, &schema.attributes, pair.act_by_presence(), filled);
    let mut blocks = Vec::with_capacity(schema.block_types.len());
    for (name, schema) in &schema.block_types {
        if let Some((group, group_act)) = of_kind(&pair.name(name), name, schema) {
            act = act.and(group_act);
            blocks.push(group);
        }
    }
    pair.diff(act, Shape::Block(attributes, blocks))
}

/// What is null is not there, and old providers cannot tell an empty text from that.
fn filled<'v, 'p>(pair: Pair<'v, 'p>) -> Pair<'v, 'p> {
    let full = |side: Option<&'v Value>| side.filter(|value| value.as_str() != Some(""));
    let pair = pair.implicit();
    Pair { before: full(pair.before), after: full(pair.after), ..pair }
}

/// All blocks of one kind. None if there is nothing to say about them.
fn of_kind<'v>(pair: &Pair<'v, '_>, name: &'v str, schema: &'v NestedBlock) -> Option<(Blocks<'v>, Act)> {
    let single = matches!(schema.nesting, Nesting::Single | Nesting::Group);
    let one = |pair: &Pair<'v, '_>| block(pair, &schema.block);
    let label_free = |parts: Vec<Diff<'v>>| parts.into_iter().map(|part| (None, part)).collect();
    let not_known = pair.after.is_some_and(|after| !after.is_known());
    let items: Vec<(Option<&'v str>, Diff<'v>)> = match schema.nesting {
        _ if not_known && !single => vec![(None, unknown_group(pair))],
        Nesting::Single | Nesting::Group => vec![(None, one(&pair.clone().implicit()))],
        Nesting::List => label_free(by_place(pair, &|pair, _| one(pair))),
        Nesting::Set => label_free(set_parts(pair, &one)),
        Nesting::Map => by_key(pair, &one).into_iter().map(|(key, part)| (Some(key), part)).collect(),
    };
    let start = if single || not_known { Act::Keep } else { pair.act_by_presence() };
    let act = items.iter().fold(start, |act, (_, part)| act.and(part.act));
    if act == Act::Keep && pair.present() == (false, false) {
        return None;
    }
    Some((Blocks { name, items, replace: pair.replace.end_here(), secrecy: pair.secrecy() }, act))
}

/// Blocks of which it is not known how many there will be.
fn unknown_group<'v>(pair: &Pair<'v, '_>) -> Diff<'v> {
    let none_yet = pair.before.and_then(Value::as_elements).is_none_or(<[Value]>::is_empty);
    pair.diff(if none_yet { Act::Add } else { Act::Change }, Shape::Unknown(None))
}
