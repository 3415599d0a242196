//! Programs that know keys, or that encrypt: how they are asked. They greet with one line, are handed one document, and answer with
//! another.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// How long one may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A program and its arguments.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) words: Vec<String>,
    pub(super) working_dir: PathBuf,
}

/// What it begins with.
#[derive(Deserialize)]
struct Greeting {
    magic: String,
    version: u64,
}

impl Program {
    pub(super) fn new(words: Vec<String>, working_dir: &Path) -> Self {
        Self { words, working_dir: working_dir.to_owned() }
    }

    /// Hands it a document, and reads its answer. `magic` is the word that it must greet with.
    pub(super) fn ask<T: DeserializeOwned>(&self, magic: &str, input: Vec<u8>) -> Result<T, String> {
        let answer = self.run(input)?;
        let (greeting, rest) = answer.split_once('\n').unwrap_or((&answer, ""));
        // What it says may have secrets in it, so only what it is not is told.
        let greeting: Greeting = serde_json::from_str(greeting)
            .map_err(|_| "its first line is not the header that was expected".to_owned())?;
        if greeting.magic != magic {
            return Err(format!("invalid magic received from the external program: {:?}", greeting.magic));
        }
        if greeting.version != 1 {
            return Err(format!("invalid version number received from the external program: {}", greeting.version));
        }
        serde_json::from_str(rest).map_err(|error| {
            format!("it returned an invalid JSON response (line {}, column {})", error.line(), error.column())
        })
    }

    fn run(&self, input: Vec<u8>) -> Result<String, String> {
        let Some((program, arguments)) = self.words.split_first() else {
            return Err("no program is named".to_owned());
        };
        let failed = |error: std::io::Error| format!("{program:?} could not be run: {error}");
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(&self.working_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(format!("{program:?} has no streams"));
        };
        // It may answer before it has read everything, and complain in between.
        thread::spawn(move || stdin.write_all(&input));
        let (answered, complained) = (collect(stdout), collect(stderr));
        let answer = answered.recv_timeout(PATIENCE);
        if answer.is_err() {
            let _ = child.kill();
        }
        let status = child.wait().map_err(failed)?;
        let Ok(answer) = answer else {
            return Err(format!("{program:?} gave no answer within {} s and was ended", PATIENCE.as_secs()));
        };
        if !status.success() {
            // Others may have inherited the stream, and need not be waited for.
            let said = complained.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
            return Err(format!("{program:?} ended with {status}: {}", String::from_utf8_lossy(&said).trim()));
        }
        String::from_utf8(answer).map_err(|_| format!("{program:?} gave an answer that is not text"))
    }
}

/// Reads a stream to its end, elsewhere.
fn collect(mut stream: impl std::io::Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}
