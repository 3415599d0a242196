//! Random configurations: what is declared where, and what refers to what. References lead from higher to lower ranks, so that there are no
//! cycles among declarations. How that is written down is in [`crate::writing`], how it changes in [`crate::edit`].

use std::collections::{BTreeMap, BTreeSet};

/// Names a declaration for good, whatever it is called.
pub type Serial = u32;

/// The root module.
pub const ROOT: Serial = 0;

/// How often something is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repetition {
    /// Once.
    Single,
    /// With `count`.
    Count(usize),
    /// With `for_each` over these keys.
    Each(BTreeSet<&'static str>),
}

/// A module and the call of it.
#[derive(Debug, Clone)]
pub struct Module {
    /// The name of the call.
    pub name: String,
    /// Where it is called. None for the root.
    pub parent: Option<Serial>,
    /// How often.
    pub repetition: Repetition,
    /// What the call depends on.
    pub depends_on: Vec<Serial>,
}

/// A managed resource.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Whether it is of the type that is not exact.
    pub legacy: bool,
    /// How often it is there.
    pub repetition: Repetition,
    /// What it is part of; another parent means another object.
    pub parent: Option<Serial>,
    /// What it knows, and whether all instances of it; can be changed.
    pub peers: Vec<(Serial, bool)>,
    /// Can be changed.
    pub size: usize,
    /// Another kind means another object.
    pub kind: usize,
    /// Can be changed; in the inexact type its case does not count.
    pub text: &'static str,
    /// Must not be shown.
    pub secret: Option<usize>,
    /// The zone, where it is not left to the provider.
    pub zone: Option<usize>,
    /// What its name is made of, if it has one; nothing else may have the same.
    pub named: Option<Serial>,
    /// `create_before_destroy`.
    pub made_first: bool,
    /// Whether changes of the size are ignored.
    pub ignores_size: bool,
    /// `depends_on`.
    pub depends_on: Vec<Serial>,
    /// `replace_triggered_by`.
    pub triggers: Vec<Serial>,
}

/// What a declaration is.
#[derive(Debug, Clone)]
pub enum Body {
    /// A managed resource.
    Resource(Box<Resource>),
    /// A data source that looks something up.
    Data {
        /// What.
        of: Serial,
        /// `depends_on`.
        depends_on: Vec<Serial>,
    },
    /// A local value.
    Local {
        /// Of what.
        of: Serial,
    },
    /// A variable of a module, and the argument of the call.
    Input {
        /// The argument, if there is one.
        of: Option<Serial>,
    },
    /// An output.
    Output {
        /// Of what.
        of: Serial,
    },
}

/// A declaration.
#[derive(Debug, Clone)]
pub struct Item {
    /// How it is called.
    pub name: String,
    /// In which module.
    pub module: Serial,
    /// It refers only to what has a lower rank.
    pub rank: u64,
    /// What it is.
    pub body: Body,
}

/// A configuration.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// Modules, the root among them.
    pub modules: BTreeMap<Serial, Module>,
    /// What is declared in them.
    pub items: BTreeMap<Serial, Item>,
    /// `moved` blocks of the root: from where, to where.
    pub moved: Vec<(String, String)>,
    /// The last serial that was given out.
    pub last: Serial,
}

impl Default for Configuration {
    fn default() -> Self {
        let root =
            Module { name: "root".to_owned(), parent: None, repetition: Repetition::Single, depends_on: Vec::new() };
        Self { modules: BTreeMap::from([(ROOT, root)]), items: BTreeMap::new(), moved: Vec::new(), last: ROOT }
    }
}

impl Configuration {
    /// A serial that nothing had before.
    pub fn serial(&mut self) -> Serial {
        self.last += 1;
        self.last
    }

    /// The module whose names an item's expressions use.
    pub fn scope(&self, item: &Item) -> Serial {
        match item.body {
            Body::Input { .. } => self.modules[&item.module].parent.unwrap_or(ROOT),
            _ => item.module,
        }
    }

    /// Whether expressions in a module can name an item.
    pub fn is_visible(&self, item: &Item, scope: Serial) -> bool {
        match item.body {
            Body::Output { .. } => self.modules[&item.module].parent == Some(scope),
            _ => item.module == scope,
        }
    }

    /// What something at a place in the order may refer to.
    pub fn candidates(&self, scope: Serial, rank: u64) -> Vec<Serial> {
        let lower = self.items.iter().filter(|(_, item)| item.rank < rank && self.is_visible(item, scope));
        lower.map(|(serial, _)| *serial).collect()
    }

