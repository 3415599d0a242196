//! An operator that is killed after any of its writes, whatever it is doing: whoever comes next gets to the same end as if nothing had happened.
//! After which ones goes on from the middle of what is left, so that those that are tried are spread. With `GROMA_KILL_AFTER_EVERY_WRITE` it is
//! after each.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::faults::{count, counted, each_plan_once};
use crate::kind::{BLUEPRINT, Kind, kind};
use crate::proxy::{Fate, Proxy};
use crate::stage::{Stage, condition, now};
use crate::writers::state;

/// For how long the operator is killed, if not after every single write.
const KILLING: Duration = Duration::from_secs(40);
/// How often at least, however slow the machine is.
const LEAST: usize = 2;

/// Whether somebody wants to see it killed after every single write, however long that takes.
#[expect(clippy::disallowed_methods, reason = "people ask for it by their environment")]
fn all_wanted() -> bool {
    std::env::var_os("GROMA_KILL_AFTER_EVERY_WRITE").is_some()
}

/// An operator whose writes are counted, and that nothing passes from or to after so many of them.
struct Counted {
    stage: Stage,
    written: Arc<AtomicU32>,
    limit: Arc<AtomicU32>,
    _proxy: Proxy,
}

/// What is done with something while the operator is killed.
struct Story<'s> {
    /// What there must be before.
    before: &'s dyn Fn(&Stage, &str),
    /// What somebody asks for.
    asks: &'s dyn Fn(&Stage, &str),
    /// Whether it is done, for all to see.
    is_done: &'s dyn Fn(&Stage, &str) -> bool,
    /// What must be so at the end. Gives what is there then, in other words than those of one run.
    end: &'s dyn Fn(&Stage, &str) -> Value,
}

impl Counted {
    fn new() -> Self {
        let stage = Stage::idle(&[]);
        let (written, limit) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(u32::MAX)));
        let (counting, limiting) = (Arc::clone(&written), Arc::clone(&limit));
        let proxy = Proxy::new(&stage.api, move |request| {
            let limit = limiting.load(Ordering::SeqCst);
            if !request.writes() || request.path.contains("/events") {
                return if counting.load(Ordering::SeqCst) >= limit { Fate::Lost } else { Fate::Pass };
            }
            let before = counting.fetch_add(1, Ordering::SeqCst);
            match before + 1 {
                number if number < limit => Fate::Pass,
                number if number == limit => Fate::Unanswered,
                _ => Fate::Lost,
            }
        });
        fs::write(stage.path("kubeconfig"), proxy.kubeconfig()).unwrap();
        let mut counted = Self { stage, written, limit, _proxy: proxy };
        counted.stage.start();
        counted
    }

    /// A story from its beginning to its end, with so many writes until the operator is killed. Gives how many there were, and what is there then.
    fn told(&mut self, story: &Story<'_>, name: &str, limit: u32) -> (u32, Value) {
        let stage = &mut self.stage;
        (story.before)(stage, name);
        self.written.store(0, Ordering::SeqCst);
        self.limit.store(limit, Ordering::SeqCst);
        (story.asks)(stage, name);
        stage.until("it is done, or at its limit", || {
            ((story.is_done)(stage, name) || self.written.load(Ordering::SeqCst) >= limit).then_some(())
        });
        // What was passed on may still be under way.
        std::thread::sleep(Duration::from_millis(50));
        stage.kill();
        let written = self.written.load(Ordering::SeqCst);
        self.limit.store(u32::MAX, Ordering::SeqCst);
        stage.start();
        stage.until(&format!("{name} is done"), || (story.is_done)(stage, name).then_some(()));
        (written, (story.end)(stage, name))
    }

    /// A story again and again, with the operator killed somewhere else each time.
    #[expect(clippy::print_stderr, reason = "how many of them were tried is worth knowing")]
    fn tells(&mut self, story: &Story<'_>, most: usize) {
        let (writes, expected) = self.told(story, "it-000", u32::MAX);
        assert!(writes > 5, "{writes}");
        // Every number once, far from the one before, as 0.618 of everything is never a whole number of steps away.
        let mut numbers: Vec<u32> = (1..=writes).collect();
        numbers.sort_by_key(|number| (u64::from(*number) * 618) % 1000);
        let start = now();
        let mut tried = 0;
        for number in numbers {
            let is_enough = tried >= most || (tried >= LEAST && start.elapsed() > KILLING);
            if is_enough && !all_wanted() {
                break;
            }
            let (_, found) = self.told(story, &format!("it-{number:03}"), number);
            assert_eq!(found, expected, "after write {number} of {writes}\n{}", self.stage.log());
            tried += 1;
        }
        eprintln!("killed after {tried} of {writes} writes, in {:?}", start.elapsed());
    }
}

