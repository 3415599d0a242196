//! The same mishaps under groma, Terraform and OpenTofu: how each run ends, what becomes of the object, and what the next run does. The others
//! run the plugin in the form that they allow: a wait that is a resource of its own. `--nocapture` shows the table, which the book has too.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::node::{broken, dependent, deployment, idle, on_the_node_under, web};
use crate::proxy::{Fate, Proxy, Request};
use crate::space::{Space, config_map, object, said};
use crate::tool::Tool;

/// The page that says all this.
const PAGE: &str = include_str!("../../../../docs/book/src/kubernetes-waits-compared.md");

const TOOLS: [(&str, Tool); 3] = [("groma", Tool::Groma), ("Terraform", Tool::Terraform), ("OpenTofu", Tool::OpenTofu)];

const MISHAPS: [&str; 4] = [
    "image that nobody has",
    "change to such an image",
    "change to such an image, with `triggers`",
    "no answer after the write",
];

/// What became of a mishap.
struct Found {
    mishap: &'static str,
    /// How the run ended in which it happened.
    exit: i32,
    tainted: bool,
    /// What depends on the object itself.
    dependents: &'static str,
    /// What depends on the wait; the same where the object waits itself.
    behind_the_wait: &'static str,
    /// What the next plan wants to do with the object and the wait.
    next: String,
    /// How the next run ended, with whatever was wrong put right.
    retry: i32,
    same_object: bool,
}

impl Found {
    fn row(&self, tool: &str) -> String {
        let yes = |yes: bool| if yes { "yes" } else { "no" };
        format!(
            "| {} | {tool} | {} | {} | {} | {} | {} | {} | {} |",
            self.mishap,
            self.exit,
            yes(self.tainted),
            self.dependents,
            self.behind_the_wait,
            self.next,
            self.retry,
            yes(self.same_object)
        )
    }
}

#[test]
fn the_tools_are_compared() {
    let told = std::thread::scope(|scope| {
        let begun = TOOLS.map(|(name, tool)| {
            let thread = std::thread::Builder::new().name(format!("compared-{}", name.to_lowercase()));
            thread
                .spawn_scoped(scope, move || all(tool).into_iter().map(|found| (found.mishap, found.row(name))))
                .unwrap()
        });
        begun.map(|thread| thread.join().unwrap()).into_iter().flatten().collect::<Vec<_>>()
    });
    let mut rows = vec![
        "| mishap | tool | exit code | tainted | what depends on the object | what depends on the wait | next plan | exit code with it put right | same UID |"
            .to_owned(),
        "|---|---|---|---|---|---|---|---|---|".to_owned(),
    ];
    for mishap in MISHAPS {
        rows.extend(told.iter().filter(|(of, _)| *of == mishap).map(|(_, row)| row.clone()));
    }
    let table = rows.join("\n");
    println!("{table}");
    assert!(PAGE.contains(&table), "the book has another table than:\n{table}");
}

fn all(tool: Tool) -> Vec<Found> {
    let mut found = vec![bad_image(tool), bad_change(tool, false), lost_answer(tool)];
    // What waits itself needs nobody to tell it that there is something new.
    if tool != Tool::Groma {
        found.push(bad_change(tool, true));
    }
    found
}

/// The Deployment and its wait, in the form that the tool allows, and one object behind each.
fn story(tool: Tool, timeout: &str, container: &str, data: &str, triggered: bool) -> String {
    let manifest = deployment(1, container);
    let wait_for = format!("rollout = true, timeout = \"{timeout}\"");
    let behind_the_object = dependent("behind-the-object", "k8sconnect_object.web", data);
    if tool == Tool::Groma {
        return web(&wait_for, &manifest)
            + &behind_the_object
            + &dependent("behind-the-wait", "k8sconnect_object.web", data);
    }
    let triggers = if triggered { "triggers = { manifest = sha256(k8sconnect_object.web.yaml_body) }" } else { "" };
    let wait = format!(
        "resource \"k8sconnect_wait\" \"web\" {{\n  cluster = local.cluster\n  object_ref = k8sconnect_object.web.object_ref\n  \
         {triggers}\n  wait_for = {{ {wait_for} }}\n}}\n"
    );
    object("web", &manifest) + &wait + &behind_the_object + &dependent("behind-the-wait", "k8sconnect_wait.web", data)
}

/// What became of a ConfigMap that is to have this data.
fn state_of(space: &Space, name: &str, wanted: &str) -> &'static str {
    match space.api.find(&space.core("configmaps", name)) {
        None => "not made",
        Some(found) if found["data"]["at"] == wanted => "there",
        Some(_) => "not changed",
    }
}

