//! A PostgreSQL server in a folder of its own, with nothing in it but a database `postgres`. It does not run as root, so it runs as
//! somebody else there.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::watched::{Watched, free_port};

/// Who may come in without a password.
pub const USER: &str = "tester";
/// Who may not.
pub const GUARDED_USER: &str = "guarded";
/// The password of the latter.
pub const PASSWORD: &str = "password-of-the-test-server";

/// A server.
#[derive(Debug)]
pub struct PgServer {
    port: u16,
    certificate: PathBuf,
    psql: PathBuf,
    _process: Watched,
}

/// Where the programs of the newest PostgreSQL on this machine are.
pub fn programs() -> Option<PathBuf> {
    let versions =
        fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    let mut found: Vec<PathBuf> = versions.filter(|bin| bin.join("initdb").is_file()).collect();
    let number = |bin: &PathBuf| bin.parent().and_then(|dir| dir.file_name()?.to_str()?.parse::<u32>().ok());
    found.sort_by_key(number);
    found.pop()
}

/// Somebody to run as instead of root: the number of the user and of the group.
fn somebody() -> Option<(u32, u32)> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let find = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2).map(str::parse);
        Some((fields.next()?.ok()?, fields.next()?.ok()?))
    };
    is_root.then(|| find("postgres").or_else(|| find("nobody"))).flatten()
}

/// A program, as somebody else if need be.
fn command(program: &Path, runner: Option<(u32, u32)>) -> Command {
    let Some((user, group)) = runner else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.args([format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".to_owned()]);
    command.arg("--").arg(program);
    command
}

fn run(command: &mut Command) -> io::Result<()> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(io::Error::other(format!("{command:?}: {}", String::from_utf8_lossy(&said))))
}

impl PgServer {
    /// Starts one in a folder, which is removed in the end, with programs from [`programs`].
    pub fn start(dir: &Path, programs: &Path) -> io::Result<Self> {
        let mut last = io::Error::other("no port was free");
        // Between asking for a free port and using it, somebody else may.
        for attempt in 0..3 {
            match Self::try_start(&dir.join(attempt.to_string()), programs) {
                Ok(server) => return Ok(server),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn try_start(dir: &Path, programs: &Path) -> io::Result<Self> {
        let runner = somebody();
        fs::create_dir_all(dir)?;
        let own = |path: &Path| match runner {
            Some((user, group)) => chown(path, Some(user), Some(group)),
            None => Ok(()),
        };
        own(dir)?;
        if let Some(parent) = dir.parent() {
            own(parent)?;
        }
        let data = dir.join("data");
        let mut initdb = command(&programs.join("initdb"), runner);
        initdb
            .args(["--username", USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&data);
        run(initdb.current_dir(dir))?;
        let certificate = dir.join("server.crt");
        let key = dir.join("server.key");
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).map_err(io::Error::other)?;
        fs::write(&certificate, made.cert.pem())?;
        fs::write(&key, made.signing_key.serialize_pem())?;
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600))?;
        own(&key)?;
        let rules = format!("host all {GUARDED_USER} 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n");
        fs::write(data.join("pg_hba.conf"), rules)?;
        let port = free_port()?;
        let mut postgres = command(&programs.join("postgres"), runner);
        postgres.arg("-D").arg(&data).args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        // What is lost with the machine is lost with the test.
        for setting in ["unix_socket_directories=", "fsync=off", "max_connections=200", "ssl=on", "log_statement=none"]
        {
            postgres.args(["-c", setting]);
        }
        postgres.arg("-c").arg(format!("ssl_cert_file={}", certificate.display()));
        postgres.arg("-c").arg(format!("ssl_key_file={}", key.display()));
        let mut process = Watched::start(&postgres, dir, "QUIT")?;
        process.wait_for(port, dir)?;
        let server = Self { port, certificate, psql: programs.join("psql"), _process: process };
        server.sql(&format!("CREATE ROLE {GUARDED_USER} LOGIN PASSWORD '{PASSWORD}'"))?;
        Ok(server)
    }

    /// Where it is.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How its first database is reached without a password and in the clear.
    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// The same, for another database.
    pub fn url_of(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}?sslmode=disable", self.port)
    }

    /// A file with its certificate, which it has signed itself, for `localhost`.
    pub fn certificate(&self) -> &Path {
        &self.certificate
    }

    /// Runs a statement, with the program that everybody uses for it. What came out, without any decoration.
    pub fn sql(&self, statement: &str) -> io::Result<String> {
        let mut last = io::Error::other("it was not tried");
        // It listens a little earlier than it lets anybody in.
        for _ in 0..100 {
            let mut psql = Command::new(&self.psql);
            psql.args(["--no-psqlrc", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--command", statement]);
            let output = psql.arg(self.url()).output()?;
            if output.status.success() {
                return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
            }
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let starting = said.contains("starting up");
            last = io::Error::other(said);
            if !starting {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Err(last)
    }
}
