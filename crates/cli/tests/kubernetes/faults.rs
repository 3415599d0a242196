//! A cluster that is busy, restarts, loses answers or is not there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use crate::api::eventually;
use crate::proxy::{Fate, Proxy, Request};
use crate::sandbox::Outcome;
use crate::server::OwnServer;
use crate::space::{Space, config_map_manifest, object_with, said};

fn many(count: usize) -> String {
    let each = format!("for_each = toset([for n in range({count}) : tostring(n)])");
    object_with("many", &each, &config_map_manifest("\"n${each.key}\"", "{a: b}"))
}

/// A space behind a proxy with a rule.
fn behind(rule: impl FnMut(&Request) -> Fate + Send + 'static) -> (Space, Proxy) {
    let space = Space::new();
    let proxy = Proxy::new(&space.api, rule);
    space.file("kubeconfig", &proxy.kubeconfig());
    (space, proxy)
}

/// Every object is there once, and is the one that is stored.
fn is_whole(space: &Space, count: usize) {
    let listed = space.api.get(&space.core("configmaps", ""));
    let items = listed["items"].as_array().unwrap();
    let in_cluster: BTreeMap<String, Value> = items
        .iter()
        .map(|item| {
            let name = item["metadata"]["name"].as_str().unwrap().to_owned();
            (name, item["metadata"]["annotations"]["k8sconnect.terraform.io/terraform-id"].clone())
        })
        .collect();
    let stored =
        (0..count).map(|n| (format!("n{n}"), space.attribute(&format!("k8sconnect_object.many[\"{n}\"]"), "id")));
    assert_eq!(in_cluster, stored.collect());
}

