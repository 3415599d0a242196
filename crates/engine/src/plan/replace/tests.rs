//! Whatever the configuration says now, whatever objects were made with, and whatever anybody wishes: there is an order, or it is said
//! which wishes exclude each other.
//!
//! `GROMA_PROPERTY_CASES` says how many graphs there are, `GROMA_PROPERTY_SEED` which one alone.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groma_lang::builtin_schema::BuiltinSchemas;
use groma_lang::environment::{Environment, FileKind};
use groma_lang::graph::Graph;
use groma_lang::load::{ModuleRequest, SourceTree, load_module, load_tree};
use groma_lang::oracle::NothingExists;
use groma_lang::static_eval::StaticScope;
use groma_model::address::{AbsInstance, ConfigResource, InstanceKey, Module, Provider, ProviderConfig};
use groma_model::diag::Diagnostics;
use groma_model::schema::Schema;
use groma_model::span::SourceMap;
use groma_model::value::Value;
use groma_provider::api::Private;
use groma_rules::replace::order::Strength;
use groma_rules::replace::rule::Order;

use super::web::ObjectWeb;
use super::{Wisher, Wishes, lifecycle_wishes, resolve};
use crate::change::{Action, Change};
use crate::execution::{Execution, Sources};

/// How many graphs there are unless told otherwise.
const CASES: u64 = 3_000;

#[expect(clippy::disallowed_methods, reason = "wishes come in the environment")]
fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        usize::try_from((mixed ^ (mixed >> 33)) % limit as u64).unwrap()
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }
}

/// One file.
struct Text(String);

impl SourceTree for Text {
    fn list_files(&self, _: &Path) -> io::Result<Vec<String>> {
        Ok(vec!["main.tf".to_owned()])
    }

    fn read_file(&self, _: &Path) -> io::Result<Vec<u8>> {
        Ok(self.0.clone().into_bytes())
    }

    fn locate(&self, request: &ModuleRequest<'_>) -> Result<PathBuf, Diagnostics> {
        Err(request.not_installed().into())
    }
}

/// Nothing else is outside.
impl Environment for Text {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        SourceTree::read_file(self, path)
    }

    fn file_kind(&self, _: &Path) -> io::Result<Option<FileKind>> {
        Ok(None)
    }

    fn read_dir(&self, _: &Path) -> io::Result<Vec<(String, FileKind)>> {
        Ok(Vec::new())
    }

    fn working_dir(&self) -> PathBuf {
        "/".into()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        None
    }

    fn now(&self) -> (i64, u32) {
        (0, 0)
    }

    fn random(&self, _: &mut [u8]) {}
}

/// An object, by its number.
struct Object {
    is_declared: bool,
    asks: bool,
    action: Action,
    /// What it needs now.
    needs: Vec<usize>,
    /// What it was made with, and everything behind that.
    made_with: Vec<ConfigResource>,
}

fn address(at: usize) -> AbsInstance {
    format!("terraform_data.r{at}").parse().unwrap()
}

/// Edges that make no cycle: from later to earlier in a random row.
fn edges(dice: &mut Dice, size: usize) -> Vec<Vec<usize>> {
    let mut row: Vec<usize> = (0..size).collect();
    for at in (1..size).rev() {
        row.swap(at, dice.below(at + 1));
    }
    let mut needs = vec![Vec::new(); size];
    for later in 1..size {
        for earlier in 0..later {
            if dice.one_in(3) {
                needs[row[later]].push(row[earlier]);
            }
        }
    }
    needs
}

fn closure(needs: &[Vec<usize>], from: usize) -> Vec<usize> {
    let mut found = vec![false; needs.len()];
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for &next in &needs[node] {
            if !std::mem::replace(&mut found[next], true) {
                open.push(next);
            }
        }
    }
    (0..needs.len()).filter(|node| found[*node]).collect()
}

/// What is configured and what is stored have nothing to do with each other, so that sometimes one is the reverse of the other.
fn objects(dice: &mut Dice) -> Vec<Object> {
    let size = 2 + dice.below(5);
    let (now, before) = (edges(dice, size), edges(dice, size));
    let declared: Vec<bool> = (0..size).map(|_| !dice.one_in(4)).collect();
    let actions: Vec<Action> = declared
        .iter()
        .map(|declared| match (declared, dice.below(6)) {
            (false, _) => Action::Delete,
            (true, 0) => Action::Create,
            (true, 1) => Action::NoOp,
            (true, 2) => Action::Update,
            (true, _) => Action::DeleteThenCreate,
        })
        .collect();
    let is_there = |at: &usize| actions[*at] != Action::Create;
    let made_with = |at: usize| {
        let all = closure(&before, at).into_iter().filter(is_there);
        if is_there(&at) { all.map(|at| address(at).config()).collect() } else { Vec::new() }
    };
    let object = |at: usize| Object {
        is_declared: declared[at],
        asks: false,
        action: actions[at],
        needs: now[at].iter().copied().filter(|need| declared[*need]).collect(),
        made_with: made_with(at),
    };
    let mut objects: Vec<Object> = (0..size).map(object).collect();
    for object in &mut objects {
        object.asks = object.is_declared && dice.one_in(4);
    }
    objects
}

fn written(objects: &[Object]) -> String {
    let mut text = String::new();
    for (at, object) in objects.iter().enumerate().filter(|(_, object)| object.is_declared) {
        let needs: Vec<String> = object.needs.iter().map(|need| format!("terraform_data.r{need}")).collect();
        let lifecycle = if object.asks { "lifecycle {\n    create_before_destroy = true\n  }\n" } else { "" };
        let _ = writeln!(
            text,
            "resource \"terraform_data\" \"r{at}\" {{\n  depends_on = [{}]\n  {lifecycle}}}",
            needs.join(", ")
        );
    }
    text
}