/// Whether all is as a Stack asks for now.
fn is_ready(stage: &Stage, name: &str) -> bool {
    let Some(stack) = stage.api.find(&stage.at_stack(name)) else { return false };
    let is_current = stack["status"]["observedGeneration"] == stack["metadata"]["generation"];
    is_current && condition(&stack, "Ready").is_some_and(|ready| ready["status"] == "True")
}

/// What there is in a namespace that has to do with something of this name, without what is made up by a run.
fn left(stage: &Stage, name: &str) -> BTreeSet<String> {
    let kinds = [("v1", "secrets"), ("v1", "configmaps"), ("groma.dev/v1alpha1", "stacks")];
    let mut found = BTreeSet::new();
    for (group, plural) in kinds {
        for object in stage.api.get(&stage.at(group, plural, ""))["items"].as_array().unwrap() {
            let own = object["metadata"]["name"].as_str().unwrap();
            let labels = &object["metadata"]["labels"];
            // Of the last states, as many are kept as there were runs.
            if own.contains(name) && labels["groma.dev/blob"] != "state" {
                let what = labels["groma.dev/blob"].as_str().map_or_else(|| own.replace(name, "it"), str::to_owned);
                found.insert(format!("{plural} {what}"));
            }
        }
    }
    found
}

/// What a Stack has made, and what there is besides.
fn made(stage: &Stage, name: &str) -> Value {
    let known = state(stage, name);
    let mut resources = Vec::new();
    for resource in known["resources"].as_array().unwrap() {
        let instances = resource["instances"].as_array().unwrap();
        let tainted = instances.iter().filter(|instance| instance["status"] == "tainted").count();
        resources.push(format!("{}.{} {} {tainted}", resource["type"], resource["name"], instances.len()));
    }
    resources.sort();
    // What is over may be taken away a moment later.
    let has_journal = || left(stage, name).iter().any(|own| own.contains("journal"));
    stage.until("its journal goes", || (!has_journal()).then_some(()));
    json!({"resources": resources, "left": left(stage, name)})
}

/// The last Run went well; the others were cut off, and at most one of them had anything done.
#[track_caller]
fn at_most_one_cut_off(stage: &Stage, name: &str, more: usize) {
    let runs = stage.runs(name);
    let phases: Vec<&Value> = runs.iter().map(|run| &run["status"]["phase"]).collect();
    assert_eq!(phases.last(), Some(&&json!("Succeeded")), "{name}: {phases:?}");
    let cut: Vec<&Value> = runs.iter().filter(|run| run["status"]["phase"] != "Succeeded").collect();
    assert!(cut.len() <= 1 && runs.len() <= more + 2, "{name}: {runs:?}");
    assert!(cut.iter().all(|run| run["status"]["failure"] == "Interrupted"), "{name}: {cut:?}");
}

#[test]
fn killed_after_any_write_a_stack_is_made() {
    let mut operator = Counted::new();
    let story = Story {
        before: &|_, _| {},
        asks: &|stage, name| drop(stage.stack(name, counted(stage, name, "1ms"))),
        is_done: &is_ready,
        end: &|stage, name| {
            assert_eq!(stage.secret_data(&format!("{name}-out"))["it"].len(), 8, "{name}");
            // A program that has run, and of which nobody has written down that it has, runs again.
            assert!((1..=2).contains(&count(stage, name)), "{name}");
            each_plan_once(stage, name);
            at_most_one_cut_off(stage, name, 0);
            made(stage, name)
        },
    };
    operator.tells(&story, usize::MAX);
}