/// What a plan does with the object and the wait.
fn next(space: &Space) -> String {
    let plan = space.plan();
    let actions = plan.actions();
    let of = |name: &str| {
        let found = actions.iter().find_map(|action| action.strip_suffix(&format!(" k8sconnect_{name}")));
        found.map(|action| format!("{action} {}", name.split('.').next().unwrap_or_default()))
    };
    let mut parts: Vec<String> = ["object.web", "object.settings", "wait.web"].into_iter().filter_map(of).collect();
    if plan.said.contains("1 to wait for") {
        parts.push("wait on".to_owned());
    }
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

fn is_tainted(space: &Space, address: &str) -> bool {
    space.find_stored(address).is_some_and(|stored| stored["status"] == "tainted")
}

/// Seed 000: an image that nobody has.
fn bad_image(tool: Tool) -> Found {
    let space = on_the_node_under(tool);
    let path = space.of("apps/v1", "deployments", "web");
    space.main(&story(tool, "6s", &broken(), "{at: '1'}", false));
    let outcome = space.run(&["apply", "-auto-approve", "-no-color"]);
    let uid = space.api.uid(&path);
    let tainted = is_tainted(&space, "k8sconnect_object.web");
    let dependents = state_of(&space, "behind-the-object", "1");
    let behind_the_wait = state_of(&space, "behind-the-wait", "1");
    let next = next(&space);
    // That the wait failed is all that there is of it.
    assert!(space.find_stored("k8sconnect_wait.web").is_none(), "{}", said(&outcome));
    space.main(&story(tool, "60s", &idle(), "{at: '1'}", false));
    let retry = space.run(&["apply", "-auto-approve", "-no-color"]).code;
    assert_eq!(state_of(&space, "behind-the-wait", "1"), "there");
    let same_object = space.api.uid(&path) == uid;
    space.is_settled();
    space.destroy();
    let mishap = MISHAPS[0];
    Found { mishap, exit: outcome.code, tainted, dependents, behind_the_wait, next, retry, same_object }
}

/// The same, for something that worked before.
fn bad_change(tool: Tool, triggered: bool) -> Found {
    // It stays the same: that it has changed would be reason enough to wait again.
    const TIMEOUT: &str = "15s";
    let space = on_the_node_under(tool);
    let path = space.of("apps/v1", "deployments", "web");
    space.main(&story(tool, TIMEOUT, &idle(), "{at: '1'}", triggered)).apply();
    let uid = space.api.uid(&path);
    space.main(&story(tool, TIMEOUT, &broken(), "{at: '2'}", triggered));
    let outcome = space.run(&["apply", "-auto-approve", "-no-color"]);
    let tainted = is_tainted(&space, "k8sconnect_object.web") || is_tainted(&space, "k8sconnect_wait.web");
    let dependents = state_of(&space, "behind-the-object", "2");
    let behind_the_wait = state_of(&space, "behind-the-wait", "2");
    let next = next(&space);
    space.main(&story(tool, TIMEOUT, &idle(), "{at: '2'}", triggered));
    let retry = space.run(&["apply", "-auto-approve", "-no-color"]).code;
    let same_object = space.api.uid(&path) == uid;
    space.is_settled();
    space.destroy();
    let mishap = MISHAPS[if triggered { 2 } else { 1 }];
    Found { mishap, exit: outcome.code, tainted, dependents, behind_the_wait, next, retry, same_object }
}

/// Seed 001: the object is made, and the cluster does not answer any more.
fn lost_answer(tool: Tool) -> Found {
    let space = on_the_node_under(tool);
    let proxy = Proxy::new(&space.api, silent_after_the_write());
    space.file("kubeconfig", &proxy.kubeconfig());
    let behind = dependent("behind-the-object", "k8sconnect_object.settings", "{at: '1'}");
    space.main(&(config_map("settings", "{a: b}") + &behind));
    let outcome = if tool == Tool::Groma {
        // It waits until the cluster answers again, and would go on; but the laptop is closed.
        let mut running = space.begin(&["apply", "-auto-approve", "-json"]);
        running.wait_for("wait_progress");
        running.signal("INT");
        running.end()
    } else {
        space.run(&["apply", "-auto-approve", "-no-color"])
    };
    let path = space.core("configmaps", "settings");
    let uid = space.api.uid(&path);
    let tainted = is_tainted(&space, "k8sconnect_object.settings");
    let dependents = state_of(&space, "behind-the-object", "1");
    proxy.heal();
    let next = next(&space);
    let retry = space.run(&["apply", "-auto-approve", "-no-color"]).code;
    let same_object = space.api.uid(&path) == uid;
    assert_eq!(state_of(&space, "behind-the-object", "1"), "there");
    space.is_settled();
    space.destroy();
    let mishap = MISHAPS[3];
    Found { mishap, exit: outcome.code, tainted, dependents, behind_the_wait: "–", next, retry, same_object }
}

/// From the first write of the object on, nobody answers until the proxy is mended.
fn silent_after_the_write() -> impl FnMut(&Request) -> Fate + Send + 'static {
    let silent = Arc::new(AtomicBool::new(false));
    move |request| {
        if silent.load(Ordering::SeqCst) {
            return Fate::Lost;
        }
        if request.writes() && request.is_about("settings") {
            silent.store(true, Ordering::SeqCst);
            return Fate::Unanswered;
        }
        Fate::Pass
    }
}
