//! Nothing stays behind of a cluster, however the test ended that started it. This is a program of its own since another one may have the only
//! node for as long as it runs.

#![cfg(feature = "peers")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

#[path = "clusters/objects.rs"]
#[expect(dead_code, reason = "others use more of it")]
mod objects;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use groma_testkit::servers::kube::{Extent, KubeServer};
use objects::{container, create, deployment, eventually, get, namespace};

/// No test by itself: it starts a cluster and then waits to be killed.
#[test]
#[expect(clippy::disallowed_methods, reason = "the environment says what to be")]
fn victim() {
    let extent = match std::env::var("GROMA_TEST_VICTIM").as_deref() {
        Ok("api") => Extent::Api,
        Ok("node") => Extent::Node,
        _ => return,
    };
    let server = KubeServer::fresh(extent, Vec::new());
    let reach = server.reach();
    if extent == Extent::Node {
        namespace(reach, "killed");
        create(reach, "/apis/apps/v1/namespaces/killed/deployments", &deployment("web", &container(&["pause"])));
        let web = "/apis/apps/v1/namespaces/killed/deployments/web";
        eventually("a pod that runs", || get(reach, web)["status"]["availableReplicas"].as_u64());
    }
    let processes: Vec<String> = reach.processes.iter().map(|(_, process)| process.to_string()).collect();
    let mut out = std::io::stdout();
    writeln!(out, "\nvictim {} {}", reach.kubeconfig.display(), processes.join(" ")).unwrap();
    out.flush().unwrap();
    std::thread::sleep(Duration::from_mins(5));
}

#[test]
fn nothing_is_left_of_a_test_that_is_killed() {
    for extent in ["api", "node"] {
        let mut victim = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "victim", "--nocapture"])
            .env("GROMA_TEST_VICTIM", extent)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
        let line = lines.map_while(Result::ok).find(|line| line.starts_with("victim ")).expect("it started");
        let words: Vec<&str> = line.split(' ').collect();
        let [_, kubeconfig, processes @ ..] = &words[..] else { panic!("{line}") };
        assert!(Path::new(kubeconfig).exists());
        assert!(processes.iter().all(|process| Path::new(&format!("/proc/{process}/exe")).exists()));
        victim.kill().unwrap();
        victim.wait().unwrap();
        eventually("the end of the processes", || {
            let lives = |process: &&str| std::fs::read_link(format!("/proc/{process}/exe")).is_ok();
            (!processes.iter().any(lives)).then_some(())
        });
        let scratch = Path::new(kubeconfig).parent().unwrap().parent().unwrap();
        eventually("the end of the folder", || (!scratch.exists()).then_some(()));
    }
    assert!(!Path::new("/sys/class/net/groma-node").exists());
}
