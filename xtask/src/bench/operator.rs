//! The operator on a real API server: what looking at a Stack costs when nothing has changed, and how long it takes from a change to ready.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::Bench;
use super::report::{Bar, note};
use crate::cluster::{self, ApiServer};
use crate::workspace;

/// How many Stacks there are.
const STACKS: usize = 200;
/// How often one is changed.
const CHANGES: usize = 40;
/// What tofu-controller needs for a stack of three `terraform_data` of which nothing has changed, with its runner in process: seconds of a
/// processor. A fiftieth of that is the limit.
const THEIRS: f64 = 0.37;
/// From a change to ready, for 95 of 100, in seconds.
const SOON: f64 = 1.0;
/// How often somebody asks who waits for one object.
const OFTEN: Duration = Duration::from_millis(10);
/// How often somebody asks who waits for all of them.
const RARELY: Duration = Duration::from_millis(500);
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
        asking(RARELY, "all Stacks are ready", || all_are(&server, 1))?;
        self.stable(&case, &server, &operator)?;
        let before = operator.processor_seconds()?;
        let again = json!({"apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "metadata": {"annotations": {"groma.dev/requested-at": "now"}}});
        for number in 0..STACKS {
            server.ask("PATCH", &format!("{PATH}/it-{number}"), Some(&again))?;
        }
        asking(RARELY, "all Stacks were looked at again", || all_are(&server, 2))?;
        let each = (operator.processor_seconds()? - before) / STACKS as f64;
        let kib = operator.peak_kib()? as f64;
        note(&format!(
            "{case}: {:.2} ms of a processor for each run that somebody asks for; {:.0} KiB for each Stack",
            each * 1e3,
            kib / STACKS as f64
        ));
        self.changes(&server)
    }

    /// The interval goes by, and nothing has changed.
    fn stable(&mut self, case: &str, server: &ApiServer, operator: &Running) -> Result<()> {
        let soon = json!({"apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "spec": {"interval": "10s"}});
        for number in 0..STACKS {
            server.ask("PATCH", &format!("{PATH}/it-{number}"), Some(&soon))?;
        }
        let looked = || operator.figure("groma_checks_total");
        asking(RARELY, "they are looked at", || Ok(looked()? >= STACKS as f64))?;
        let (before, first) = (operator.processor_seconds()?, looked()?);
        asking(RARELY, "they are looked at again, three times", || Ok(looked()? >= first + 3.0 * STACKS as f64))?;
        let each = (operator.processor_seconds()? - before) / (looked()? - first);
        note(&format!("{case}: {:.2} ms of a processor each time that nothing has changed", each * 1e3));
        self.table.bar(Bar::at_most(
            &format!("{case}: seconds of a processor for each of which nothing has changed"),
            each,
            THEIRS / 50.0,
        ));
        let late = json!({"apiVersion": "groma.dev/v1alpha1", "kind": "Stack", "spec": {"interval": "1h"}});
        for number in 0..STACKS {
            server.ask("PATCH", &format!("{PATH}/it-{number}"), Some(&late))?;
        }
        Ok(())
    }

    /// The SimpleResource that is shipped, of which one field changes. Its own pause is taken out: that is no work of ours.
    fn changes(&mut self, server: &ApiServer) -> Result<()> {
        let shipped = workspace::root().join("deploy/simple-resource");
        let read =
            |name: &str| -> Result<Value> { Ok(serde_saphyr::from_str(&fs::read_to_string(shipped.join(name))?)?) };
        define(server, &read("crd.yaml")?)?;
        let mut blueprint = read("blueprint.yaml")?;
        blueprint["spec"]["values"] = json!({"wait": "0s", "directory": self.scratch});
        let name = blueprint["metadata"]["name"].as_str().context("a Blueprint without a name")?.to_owned();
        server.ask("PATCH", &format!("/apis/groma.dev/v1alpha1/blueprints/{name}"), Some(&blueprint))?;
        let mut object = read("sample.yaml")?;
        let name = object["metadata"]["name"].as_str().context("a sample without a name")?.to_owned();
        let path = format!("/apis/infra.opr8r/v1alpha1/namespaces/default/simpleresources/{name}");
        object["metadata"]["namespace"] = json!("default");
        let mut times = Vec::new();
        for change in 0..=CHANGES {
            object["spec"]["length"] = json!(change % 20 + 4);
            let start = Instant::now();
            server.ask("PATCH", &path, Some(&object))?;
            until("it is ready", || {
                let found = server.ask("GET", &path, None)?;
                let is_current = found["status"]["observedGeneration"] == found["metadata"]["generation"];
                Ok(is_current && found["status"]["phase"] == "Ready")
            })?;
            times.push(start.elapsed().as_secs_f64());
        }
        // The first one is made, and not changed.
        times.remove(0);
        times.sort_by(f64::total_cmp);
        let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
        note(&format!(
            "SimpleResource, from a change to ready: median {:.3} s, 95 of 100 within {:.3} s",
            at(50),
            at(95)
        ));
        self.table.bar(Bar::at_most("SimpleResource, from a change to ready: seconds, 95 of 100", at(95), SOON));
        Ok(())
    }

    fn install(&self, server: &ApiServer) -> Result<()> {
        let printed = Command::new(&self.tools.groma).args(["operator", "crds", "-json"]).output()?;
        ensure!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
        let definitions: Vec<Value> = serde_json::from_slice(&printed.stdout)?;
        definitions.iter().try_for_each(|definition| define(server, definition))
    }
}

/// Makes a kind known.
fn define(server: &ApiServer, definition: &Value) -> Result<()> {
    let name = definition["metadata"]["name"].as_str().context("a kind without a name")?;
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
    server.ask("PATCH", &path, Some(definition))?;
    until("a kind is known", || {
        let found = server.ask("GET", &path, None)?;
        let conditions = found["status"]["conditions"].as_array();
        Ok(conditions.into_iter().flatten().any(|known| known["type"] == "Established" && known["status"] == "True"))
    })
}

/// An operator, which ends with this.
struct Running {
    process: Child,
    /// Where it tells figures.
    address: String,
}

impl Running {
    fn start(bench: &Bench<'_>, server: &ApiServer) -> Result<Self> {
        let log = fs::File::create(bench.scratch.join("operator.log"))?;
        let mut command = Command::new(&bench.tools.groma);
        command.args(["operator", "-namespace", "default", "-kubeconfig", &server.kubeconfig()]);
        command.arg("-scratch").arg(bench.scratch.join("operator-runs")).arg("-files").arg(&bench.scratch);
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        command.args(["-metrics-address", &address]);
        let process = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn()?;
        Ok(Self { process, address })
    }

    /// The sum of everything that it tells under a name.
    fn figure(&self, name: &str) -> Result<f64> {
        let mut stream = TcpStream::connect(&self.address)?;
        write!(stream, "GET /metrics HTTP/1.0\r\nHost: {}\r\n\r\n", self.address)?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let lines = text.lines().filter(|line| line.starts_with(name));
        Ok(lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum())
    }

    /// What it has used so far, with everything that it has started and waited for.
    fn processor_seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
        let ticks: Vec<f64> =
            fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse().ok()).collect();
        // There are a hundred in a second on every system that has this file.
        Ok(ticks.iter().sum::<f64>() / 100.0)
    }

    fn peak_kib(&self) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak of memory")?;
        Ok(line.trim().trim_end_matches("kB").trim().parse()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
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

fn until(what: &str, holds: impl FnMut() -> Result<bool>) -> Result<()> {
    asking(OFTEN, what, holds)
}

/// Asks so often. Whoever answers works for it, too, so what is measured must not be asked much.
fn asking(pause: Duration, what: &str, mut holds: impl FnMut() -> Result<bool>) -> Result<()> {
    let start = Instant::now();
    while !holds()? {
        if start.elapsed() > PATIENCE {
            bail!("{what}: not within {PATIENCE:?}");
        }
        std::thread::sleep(pause);
    }
    Ok(())
}
