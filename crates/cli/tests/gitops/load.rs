//! Many Stacks that have something in common, a Secret or a repository: what changes there runs those that it is about, within limits, and costs no
//! more each time.

use std::time::Duration;

use groma_testkit::servers::git::GitServer;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::stage::{Stage, condition, now};

/// How many runs there may be at once.
const AT_ONCE: usize = 4;

/// How many Stacks there are, unless somebody says otherwise with `GROMA_GITOPS_STACKS`.
#[expect(clippy::disallowed_methods, reason = "people ask for it by their environment")]
fn how_many(usually: usize) -> usize {
    std::env::var("GROMA_GITOPS_STACKS").ok().and_then(|text| text.parse().ok()).unwrap_or(usually)
}

fn name(number: usize) -> String {
    format!("it-{number:03}")
}

fn list(stage: &Stage, plural: &str) -> Vec<Value> {
    stage.api.get(&stage.at("groma.dev/v1alpha1", plural, ""))["items"].as_array().unwrap().clone()
}

/// How often each Stack was run.
fn runs(stage: &Stage) -> Vec<u64> {
    list(stage, "stacks")
        .iter()
        .map(|stack| stack["status"]["lastRun"]["number"].as_u64().unwrap_or_default())
        .collect()
}

/// Waits until all Stacks have given this out, and looks meanwhile how many were at work: the most at once.
#[track_caller]
fn all_give(stage: &Stage, patience: Duration, wanted: impl Fn(&str) -> bool) -> usize {
    let (start, mut most) = (now(), 0);
    loop {
        let at_work = ["Initialising", "Planning", "Applying", "Verifying"];
        let is_at_work = |run: &&Value| run["status"]["phase"].as_str().is_some_and(|phase| at_work.contains(&phase));
        most = most.max(list(stage, "runs").iter().filter(is_at_work).count());
        let is_done = |stack: &Value| {
            condition(stack, "Ready").is_some_and(|ready| ready["status"] == "True") && wanted(output(stack))
        };
        let left: Vec<_> = list(stage, "stacks").into_iter().filter(|stack| !is_done(stack)).collect();
        let Some(first) = left.first() else { return most };
        assert!(start.elapsed() < patience, "{} are left: {first}\n{}", left.len(), stage.log());
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn output(stack: &Value) -> &str {
    stack["status"]["outputs"]["it"].as_str().unwrap_or_default()
}

/// S-404, S-505: a key of one Secret that one Stack takes is changed, and one that all of them take. As many runs begin as it is about; not more
/// at once than may be; and the operator needs no more memory than before.
#[test]
fn s_505_many_stacks_have_one_secret() {
    let count = how_many(60);
    let patience = Duration::from_secs(60 + 2 * count as u64);
    let stage = Stage::with(&["-runs", &AT_ONCE.to_string()]);
    stage.secret("shared", &json!({"all": "a", "one": "1"}));
    let main = "variable \"all\" {}\nvariable \"one\" {\n  default = \"\"\n}\n\
                resource \"terraform_data\" \"it\" {\n  input = nonsensitive(\"${var.all}${var.one}\")\n}\n\
                output \"it\" {\n  value = \"given ${terraform_data.it.output}\"\n}\n";
    for number in 0..count {
        let keys = if number == 7 { json!(["all", "one"]) } else { json!(["all"]) };
        let from = json!({"kind": "Secret", "name": "shared", "keys": keys});
        let spec = json!({
            "source": {"inline": {"main.tf": main}}, "interval": "1h", "inputs": {"varsFrom": [from]},
            "outputs": {"status": true},
        });
        stage.stack(&name(number), spec);
    }
    let start = now();
    let mut most = all_give(&stage, patience, |text| !text.is_empty());
    let (made, before) = (start.elapsed(), stage.memory());

    let change = |data: Value| stage.api.edit(&stage.at("v1", "secrets", "shared"), &json!({"stringData": data}));
    let known = runs(&stage);
    assert_eq!(known, vec![1; count]);
    let start = now();
    change(json!({"one": "2"}));
    stage.until("the one has run", || (runs(&stage)[7] == 2).then_some(()));
    let one = start.elapsed();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(runs(&stage).iter().sum::<u64>(), count as u64 + 1, "nobody else takes that key");

    let start = now();
    let last: Vec<u64> = runs(&stage);
    change(json!({"all": "b"}));
    stage
        .until("all are asked to run", || (runs(&stage).iter().zip(&last).all(|(now, then)| now > then)).then_some(()));
    most = most.max(all_give(&stage, patience, |text| !text.is_empty()));
    let (all, after) = (start.elapsed(), stage.memory());
    assert_eq!(runs(&stage).iter().sum::<u64>(), 2 * count as u64 + 1, "each runs once");
    eprintln!(
        "{count} Stacks: made in {made:?}, one changed in {one:?}, all changed in {all:?}; {most} at once; {before} KiB before, {after} KiB after"
    );
    assert!(most <= AT_ONCE && most > 0, "{most} at once");
    assert!(after < before + before / 4 + 16 * 1024, "{before} KiB before, {after} KiB after");
}

/// The last Run of each Stack, by how long after a moment it began and ended: the half and the twentieth that were slowest, in that order.
fn latencies(stage: &Stage, since: Timestamp) -> [[Duration; 2]; 2] {
    let after = |value: &Value| {
        let at: Timestamp = value.as_str().unwrap().parse().unwrap();
        Duration::try_from(at.duration_since(since)).unwrap_or_default()
    };
    let runs = list(stage, "runs");
    let phases = runs.iter().filter_map(|run| run["status"]["phases"].as_array());
    // Those of before are older.
    let newer: Vec<_> =
        phases.filter(|phases| !phases.is_empty() && after(&phases[0]["began"]) > Duration::ZERO).collect();
    let slowest = |at: fn(&[Value]) -> &Value| {
        let mut all: Vec<_> = newer.iter().map(|phases| after(&at(phases)["began"])).collect();
        all.sort();
        [all.len() / 2, all.len() * 19 / 20].map(|index| all.get(index).copied().unwrap_or_default())
    };
    [slowest(|phases| &phases[0]), slowest(|phases| &phases[phases.len() - 1])]
}

/// Waits until all Stacks have seen a revision.
#[track_caller]
fn all_see(stage: &Stage, revision: &str, patience: Duration) {
    let start = now();
    loop {
        let has_seen = |stack: &Value| stack["status"]["source"]["revision"] == revision;
        let left = list(stage, "stacks").iter().filter(|stack| !has_seen(stack)).count();
        if left == 0 {
            return;
        }
        assert!(start.elapsed() < patience, "{left} have not seen {revision}\n{}", stage.log());
        std::thread::sleep(Duration::from_millis(500));
    }
}

/// S-505: many Stacks are in directories of one repository and call one module of it. It is fetched once for each commit; a commit about one directory
/// is one run, one about the module is one of each, not more at once than may be; and the operator needs no more memory than before.
#[test]
fn s_505_many_stacks_have_one_repository() {
    const REPOSITORY: &str = "many";
    let count = how_many(100);
    let patience = Duration::from_secs(120 + 2 * count as u64);
    let (stage, server) = (Stage::with(&["-runs", &AT_ONCE.to_string()]), GitServer::new());
    let repository = server.repository(REPOSITORY);
    let module = |text: &str| format!("output \"it\" {{\n  value = \"{text}\"\n}}\n");
    let main = |text: &str| {
        format!(
            "module \"shared\" {{\n  source = \"../../modules/shared\"\n}}\nresource \"terraform_data\" \"it\" {{\n  \
             input = \"{text} ${{module.shared.it}}\"\n}}\noutput \"it\" {{\n  value = terraform_data.it.output\n}}\n"
        )
    };
    let path = |number: usize| format!("paths/{}/main.tf", name(number));
    let files: Vec<_> = (0..count).map(|number| (path(number), main("its own"))).collect();
    let mut files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let shared = module("first");
    files.push(("modules/shared/main.tf", &shared));
    let revision = |commit: String| format!("main@sha1:{commit}");
    let first = revision(repository.commit("main", "all of them", &files));
    let start = now();
    for number in 0..count {
        let spec = json!({
            "source": {"git": {"url": repository.url(), "ref": {"branch": "main"}, "interval": "1s"}},
            "path": format!("paths/{}", name(number)), "interval": "1h", "outputs": {"status": true},
        });
        stage.stack(&name(number), spec);
    }
    let mut most = all_give(&stage, patience, |text| text == "its own first");
    let (made, before) = (start.elapsed(), stage.memory());
    assert_eq!((runs(&stage), server.fetches(REPOSITORY)), (vec![1; count], 1), "{first}");

    let second = revision(repository.commit("main", "one of them", &[(&path(7), &main("another"))]));
    all_see(&stage, &second, patience);
    stage.until("the one has run", || {
        (output(&stage.get(&name(7))) == "another first"
            && stage.ready(&name(7))["status"]["applied"]["revision"] == *second)
            .then_some(())
    });
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(runs(&stage).iter().sum::<u64>(), count as u64 + 1, "nobody else reads that");
    assert_eq!(server.fetches(REPOSITORY), 2);

    let (start, since) = (now(), Timestamp::now());
    let third = revision(repository.commit("main", "all of them", &[("modules/shared/main.tf", &module("second"))]));
    most = most.max(all_give(&stage, patience, |text| text.ends_with(" second")));
    let (all, after) = (start.elapsed(), stage.memory());
    all_see(&stage, &third, patience);
    assert_eq!(runs(&stage).iter().sum::<u64>(), 2 * count as u64 + 1, "each runs once");
    assert_eq!(server.fetches(REPOSITORY), 3);
    let [began, ended] = latencies(&stage, since);
    eprintln!(
        "{count} Stacks of one repository: made in {made:?}, all changed in {all:?}, of which half had begun after {:?} and ended after {:?}, and 95 of \
         100 begun after {:?} and ended after {:?}; {most} at once; {before} KiB before, {after} KiB after",
        began[0], ended[0], began[1], ended[1]
    );
    assert!(most <= AT_ONCE && most > 0, "{most} at once");
    assert!(after < before + before / 4 + 16 * 1024, "{before} KiB before, {after} KiB after");
}
