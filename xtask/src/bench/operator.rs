//! The operator on a real API server: what looking at a Stack costs when nothing has changed, and how long it takes from a change to ready.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::Bench;
use super::report::{Bar, note};
use crate::cluster::{self, ApiServer};

/// How many Stacks there are.
const STACKS: usize = 200;
/// How often one is changed.
const CHANGES: usize = 40;
/// What tofu-controller needs for a stack of three `terraform_data` of which nothing has changed, with its runner in process: seconds of a
/// processor. A fiftieth of that is the limit.
const THEIRS: f64 = 0.37;
/// From a change to ready, for 95 of 100, in seconds.
const SOON: f64 = 1.0;
/// How long anything may take that is waited for.
const PATIENCE: Duration = Duration::from_mins(5);

const PATH: &str = "/apis/groma.dev/v1alpha1/namespaces/default/stacks";

impl Bench<'_> {
    /// Stacks that are looked at though nothing has changed, and one that changes.
    pub(super) fn operator(&mut self) -> Result<()> {
        let case = format!("operator, {STACKS} Stacks");
        if !self.wanted(&case) {
            return Ok(());
        }
        let server = cluster::api_server(&self.scratch.join("operator"))?;
        self.install(&server)?;
        let operator = Running::start(self, &server)?;
        let stack = |name: &str, main: &str| {
            json!({
                "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": name},
                "spec": {"source": {"inline": {"main.tf": main}}, "approval": {"mode": "auto"}, "interval": "1h"},
            })
        };
        let three = "resource \"terraform_data\" \"it\" {\n  count = 3\n}\n";
        for number in 0..STACKS {
            server.ask("POST", PATH, Some(&stack(&format!("it-{number}"), three)))?;
        }
        until("all Stacks are ready", || all_are(&server, 1))?;
        let before = operator.processor_seconds()?;
        let again = json!({"apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"annotations": {"groma.dev/requested-at": "now"}}});
        for number in 0..STACKS {
            server.ask("PATCH", &format!("{PATH}/it-{number}"), Some(&again))?;
        }
        until("all Stacks were looked at again", || all_are(&server, 2))?;
        let each = (operator.processor_seconds()? - before) / STACKS as f64;
        let kib = operator.peak_kib()? as f64;
        note(&format!("{case}: {:.2} ms of a processor and {:.0} KiB for each", each * 1e3, kib / STACKS as f64));
        self.table.bar(Bar::at_most(
            &format!("{case}: seconds of a processor for each of which nothing has changed"),
            each,
            THEIRS / 50.0,
        ));
        self.changes(&server)
    }

    fn changes(&mut self, server: &ApiServer) -> Result<()> {
        let name = "changing";
        let with = |length: usize| {
            let main = format!(
                "resource \"random_string\" \"it\" {{\n  length = {length}\n}}\nresource \"local_file\" \"it\" {{\n  filename = \
                 \"{}/changing\"\n  content = random_string.it.result\n}}\n",
                self.scratch.display()
            );
            json!({
                "apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"name": name},
                "spec": {"source": {"inline": {"main.tf": main}}, "approval": {"mode": "auto"}, "interval": "1h"},
            })
        };
        let path = format!("{PATH}/{name}");
        let mut times = Vec::new();
        for change in 0..=CHANGES {
            let start = Instant::now();
            server.ask("PATCH", &path, Some(&with(change % 20 + 4)))?;
            until("it is ready", || Ok(is_ready(&server.ask("GET", &path, None)?)))?;
            times.push(start.elapsed().as_secs_f64());
        }
        // The first one is made, and not changed.
        times.remove(0);
        times.sort_by(f64::total_cmp);
        let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
        note(&format!("operator, from a change to ready: median {:.3} s, 95 of 100 within {:.3} s", at(50), at(95)));
        self.table.bar(Bar::at_most("operator, from a change to ready: seconds, 95 of 100", at(95), SOON));
        Ok(())
    }

    fn install(&self, server: &ApiServer) -> Result<()> {
        let printed = Command::new(&self.tools.groma).args(["operator", "crds", "-json"]).output()?;
        ensure!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
        let definitions: Vec<Value> = serde_json::from_slice(&printed.stdout)?;
        for definition in definitions {
            let name = definition["metadata"]["name"].as_str().context("a kind without a name")?;
            let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
            server.ask("PATCH", &path, Some(&definition))?;
            until("a kind is known", || {
                let found = server.ask("GET", &path, None)?;
                let conditions = found["status"]["conditions"].as_array();
                Ok(conditions
                    .into_iter()
                    .flatten()
                    .any(|known| known["type"] == "Established" && known["status"] == "True"))
            })?;
        }
        Ok(())
    }
}

/// An operator, which ends with this.
struct Running(Child);

impl Running {
    fn start(bench: &Bench<'_>, server: &ApiServer) -> Result<Self> {
        let log = fs::File::create(bench.scratch.join("operator.log"))?;
        let mut command = Command::new(&bench.tools.groma);
        command.args(["operator", "-namespace", "default", "-kubeconfig", &server.kubeconfig()]);
        command.arg("-scratch").arg(bench.scratch.join("operator-runs"));
        Ok(Self(command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?))
    }

    /// What it has used so far, with everything that it has started and waited for.
    fn processor_seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
        let ticks: Vec<f64> =
            fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse().ok()).collect();
        // There are a hundred in a second on every system that has this file.
        Ok(ticks.iter().sum::<f64>() / 100.0)
    }

    fn peak_kib(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak of memory")?;
        Ok(line.trim().trim_end_matches("kB").trim().parse()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether every Stack has had so many runs, and is ready.
fn all_are(server: &ApiServer, runs: u64) -> Result<bool> {
    let list = server.ask("GET", PATH, None)?;
    let stacks = list["items"].as_array().context("no list")?;
    let done = |stack: &Value| is_ready(stack) && stack["status"]["lastRun"]["number"].as_u64() >= Some(runs);
    Ok(stacks.len() >= STACKS && stacks.iter().all(done))
}

fn is_ready(stack: &Value) -> bool {
    let conditions = stack["status"]["conditions"].as_array();
    let ready = conditions.into_iter().flatten().any(|known| known["type"] == "Ready" && known["status"] == "True");
    ready && stack["status"]["observedGeneration"] == stack["metadata"]["generation"]
}

fn until(what: &str, mut holds: impl FnMut() -> Result<bool>) -> Result<()> {
    let start = Instant::now();
    while !holds()? {
        if start.elapsed() > PATIENCE {
            bail!("{what}: not within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
