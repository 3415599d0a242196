//! Credentials helpers: programs that are asked for a token (`<program> [args] get <host>`, JSON on stdout).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;

use super::{Credentials, CredentialsError, Token};
use crate::host::Host;

/// A helper may ask a vault that asks a person; it must still end some day.
const TIMEOUT: Duration = Duration::from_mins(1);
/// A token is small; what writes more is no helper.
const MAX_OUTPUT: u64 = 1 << 20;

/// A credentials helper. Answers are remembered, so that each host is asked for once.
#[derive(Debug)]
pub struct HelperProgram {
    program: PathBuf,
    arguments: Vec<String>,
    known: Mutex<BTreeMap<Host, Option<Token>>>,
}

impl HelperProgram {
    /// A helper at this absolute path, with arguments that go before `get <host>`.
    pub fn new(program: PathBuf, arguments: Vec<String>) -> Self {
        Self { program, arguments, known: Mutex::default() }
    }

    fn name(&self) -> String {
        self.program.display().to_string()
    }

    async fn ask(&self, host: &Host) -> Result<Option<Token>, CredentialsError> {
        let output = self.run("get", host, None).await?;
        self.parse(&output)
    }

    /// Lets the helper keep a token, in the place of the one it may have.
    pub async fn store(&self, host: &Host, token: &Token) -> Result<(), CredentialsError> {
        let object = serde_json::json!({ "token": token.reveal() }).to_string();
        self.run("store", host, Some(object)).await?;
        self.known.lock().await.remove(host);
        Ok(())
    }

    /// Lets the helper forget a host.
    pub async fn forget(&self, host: &Host) -> Result<(), CredentialsError> {
        self.run("forget", host, None).await?;
        self.known.lock().await.remove(host);
        Ok(())
    }

    /// Runs the helper to its end and gives what it wrote.
    async fn run(&self, verb: &str, host: &Host, input: Option<String>) -> Result<Vec<u8>, CredentialsError> {
        let start = |error: std::io::Error| CredentialsError::Start { program: self.name(), reason: error.to_string() };
        let mut child = tokio::process::Command::new(&self.program)
            .args(&self.arguments)
            .args([verb, host.as_str()])
            .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(start)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let writing = write(child.stdin.take(), input);
        let whole = async { tokio::join!(read(stdout), read(stderr), writing, child.wait()) };
        let Ok((stdout, stderr, (), status)) = tokio::time::timeout(TIMEOUT, whole).await else {
            let message = format!("no answer within {} seconds", TIMEOUT.as_secs());
            return Err(CredentialsError::Failed { program: self.name(), message });
        };
        if !status.map_err(start)?.success() {
            let message = String::from_utf8_lossy(&stderr).trim().to_owned();
            let message = if message.is_empty() { "it produced no error message".to_owned() } else { message };
            return Err(CredentialsError::Failed { program: self.name(), message });
        }
        Ok(stdout)
    }

    fn parse(&self, output: &[u8]) -> Result<Option<Token>, CredentialsError> {
        // The output is a secret: the parser's words about it are not repeated.
        let malformed = |reason: &str| CredentialsError::Malformed { program: self.name(), reason: reason.to_owned() };
        let answer: serde_json::Value = serde_json::from_slice(output).map_err(|_| malformed("not valid JSON"))?;
        let object = answer.as_object().ok_or_else(|| malformed("not a JSON object"))?;
        Ok(object.get("token").and_then(serde_json::Value::as_str).map(Token::new))
    }
}

async fn write(pipe: Option<impl AsyncWrite + Unpin>, input: Option<String>) {
    if let (Some(mut pipe), Some(input)) = (pipe, input) {
        // One that does not read what it is told says so in its exit status.
        let _ = pipe.write_all(input.as_bytes()).await;
        let _ = pipe.shutdown().await;
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut output = Vec::new();
    if let Some(pipe) = pipe {
        // A broken pipe shows in the exit status.
        let _ = pipe.take(MAX_OUTPUT).read_to_end(&mut output).await;
    }
    output
}

#[async_trait]
impl Credentials for HelperProgram {
    async fn token(&self, host: &Host) -> Result<Option<Token>, CredentialsError> {
        let mut known = self.known.lock().await;
        if let Some(token) = known.get(host) {
            return Ok(token.clone());
        }
        let token = self.ask(host).await?;
        known.insert(host.clone(), token.clone());
        Ok(token)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn helper(dir: &std::path::Path, script: &str) -> HelperProgram {
        let program = dir.join("terraform-credentials-test");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        HelperProgram::new(program, vec!["--profile".into(), "x".into()])
    }

    async fn answer(script: &str) -> Result<Option<Token>, CredentialsError> {
        let dir = tempfile::tempdir().unwrap();
        let helper = helper(dir.path(), script);
        // A freshly written program can be busy for a moment, when another test forks while it is being written.
        for _ in 0..50 {
            match helper.token(&Host::parse("example.com").unwrap()).await {
                Err(CredentialsError::Start { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
                other => return other,
            }
        }
        panic!("the helper did not start");
    }

    #[tokio::test]
    async fn a_helper_is_asked_by_its_protocol() {
        let script = r#"[ "$*" = "--profile x get example.com" ] && echo '{"token":"abc"}'"#;
        assert_eq!(answer(script).await.unwrap(), Some(Token::new("abc")));
        assert_eq!(answer("echo '{}'").await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_helper_that_fails_is_named_and_its_output_is_not_shown() {
        let error = answer("echo no such vault >&2; exit 3").await.unwrap_err().to_string();
        assert!(error.contains("terraform-credentials-test") && error.ends_with("no such vault"), "{error}");
        let error = answer("echo 'hunter2 is no JSON'").await.unwrap_err().to_string();
        assert!(error.contains("malformed output") && !error.contains("hunter2"), "{error}");
        let missing = HelperProgram::new("/nonexistent/helper".into(), Vec::new());
        let error = missing.token(&Host::parse("example.com").unwrap()).await.unwrap_err();
        assert!(matches!(error, CredentialsError::Start { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_helper_keeps_and_forgets() {
        let dir = tempfile::tempdir().unwrap();
        let kept = dir.path().join("kept");
        let file = kept.display();
        let helper = helper(
            dir.path(),
            &format!(
                "case \"$3\" in store) cat > {file};; forget) rm {file};; get) cat {file} 2>/dev/null || echo '{{}}';; esac"
            ),
        );
        let host = Host::parse("example.com").unwrap();
        for _ in 0..50 {
            match helper.store(&host, &Token::new("abc")).await {
                Err(CredentialsError::Start { .. }) => tokio::time::sleep(Duration::from_millis(20)).await,
                stored => {
                    stored.unwrap();
                    break;
                }
            }
        }
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), r#"{"token":"abc"}"#);
        assert_eq!(helper.token(&host).await.unwrap(), Some(Token::new("abc")));
        helper.forget(&host).await.unwrap();
        assert_eq!(helper.token(&host).await.unwrap(), None);
        assert!(matches!(helper.forget(&host).await, Err(CredentialsError::Failed { .. })));
    }
}