/// Every third request is refused. Only writes are refused because of other writes.
fn every_third(status: u16, reason: &'static str) -> impl FnMut(&Request) -> Fate + Send + 'static {
    let count = AtomicUsize::new(0);
    move |request| {
        if status == 409 && !request.writes() {
            return Fate::Pass;
        }
        match count.fetch_add(1, Ordering::SeqCst) % 3 {
            2 => Fate::Answer(status, reason),
            _ => Fate::Pass,
        }
    }
}

#[test]
fn a_server_that_is_busy_is_asked_again() {
    let answers = [
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
        (409, "Conflict"),
    ];
    std::thread::scope(|scope| {
        for (status, reason) in answers {
            scope.spawn(move || {
                let (space, _proxy) = behind(every_third(status, reason));
                space.main(&many(8));
                let outcome = space.run(&["apply", "-auto-approve", "-no-color"]);
                assert_eq!(outcome.code, 0, "{status}: {}", said(&outcome));
                is_whole(&space, 8);
                space.is_settled();
                space.destroy();
                assert_eq!(space.api.count(&space.core("configmaps", "")), 0, "{status}");
            });
        }
    });
}

#[test]
fn answers_that_get_lost_duplicate_nothing() {
    // The first write of each object is done, and nobody hears of it.
    let mut heard = std::collections::BTreeSet::new();
    let (space, proxy) = behind(move |request| {
        let is_first = request.writes() && heard.insert(format!("{} {}", request.method, request.path));
        if is_first { Fate::Unanswered } else { Fate::Pass }
    });
    space.main(&many(10));
    let outcome = space.run(&["apply", "-auto-approve", "-no-color"]);
    assert_eq!(outcome.code, 0, "{}", said(&outcome));
    is_whole(&space, 10);
    space.is_settled();
    // Also when they are to go.
    space.destroy();
    assert_eq!(space.api.count(&space.core("configmaps", "")), 0);
    drop(proxy);
}

#[test]
fn a_server_that_is_not_there_empties_no_state() {
    let outages: [fn(&Request) -> Fate; 5] = [
        |_| Fate::Lost,
        |_| Fate::Answer(503, "ServiceUnavailable"),
        // Somebody else answers, who knows nothing.
        |_| Fate::Answer(404, "NotFound"),
        |_| Fate::Answer(404, ""),
        // Objects are there, but nobody says of which kinds.
        |request| match request.path.as_str() {
            "/api/v1" => Fate::Answer(503, "ServiceUnavailable"),
            _ => Fate::Pass,
        },
    ];
    std::thread::scope(|scope| {
        for (at, outage) in outages.into_iter().enumerate() {
            scope.spawn(move || outlasts(at, outage));
        }
    });
}

fn outlasts(at: usize, outage: fn(&Request) -> Fate) {
    let (space, proxy) = behind(|_| Fate::Pass);
    space.main(&many(3)).apply();
    proxy.now(outage);
    for arguments in [&["plan", "-no-color"][..], &["refresh", "-no-color"], &["destroy", "-auto-approve", "-no-color"]]
    {
        let outcome = space.run(arguments);
        assert_eq!((outcome.code, stored(&space)), (1, 3), "{at} {arguments:?}: {}", said(&outcome));
    }
    proxy.heal();
    space.is_settled();
    is_whole(&space, 3);
}

fn stored(space: &Space) -> usize {
    let state: Value = serde_json::from_str(&space.read("terraform.tfstate")).unwrap();
    state["resources"].as_array().unwrap().iter().map(|resource| resource["instances"].as_array().unwrap().len()).sum()
}

/// Second plans are cheap: no more than two requests for each object, beside what is asked once.
#[test]
fn a_second_plan_asks_little() {
    let (space, proxy) = behind(|_| Fate::Pass);
    space.main(&many(20)).apply();
    proxy.seen();
    assert_eq!(space.run(&["plan", "-detailed-exitcode"]).code, 0);
    let seen = proxy.seen();
    let about: Vec<&String> = seen.iter().filter(|seen| seen.contains("/configmaps")).collect();
    let once = seen.len() - about.len();
    assert!(about.len() <= 40 && once <= 10, "{} and {once}: {seen:#?}", about.len());
    assert!(seen.iter().all(|seen| !seen.contains("/openapi/")), "{seen:#?}");
}

/// A run beside the test. Somebody has to listen to it, or it waits for that.
fn running(space: &Space, command: &str) -> JoinHandle<Outcome> {
    let running = space.begin(&[command, "-auto-approve", "-no-color"]);
    std::thread::spawn(move || running.end())
}

#[test]
fn a_server_that_restarts_in_the_middle_loses_nothing() {
    let mut own = OwnServer::start();
    let space = Space::on(own.reach());
    space.main(&many(200));
    let running = running(&space, "apply");
    let list = space.core("configmaps", "");
    assert!(eventually(|| space.api.count(&list) >= 60));
    own.kill();
    std::thread::sleep(Duration::from_millis(500));
    own.start_again(&[]);
    let outcome = running.join().unwrap();
    assert_eq!(outcome.code, 0, "{}", said(&outcome));
    is_whole(&space, 200);
    space.is_settled();
    // And when they go.
    let running = self::running(&space, "destroy");
    assert!(eventually(|| space.api.count(&list) <= 140));
    own.kill();
    own.start_again(&[]);
    let outcome = running.join().unwrap();
    assert_eq!(outcome.code, 0, "{}", said(&outcome));
    assert_eq!(space.api.count(&list), 0);
    assert!(space.find_stored("k8sconnect_object.many[\"1\"]").is_none());
}

/// Two runs in two directories want the same object at the same moment: one gets it.
#[test]
fn of_two_runs_at_once_one_gets_the_object() {
    let first = Space::new();
    let mut second = Space::new();
    second.namespace.clone_from(&first.namespace);
    for space in [&first, &second] {
        space.main(&many(10));
    }
    let running: Vec<_> = [&first, &second].iter().map(|space| running(space, "apply")).collect();
    let outcomes: Vec<_> = running.into_iter().map(|running| running.join().unwrap()).collect();
    let shared = Arc::new(first.api.get(&first.core("configmaps", "")));
    assert_eq!(shared["items"].as_array().unwrap().len(), 10);
    // Nothing is in both states.
    for n in 0..10 {
        let address = format!("k8sconnect_object.many[\"{n}\"]");
        let owners: Vec<Value> = [&first, &second]
            .iter()
            .filter_map(|space| space.find_stored(&address))
            .map(|stored| stored["attributes"]["id"].clone())
            .collect();
        let live = first.api.get(&first.core("configmaps", &format!("n{n}")));
        assert!(
            owners.contains(&live["metadata"]["annotations"]["k8sconnect.terraform.io/terraform-id"]),
            "{n}: {owners:?}"
        );
        assert_eq!(owners.len(), 1, "{n}: {}", outcomes.iter().map(said).collect::<Vec<_>>().join("\n"));
    }
}