fn change(at: usize, objects: &[Object], dice: &mut Dice) -> Change {
    let object = &objects[at];
    let needs: Vec<Vec<usize>> = objects.iter().map(|object| object.needs.clone()).collect();
    let needed_by = |asks: usize| objects[asks].asks && closure(&needs, asks).contains(&at);
    let made_first = object.asks || (0..objects.len()).any(needed_by);
    let action = match object.action {
        Action::DeleteThenCreate if object.is_declared && made_first => Action::CreateThenDelete,
        action => action,
    };
    let provider = ProviderConfig::default_in(Module::root(), Provider::builtin("terraform"));
    let nothing = Value::null(groma_model::ty::Type::empty_object());
    Change {
        address: address(at),
        deposed: None,
        previous_address: None,
        provider: provider.instance(InstanceKey::None),
        action,
        reason: None,
        before: nothing.clone(),
        after: nothing,
        configured_sensitive: Vec::new(),
        before_identity: None,
        after_identity: None,
        private: Private::default(),
        replace_paths: Vec::new(),
        importing: None,
        schema: Arc::new(Schema::default()),
        dependencies: closure(&needs, at).into_iter().map(|need| address(need).config()).collect(),
        // What is gone from the configuration has a mark of its own.
        create_before_destroy: if object.is_declared { made_first } else { dice.one_in(2) },
        generated_config: None,
        notes: Vec::new(),
        not_ready: None,
    }
}

/// Whether there was anything to decide, and if so whether wishes excluded each other.
fn try_one(seed: u64) -> Option<bool> {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995);
    let objects = objects(&mut dice);
    let text = written(&objects);
    let (mut map, files) = (SourceMap::new(), Text(text.clone()));
    let (root, found) = load_module(&mut map, &files, Path::new("."));
    assert!(!found.has_errors(), "{text}: {found:?}");
    let statics =
        StaticScope { environment: &files, root_dir: Path::new("."), workspace: "default", inputs: &BTreeMap::new() };
    let (tree, found) = load_tree(&mut map, &files, root, &statics);
    assert!(!found.has_errors(), "{text}: {found:?}");
    let oracle = NothingExists(BuiltinSchemas);
    let graph = Graph::new(&tree, &oracle);
    let mut changes: Vec<Change> = (0..objects.len()).map(|at| change(at, &objects, &mut dice)).collect();
    let by_address: BTreeMap<AbsInstance, usize> = (0..objects.len()).map(|at| (address(at), at)).collect();
    let stored = |address: &AbsInstance| objects[by_address[address]].made_with.as_slice();

    let mut wishes = Wishes { objects: graph.nodes.len(), all: Vec::new(), wishers: Vec::new() };
    let strengths = [Strength::CommandLine, Strength::RootRule, Strength::ModuleRule, Strength::Catalogue];
    for (at, change) in changes.iter().enumerate().filter(|(_, change)| change.action.is_replace()) {
        if dice.one_in(2) {
            let order = if dice.one_in(2) { Order::DeleteFirst } else { Order::CreateFirst };
            let strength = strengths[dice.below(strengths.len())];
            wishes.push(at, order, strength, Wisher::User(by_address[&change.address]));
        }
    }
    if wishes.all.is_empty() {
        return None;
    }
    lifecycle_wishes(&changes, &stored, &|at| objects[at].asks, &mut wishes);
    let web = ObjectWeb::new(&graph, &changes, &stored);
    let resolved = resolve(&web, &wishes.all, &mut changes);
    let sources = Sources {
        graph: &graph,
        changes: &changes,
        stored: &|address| stored(address).to_vec(),
        put_aside: &|_| Vec::new(),
        declared: &|_| true,
    };
    if let Err(cycle) = Execution::new(&sources) {
        let actions: Vec<String> = changes
            .iter()
            .map(|change| {
                let made_with: Vec<String> = stored(&change.address).iter().map(ToString::to_string).collect();
                format!(
                    "{} {:?} {} made with {made_with:?}",
                    change.address, change.action, change.create_before_destroy
                )
            })
            .collect();
        panic!(
            "GROMA_PROPERTY_SEED={seed}: {cycle:?}\n{text}\n{}\n{:?}\n{:?}",
            actions.join("\n"),
            wishes.all,
            resolved.decided
        );
    }
    Some(!resolved.clashes.is_empty())
}

#[test]
fn whatever_is_wished_for_there_is_an_order() {
    let seeds = match number("GROMA_PROPERTY_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("GROMA_PROPERTY_CASES").unwrap_or(CASES),
    };
    let all = seeds.end - seeds.start;
    // Each worker takes every so many of them.
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let (decided, clashing) = std::thread::scope(|scope| {
        let share = |worker: usize| {
            let seeds = seeds.clone().skip(worker).step_by(workers);
            move || seeds.filter_map(try_one).fold((0, 0), |(all, some), clashes| (all + 1, some + u64::from(clashes)))
        };
        let begun: Vec<_> = (0..workers).map(|worker| scope.spawn(share(worker))).collect();
        let tallies =
            begun.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        tallies.fold((0_u64, 0_u64), |(all, some), (more, others)| (all + more, some + others))
    });
    println!("{all} graphs, {decided} with wishes, {clashing} with wishes that exclude each other");
    assert!(all == 1 || (decided > all / 2 && clashing > 0), "nothing was tried");
}
