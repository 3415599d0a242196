//! etcd and kube-apiserver: how they are started, who may come in, and how clients find them.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::machine::SERVICES;
use super::{ADMIN_TOKEN, Extent, Identity, NOBODY_TOKEN, Ports, Reach};

/// The parts of the cluster that come in themselves: token, user, group. What they may do the API server knows.
const PARTS: &[(&str, &str, &str)] = &[
    ("kube-controller-manager", "system:kube-controller-manager", ""),
    ("kube-scheduler", "system:kube-scheduler", ""),
    ("kube-proxy", "system:kube-proxy", ""),
    ("kubelet", "system:node:node", "system:nodes"),
];

/// Who may come in, and the key that service accounts are signed with.
pub(super) fn write_inputs(dir: &Path, identities: &[Identity]) -> io::Result<()> {
    let key = rcgen::KeyPair::generate().map_err(io::Error::other)?;
    fs::write(dir.join("accounts.key"), key.serialize_pem())?;
    fs::write(dir.join("accounts.pub"), key.public_key_pem())?;
    // Without groups, a line ends before them.
    let mut tokens = format!("{ADMIN_TOKEN},admin,admin,system:masters\n{NOBODY_TOKEN},nobody,nobody\n");
    for (name, user, group) in PARTS {
        let _ = writeln!(tokens, "{},{user},{user},{group}", token(name));
    }
    for Identity { token, user, groups } in identities {
        let _ = writeln!(tokens, "{token},{user},{user},\"{}\"", groups.join(","));
    }
    fs::write(dir.join("tokens.csv"), tokens)
}

fn token(part: &str) -> String {
    format!("{part}-of-the-test-cluster")
}

pub(super) fn etcd(program: &Path, ports: Ports) -> Command {
    let client = format!("http://127.0.0.1:{}", ports.client);
    let peer = format!("http://127.0.0.1:{}", ports.peer);
    let mut command = Command::new(program);
    command.args(["--name=test", "--unsafe-no-fsync", "--data-dir=etcd", "--log-level=warn"]);
    command.arg(format!("--listen-client-urls={client}")).arg(format!("--advertise-client-urls={client}"));
    command.arg(format!("--listen-peer-urls={peer}")).arg(format!("--initial-advertise-peer-urls={peer}"));
    command.arg(format!("--initial-cluster=test={peer}"));
    command
}

pub(super) fn apiserver(program: &Path, ports: Ports, extent: Extent) -> Command {
    let mut command = Command::new(program);
    command.args([
        "--cert-dir=certificates",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-account-signing-key-file=accounts.key",
        "--service-account-key-file=accounts.pub",
        "--token-auth-file=tokens.csv",
        "--v=1",
    ]);
    command.arg(format!("--service-cluster-ip-range={SERVICES}"));
    command.arg(format!("--bind-address={0}", ports.address)).arg(format!("--advertise-address={0}", ports.address));
    command.arg(format!("--etcd-servers=http://127.0.0.1:{}", ports.client));
    command.arg(format!("--secure-port={}", ports.secure));
    if extent == Extent::Api {
        // There are no controllers that would make accounts for it to wait for, and hardly anybody who watches.
        command.args(["--disable-admission-plugins=ServiceAccount", "--watch-cache=false"]);
    }
    if extent == Extent::Node {
        command.args([
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            // It goes to the pods behind a service itself, so that webhooks work.
            "--enable-aggregator-routing=true",
            "--kubelet-client-certificate=kubelet-client.crt",
            "--kubelet-client-key=kubelet-client.key",
            "--kubelet-preferred-address-types=InternalIP",
        ]);
    } else {
        // A loopback address is no endpoint of a service.
        command.args(["--authorization-mode=RBAC", "--endpoint-reconciler-type=none"]);
    }
    command
}

/// Whether it has set itself up. It says in its log when it has made the first things; roles are made before that.
pub(super) fn is_ready(dir: &Path) -> bool {
    let log = fs::read_to_string(dir.join("kube-apiserver.log"));
    log.is_ok_and(|text| text.contains("all system priority classes are created"))
}

/// Writes a file for people and tests, and one for each part of the cluster.
pub(super) fn write_kubeconfigs(dir: &Path, reach: &Reach) -> io::Result<()> {
    let certificate = fs::read(&reach.certificate)?;
    let people = [("admin", ADMIN_TOKEN), ("nobody", NOBODY_TOKEN)];
    fs::write(&reach.kubeconfig, kubeconfig(&reach.url, &certificate, &people)?)?;
    for (name, _, _) in PARTS {
        let text = kubeconfig(&reach.url, &certificate, &[(name, &token(name))])?;
        fs::write(dir.join(format!("{name}.kubeconfig")), text)?;
    }
    Ok(())
}

/// A kubeconfig. The first user is the one that counts, unless somebody says otherwise.
pub(super) fn kubeconfig(url: &str, certificate: &[u8], users: &[(&str, &str)]) -> io::Result<String> {
    let (first, _) = users.first().ok_or_else(|| io::Error::other("a kubeconfig needs a user"))?;
    let certificate = BASE64_STANDARD.encode(certificate);
    let mut text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: test\n\
         clusters:\n- name: test\n  cluster:\n    server: {url}\n    certificate-authority-data: {certificate}\n\
         contexts:\n- name: test\n  context:\n    cluster: test\n    user: {first}\nusers:\n",
    );
    for (name, token) in users {
        let _ = writeln!(text, "- name: {name}\n  user:\n    token: {token}");
    }
    Ok(text)
}
