//! The controller manager and the scheduler.

use std::io;
use std::process::Command;

use super::processes::Processes;
use super::{Programs, Reach};

pub(super) fn start(processes: &mut Processes, programs: &Programs) -> io::Result<()> {
    let mut manager = Command::new(programs.get("kube-controller-manager")?);
    manager.args([
        "--kubeconfig=kube-controller-manager.kubeconfig",
        "--service-account-private-key-file=accounts.key",
        // What pods are given to know the API server by.
        "--root-ca-file=certificates/apiserver.crt",
        // Its own account may do little; each controller has one that may do what it must.
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        // Nobody asks it.
        "--secure-port=0",
    ]);
    manager.args(IMPATIENT);
    processes.start("kube-controller-manager", manager)?;
    let mut scheduler = Command::new(programs.get("kube-scheduler")?);
    scheduler.args(["--kubeconfig=kube-scheduler.kubeconfig", "--leader-elect=false", "--secure-port=0"]);
    scheduler.args(IMPATIENT);
    processes.start("kube-scheduler", scheduler)
}

/// They ask for little at a time, out of respect for a server that others need too; this one nobody else needs, and starting takes seconds less.
const IMPATIENT: [&str; 2] = ["--kube-api-qps=500", "--kube-api-burst=1000"];

/// Whether pods can be made: each has an account, which a controller makes for every namespace.
pub(super) fn are_ready(reach: &Reach) -> bool {
    let account = reach.ask("GET", "/api/v1/namespaces/default/serviceaccounts/default", None);
    account.is_ok_and(|answer| answer.status == 200)
}
