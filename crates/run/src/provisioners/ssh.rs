//! A connection to another machine over SSH: commands, and files by the protocol of `scp`.

mod credentials;
mod login;
mod route;
mod scp;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use groma_network::{Networks, Unreachable};
use russh::client::{Config, Handle, Handler, Msg, Session};
use russh::keys::PublicKeyOrCertificate;
use russh::{Channel, ChannelMsg, Disconnect, Preferred, Pty, SshId};

use super::connection::{Connection, Login, Platform};
pub(super) use credentials::Credentials;
use credentials::HostKey;

/// How long nothing may be heard before the other side is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// How often it is asked in vain.
const KEEPALIVES: usize = 8;

/// A machine that we are logged in at.
pub(super) struct Ssh {
    session: Handle<Client>,
    /// The connection that ours goes through.
    bastion: Option<Handle<Client>>,
    platform: Platform,
    forwards_agent: bool,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Status {
    /// By itself.
    Exited(u32),
    /// By a signal.
    Killed(String),
    /// Nobody knows: the connection ended first.
    Unknown,
}

impl Status {
    /// Whether it succeeded, and how not.
    pub(super) fn check(self) -> Result<(), String> {
        match self {
            Self::Exited(0) => Ok(()),
            Self::Exited(code) => Err(format!("Process exited with status {code}")),
            Self::Killed(signal) => Err(format!("Process exited from signal {signal}")),
            Self::Unknown => Err("the connection ended before the command did".to_owned()),
        }
    }
}

/// Whether the first machine on the way may be connected to. What is not found yet may come.
pub(super) async fn check_way(connection: &Connection, networks: Option<&Networks>) -> Result<(), String> {
    let Some(networks) = networks else { return Ok(()) };
    let first = connection.bastion.as_ref().unwrap_or(&connection.target);
    let (host, port) = connection.proxy.as_ref().map_or((&first.host, first.port), |proxy| (&proxy.host, proxy.port));
    match networks.find(host, port).await {
        Err(Unreachable::Refused(refused)) => Err(refused.to_string()),
        _ => Ok(()),
    }
}

impl Ssh {
    /// Connects once and logs in.
    pub(super) async fn connect(
        connection: &Connection,
        credentials: &Credentials,
        networks: Option<&Networks>,
    ) -> Result<Self, String> {
        let target = &connection.target;
        let client = |host_key: &Option<HostKey>, login: &Login| Client {
            host: login.host.clone(),
            host_key: host_key.clone(),
            agent_socket: credentials.agent_socket.clone(),
        };
        let config = |host_key: &Option<HostKey>| Arc::new(config(host_key.as_ref()));
        let first = connection.bastion.as_ref().unwrap_or(target);
        let stream = route::connect(connection.proxy.as_ref(), first, networks).await?;
        let failed = |login: &Login, problem: russh::Error| {
            format!("SSH authentication failed ({}@{}): {problem}", login.user, login.place())
        };
        let Some(bastion) = &connection.bastion else {
            let settings = config(&credentials.target.host_key);
            let handler = client(&credentials.target.host_key, target);
            let session = russh::client::connect_stream(settings, stream, handler).await;
            let mut session = session.map_err(|problem| failed(target, problem))?;
            login::login(&mut session, target, &credentials.target, credentials).await?;
            return Ok(Self::new(session, None, connection));
        };
        let on_the_way = credentials.bastion.as_ref().unwrap_or(&credentials.target);
        let handler = client(&on_the_way.host_key, bastion);
        let session = russh::client::connect_stream(config(&on_the_way.host_key), stream, handler).await;
        let mut session =
            session.map_err(|problem| format!("Error connecting to bastion: {}", failed(bastion, problem)))?;
        let through = login::login(&mut session, bastion, on_the_way, credentials).await;
        through.map_err(|problem| format!("Error connecting to bastion: {problem}"))?;
        let tunnel = session.channel_open_direct_tcpip(&target.host, u32::from(target.port), "127.0.0.1", 0).await;
        let tunnel =
            tunnel.map_err(|problem| format!("{} is not reached from the bastion: {problem}", target.place()))?;
        let settings = config(&credentials.target.host_key);
        let handler = client(&credentials.target.host_key, target);
        let inner = russh::client::connect_stream(settings, tunnel.into_stream(), handler).await;
        let mut inner = inner.map_err(|problem| failed(target, problem))?;
        login::login(&mut inner, target, &credentials.target, credentials).await?;
        Ok(Self::new(inner, Some(session), connection))
    }

    fn new(session: Handle<Client>, bastion: Option<Handle<Client>>, connection: &Connection) -> Self {
        Self { session, bastion, platform: connection.platform, forwards_agent: connection.agent }
    }

    /// Runs a command and waits for it. What it prints is told as it comes, with whether it is about errors.
    pub(super) async fn run(
        &self,
        command: &str,
        output: &mut (dyn FnMut(&[u8], bool) + Send),
    ) -> Result<Status, String> {
        let channel = self.session.channel_open_session().await.map_err(|problem| problem.to_string())?;
        if self.forwards_agent {
            channel.agent_forward(false).await.map_err(|problem| problem.to_string())?;
        }
        if self.platform == Platform::Unix {
            let modes = [(Pty::ECHO, 0), (Pty::TTY_OP_ISPEED, 14_400), (Pty::TTY_OP_OSPEED, 14_400)];
            let asked = channel.request_pty(false, "xterm", 80, 40, 0, 0, &modes).await;
            asked.map_err(|problem| problem.to_string())?;
        }
        self.watch(channel, &format!("{}\n", command.trim()), output).await
    }

