//! What fails around an operator: the API server, other operators, those who write all the time, and the operator itself, wherever it is.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::proxy::{Fate, Proxy};
use crate::server::OwnServer;
use crate::stage::{Stage, condition, now};

/// A configuration that takes a while, and counts how often it was carried out.
fn counted(stage: &Stage, name: &str, wait: &str) -> Value {
    let count = stage.path(&format!("{name}.count"));
    let main = format!(
        "resource \"random_string\" \"it\" {{\n  length = 8\n}}\n\
         resource \"terraform_data\" \"it\" {{\n  input = random_string.it.result\n  provisioner \"local-exec\" {{\n    command = \"echo made >> {}\"\n  }}\n}}\n\
         resource \"time_sleep\" \"it\" {{\n  create_duration = {wait:?}\n  triggers = {{ it = terraform_data.it.output }}\n}}\n\
         output \"it\" {{\n  value = random_string.it.result\n}}\n",
        count.display()
    );
    json!({
        "source": {"inline": {"main.tf": main}}, "allowExec": true, "retry": {"interval": "100ms"},
        "outputs": {"secret": {"name": format!("{name}-out")}},
    })
}

/// How often it was carried out.
fn count(stage: &Stage, name: &str) -> usize {
    fs::read_to_string(stage.path(&format!("{name}.count"))).unwrap_or_default().lines().count()
}

#[track_caller]
fn begun(stage: &Stage, name: &str) {
    stage.until(&format!("{name} is carried out"), || (count(stage, name) > 0).then_some(()));
}

/// No plan was carried out by two Runs. One that was killed before anything was written down has carried out nothing: the next plan is the same.
#[track_caller]
fn each_plan_once(stage: &Stage, name: &str) {
    let applied =
        |run: &Value| (run["status"]["phase"] == "Succeeded").then(|| run["status"]["plan"]["id"].to_string());
    let plans: Vec<String> = stage.runs(name).iter().filter_map(applied).collect();
    let different: BTreeSet<&String> = plans.iter().collect();
    assert_eq!(different.len(), plans.len(), "{plans:?}");
}

/// Nothing is lost when the API server is away while plans are carried out, and nothing is made twice.
#[test]
fn an_api_server_that_goes_and_comes_loses_nothing() {
    let mut server = OwnServer::start();
    let stage = Stage::on(server.reach(), &[]);
    let names = ["one", "two", "three"];
    for name in names {
        stage.stack(name, counted(&stage, name, "1s"));
    }
    for name in &names {
        begun(&stage, name);
    }
    server.kill();
    // What is under way ends while nobody answers.
    std::thread::sleep(Duration::from_secs(2));
    server.start_again(&[]);
    let start = now();
    for name in names {
        stage.ready(name);
        assert_eq!(count(&stage, name), 1, "{name}\n{}", stage.log());
        each_plan_once(&stage, name);
        assert_eq!(stage.secret_data(&format!("{name}-out"))["it"].len(), 8);
    }
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
    // It goes on as before.
    stage.inline("four", "output \"it\" {\n  value = 1\n}\n");
    stage.ready("four");
}

/// One of two operators works; the other one begins when that is gone, soon if it says so, and after a while if it does not.
#[test]
fn one_of_two_operators_works() {
    let mut one = Stage::idle(&[]);
    one.lease_in_own_namespace();
    let mut two = one.beside();
    one.start();
    one.inline("first", "output \"it\" {\n  value = 1\n}\n");
    one.ready("first");
    two.start();
    one.until("the other one waits", || two.log().contains("another operator leads").then_some(()));
    one.inline("second", "output \"it\" {\n  value = 1\n}\n");
    one.ready("second");
    assert!(!two.log().contains("this operator works"));
    let start = now();
    assert_eq!(one.end(), 0);
    one.inline("third", "output \"it\" {\n  value = 1\n}\n");
    two.ready("third");
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    // Now the other way round, without a word.
    one.start();
    two.kill();
    let start = now();
    one.inline("fourth", "output \"it\" {\n  value = 1\n}\n");
    one.ready("fourth");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    for name in ["first", "second", "third", "fourth"] {
        assert_eq!(one.runs(name).len(), 1);
    }
}

/// Somebody who writes on everything all the time keeps nobody from getting there.
#[test]
fn a_storm_of_writes_is_weathered() {
    let stage = Stage::new();
    let names: Vec<String> = (0..4).map(|number| format!("it-{number}")).collect();
    let over = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = ["stacks", "runs"]
        .into_iter()
        .map(|plural| {
            let (api, over, list) = (stage.api.clone(), Arc::clone(&over), stage.at("groma.dev/v1alpha1", plural, ""));
            std::thread::spawn(move || {
                let mut count = 0_u32;
                while !over.load(Ordering::SeqCst) {
                    // A server that has just learnt of a kind may have no time yet.
                    let Ok((_, found)) = api.ask("GET", &list, "application/json", None) else { continue };
                    for object in found["items"].as_array().cloned().unwrap_or_default() {
                        count += 1;
                        let path = format!("{list}/{}", object["metadata"]["name"].as_str().unwrap());
                        let note = json!({"metadata": {"annotations": {"storm": count.to_string()}}});
                        // It may be gone by now.
                        let _ = api.ask("PATCH", &path, "application/merge-patch+json", Some(&note));
                    }
                }
                count
            })
        })
        .collect();
    for name in &names {
        stage.stack(name, counted(&stage, name, "10ms"));
    }
    for name in &names {
        stage.ready(name);
        assert_eq!((count(&stage, name), stage.runs(name).len()), (1, 1));
    }
    for name in &names {
        stage.api.delete(&stage.at_stack(name));
    }
    for name in &names {
        stage.gone(name);
    }
    over.store(true, Ordering::SeqCst);
    let written: u32 = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
    assert!(written > 50, "{written}");
}

