//! A machine to log in at: a server of SSH in this process, which runs commands for real.

use std::collections::HashMap;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, PrivateKey};
use russh::server::{Auth, ChannelOpenHandle, Config, Handle, Handler, Msg, Session, VerifiedPublicKey};
use russh::{Channel, ChannelId, ChannelMsg};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

pub(super) const USER: &str = "tester";
pub(super) const PASSWORD: &str = "correct horse";

/// A key as it stands in configuration.
pub(super) fn pem(key: &PrivateKey) -> String {
    key.to_openssh(LineEnding::LF).unwrap().to_string()
}

pub(super) fn new_key() -> PrivateKey {
    PrivateKey::random(&mut russh::keys::key::safe_rng(), Algorithm::Ed25519).unwrap()
}

/// A machine that listens.
pub(super) struct Server {
    pub(super) port: u16,
    pub(super) host_key: PrivateKey,
    pub(super) user_key: PrivateKey,
}

impl Server {
    /// The public part of its key.
    pub(super) fn public_key(&self) -> String {
        self.host_key.public_key().to_openssh().unwrap()
    }

    /// Listens until the test ends.
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        Self::on(listener)
    }

    pub(super) fn on(listener: TcpListener) -> Self {
        let server = Self { port: listener.local_addr().unwrap().port(), host_key: new_key(), user_key: new_key() };
        let config = Arc::new(Config {
            keys: vec![server.host_key.clone()],
            auth_rejection_time: Duration::ZERO,
            ..Config::default()
        });
        let user_key = server.user_key.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let guest = Guest { user_key: user_key.clone(), channels: HashMap::new() };
                let config = Arc::clone(&config);
                tokio::spawn(async move {
                    if let Ok(session) = russh::server::run_stream(config, stream, guest).await {
                        let _ = session.await;
                    }
                });
            }
        });
        server
    }
}

/// Somebody who is logged in, or wants to be.
struct Guest {
    user_key: PrivateKey,
    channels: HashMap<ChannelId, Channel<Msg>>,
}

fn accepted(is_right: bool) -> Auth {
    if is_right { Auth::Accept } else { Auth::reject() }
}

impl Handler for Guest {
    type Error = russh::Error;

    async fn auth_password(&mut self, user: &str, password: &str) -> Result<Auth, Self::Error> {
        Ok(accepted(user == USER && password == PASSWORD))
    }

    async fn auth_publickey(&mut self, user: &str, key: VerifiedPublicKey<'_>) -> Result<Auth, Self::Error> {
        Ok(accepted(user == USER && key.public_key.key_data() == self.user_key.public_key().key_data()))
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        self.channels.insert(channel.id(), channel);
        reply.accept().await;
        Ok(())
    }

    async fn channel_open_direct_tcpip(
        &mut self,
        channel: Channel<Msg>,
        host: &str,
        port: u32,
        _: &str,
        _: u32,
        reply: ChannelOpenHandle,
        _: &mut Session,
    ) -> Result<(), Self::Error> {
        let mut target = TcpStream::connect((host, u16::try_from(port).unwrap())).await.unwrap();
        reply.accept().await;
        tokio::spawn(async move {
            let _ = tokio::io::copy_bidirectional(&mut channel.into_stream(), &mut target).await;
        });
        Ok(())
    }

    async fn exec_request(&mut self, id: ChannelId, command: &[u8], session: &mut Session) -> Result<(), Self::Error> {
        let channel = self.channels.remove(&id).unwrap();
        session.channel_success(id)?;
        let command = String::from_utf8(command.to_vec()).unwrap();
        tokio::spawn(run(command, channel, session.handle()));
        Ok(())
    }
}

async fn run(command: String, mut channel: Channel<Msg>, handle: Handle) {
    let id = channel.id();
    let mut program = Command::new("/bin/sh");
    program.arg("-c").arg(command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.kill_on_drop(true).spawn().unwrap();
    let (mut input, mut output, mut errors) =
        (child.stdin.take(), child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (mut told, mut complained) = (vec![0; 4096], vec![0; 4096]);
    let (mut open, mut open_errors) = (true, true);
    while open || open_errors {
        tokio::select! {
            message = channel.wait() => match (message, &mut input) {
                (Some(ChannelMsg::Data { data }), Some(program)) => program.write_all(&data).await.unwrap(),
                (Some(ChannelMsg::Eof), _) => input = None,
                (Some(_), _) => {}
                (None, _) => return,
            },
            count = output.read(&mut told), if open => match count.unwrap() {
                0 => open = false,
                count => handle.data(id, told[..count].to_vec()).await.unwrap(),
            },
            count = errors.read(&mut complained), if open_errors => match count.unwrap() {
                0 => open_errors = false,
                count => handle.extended_data(id, 1, complained[..count].to_vec()).await.unwrap(),
            },
        }
    }
    drop(input);
    let status = child.wait().await.unwrap();
    let _ = handle.exit_status_request(id, status.code().unwrap_or(255).unsigned_abs()).await;
    let _ = handle.eof(id).await;
    let _ = handle.close(id).await;
}