    async fn watch(
        &self,
        mut channel: Channel<Msg>,
        command: &str,
        output: &mut (dyn FnMut(&[u8], bool) + Send),
    ) -> Result<Status, String> {
        channel.exec(true, command).await.map_err(|problem| problem.to_string())?;
        let mut status = Status::Unknown;
        while let Some(message) = channel.wait().await {
            match message {
                ChannelMsg::Data { data } => output(&data, false),
                ChannelMsg::ExtendedData { data, .. } => output(&data, true),
                ChannelMsg::ExitStatus { exit_status } => status = Status::Exited(exit_status),
                ChannelMsg::ExitSignal { signal_name, .. } => status = Status::Killed(format!("{signal_name:?}")),
                ChannelMsg::Failure => return Err("the other machine does not run commands for us".to_owned()),
                ChannelMsg::Close => break,
                _ => {}
            }
        }
        Ok(status)
    }

    /// Writes a file.
    pub(super) async fn upload(&self, path: &str, content: &[u8]) -> Result<(), String> {
        let (dir, name) = split(path);
        let mut scp = scp::Scp::start(self, &format!("scp -t {}", self.quoted(&dir))).await?;
        let size = content.len() as u64;
        scp.file(&name, size, content).await?;
        scp.end().await
    }

    /// Copies a file.
    pub(super) async fn upload_file(&self, path: &str, source: &Path) -> Result<(), String> {
        let (dir, name) = split(path);
        let mut scp = scp::Scp::start(self, &format!("scp -t {}", self.quoted(&dir))).await?;
        scp.file_at(&name, source).await?;
        scp.end().await
    }

    /// Copies a directory: as such, or only what is in it.
    pub(super) async fn upload_directory(&self, path: &str, source: &Path, as_such: bool) -> Result<(), String> {
        let mut scp = scp::Scp::start(self, &format!("scp -rt {}", self.quoted(path))).await?;
        scp.directory(source, as_such).await?;
        scp.end().await
    }

    /// Takes leave.
    pub(super) async fn close(self) {
        for session in [Some(self.session), self.bastion].into_iter().flatten() {
            // Whoever does not listen any more needs no farewell.
            let _ = session.disconnect(Disconnect::ByApplication, "", "").await;
        }
    }

    fn quoted(&self, text: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%~".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            return text.to_owned();
        }
        match self.platform {
            Platform::Unix => format!("'{}'", text.replace('\'', "'\\''")),
            Platform::Windows => format!("\"{}\"", text.replace('"', "\\\"")),
        }
    }
}

/// The directory and the name of a path at the other end. A path that ends in a slash is a directory that gets a file of its
/// own name.
fn split(path: &str) -> (String, String) {
    let bare = path.trim_end_matches('/');
    let name = bare.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("/").to_owned();
    let dir = if path.ends_with('/') {
        bare
    } else {
        bare.rfind('/').map_or(".", |at| if at == 0 { "/" } else { bare[..at].trim_end_matches('/') })
    };
    (if dir.is_empty() { "/".to_owned() } else { dir.to_owned() }, name)
}

fn config(host_key: Option<&HostKey>) -> Config {
    let mut preferred = Preferred::default();
    if let Some(host_key) = host_key {
        host_key.prefer(&mut preferred);
    }
    Config {
        client_id: SshId::Standard("SSH-2.0-groma".into()),
        keepalive_interval: Some(KEEPALIVE),
        keepalive_max: KEEPALIVES,
        preferred,
        nodelay: true,
        ..Config::default()
    }
}

/// Our side of a connection.
pub(super) struct Client {
    host: String,
    host_key: Option<HostKey>,
    agent_socket: Option<PathBuf>,
}

impl Handler for Client {
    type Error = russh::Error;

    async fn check_server_key(&mut self, shown: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        Ok(self.host_key.as_ref().is_none_or(|host_key| host_key.accepts(shown, &self.host)))
    }

    async fn server_channel_open_agent_forward(
        &mut self,
        channel: Channel<Msg>,
        reply: russh::client::ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        let Some(socket) = self.agent_socket.clone() else { return Ok(()) };
        reply.accept().await;
        tokio::spawn(async move {
            if let Ok(mut agent) = tokio::net::UnixStream::connect(socket).await {
                let _ = tokio::io::copy_bidirectional(&mut channel.into_stream(), &mut agent).await;
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_at_the_other_end() {
        let cases = [
            ("/tmp/a.sh", "/tmp", "a.sh"),
            ("/a", "/", "a"),
            ("a", ".", "a"),
            ("x/a", "x", "a"),
            ("/tmp/x/", "/tmp/x", "x"),
            ("/tmp//a", "/tmp", "a"),
        ];
        for (path, dir, name) in cases {
            assert_eq!(split(path), (dir.to_owned(), name.to_owned()), "{path}");
        }
    }
}
