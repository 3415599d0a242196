//! A machine within the machine, for a node: a network, mounts and processes of its own, in namespaces of the kernel. When its first process ends,
//! the kernel ends all others, containers too, and takes mounts and networks away: nothing can be left behind, however that came about.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use super::processes::{last_lines, now};
use super::{Lifetime, Ports};

/// The address of the node, and of the API server.
pub(super) const NODE: Ipv4Addr = Ipv4Addr::new(10, 201, 0, 1);
/// The address of this machine in the network of the pods: what a test serves to pods, it serves here.
pub(super) const HOST: Ipv4Addr = Ipv4Addr::new(10, 201, 0, 254);
/// The addresses of pods. Those at the ends are for the two above.
pub(super) const PODS: (&str, &str, &str) = ("10.201.0.0/24", "10.201.0.2", "10.201.0.253");
/// The addresses of services.
pub(super) const SERVICES: &str = "10.202.0.0/24";
/// The bridge that connects the pods, inside.
pub(super) const BRIDGE: &str = "pods";
/// The folder of the cluster, inside: paths of sockets must be short.
pub(super) const HOME: &str = "/run/groma";

/// The end of the cable that is outside.
const CABLE: &str = "groma-node";
/// The other end.
const PLUG: &str = "uplink";
/// There are addresses for one node only, and two processors for everybody.
const LOCK: &str = "/run/groma-node.lock";
/// What the keeper ends with when somebody else has the lock.
const TAKEN: i32 = 75;
/// How long a test waits until those of another program are done.
const QUEUE: Duration = Duration::from_mins(20);
const PATIENCE: Duration = Duration::from_secs(30);

/// Keeps the lock while the machine is there, and clears up what the kernel does not.
const KEEPER: &str = r#"
exec 9>"$LOCK"
flock $QUEUE 9 || exit $TAKEN
: >locked
mkdir /var/lib/cni 2>/dev/null && made=/var/lib/cni
unshare --mount --net --pid --fork --kill-child sh -ec "$FIRST" sh "$@"
# It goes with its other end, but only some time later, and whoever gets the lock wants one of the same name.
ip link delete $CABLE 2>/dev/null
# The groups of containers outlive them. The place of these is always the same; others may have some there.
for container in containerd/io.containerd.runtime.v2.task/k8s.io/*; do
    rmdir /sys/fs/cgroup/k8s.io/${container##*/} /sys/fs/cgroup/*/k8s.io/${container##*/}
