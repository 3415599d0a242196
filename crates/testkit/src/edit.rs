//! Random edits of random configurations. What an edit does follows from its seed and the configuration alone, so that edits can be left
//! out when a failure is narrowed down.

use std::collections::BTreeSet;

use crate::chance::Chance;
use crate::configuration::{Body, Configuration, Item, Module, Repetition, Resource, Serial};
use crate::writing::{address, module_address};

const TEXTS: [&str; 4] = ["plain", "Mixed", "MIXED", "other"];
const KEYS: [&str; 4] = ["a", "b", "c", "d"];

/// What the edits of a configuration may be.
type Edit = fn(&mut Configuration, &mut Chance);

/// Edits, by how often they are made.
const EDITS: &[(usize, Edit)] = &[
    (8, add_resource),
    (2, add_value),
    (2, add_module),
    (5, change_fields),
    (5, change_kind),
    (6, change_references),
    (3, change_order),
    (4, change_repetition),
    (4, toggle_made_first),
    (4, remove_item),
    (1, remove_module),
    (2, rename),
    (1, move_between_modules),
    (1, rename_module),
];

/// Adds something.
pub fn grow(configuration: &mut Configuration, seed: u64) {
    let mut chance = Chance::new(seed);
    let edits: [Edit; 6] = [add_resource, add_resource, add_resource, add_value, add_module, change_references];
    edits[chance.below(edits.len())](configuration, &mut chance);
    configuration.mend();
}

/// Makes an edit.
pub fn edit(configuration: &mut Configuration, seed: u64) {
    let mut chance = Chance::new(seed);
    let total: usize = EDITS.iter().map(|(weight, _)| weight).sum();
    let mut at = chance.below(total);
    for (weight, edit) in EDITS {
        if at < *weight {
            edit(configuration, &mut chance);
            break;
        }
        at -= weight;
    }
    configuration.mend();
}

fn repetition(chance: &mut Chance) -> Repetition {
    match chance.below(6) {
        0..3 => Repetition::Single,
        3 | 4 => Repetition::Count(chance.below(4)),
        _ => Repetition::Each(KEYS.into_iter().filter(|_| chance.one_in(2)).collect::<BTreeSet<_>>()),
    }
}

fn add(configuration: &mut Configuration, module: Serial, rank: u64, body: Body) {
    let serial = configuration.serial();
    let letter = match body {
        Body::Resource(_) => "r",
        Body::Data { .. } => "d",
        Body::Local { .. } => "l",
        Body::Input { .. } => "v",
        Body::Output { .. } => "o",
    };
    configuration.items.insert(serial, Item { name: format!("{letter}{serial}"), module, rank, body });
}

fn any_module(configuration: &Configuration, chance: &mut Chance) -> Serial {
    let modules: Vec<Serial> = configuration.modules.keys().copied().collect();
    chance.pick(&modules).unwrap_or_default()
}

fn add_resource(configuration: &mut Configuration, chance: &mut Chance) {
    let (module, rank) = (any_module(configuration, chance), chance.number());
    let candidates = configuration.candidates(module, rank);
    let named = chance.one_in(3).then(|| configuration.serial());
    let mut resource = Resource {
        legacy: chance.one_in(4),
        repetition: repetition(chance),
        parent: None,
        peers: Vec::new(),
        size: chance.below(9),
        kind: chance.below(3),
        text: TEXTS[chance.below(TEXTS.len())],
        secret: chance.one_in(4).then(|| chance.below(9)),
        zone: chance.one_in(4).then(|| chance.below(3)),
        named,
        made_first: chance.one_in(4),
        ignores_size: chance.one_in(6),
        depends_on: Vec::new(),
        triggers: Vec::new(),
    };
    for _ in 0..chance.below(3) {
        refer(&mut resource, &candidates, chance);
    }
    add(configuration, module, rank, Body::Resource(Box::new(resource)));
}