/// An operator that is asked to end while a plan is carried out does so in an orderly way, and the next one goes on.
#[test]
fn an_operator_ends_in_an_orderly_way() {
    let mut stage = Stage::new();
    stage.stack("it", counted(&stage, "it", "60s"));
    begun(&stage, "it");
    let start = now();
    assert_eq!(stage.end(), 0);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let run = stage.runs("it").remove(0);
    assert_eq!(
        (&run["status"]["phase"], &run["status"]["failure"]),
        (&json!("Failed"), &json!("Interrupted")),
        "{run}"
    );
    let lease = stage.api.find(&stage.at("coordination.k8s.io/v1", "leases", "lock-tfstate-default-it"));
    let holder = lease.map(|lease| lease["spec"]["holderIdentity"].clone()).unwrap_or_default();
    assert!(holder.is_null() || holder == "", "{holder}");
    let quick = counted(&stage, "it", "10ms");
    stage.edit("it", &json!({"spec": {"source": quick["source"]}}));
    stage.start();
    stage.ready("it");
    // What was made before is known.
    assert_eq!(count(&stage, "it"), 1);
    each_plan_once(&stage, "it");
}

/// An operator whose writes are counted, and that nothing passes from or to after so many of them.
struct Counted {
    stage: Stage,
    written: Arc<AtomicU32>,
    limit: Arc<AtomicU32>,
    _proxy: Proxy,
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

    /// A Stack from its beginning to its end, with so many writes until the operator is killed. Gives how many there were.
    fn until_killed(&mut self, name: &str, limit: u32) -> u32 {
        self.written.store(0, Ordering::SeqCst);
        self.limit.store(limit, Ordering::SeqCst);
        let stage = &mut self.stage;
        stage.stack(name, counted(stage, name, "1ms"));
        stage.until("it is ready, or at its limit", || {
            let is_ready = condition(&stage.get(name), "Ready").is_some_and(|ready| ready["status"] == "True");
            (is_ready || self.written.load(Ordering::SeqCst) >= limit).then_some(())
        });
        // What was passed on may still be under way.
        std::thread::sleep(Duration::from_millis(50));
        stage.kill();
        let written = self.written.load(Ordering::SeqCst);
        self.limit.store(u32::MAX, Ordering::SeqCst);
        stage.start();
        written
    }

    /// Whoever comes next gets to the same end, and nothing is carried out twice.
    #[track_caller]
    fn gets_there(&self, name: &str) {
        let stage = &self.stage;
        let stack = stage.ready(name);
        let out = stage.secret_data(&format!("{name}-out"));
        assert_eq!(out["it"].len(), 8, "{name}");
        assert_eq!(stack["status"]["resources"], 3, "{name}: {stack}");
        assert!(count(stage, name) <= 2, "{name}");
        each_plan_once(stage, name);
        let runs = stage.runs(name);
        let last = runs.last().unwrap();
        assert!(runs.len() <= 2 && last["status"]["phase"] == "Succeeded", "{name}: {runs:?}");
    }
}

/// For how long the operator is killed, if not after every single write.
const KILLING: Duration = Duration::from_mins(1);

/// Whether somebody wants to see it killed after every single write, however long that takes.
#[expect(clippy::disallowed_methods, reason = "people ask for it by their environment")]
fn all_wanted() -> bool {
    std::env::var_os("GROMA_KILL_AFTER_EVERY_WRITE").is_some()
}

/// Killed after any of everything that it writes, an operator that comes back gets to the same end. After which ones goes on from the middle of
/// what is left, so that those that are tried are spread. With `GROMA_KILL_AFTER_EVERY_WRITE` it is after each.
#[test]
fn killed_after_any_write_it_gets_there() {
    let mut operator = Counted::new();
    let writes = operator.until_killed("it", u32::MAX);
    operator.gets_there("it");
    assert!(writes > 10, "{writes}");
    // Every number once, far from the one before, as 0.618 of everything is never a whole number of steps away.
    let mut numbers: Vec<u32> = (1..=writes).collect();
    numbers.sort_by_key(|number| (u64::from(*number) * 618) % 1000);
    let start = now();
    let mut tried = 0;
    for number in numbers {
        if start.elapsed() > KILLING && !all_wanted() {
            break;
        }
        let name = format!("it-{number}");
        operator.until_killed(&name, number);
        operator.gets_there(&name);
        tried += 1;
    }
    eprintln!("killed after {tried} of {writes} writes, in {:?}", start.elapsed());
    assert!(tried >= 5, "{tried}");
}