done 2>/dev/null
rmdir /sys/fs/cgroup/k8s.io /sys/fs/cgroup/*/k8s.io $made 2>/dev/null
cd /
rm -rf "$SCRATCH"
"#;

/// The first process inside. It becomes what it is told at the end, which ends with standard input or not at all.
const FIRST: &str = r#"
# What is mounted here is still outside's, and so is this number.
read -r process _ </proc/self/stat
# Containers see later mounts of the kubelet, but outside does not.
mount --make-rshared /
mount -t proc proc /proc
# Programs have places of their own in these, and no option for all of them.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/groma /run/lock /run/settings
mount --bind "$HERE" /run/groma
mount -t tmpfs tmpfs /var/log
mount -t tmpfs tmpfs /var/lib/cni
# The kubelet sets these, for the whole machine. It leaves alone what is as it wants it, so that is what it sees.
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
    kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
    name=${setting%=*}
    [ -e /proc/sys/$name ] || continue
    mkdir -p /run/settings/${name%/*}
    echo ${setting#*=} >/run/settings/$name
    mount --bind /run/settings/$name /proc/sys/$name
done
ip link set lo up
# Without an address that is its own, it takes that of whichever pod has the lowest, and who knew the old one waits for a minute.
ip link add $BRIDGE address 02:00:00:00:00:01 type bridge
ip address add $NODE/24 dev $BRIDGE
ip link set $BRIDGE up
echo 1 >/proc/sys/net/ipv4/ip_forward
echo $process >/run/groma/machine.new
mv /run/groma/machine.new /run/groma/machine.pid
# Whoever loses its parent becomes a child of this process, which must not have to bury it.
exec env --ignore-signal=CHLD "$@" >/dev/null
"#;

/// A machine that runs.
#[derive(Debug)]
pub(super) struct Machine {
    keeper: Child,
    first: u32,
    guarded: bool,
}

impl Machine {
    /// Starts one around a folder. If there is one on this machine already, a test waits for its end.
    pub(super) fn start(dir: &Path, lifetime: Lifetime) -> io::Result<Self> {
        check()?;
        let log = fs::File::create(dir.join("machine.log"))?;
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "sh"]);
        let queue = match lifetime {
            Lifetime::Ours => {
                keeper.arg("cat").stdin(Stdio::piped());
                format!("--timeout {}", QUEUE.as_secs())
            }
            Lifetime::Own => {
                keeper.args(["sleep", "infinity"]).stdin(Stdio::null());
                "--nonblock".to_owned()
            }
        };
        keeper.env("QUEUE", queue).env("TAKEN", TAKEN.to_string()).env("LOCK", LOCK).env("FIRST", FIRST);
        keeper.env("CABLE", CABLE).env("BRIDGE", BRIDGE).env("NODE", NODE.to_string());
        keeper.env("HERE", dir).env("SCRATCH", dir.parent().unwrap_or(dir));
        keeper.process_group(0).current_dir(dir).stdout(log.try_clone()?).stderr(log);
        let keeper = keeper.spawn()?;
        let mut machine = Self { keeper, first: 0, guarded: true };
        machine.wait_for(&dir.join("locked"), QUEUE, dir)?;
        machine.wait_for(&dir.join("machine.pid"), PATIENCE, dir)?;
        let text = fs::read_to_string(dir.join("machine.pid"))?;
        machine.first = text.trim().parse().map_err(io::Error::other)?;
        machine.connect()?;
        Ok(machine)
    }

    /// Its first process, as this machine counts.
    pub(super) fn id(&self) -> u32 {
        self.first
    }

    /// The same command, on that machine and in its folder.
    pub(super) fn inside(&self, command: &Command) -> Command {
        inside(self.first, command)
    }

    /// It has a life of its own.
    pub(super) fn finish(&mut self) {
        self.guarded = false;
    }

    fn wait_for(&mut self, file: &Path, patience: Duration, dir: &Path) -> io::Result<()> {
        let began = now();
        while !file.exists() {
            if let Some(status) = self.keeper.try_wait()? {
                return Err(ended(status, dir));
            }
            if began.elapsed() > patience {
                return Err(io::Error::other(format!("the machine did not start: {}", last_lines(dir, "machine"))));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Connects it with this machine, but not with the world.
    fn connect(&self) -> io::Result<()> {
        let first = self.first.to_string();
        let outside = |arguments: &str| run(Command::new("ip").args(arguments.split_whitespace()));
        outside(&format!("link add {CABLE} type veth peer name {PLUG} netns {first}"))?;
        outside(&format!("address add {HOST}/24 dev {CABLE}"))?;
        outside(&format!("link set {CABLE} up"))?;
        outside(&format!("route add {SERVICES} via {NODE}"))?;
        let mut plug = Command::new("ip");
        plug.args(["link", "set", PLUG, "master", BRIDGE, "up"]);
        run(&mut self.inside(&plug))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        if !self.guarded {
            return;
        }
        match self.keeper.stdin.take() {
            Some(pipe) => drop(pipe),
            None => drop(run(Command::new("kill").args(["-9", &self.first.to_string()]))),
        }
        let _ = self.keeper.wait();
    }
}

/// The ports that are used there, where all are free.
pub(super) fn ports() -> Ports {
    Ports { address: NODE, client: 2379, peer: 2380, secure: 6443 }
}

/// A command on the machine with this first process.
pub(super) fn inside(first: u32, command: &Command) -> Command {
    let mut entering = Command::new("nsenter");
    entering.args(["--target", &first.to_string(), "--mount", "--net", "--pid", "--"]);
    // It starts where the root is.
    entering.args(["sh", "-c", r#"cd /run/groma && exec "$@""#, "sh"]);
    entering.arg(command.get_program()).args(command.get_args());
    entering
}

/// Runs a command to its end.
pub(super) fn run(command: &mut Command) -> io::Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

/// Says what is missing, before anything fails for it.
fn check() -> io::Result<()> {
    if !is_root() {
        return Err(io::Error::other("a node needs root: it makes mounts, networks and containers"));
    }
    let missing = missing_packages();
    if missing.is_empty() {
        return Ok(());
    }
    let packages = missing.join(" ");
    Err(io::Error::other(format!("a node needs programs that are not here: apt-get install {packages}")))
}

/// Whether this process may do everything.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Debian's packages that a node needs, and of which a program is not there.
pub fn missing_packages() -> Vec<&'static str> {
    let needed = [
        ("containerd", "containerd"),
        ("ctr", "containerd"),
        ("runc", "runc"),
        ("iptables", "iptables"),
        ("ip", "iproute2"),
        ("unshare", "util-linux"),
        ("flock", "util-linux"),
    ];
    let missing = needed.into_iter().filter(|(program, _)| !is_on_path(program)).map(|(_, package)| package);
    let mut missing: Vec<&str> = missing.chain(plugins().is_none().then_some("containernetworking-plugins")).collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

/// Where the programs are that connect containers: Debian's place, or everybody else's.
pub(super) fn plugins() -> Option<PathBuf> {
    ["/usr/lib/cni", "/opt/cni/bin"].into_iter().map(PathBuf::from).find(|dir| dir.join("bridge").is_file())
}

#[expect(clippy::disallowed_methods, reason = "it says where the real programs are")]
fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

fn ended(status: ExitStatus, dir: &Path) -> io::Error {
    if status.code() == Some(TAKEN) {
        return io::Error::other("another node runs on this machine, of a test or of `cargo xtask cluster up --node`");
    }
    io::Error::other(format!("the machine ended with {status}: {}", last_lines(dir, "machine")))
}
