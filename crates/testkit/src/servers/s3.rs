//! An S3 server: versitygw over a folder. Buckets are folders in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::watched::{Watched, free_port};

/// The name of the only access key.
pub const ACCESS_KEY: &str = "tester";
/// The access key.
pub const SECRET_KEY: &str = "secret-of-the-test-server";
/// The region that it calls its own.
pub const REGION: &str = "us-east-1";

/// A server.
#[derive(Debug)]
pub struct S3Server {
    root: PathBuf,
    url: String,
    _process: Watched,
}

impl S3Server {
    /// Starts one in a folder, which is removed in the end.
    pub fn start(dir: &Path, program: &Path) -> io::Result<Self> {
        let mut last = io::Error::other("no port was free");
        // Between asking for a free port and using it, somebody else may.
        for attempt in 0..3 {
            match Self::try_start(&dir.join(attempt.to_string()), program, attempt > 0) {
                Ok(server) => return Ok(server),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn try_start(dir: &Path, program: &Path, without_attributes: bool) -> io::Result<Self> {
        let root = dir.join("root");
        fs::create_dir_all(&root)?;
        fs::create_dir_all(dir.join("attributes"))?;
        let port = free_port()?;
        let mut command = Command::new(program);
        command.args(["--access", ACCESS_KEY, "--secret", SECRET_KEY, "--region", REGION, "--quiet"]);
        command.arg("--port").arg(format!("127.0.0.1:{port}"));
        command.arg("posix");
        if without_attributes {
            // Not every file system has them.
            command.arg("--sidecar").arg(dir.join("attributes"));
        }
        command.arg(&root);
        let mut process = Watched::start(&command, dir, "KILL")?;
        process.wait_for(port, dir)?;
        Ok(Self { root, url: format!("http://127.0.0.1:{port}"), _process: process })
    }

    /// Where it is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes a bucket.
    pub fn make_bucket(&self, name: &str) -> io::Result<()> {
        fs::create_dir_all(self.root.join(name))
    }

    /// What is in an object. None if there is none.
    pub fn object(&self, bucket: &str, key: &str) -> Option<String> {
        fs::read_to_string(self.root.join(bucket).join(key)).ok()
    }
}