#[test]
fn killed_after_any_write_a_stack_is_changed() {
    let mut operator = Counted::new();
    let changed = |stage: &Stage, name: &str| {
        let mut spec = counted(stage, name, "1ms");
        let main = spec["source"]["inline"]["main.tf"].as_str().unwrap().replace("length = 8", "length = 9");
        spec["source"]["inline"]["main.tf"] = json!(main);
        spec
    };
    let story = Story {
        before: &|stage, name| {
            stage.stack(name, counted(stage, name, "1ms"));
            stage.ready(name);
        },
        asks: &|stage, name| stage.edit(name, &json!({"spec": changed(stage, name)})),
        is_done: &is_ready,
        end: &|stage, name| {
            assert_eq!(stage.secret_data(&format!("{name}-out"))["it"].len(), 9, "{name}");
            // It was made before, and is only changed.
            assert_eq!(count(stage, name), 1, "{name}");
            each_plan_once(stage, name);
            at_most_one_cut_off(stage, name, 1);
            made(stage, name)
        },
    };
    operator.tells(&story, 12);
}

#[test]
fn killed_after_any_write_a_stack_is_taken_down() {
    let mut operator = Counted::new();
    let files = |stage: &Stage, name: &str| ["one", "two"].map(|end| stage.path(&format!("{name}.{end}")));
    let story = Story {
        before: &|stage, name| {
            let [one, two] = files(stage, name);
            let main = format!(
                "resource \"local_file\" \"one\" {{\n  filename = {one:?}\n  content  = \"1\"\n}}\n\
                 resource \"local_file\" \"two\" {{\n  filename = {two:?}\n  content  = local_file.one.content\n}}\n"
            );
            stage.stack(name, json!({"source": {"inline": {"main.tf": main}}, "retry": {"interval": "100ms"}, "outputs": {"secret": {"name": format!("{name}-out")}}}));
            stage.ready(name);
        },
        asks: &|stage, name| stage.api.delete(&stage.at_stack(name)),
        is_done: &|stage, name| stage.api.find(&stage.at_stack(name)).is_none(),
        end: &|stage, name| {
            assert!(!files(stage, name).iter().any(|path| path.exists()), "{name}");
            stage.until(&format!("{name}: nothing is left"), || {
                (left(stage, name).is_empty() && stage.runs(name).is_empty()).then_some(())
            });
            json!(null)
        },
    };
    operator.tells(&story, 12);
}

fn simple_is_ready(kind: &Kind, stage: &Stage, name: &str) -> bool {
    let object = stage.api.get(&kind.at(&stage.namespace, name));
    let is_current = object["status"]["observedGeneration"] == object["metadata"]["generation"];
    is_current && object["status"]["phase"] == "Ready"
}

/// The object of the document: from its YAML to its status, its file and its Secret, and away again.
#[test]
fn killed_after_any_write_a_simple_resource_gets_there() {
    let mut operator = Counted::new();
    let kind = kind(&operator.stage, BLUEPRINT);
    let namespace = operator.stage.namespace.clone();
    let at = |name: &str| kind.at(&namespace, name);
    let story = Story {
        before: &|_, _| {},
        asks: &|stage, name| drop(stage.api.create(&at(""), &kind.named(&namespace, name))),
        is_done: &|stage, name| simple_is_ready(&kind, stage, name),
        end: &|stage, name| {
            let object = stage.api.get(&at(name));
            let data = stage.secret_data(&format!("{name}-simple-outputs"));
            let value = object["status"]["randomValue"].as_str().unwrap();
            assert_eq!((data["random_value"].as_str(), value.len()), (value, 16), "{name}");
            let file = object["status"]["filePath"].as_str().unwrap().to_owned();
            assert!(fs::read_to_string(&file).unwrap().contains(value), "{name}");
            let stack = format!("simpleresource-{name}");
            each_plan_once(stage, &stack);
            at_most_one_cut_off(stage, &stack, 0);
            let made = made(stage, &stack);
            stage.api.delete(&at(name));
            kind.gone(stage, &namespace, name);
            assert!(!Path::new(&file).exists(), "{name}");
            made
        },
    };
    operator.tells(&story, 12);
}
