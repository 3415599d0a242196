//! Clusters for tests: real programs of Kubernetes in a folder of their own, gone with the process that started them. Three [`Extent`]s: the
//! API alone, with the controllers, or with a node on which pods run. `cargo xtask cluster` uses the same files.

// The paths are written out since xtask takes this file from here, and files next to it would be looked for elsewhere.
#[path = "kube/api.rs"]
mod api;
#[path = "kube/ask.rs"]
mod ask;
#[path = "kube/controllers.rs"]
mod controllers;
#[path = "kube/machine.rs"]
mod machine;
#[path = "kube/node.rs"]
mod node;
#[path = "kube/processes.rs"]
mod processes;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use processes::Processes;

pub use ask::Answer;
pub use machine::{is_root, missing_packages};

/// Who may do everything.
pub const ADMIN_TOKEN: &str = "admin-of-the-test-cluster";
/// Who may do nothing until a test says otherwise. The user is called `nobody`.
pub const NOBODY_TOKEN: &str = "nobody-of-the-test-cluster";
/// The image that every node has. What it does is in `tests/pods`; pods name it with `imagePullPolicy: Never`.
pub const POD_IMAGE: &str = "groma.dev/pod:test";

/// How much of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// etcd and kube-apiserver: objects can be stored, and nothing happens to them. Pods need no account, since nobody makes one, and the roles
    /// `admin`, `edit` and `view` are empty.
    Api,
    /// And the controller manager and the scheduler: owners take what they own with them, namespaces end, a Deployment gets its pods.
    Controllers,
    /// And a node: pods run. It needs root, Debian's `containerd`, `runc` and `containernetworking-plugins`, and is there once per machine.
    Node,
}

impl Extent {
    /// The programs that it needs. `pod-image` is an image instead.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Api => &["etcd", "kube-apiserver"],
            Self::Controllers => &["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"],
            Self::Node => &[
                "etcd",
                "kube-apiserver",
                "kube-controller-manager",
                "kube-scheduler",
                "kube-proxy",
                "kubelet",
                "pod-image",
            ],
        }
    }
}

