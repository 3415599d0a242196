//! The page of the manual about the operator: its objects are written, its commands are run one after the other, on a cluster that has nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};

use groma_testkit::servers::kube::{ADMIN_TOKEN, Extent, KubeServer};
use serde_json::Value;

use crate::api::{Api, eventually};

const PAGE: &str = include_str!("../../../../docs/book/src/operator.md");

/// The blocks of code of a page, with their language.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let mut parts = page.split("\n```");
    let mut blocks = Vec::new();
    parts.next();
    while let (Some(block), Some(_)) = (parts.next(), parts.next()) {
        blocks.extend(block.split_once('\n'));
    }
    blocks
}

/// Somebody who does what the page says.
struct Reader {
    api: Api,
    dir: tempfile::TempDir,
    operator: Option<Child>,
}

impl Reader {
    fn new(server: &KubeServer) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("kubeconfig"), server.reach().kubeconfig_text(ADMIN_TOKEN).unwrap()).unwrap();
        symlink(env!("CARGO_BIN_EXE_groma"), dir.path().join("groma")).unwrap();
        Self { api: Api::new(server.reach()), dir, operator: None }
    }

    fn shell(&self, line: &str) -> Command {
        #[expect(clippy::disallowed_methods, reason = "programs are found as everywhere")]
        let programs = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command.args(["-e", "-c", line]).current_dir(self.dir.path()).env_clear();
        command.env("PATH", format!("{}:{programs}", self.dir.path().display()));
        command.env("HOME", self.dir.path()).env("KUBECONFIG", self.dir.path().join("kubeconfig"));
        command
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("operator.log")).unwrap_or_default()
    }

    fn does(&mut self, line: &str) {
        if line.starts_with("groma operator -namespace") {
            // It works until it is ended.
            let log = fs::File::create(self.dir.path().join("operator.log")).unwrap();
            let mut command = self.shell(&format!("exec {line}"));
            command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
            self.operator = Some(command.spawn().unwrap());
            return;
        }
        let stack = "/apis/groma.dev/v1alpha1/namespaces/team-a/stacks/pet";
        let mut line = line.to_owned();
        if line.contains("plan-…") {
            let plan = || self.api.find(stack)?["status"]["pending"]["plan"].as_str().map(str::to_owned);
            assert!(eventually(|| plan().is_some()), "{}", self.log());
            line = line.replace("plan-…", &plan().unwrap());
        }
        let output = self.shell(&line).output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{line}: {said}\n{}", self.log());
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(operator) = &mut self.operator {
            let _ = operator.kill();
            let _ = operator.wait();
        }
    }
}

#[test]
fn what_the_manual_says_works() {
    let server = KubeServer::fresh(Extent::Controllers, Vec::new());
    let mut reader = Reader::new(&server);
    let mut run = 0;
    for (language, text) in blocks(PAGE) {
        match language {
            "yaml" => {
                let object: Value = serde_saphyr::from_str(text).unwrap();
                // Others are parts of one.
                if object["kind"].is_null() {
                    continue;
                }
                let name = object["metadata"]["name"].as_str().unwrap();
                fs::write(reader.dir.path().join(format!("{name}.yaml")), text).unwrap();
            }
            "sh" => {
                for line in text.lines() {
                    reader.does(line);
                    run += 1;
                }
            }
            // What others are sent, and answer.
            "json" => drop(serde_json::from_str::<Value>(text).unwrap()),
            other => panic!("nobody knows what to do with {other:?}"),
        }
    }
    assert!(run >= 9, "{run}");
    let stacks = reader.api.get("/apis/groma.dev/v1alpha1/namespaces/team-a/stacks");
    assert_eq!(stacks["items"], serde_json::json!([]), "{}", reader.log());
}