/// Adds a reference of some kind.
fn refer(resource: &mut Resource, candidates: &[Serial], chance: &mut Chance) {
    let Some(target) = chance.pick(candidates) else { return };
    match chance.below(7) {
        0..3 => resource.parent = Some(target),
        3 | 4 => resource.peers.push((target, chance.one_in(2))),
        5 => resource.depends_on.push(target),
        _ => resource.triggers.push(target),
    }
}

fn add_value(configuration: &mut Configuration, chance: &mut Chance) {
    let (module, rank) = (any_module(configuration, chance), chance.number());
    let candidates = configuration.candidates(module, rank);
    let Some(of) = chance.pick(&candidates) else { return };
    let body = match chance.below(5) {
        0 => {
            let depends_on = if chance.one_in(3) { chance.pick(&candidates).into_iter().collect() } else { Vec::new() };
            Body::Data { of, depends_on }
        }
        1 => Body::Local { of },
        2 => match configuration.modules[&module].parent {
            Some(parent) => Body::Input { of: chance.pick(&configuration.candidates(parent, rank)) },
            None => Body::Local { of },
        },
        _ => Body::Output { of },
    };
    add(configuration, module, rank, body);
}

fn add_module(configuration: &mut Configuration, chance: &mut Chance) {
    if configuration.modules.len() > 5 {
        return;
    }
    let (parent, serial) = (any_module(configuration, chance), configuration.serial());
    let module = Module {
        name: format!("m{serial}"),
        parent: Some(parent),
        repetition: repetition(chance),
        depends_on: Vec::new(),
    };
    configuration.modules.insert(serial, module);
    // Something goes in, something is inside, something comes out.
    let mut ranks = [chance.number(), chance.number(), chance.number()];
    ranks.sort_unstable();
    let argument = chance.pick(&configuration.candidates(parent, ranks[0]));
    add(configuration, serial, ranks[0], Body::Input { of: argument });
    let input = configuration.last;
    add_resource(configuration, chance);
    let inner = configuration.last;
    if let Some(item) = configuration.items.get_mut(&inner)
        && let Body::Resource(resource) = &mut item.body
    {
        (item.module, item.rank, resource.parent) = (serial, ranks[1], Some(input));
    }
    add(configuration, serial, ranks[2], Body::Output { of: inner });
    if chance.one_in(3) {
        let lowest = configuration.lowest_rank(serial);
        let target = chance.pick(&configuration.candidates(parent, lowest));
        if let Some(module) = configuration.modules.get_mut(&serial) {
            module.depends_on.extend(target);
        }
    }
}

/// Changes a resource, if there is any.
fn with_resource(
    configuration: &mut Configuration,
    chance: &mut Chance,
    change: impl FnOnce(&mut Resource, &[Serial], &mut Chance),
) {
    let all: Vec<Serial> = configuration.resources().map(|(serial, ..)| serial).collect();
    let Some(serial) = chance.pick(&all) else { return };
    let (module, rank) = (configuration.items[&serial].module, configuration.items[&serial].rank);
    let candidates = configuration.candidates(module, rank);
    if let Some(Item { body: Body::Resource(resource), .. }) = configuration.items.get_mut(&serial) {
        change(resource, &candidates, chance);
    }
}

fn change_fields(configuration: &mut Configuration, chance: &mut Chance) {
    with_resource(configuration, chance, |resource, _, chance| match chance.below(6) {
        0..2 => resource.size += 1 + chance.below(5),
        2 => resource.text = TEXTS[chance.below(TEXTS.len())],
        3 => resource.secret = chance.one_in(2).then(|| chance.below(9)),
        4 => resource.zone = chance.one_in(2).then(|| chance.below(3)),
        _ => resource.ignores_size = !resource.ignores_size,
    });
}

fn change_kind(configuration: &mut Configuration, chance: &mut Chance) {
    let name = configuration.serial();
    with_resource(configuration, chance, |resource, _, chance| match chance.below(5) {
        0 => resource.named = if resource.named.is_none() { Some(name) } else { None },
        _ => resource.kind += 1 + chance.below(3),
    });
}