    /// The managed resources.
    pub fn resources(&self) -> impl Iterator<Item = (Serial, &Item, &Resource)> {
        self.items.iter().filter_map(|(serial, item)| match &item.body {
            Body::Resource(resource) => Some((*serial, item, resource.as_ref())),
            _ => None,
        })
    }

    /// A module and those that it is in, from the inside.
    pub fn ancestors(&self, module: Serial) -> Vec<Serial> {
        std::iter::successors(Some(module), |inner| self.modules[inner].parent).collect()
    }

    /// The lowest rank in a module and all within.
    pub fn lowest_rank(&self, module: Serial) -> u64 {
        let inside = self.items.values().filter(|item| self.ancestors(item.module).contains(&module));
        inside.map(|item| item.rank).min().unwrap_or(u64::MAX)
    }

    /// Takes away what leads nowhere any more, until everything is in order.
    pub fn mend(&mut self) {
        loop {
            let before = (self.modules.len(), self.items.len());
            let there: BTreeSet<Serial> = self.modules.keys().copied().collect();
            self.modules.retain(|_, module| module.parent.is_none_or(|parent| there.contains(&parent)));
            let there: BTreeSet<Serial> = self.modules.keys().copied().collect();
            self.items.retain(|_, item| there.contains(&item.module));
            self.mend_references();
            if before == (self.modules.len(), self.items.len()) {
                break;
            }
        }
        self.mend_calls();
    }

    /// Takes away from resources what has nothing to do with others, to make them easier to read.
    pub fn strip(&mut self) {
        for item in self.items.values_mut() {
            if let Body::Resource(resource) = &mut item.body {
                (resource.secret, resource.zone, resource.named) = (None, None, None);
                (resource.text, resource.ignores_size) = ("plain", false);
            }
        }
    }

    fn mend_references(&mut self) {
        let old = self.clone();
        self.items.retain(|_, item| {
            let (scope, rank) = (old.scope(item), item.rank);
            let valid = |target: &Serial| {
                old.items.get(target).is_some_and(|target| target.rank < rank && old.is_visible(target, scope))
            };
            match &mut item.body {
                Body::Resource(resource) => {
                    resource.parent = resource.parent.filter(valid);
                    resource.peers.retain(|(peer, _)| valid(peer));
                    resource.depends_on.retain(valid);
                    resource.triggers.retain(valid);
                    true
                }
                Body::Data { of, depends_on } => {
                    depends_on.retain(valid);
                    valid(of)
                }
                Body::Input { of } => {
                    *of = of.filter(valid);
                    true
                }
                Body::Local { of } | Body::Output { of } => valid(of),
            }
        });
    }

    fn mend_calls(&mut self) {
        let old = self.clone();
        for (serial, module) in &mut self.modules {
            let lowest = old.lowest_rank(*serial);
            let valid = |target: &Serial| {
                let target = old.items.get(target);
                target.is_some_and(|target| target.rank < lowest && Some(target.module) == module.parent)
            };
            module.depends_on.retain(valid);
        }
    }

    /// What an item needs, by itself and through the modules that it is in.
    fn needs(&self, item: &Item) -> Vec<Serial> {
        let mut needs: Vec<Serial> = match &item.body {
            Body::Resource(resource) => {
                let peers = resource.peers.iter().map(|(peer, _)| *peer);
                let others = resource.depends_on.iter().chain(&resource.triggers).copied();
                resource.parent.into_iter().chain(peers).chain(others).collect()
            }
            Body::Data { of, depends_on } => depends_on.iter().copied().chain([*of]).collect(),
            Body::Input { of } => of.iter().copied().collect(),
            Body::Local { of } | Body::Output { of } => vec![*of],
        };
        for module in self.ancestors(item.module) {
            needs.extend(&self.modules[&module].depends_on);
        }
        needs
    }

    /// What is replaced by an object that is made first, because it or something that needs it says so.
    pub fn made_first(&self) -> BTreeSet<Serial> {
        let mut open: Vec<Serial> =
            self.resources().filter(|(_, _, resource)| resource.made_first).map(|(serial, ..)| serial).collect();
        let mut found = BTreeSet::new();
        while let Some(serial) = open.pop() {
            if found.insert(serial) {
                open.extend(self.items.get(&serial).map(|item| self.needs(item)).unwrap_or_default());
            }
        }
        found
    }
}
