//! A cluster that was started earlier: what is written down about it, whether it is still there, what it says, and how it ends.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::kube::Reach;

/// How long the end may take: a disk full of images is cleared.
const PATIENCE: Duration = Duration::from_mins(1);
/// The kernel knows processes by the beginning of their names.
const SHORT_NAME: usize = 15;
/// What the first process of a machine is.
const FIRST: &str = "sleep";

/// What is written down.
#[derive(Debug)]
pub(super) struct Running {
    url: String,
    certificate: PathBuf,
    kubeconfig: PathBuf,
    /// With their names.
    processes: Vec<(String, u32)>,
    /// The first process of the node's machine.
    machine: Option<u32>,
    /// Where tests serve pods.
    host: Option<String>,
}

/// The cluster in a folder, if any of it runs.
pub(super) fn find(dir: &Path) -> Result<Option<Running>> {
    let mut running = match std::fs::read_to_string(record(dir)) {
        Ok(text) => {
            let written: Value = serde_json::from_str(&text).context("the record of the cluster is no JSON")?;
            Running::read(&written).context("the record of the cluster is not complete")?
        }
        Err(_) => Running::interrupted(dir),
    };
    running.processes.retain(|(name, process)| is_there(*process, name));
    running.machine = running.machine.filter(|first| is_there(*first, FIRST));
    let is_gone = running.processes.is_empty() && running.machine.is_none();
    Ok((!is_gone).then_some(running))
}

/// Removes what is left of a cluster that does not run.
pub(super) fn remove(dir: &Path) -> Result<()> {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).context("cannot remove the cluster"),
        _ => Ok(()),
    }
}

impl Running {
    pub(super) fn new(reach: &Reach) -> Self {
        Self {
            url: reach.url.clone(),
            certificate: reach.certificate.clone(),
            kubeconfig: reach.kubeconfig.clone(),
            processes: reach.processes.iter().map(|(name, process)| ((*name).to_owned(), *process)).collect(),
            machine: reach.machine,
            host: reach.host.map(|host| host.to_string()),
        }
    }

    /// Writes it down.
    pub(super) fn save(&self, dir: &Path) -> Result<()> {
        let record_of_it = json!({
            "url": self.url,
            "certificate": self.certificate,
            "kubeconfig": self.kubeconfig,
            "processes": self.processes,
            "machine": self.machine,
            "host": self.host,
        });
        std::fs::write(record(dir), record_of_it.to_string()).context("cannot write down what runs")
    }

    fn read(written: &Value) -> Option<Self> {
        let text = |name: &str| written[name].as_str().map(str::to_owned);
        let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
        let process = |process: &Value| Some((process[0].as_str()?.to_owned(), number(&process[1])?));
        Some(Self {
            url: text("url")?,
            certificate: text("certificate")?.into(),
            kubeconfig: text("kubeconfig")?.into(),
            processes: written["processes"].as_array()?.iter().filter_map(process).collect(),
            machine: number(&written["machine"]),
            host: text("host"),
        })
    }