fn change_references(configuration: &mut Configuration, chance: &mut Chance) {
    with_resource(configuration, chance, |resource, candidates, chance| {
        if chance.one_in(3) {
            match chance.below(4) {
                0..2 => resource.parent = None,
                2 => resource.peers.clear(),
                _ => resource.triggers.clear(),
            }
        } else {
            refer(resource, candidates, chance);
        }
    });
}

fn change_order(configuration: &mut Configuration, chance: &mut Chance) {
    with_resource(configuration, chance, |resource, candidates, chance| {
        if chance.one_in(2) {
            resource.depends_on.clear();
        } else {
            resource.depends_on.extend(chance.pick(candidates));
        }
    });
}

fn change_repetition(configuration: &mut Configuration, chance: &mut Chance) {
    if chance.one_in(4) {
        let module = any_module(configuration, chance);
        if let Some(module) = configuration.modules.get_mut(&module).filter(|module| module.parent.is_some()) {
            module.repetition = repetition(chance);
        }
        return;
    }
    with_resource(configuration, chance, |resource, _, chance| resource.repetition = repetition(chance));
}

fn toggle_made_first(configuration: &mut Configuration, chance: &mut Chance) {
    with_resource(configuration, chance, |resource, _, _| resource.made_first = !resource.made_first);
}

fn remove_item(configuration: &mut Configuration, chance: &mut Chance) {
    let all: Vec<Serial> = configuration.items.keys().copied().collect();
    if let Some(serial) = chance.pick(&all) {
        configuration.items.remove(&serial);
    }
}

fn remove_module(configuration: &mut Configuration, chance: &mut Chance) {
    let module = any_module(configuration, chance);
    if configuration.modules[&module].parent.is_some() {
        configuration.modules.remove(&module);
    }
}

/// With a statement or without.
fn rename(configuration: &mut Configuration, chance: &mut Chance) {
    let all: Vec<Serial> = configuration.resources().map(|(serial, ..)| serial).collect();
    let Some(serial) = chance.pick(&all) else { return };
    let from = address(configuration, serial);
    let fresh = configuration.serial();
    let moves = !chance.one_in(4);
    if let Some(item) = configuration.items.get_mut(&serial) {
        item.name = format!("r{fresh}");
        // Nothing says that the new one waits for the old one, so it cannot have the same name.
        if let Body::Resource(resource) = &mut item.body
            && !moves
        {
            resource.named = resource.named.map(|_| fresh);
        }
    }
    if moves {
        let to = address(configuration, serial);
        configuration.moved.push((from, to));
    }
}

/// Only between modules that are there once: otherwise it is not said to which of them.
fn move_between_modules(configuration: &mut Configuration, chance: &mut Chance) {
    let all: Vec<Serial> = configuration.resources().map(|(serial, ..)| serial).collect();
    let Some(serial) = chance.pick(&all) else { return };
    let target = any_module(configuration, chance);
    let once = |module: Serial| {
        let path = configuration.ancestors(module);
        path.iter().all(|module| configuration.modules[module].repetition == Repetition::Single)
    };
    let source = configuration.items[&serial].module;
    if source == target || !once(source) || !once(target) {
        return;
    }
    let from = address(configuration, serial);
    let name = format!("r{}", configuration.serial());
    if let Some(item) = configuration.items.get_mut(&serial) {
        (item.module, item.name) = (target, name);
    }
    let to = address(configuration, serial);
    configuration.moved.push((from, to));
}

fn rename_module(configuration: &mut Configuration, chance: &mut Chance) {
    let serial = any_module(configuration, chance);
    let from = module_address(configuration, serial);
    let name = format!("m{}", configuration.serial());
    let Some(module) = configuration.modules.get_mut(&serial).filter(|module| module.parent.is_some()) else { return };
    module.name = name;
    let to = module_address(configuration, serial);
    let stripped = |path: String| path.trim_end_matches('.').to_owned();
    configuration.moved.push((stripped(from), stripped(to)));
}
