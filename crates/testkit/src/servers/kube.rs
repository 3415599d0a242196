//! The API half of a cluster: a real etcd and a real kube-apiserver in a folder of their own, on loopback, with random ports. There
//! are no nodes, so nothing runs. `cargo xtask cluster` uses the same file.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Who may do everything.
pub const ADMIN_TOKEN: &str = "admin-of-the-test-cluster";
/// Who may do nothing until a test says otherwise. The user is called `nobody`.
pub const NOBODY_TOKEN: &str = "nobody-of-the-test-cluster";
/// How long starting may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// Where the programs are.
#[derive(Debug, Clone)]
pub struct Programs {
    /// etcd.
    pub etcd: PathBuf,
    /// kube-apiserver.
    pub apiserver: PathBuf,
}

/// How long servers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifetime {
    /// Until this process ends, however it does. Their folder goes with them.
    Ours,
    /// Until somebody ends them by their process ids.
    Own,
}

/// What a running API server is reached by.
#[derive(Debug, Clone)]
pub struct Reach {
    /// `https://127.0.0.1:port`.
    pub url: String,
    /// A file with the certificate of the server, which it has signed itself.
    pub certificate: PathBuf,
    /// A file for clients that want one, of who may do everything.
    pub kubeconfig: PathBuf,
    /// The processes, by name.
    pub processes: Vec<(&'static str, u32)>,
}

/// An API server.
#[derive(Debug)]
pub struct KubeServer {
    reach: Reach,
    lifetime: Lifetime,
    children: Vec<Child>,
}

impl KubeServer {
    /// Starts one in a folder, which must be empty, and waits until it answers.
    pub fn start(dir: &Path, programs: &Programs, lifetime: Lifetime) -> io::Result<Self> {
        let mut last = io::Error::other("no port was free");
        // Between asking for a free port and using it, somebody else may.
        for attempt in 0..3 {
            let dir = dir.join(attempt.to_string());
            match Self::try_start(&dir, programs, lifetime) {
                Ok(server) => return Ok(server),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// How it is reached.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    fn try_start(dir: &Path, programs: &Programs, lifetime: Lifetime) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let [client, peer, secure] = free_ports()?;
        write_inputs(dir)?;
        let etcd = spawn(etcd(&programs.etcd, client, peer), dir, "etcd", lifetime)?;
        let mut server = Self { reach: reach(dir, secure), lifetime, children: vec![etcd] };
        server.wait_for(client, dir)?;
        let apiserver = apiserver(&programs.apiserver, client, secure);
        server.children.push(spawn(apiserver, dir, "kube-apiserver", lifetime)?);
        server.wait_for(secure, dir)?;
        server.wait_until_ready(dir)?;
        write_kubeconfig(&server.reach)?;
        server.reach.processes =
            ["etcd", "kube-apiserver"].into_iter().zip(server.children.iter().map(Child::id)).collect();
        Ok(server)
    }

    /// Waits until somebody listens there.
    fn wait_for(&mut self, port: u16, dir: &Path) -> io::Result<()> {
        self.wait(dir, |_| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok())
    }

    /// Waits until it has set itself up. It says in its log when it has made the first things; roles are made before that.
    fn wait_until_ready(&mut self, dir: &Path) -> io::Result<()> {
        let log = dir.join("kube-apiserver.log");
        self.wait(dir, |_| {
            fs::read_to_string(&log).is_ok_and(|text| text.contains("all system priority classes are created"))
        })
    }

    fn wait(&mut self, dir: &Path, ready: impl Fn(&Self) -> bool) -> io::Result<()> {
        let began = now();
        while !ready(self) {
            for child in &mut self.children {
                if let Some(status) = child.try_wait()? {
                    return Err(io::Error::other(format!(
                        "a server ended with {status}; its log is in {}",
                        dir.display()
                    )));
                }
            }
            if began.elapsed() > PATIENCE {
                return Err(io::Error::other(format!("a server did not start; its log is in {}", dir.display())));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

impl Drop for KubeServer {
    fn drop(&mut self) {
        if self.lifetime == Lifetime::Own && !self.reach.processes.is_empty() {
            return;
        }
        // The API server first: it complains when its store is gone.
        for child in self.children.iter_mut().rev() {
            match child.stdin.take() {
                // Who watches it ends it.
                Some(pipe) => drop(pipe),
                None => drop(child.kill()),
            }
            let _ = child.wait();
        }
    }
}

/// Runs a program until it ends or nobody holds the other end of standard input any more, and then removes the folder.
const WATCHED: &str = r#"
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
{ read -r _ <&3; kill -9 $child; } &
reader=$!
wait $child
status=$?
kill $reader 2>/dev/null
rm -rf "$SCRATCH"
exit $status
"#;

#[expect(clippy::disallowed_methods, reason = "it waits for real programs")]
fn now() -> Instant {
    Instant::now()
}

fn free_ports() -> io::Result<[u16; 3]> {
    // All are held until all are known, so that they differ.
    let listeners = [0; 3].map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let mut ports = [0; 3];
    for (port, listener) in ports.iter_mut().zip(&listeners) {
        let listener = listener.as_ref().map_err(|error| io::Error::new(error.kind(), error.to_string()))?;
        *port = listener.local_addr()?.port();
    }
    Ok(ports)
}

/// Who may come in, and the key that service accounts are signed with.
fn write_inputs(dir: &Path) -> io::Result<()> {
    let key = rcgen::KeyPair::generate().map_err(io::Error::other)?;
    fs::write(dir.join("accounts.key"), key.serialize_pem())?;
    fs::write(dir.join("accounts.pub"), key.public_key_pem())?;
    let tokens = format!("{ADMIN_TOKEN},admin,1,system:masters\n{NOBODY_TOKEN},nobody,2\n");
    fs::write(dir.join("tokens.csv"), tokens)
}

fn reach(dir: &Path, port: u16) -> Reach {
    Reach {
        url: format!("https://127.0.0.1:{port}"),
        certificate: dir.join("certificates/apiserver.crt"),
        kubeconfig: dir.join("kubeconfig"),
        processes: Vec::new(),
    }
}

fn spawn(command: Command, dir: &Path, name: &str, lifetime: Lifetime) -> io::Result<Child> {
    let log = fs::File::create(dir.join(format!("{name}.log")))?;
    let mut command = match lifetime {
        Lifetime::Own => {
            let mut command = command;
            // What is typed at the terminal that started it is not for it.
            command.stdin(Stdio::null()).process_group(0);
            command
        }
        Lifetime::Ours => {
            let mut watcher = Command::new("sh");
            watcher.args(["-c", WATCHED, "sh"]).arg(command.get_program()).args(command.get_args());
            watcher.env("SCRATCH", dir.parent().unwrap_or(dir)).stdin(Stdio::piped());
            watcher
        }
    };
    command.current_dir(dir).stdout(log.try_clone()?).stderr(log).spawn()
}

fn etcd(program: &Path, client: u16, peer: u16) -> Command {
    let client = format!("http://127.0.0.1:{client}");
    let peer = format!("http://127.0.0.1:{peer}");
    let mut command = Command::new(program);
    command.args(["--name=test", "--unsafe-no-fsync", "--data-dir=etcd", "--log-level=warn"]);
    command.arg(format!("--listen-client-urls={client}")).arg(format!("--advertise-client-urls={client}"));
    command.arg(format!("--listen-peer-urls={peer}")).arg(format!("--initial-advertise-peer-urls={peer}"));
    command.arg(format!("--initial-cluster=test={peer}"));
    command
}

fn apiserver(program: &Path, etcd: u16, port: u16) -> Command {
    let mut command = Command::new(program);
    command.args([
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        "--cert-dir=certificates",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-account-signing-key-file=accounts.key",
        "--service-account-key-file=accounts.pub",
        "--token-auth-file=tokens.csv",
        "--authorization-mode=RBAC",
        // There are no controllers that would make accounts for it to wait for.
        "--disable-admission-plugins=ServiceAccount",
        "--watch-cache=false",
        "--v=1",
    ]);
    command.arg(format!("--etcd-servers=http://127.0.0.1:{etcd}")).arg(format!("--secure-port={port}"));
    command
}

fn write_kubeconfig(reach: &Reach) -> io::Result<()> {
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: test\n\
         clusters:\n- name: test\n  cluster:\n    server: {}\n    certificate-authority: {}\n\
         users:\n- name: admin\n  user:\n    token: {ADMIN_TOKEN}\n- name: nobody\n  user:\n    token: {NOBODY_TOKEN}\n\
         contexts:\n- name: test\n  context:\n    cluster: test\n    user: admin\n",
        reach.url,
        reach.certificate.display(),
    );
    fs::write(&reach.kubeconfig, text)
}

/// The one server of a test program, which is started when it is first asked for and ends with the program.
pub fn shared() -> &'static Reach {
    static SHARED: OnceLock<KubeServer> = OnceLock::new();
    let server = SHARED.get_or_init(|| {
        let programs = Programs { etcd: program("GROMA_ETCD"), apiserver: program("GROMA_KUBE_APISERVER") };
        let dir = std::env::temp_dir().join(format!("groma-cluster-{}", std::process::id()));
        match KubeServer::start(&dir, &programs, Lifetime::Ours) {
            Ok(server) => server,
            Err(error) => panic!("{error}"),
        }
    });
    server.reach()
}

#[expect(clippy::disallowed_methods, reason = "it says where the real programs are")]
fn program(variable: &str) -> PathBuf {
    let found = std::env::var_os(variable);
    found.unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask test`")).into()
}
