//! Requests that are refused, lost or not answered, and watches that break off: everything gets where it should, soon after all is well again, and
//! nobody asks without end.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::faults::{begun, count, counted, each_plan_once};
use crate::proxy::{Fate, Proxy, Request};
use crate::stage::{Stage, now};

/// For how long requests are refused.
const STORM: Duration = Duration::from_secs(5);
/// How many requests there may be at most, for each that there is while nothing is refused.
const MOST: usize = 3;

/// An operator behind something that can disturb it.
fn disturbed() -> (Stage, Proxy) {
    let mut stage = Stage::idle(&[]);
    let proxy = Proxy::new(&stage.api, |_| Fate::Pass);
    fs::write(stage.path("kubeconfig"), proxy.kubeconfig()).unwrap();
    stage.start();
    (stage, proxy)
}

/// What comes of the requests of a storm, by their number: a quarter of them does not go well, in every way that there is.
fn refused(number: u32, request: &Request) -> Fate {
    // Far from the one before, and the same in every run.
    match (u64::from(number) * 618) % 1000 / 25 {
        0 | 1 => Fate::Answer(429, "TooManyRequests"),
        2 => Fate::Answer(500, "InternalError"),
        3 => Fate::Answer(503, "ServiceUnavailable"),
        4 => Fate::Answer(504, "Timeout"),
        5 => Fate::Answer(401, "Unauthorized"),
        6 | 7 if request.writes() => Fate::Answer(409, "Conflict"),
        8 => Fate::Lost,
        9 => Fate::Unanswered,
        _ => Fate::Pass,
    }
}

/// Four Stacks: one is made, one changed, one carried out and one deleted.
struct Work<'s> {
    stage: &'s Stage,
    prefix: &'static str,
}

impl Work<'_> {
    fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.prefix)
    }

    fn prepare(&self) {
        for what in ["changed", "gone"] {
            self.stage.stack(&self.name(what), counted(self.stage, &self.name(what), "1ms"));
            self.stage.ready(&self.name(what));
        }
        let slow = self.name("slow");
        self.stage.stack(&slow, counted(self.stage, &slow, "3s"));
        begun(self.stage, &slow);
    }

    fn ask(&self) {
        let (made, changed) = (self.name("made"), self.name("changed"));
        self.stage.stack(&made, counted(self.stage, &made, "1ms"));
        self.stage.edit(&changed, &json!({"spec": {"source": counted(self.stage, &changed, "2ms")["source"]}}));
        self.stage.api.delete(&self.stage.at_stack(&self.name("gone")));
    }

    /// All is as it was asked for, and was done once.
    fn is_done(&self) {
        let stage = self.stage;
        for what in ["made", "changed", "slow"] {
            let name = self.name(what);
            stage.ready(&name);
            assert_eq!(count(stage, &name), 1, "{name}\n{}", stage.log());
            assert_eq!(stage.secret_data(&format!("{name}-out"))["it"].len(), 8, "{name}");
            each_plan_once(stage, &name);
        }
        stage.gone(&self.name("gone"));
        let state = stage.at("v1", "secrets", &format!("tfstate-default-{}", self.name("gone")));
        assert!(stage.api.find(&state).is_none());
    }
}

/// Refused, told to come again later, and left without an answer: everything is there soon after that ends, it was done once, and not with many times
/// as many requests as it takes when nobody refuses anything.
#[test]
fn a_storm_of_refusals_is_weathered() {
    let (stage, proxy) = disturbed();
    let calm = Work { stage: &stage, prefix: "calm" };
    calm.prepare();
    proxy.seen();
    calm.ask();
    calm.is_done();
    let usual = proxy.seen().len();

    let work = Work { stage: &stage, prefix: "storm" };
    work.prepare();
    proxy.seen();
    let number = AtomicU32::new(0);
    proxy.now(move |request| refused(number.fetch_add(1, Ordering::SeqCst), request));
    work.ask();
    std::thread::sleep(STORM);
    proxy.heal();
    let start = now();
    work.is_done();
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
    let seen = proxy.seen().len();
    eprintln!("{seen} requests, {usual} without a storm, done {:?} after it", start.elapsed());
    assert!(seen <= MOST * usual, "{seen} requests, where {usual} would do");
}

/// What happens while nobody hears of it is found when everything is listed again: what was changed, and what is not there any more.
#[test]
fn what_happens_while_watches_are_lost_is_found() {
    let (stage, proxy) = disturbed();
    stage.secret("vars", &json!({"text": "one"}));
    let main = "variable \"text\" {\n  default = \"none\"\n}\noutput \"text\" {\n  value = var.text\n}\n";
    let spec = |name: &str| json!({"source": {"inline": {"main.tf": main}}, "outputs": {"secret": {"name": format!("{name}-out")}, "status": true}});
    let mut with_secret = spec("secret");
    with_secret["inputs"] = json!({"varsFrom": [{"kind": "Secret", "name": "vars"}]});
    stage.stack("secret", with_secret);
    for name in ["changed", "robbed", "forgetful", "deleted"] {
        stage.stack(name, spec(name));
    }
    for name in ["secret", "changed", "robbed", "forgetful", "deleted"] {
        stage.ready(name);
    }
    let number = AtomicU32::new(0);
    proxy.now(move |request| {
        if !request.path.contains("watch=") {
            return Fate::Pass;
        }
        if number.fetch_add(1, Ordering::SeqCst) % 3 == 2 { Fate::Lost } else { Fate::Expired }
    });
    proxy.cut_watches();
    let text = |words: &str| json!({"stringData": {"text": words}});
    stage.api.edit(&stage.at("v1", "secrets", "vars"), &text("two"));
    stage.edit("changed", &json!({"spec": {"inputs": {"values": {"text": "two"}}}}));
    let robbed = stage.at("v1", "secrets", "robbed-out");
    stage.api.delete(&robbed);
    stage.api.delete(&stage.at("groma.dev/v1alpha1", "runs", "forgetful-1"));
    stage.api.delete(&stage.at_stack("deleted"));
    std::thread::sleep(Duration::from_secs(4));
    proxy.heal();
    let start = now();
    for name in ["secret", "changed"] {
        stage.until(&format!("{name} is up to date"), || {
            (stage.get(name)["status"]["outputs"]["text"] == "two").then_some(())
        });
        stage.ready(name);
        assert_eq!(stage.secret_data(&format!("{name}-out"))["text"], "two");
    }
    stage.until("what was taken comes back", || stage.api.find(&robbed).map(|_| ()));
    stage.gone("deleted");
    // Whose history is gone goes on all the same.
    stage.edit("forgetful", &json!({"metadata": {"annotations": {"groma.dev/requested-at": "now"}}}));
    stage.until("another run", || (stage.runs("forgetful").last()?["status"]["phase"] == "Succeeded").then_some(()));
    stage.ready("forgetful");
    assert!(start.elapsed() < Duration::from_mins(1), "{:?}", start.elapsed());
}