    /// What is there of a cluster whose start did not come to its end: each program has a file with its process id.
    fn interrupted(dir: &Path) -> Self {
        let mut running = Self {
            url: String::new(),
            certificate: PathBuf::new(),
            kubeconfig: PathBuf::new(),
            processes: Vec::new(),
            machine: None,
            host: None,
        };
        let list = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        // There is a folder for each attempt.
        for file in list(dir).flat_map(|attempt| list(&attempt)) {
            let (Some(name), Some("pid")) =
                (file.file_stem(), file.extension().and_then(|extension| extension.to_str()))
            else {
                continue;
            };
            let number = std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok());
            match (name.to_string_lossy().into_owned(), number) {
                (name, Some(first)) if name == "machine" => running.machine = Some(first),
                (name, Some(process)) => running.processes.push((name, process)),
                _ => {}
            }
        }
        running
    }

    /// Whether it came to the end of its start.
    pub(super) fn is_whole(&self) -> bool {
        !self.url.is_empty()
    }

    /// Says what runs, how it is reached, and what the node says.
    pub(super) fn show(&self) {
        for (name, process) in &self.processes {
            println!("    {name} {process}");
        }
        if !self.is_whole() {
            println!("    it was interrupted while it started: `cargo xtask cluster down` removes it");
            return;
        }
        println!("    API server {}", self.url);
        if let Some(first) = self.machine {
            println!("    node {}", self.node().unwrap_or_else(|error| format!("does not answer: {error:#}")));
            println!("    pods reach servers here at {}", self.host.as_deref().unwrap_or_default());
            println!("    enter with: nsenter --target {first} --mount --net --pid");
        }
        let kubeconfig = self.kubeconfig.display();
        println!("export KUBECONFIG='{kubeconfig}'");
        println!("export KUBE_CONFIG_PATH='{kubeconfig}'");
    }

    /// The state of the node and of its pods, in a line.
    fn node(&self) -> Result<String> {
        let node = self.ask("/api/v1/nodes/node")?;
        let conditions = node["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
        let ready = conditions.iter().find(|condition| condition["type"] == "Ready").context("it has no conditions")?;
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let info = &node["status"]["nodeInfo"];
        let state = if ready["status"] == "True" { "ready".to_owned() } else { word(&ready["message"]) };
        let pods = self.ask("/api/v1/pods")?;
        let pods = pods["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let running = pods.iter().filter(|pod| pod["status"]["phase"] == "Running").count();
        Ok(format!(
            "{state}, {}, {}; {} pods, {running} of them running",
            word(&info["kubeletVersion"]),
            word(&info["containerRuntimeVersion"]),
            pods.len(),
        ))
    }

    /// Gives the node an image.
    pub(super) fn load(&self, image: &Path) -> Result<()> {
        self.reach().import_image(image).with_context(|| format!("cannot load {}", image.display()))
    }

    fn reach(&self) -> Reach {
        Reach {
            url: self.url.clone(),
            certificate: self.certificate.clone(),
            kubeconfig: self.kubeconfig.clone(),
            processes: Vec::new(),
            machine: self.machine,
            host: None,
        }
    }

    fn ask(&self, path: &str) -> Result<Value> {
        let answer = self.reach().ask("GET", path, None)?;
        if answer.status != 200 {
            bail!("status {}", answer.status);
        }
        serde_json::from_str(&answer.body).context("the answer is no JSON")
    }

    /// Ends all of it.
    pub(super) fn stop(self, dir: &Path) -> Result<()> {
        if let Some(first) = self.machine {
            return stop_machine(first, dir);
        }
        // The last first: they complain when what they need is gone.
        for (name, process) in self.processes.iter().rev() {
            kill(pid(*process)?, Signal::SIGKILL).with_context(|| format!("cannot stop {name}"))?;
            wait_until(|| !is_there(*process, name), || format!("{name} does not end"))?;
            println!("    stopped {name}");
        }
        Ok(())
    }
}

/// Everything there ends with the first process; who keeps the machine then removes the folder.
fn stop_machine(first: u32, dir: &Path) -> Result<()> {
    kill(pid(first)?, Signal::SIGKILL).context("cannot stop the node")?;
    wait_until(|| !dir.exists(), || format!("{} is still there; is its keeper gone?", dir.display()))?;
    println!("    stopped the node and everything on it");
    Ok(())
}

fn wait_until(done: impl Fn() -> bool, complaint: impl Fn() -> String) -> Result<()> {
    let began = Instant::now();
    while !done() {
        if began.elapsed() > PATIENCE {
            bail!(complaint());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn record(dir: &Path) -> PathBuf {
    dir.join("cluster.json")
}

fn pid(process: u32) -> Result<Pid> {
    Ok(Pid::from_raw(i32::try_from(process)?))
}

/// Whether a process is there, and is what it was started as: numbers are used again.
fn is_there(process: u32, name: &str) -> bool {
    let short = name.get(..SHORT_NAME).unwrap_or(name);
    let found = std::fs::read_to_string(format!("/proc/{process}/comm"));
    // One that has ended keeps its name until its parent asks for it, but not its program.
    let lives = std::fs::read_link(format!("/proc/{process}/exe")).is_ok();
    lives && found.is_ok_and(|comm| comm.trim() == short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_down_is_read_again_without_what_has_ended() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::fs::read_to_string("/proc/self/comm").unwrap().trim().to_owned();
        let running = Running {
            url: "https://127.0.0.1:6443".to_owned(),
            certificate: "certificate".into(),
            kubeconfig: "kubeconfig".into(),
            processes: vec![(own.clone(), std::process::id()), ("etcd".to_owned(), std::process::id())],
            machine: None,
            host: None,
        };
        running.save(dir.path()).unwrap();
        let found = find(dir.path()).unwrap().unwrap();
        assert_eq!(found.processes, [(own, std::process::id())]);
        assert_eq!(found.url, running.url);
    }

    #[test]
    fn a_start_that_was_interrupted_is_found_by_its_process_ids() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::fs::read_to_string("/proc/self/comm").unwrap().trim().to_owned();
        std::fs::create_dir(dir.path().join("0")).unwrap();
        std::fs::write(dir.path().join(format!("0/{own}.pid")), std::process::id().to_string()).unwrap();
        std::fs::write(dir.path().join("0/etcd.pid"), std::process::id().to_string()).unwrap();
        assert_eq!(find(dir.path()).unwrap().unwrap().processes, [(own, std::process::id())]);
    }

    #[test]
    fn a_cluster_of_which_nothing_runs_is_none() {
        let dir = tempfile::tempdir().unwrap();
        assert!(find(dir.path()).unwrap().is_none());
        let record_of_it = json!({
            "url": "", "certificate": "", "kubeconfig": "", "processes": [["etcd", std::process::id()]], "machine": null,
        });
        std::fs::write(record(dir.path()), record_of_it.to_string()).unwrap();
        assert!(find(dir.path()).unwrap().is_none());
    }
}
