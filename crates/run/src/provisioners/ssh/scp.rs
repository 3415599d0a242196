//! Sending files: the protocol of `scp`, whose other half runs at the other end.

use std::collections::VecDeque;
use std::path::Path;

use russh::client::Msg;
use russh::{Channel, ChannelMsg};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::{Ssh, Status};

/// How deep directories may be nested. Links may lead in circles.
const DEEPEST: usize = 64;

/// How much is sent at once.
const PIECE: usize = 64 << 10;

/// A running `scp`.
pub(super) struct Scp {
    channel: Channel<Msg>,
    answers: VecDeque<u8>,
    complaints: Vec<u8>,
    status: Status,
    closed: bool,
}

impl Scp {
    /// Starts the other half.
    pub(super) async fn start(ssh: &Ssh, command: &str) -> Result<Self, String> {
        let channel = ssh.session.channel_open_session().await.map_err(|problem| problem.to_string())?;
        channel.exec(true, command).await.map_err(|problem| problem.to_string())?;
        let mut scp =
            Self { channel, answers: VecDeque::new(), complaints: Vec::new(), status: Status::Unknown, closed: false };
        scp.acknowledged().await?;
        Ok(scp)
    }

    /// Sends a file that is on disk.
    pub(super) async fn file_at(&mut self, name: &str, path: &Path) -> Result<(), String> {
        let failed = |problem: std::io::Error| format!("{}: {problem}", path.display());
        let metadata = tokio::fs::metadata(path).await.map_err(failed)?;
        if !metadata.is_file() {
            return Err(format!("{} is neither a file nor a directory", path.display()));
        }
        let file = tokio::fs::File::open(path).await.map_err(failed)?;
        self.file(name, metadata.len(), file).await
    }

    /// Sends a file.
    pub(super) async fn file(&mut self, name: &str, size: u64, content: impl AsyncRead + Unpin) -> Result<(), String> {
        self.order(&format!("C0644 {size} {}", checked(name)?)).await?;
        let mut content = content.take(size);
        let mut left = size;
        let mut piece = vec![0; PIECE];
        while left > 0 {
            let count = content.read(&mut piece).await.map_err(|problem| format!("{name}: {problem}"))?;
            if count == 0 {
                return Err(format!("{name} became shorter while it was sent"));
            }
            left -= count as u64;
            self.send(&piece[..count]).await?;
        }
        self.send(&[0]).await?;
        self.acknowledged().await
    }

    /// Sends a directory: as such, or only what is in it.
    pub(super) async fn directory(&mut self, path: &Path, as_such: bool) -> Result<(), String> {
        // What is still to be sent, the next at the end.
        let mut open = vec![Entries::of(path, as_such.then(|| base_name(path)))?];
        if let Some(name) = &open[0].name {
            self.order(&format!("D0755 0 {}", checked(name)?)).await?;
        }
        while let Some(current) = open.last_mut() {
            let Some(next) = current.left.pop() else {
                if current.name.is_some() {
                    self.order("E").await?;
                }
                open.pop();
                continue;
            };
            let name = base_name(&next);
            if !next.is_dir() {
                self.file_at(&name, &next).await?;
                continue;
            }
            if open.len() >= DEEPEST {
                return Err(format!("{} is nested too deeply", next.display()));
            }
            self.order(&format!("D0755 0 {}", checked(&name)?)).await?;
            open.push(Entries::of(&next, Some(name))?);
        }
        Ok(())
    }

    /// Ends it and asks how it went.
    pub(super) async fn end(mut self) -> Result<(), String> {
        self.channel.eof().await.map_err(|problem| problem.to_string())?;
        while !self.closed {
            self.listen().await;
        }
        self.status.clone().check().map_err(|problem| self.complaint(problem))
    }

    async fn order(&mut self, order: &str) -> Result<(), String> {
        self.send(format!("{order}\n").as_bytes()).await?;
        self.acknowledged().await
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let sent = self.channel.data(bytes).await;
        sent.map_err(|problem| self.complaint(problem.to_string()))
    }

    /// The other half answers with a zero, or with what is wrong.
    async fn acknowledged(&mut self) -> Result<(), String> {
        if self.answer().await? == 0 {
            return Ok(());
        }
        let mut problem = Vec::new();
        while let Ok(byte) = self.answer().await
            && byte != b'\n'
        {
            problem.push(byte);
        }
        Err(String::from_utf8_lossy(&problem).into_owned())
    }

    async fn answer(&mut self) -> Result<u8, String> {
        loop {
            if let Some(byte) = self.answers.pop_front() {
                return Ok(byte);
            }
            if self.closed {
                let problem = match &self.status {
                    Status::Exited(127) => {
                        "SCP failed to start. This usually means that SCP is not properly installed on the remote system."
                            .to_owned()
                    }
                    status => status.clone().check().err().unwrap_or_else(|| "SCP ended early".to_owned()),
                };
                return Err(self.complaint(problem));
            }
            self.listen().await;
        }
    }

    async fn listen(&mut self) {
        match self.channel.wait().await {
            Some(ChannelMsg::Data { data }) => self.answers.extend(&data),
            Some(ChannelMsg::ExtendedData { data, .. }) => self.complaints.extend_from_slice(&data),
            Some(ChannelMsg::ExitStatus { exit_status }) => self.status = Status::Exited(exit_status),
            Some(ChannelMsg::ExitSignal { signal_name, .. }) => {
                self.status = Status::Killed(format!("{signal_name:?}"));
            }
            Some(ChannelMsg::Close | ChannelMsg::Failure) | None => self.closed = true,
            Some(_) => {}
        }
    }

    fn complaint(&self, problem: String) -> String {
        let said = String::from_utf8_lossy(&self.complaints);
        if said.trim().is_empty() { problem } else { format!("{problem}: {}", said.trim()) }
    }
}

/// A directory that is being sent.
struct Entries {
    /// None if only what is in it is sent.
    name: Option<String>,
    /// What is left of it, the next at the end.
    left: Vec<std::path::PathBuf>,
}

impl Entries {
    fn of(path: &Path, name: Option<String>) -> Result<Self, String> {
        let failed = |problem: std::io::Error| format!("{}: {problem}", path.display());
        let mut left = Vec::new();
        for entry in std::fs::read_dir(path).map_err(failed)? {
            left.push(entry.map_err(failed)?.path());
        }
        left.sort();
        left.reverse();
        Ok(Self { name, left })
    }
}

fn base_name(path: &Path) -> String {
    path.file_name().map_or_else(|| ".".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// A name that the protocol can tell.
fn checked(name: &str) -> Result<&str, String> {
    if name.contains(['\n', '/']) { Err(format!("The name {name:?} cannot be sent")) } else { Ok(name) }
}