/// Where the programs are.
#[derive(Debug, Clone)]
pub struct Programs(BTreeMap<&'static str, PathBuf>);

impl Programs {
    /// Looks up what an extent needs.
    pub fn find<E>(extent: Extent, find: impl Fn(&'static str) -> Result<PathBuf, E>) -> Result<Self, E> {
        let found = extent.programs().iter().map(|name| find(name).map(|path| (*name, path)));
        found.collect::<Result<_, E>>().map(Self)
    }

    fn get(&self, name: &str) -> io::Result<&Path> {
        let found = self.0.get(name).map(PathBuf::as_path);
        found.ok_or_else(|| io::Error::other(format!("nobody has said where {name} is")))
    }
}

/// How long servers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Until this process ends, however it does. Their folder goes with them.
    Ours,
    /// Until somebody ends them by their process ids.
    Own,
}

/// Somebody who may come in, beside the admin and nobody. What they may do is said with roles, as in any cluster.
#[derive(Clone)]
pub struct Identity {
    /// The secret that they show.
    pub token: String,
    /// Who they are.
    pub user: String,
    /// To what they belong.
    pub groups: Vec<String>,
}

/// What is started.
#[derive(Clone)]
pub struct Options {
    /// How much.
    pub extent: Extent,
    /// For how long.
    pub lifetime: Lifetime,
    /// For whom.
    pub identities: Vec<Identity>,
}

/// What a running API server is reached by.
#[derive(Debug, Clone)]
pub struct Reach {
    /// `https://address:port`: loopback, unless there is a node.
    pub url: String,
    /// A file with the certificate of the server, which it has signed itself.
    pub certificate: PathBuf,
    /// A file for clients that want one, of who may do everything.
    pub kubeconfig: PathBuf,
    /// The processes, by name.
    pub processes: Vec<(&'static str, u32)>,
    /// The first process of the machine that is the node, as this machine counts.
    pub machine: Option<u32>,
    /// The address by which pods reach servers of tests, which must listen there.
    pub host: Option<IpAddr>,
}

impl Reach {
    /// What a kubeconfig has to say to come in with a token. It refers to no other file.
    pub fn kubeconfig_text(&self, token: &str) -> io::Result<String> {
        api::kubeconfig(&self.url, &fs::read(&self.certificate)?, &[("user", token)])
    }

    /// Asks the API server as who may do everything. The body is JSON; `PATCH` applies it (the manager of fields is `test`).
    pub fn ask(&self, method: &str, path: &str, body: Option<&str>) -> io::Result<Answer> {
        self.ask_as(ADMIN_TOKEN, method, path, body)
    }

    /// The same, as whom a token is of.
    pub fn ask_as(&self, token: &str, method: &str, path: &str, body: Option<&str>) -> io::Result<Answer> {
        ask::ask(self, token, method, path, body)
    }

    /// Gives the node an image: a tar file with an OCI layout, as `cargo xtask image` writes it.
    pub fn import_image(&self, image: &Path) -> io::Result<()> {
        let machine = self.machine.ok_or_else(|| io::Error::other("this cluster has no node"))?;
        node::import(machine, image)
    }
}

/// A cluster.
#[derive(Debug)]
pub struct KubeServer {
    reach: Reach,
    _processes: Processes,
}

impl KubeServer {
    /// Starts one in a folder, which must be empty, and waits until it answers, and until pods can be made if it has controllers, and run if
    /// it has a node.
    pub fn start(dir: &Path, programs: &Programs, options: &Options) -> io::Result<Self> {
        let mut last = io::Error::other("no port was free");
        // Between asking for a free port and using it, somebody else may. A node has all ports for itself.
        let attempts = if options.extent == Extent::Node { 1 } else { 3 };
        for attempt in 0..attempts {
            let dir = dir.join(attempt.to_string());
            match Self::try_start(&dir, programs, options) {
                Ok(server) => return Ok(server),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// One for a test, which ends when it is dropped. A program that asks for [`shared_with_node`] cannot have another one with a node: there is
    /// one at a time, and it would wait for itself.
    pub fn fresh(extent: Extent, identities: Vec<Identity>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("groma-cluster-{}-{count}", std::process::id()));
        let started = Programs::find(extent, program).map_err(io::Error::other).and_then(|programs| {
            Self::start(&dir, &programs, &Options { extent, lifetime: Lifetime::Ours, identities })
        });
        match started {
            Ok(server) => server,
            Err(error) => panic!("{error}"),
        }
    }

    /// How it is reached.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    fn try_start(dir: &Path, programs: &Programs, options: &Options) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let has_node = options.extent == Extent::Node;
        if has_node {
            node::write_inputs(dir)?;
        }
        api::write_inputs(dir, &options.identities)?;
        let mut processes = Processes::new(dir, options.lifetime, has_node)?;
        let ports = if has_node { machine::ports() } else { free_ports()? };
        if has_node {
            // It starts while the API server does.
            processes.start("containerd", node::containerd())?;
        }
        processes.start("etcd", api::etcd(programs.get("etcd")?, ports))?;
        processes.start("kube-apiserver", api::apiserver(programs.get("kube-apiserver")?, ports, options.extent))?;
        let mut reach = reach(dir, ports, &processes);
        if let Some(machine) = reach.machine {
            processes.wait("containerd", || node::has_containerd(machine))?;
            node::import(machine, programs.get("pod-image")?)?;
        }
        processes.wait("the API server", || api::is_ready(dir))?;
        api::write_kubeconfigs(dir, &reach)?;
        if options.extent >= Extent::Controllers {
            controllers::start(&mut processes, programs)?;
        }
        if has_node {
            node::start(&mut processes, programs)?;
        }
        if options.extent >= Extent::Controllers {
            processes.wait("the controllers", || controllers::are_ready(&reach))?;
        }
        if has_node {
            processes.wait("the node", || node::is_ready(&reach))?;
        }
        reach.processes = processes.ids();
        processes.finish();
        Ok(Self { reach, _processes: processes })
    }
}

/// The ports of etcd for clients and for its like, and of the API server.
#[derive(Debug, Clone, Copy)]
struct Ports {
    address: Ipv4Addr,
    client: u16,
    peer: u16,
    secure: u16,
}

fn free_ports() -> io::Result<Ports> {
    // All are held until all are known, so that they differ.
    let listeners = [0; 3].map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        let listener = listener.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
        *port = listener.local_addr()?.port();
    }
    let [client, peer, secure] = ports;
    Ok(Ports { address: Ipv4Addr::LOCALHOST, client, peer, secure })
}

fn reach(dir: &Path, ports: Ports, processes: &Processes) -> Reach {
    Reach {
        url: format!("https://{}", SocketAddr::from((ports.address, ports.secure))),
        certificate: dir.join("certificates/apiserver.crt"),
        kubeconfig: dir.join("kubeconfig"),
        processes: Vec::new(),
        machine: processes.machine(),
        host: processes.machine().map(|_| IpAddr::V4(machine::HOST)),
    }
}

/// The one API server of a test program, which is started when it is first asked for and ends with the program.
pub fn shared() -> &'static Reach {
    static SHARED: OnceLock<KubeServer> = OnceLock::new();
    SHARED.get_or_init(|| KubeServer::fresh(Extent::Api, Vec::new())).reach()
}

/// The same, with controllers.
pub fn shared_with_controllers() -> &'static Reach {
    static SHARED: OnceLock<KubeServer> = OnceLock::new();
    SHARED.get_or_init(|| KubeServer::fresh(Extent::Controllers, Vec::new())).reach()
}

/// The same, with a node. If another test program has one, this waits until that has ended.
pub fn shared_with_node() -> &'static Reach {
    static SHARED: OnceLock<KubeServer> = OnceLock::new();
    SHARED.get_or_init(|| KubeServer::fresh(Extent::Node, Vec::new())).reach()
}

/// Where a program is, as `cargo xtask test` tells it: `kube-apiserver` is in `GROMA_KUBE_APISERVER`.
#[expect(clippy::disallowed_methods, reason = "it says where the real programs are")]
fn program(name: &str) -> Result<PathBuf, String> {
    let variable = format!("GROMA_{}", name.to_uppercase().replace('-', "_"));
    let found = std::env::var_os(&variable).map(PathBuf::from);
    found.ok_or_else(|| format!("{variable} is not set: run `cargo xtask test`"))
}
