//! The node: containerd, kubelet and kube-proxy, on a [`machine`](super::machine) of their own.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use super::machine::{BRIDGE, HOME, NODE, PODS, inside, plugins, run};
use super::processes::Processes;
use super::{POD_IMAGE, Programs, Reach};

/// Where containerd listens. On a machine of its own this is nobody else's.
const SOCKET: &str = "/run/containerd/containerd.sock";

/// Writes what the programs read.
pub(super) fn write_inputs(dir: &Path) -> io::Result<()> {
    // The kubelet lets in who has this certificate, and the API server has it.
    let client = rcgen::generate_simple_self_signed(vec!["kube-apiserver".to_owned()]).map_err(io::Error::other)?;
    fs::write(dir.join("kubelet-client.crt"), client.cert.pem())?;
    fs::write(dir.join("kubelet-client.key"), client.signing_key.serialize_pem())?;
    fs::write(dir.join("containerd.toml"), containerd_config())?;
    fs::write(dir.join("kubelet.yaml"), kubelet_config())?;
    fs::write(dir.join("kube-proxy.yaml"), proxy_config())?;
    fs::create_dir_all(dir.join("networks"))?;
    fs::write(dir.join("networks/pods.conflist"), network_config())?;
    // There is no server of names.
    fs::write(dir.join("resolv.conf"), "")
}

pub(super) fn containerd() -> Command {
    let mut command = Command::new("containerd");
    command.arg("--config=containerd.toml");
    command
}

/// Whether containerd answers.
pub(super) fn has_containerd(machine: u32) -> bool {
    let mut version = Command::new("ctr");
    run(&mut inside(machine, version.arg("version"))).is_ok()
}

/// Gives containerd an image.
pub(super) fn import(machine: u32, image: &Path) -> io::Result<()> {
    let mut import = Command::new("ctr");
    import.args(["--namespace=k8s.io", "images", "import"]).arg(fs::canonicalize(image)?);
    run(&mut inside(machine, &import))
}

pub(super) fn start(processes: &mut Processes, programs: &Programs) -> io::Result<()> {
    let mut kubelet = Command::new(programs.get("kubelet")?);
    kubelet.args(["--config=kubelet.yaml", "--kubeconfig=kubelet.kubeconfig", "--hostname-override=node"]);
    kubelet.arg(format!("--node-ip={NODE}"));
    kubelet.arg(format!("--root-dir={HOME}/kubelet")).arg(format!("--cert-dir={HOME}/kubelet/pki"));
    processes.start("kubelet", kubelet)?;
    let mut proxy = Command::new(programs.get("kube-proxy")?);
    proxy.args(["--config=kube-proxy.yaml", "--hostname-override=node"]);
    processes.start("kube-proxy", proxy)
}

/// Whether the node takes pods.
pub(super) fn is_ready(reach: &Reach) -> bool {
    let Ok(answer) = reach.ask("GET", "/api/v1/nodes/node", None) else { return false };
    let node: serde_json::Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let conditions = node["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_ready = conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
    is_ready && node["spec"]["taints"].is_null()
}

fn containerd_config() -> String {
    let plugins = plugins().unwrap_or_default();
    format!(
        r#"version = 2
root = "{HOME}/containerd"
state = "/run/containerd"

[grpc]
  address = "{SOCKET}"

[plugins."io.containerd.internal.v1.opt"]
  path = "{HOME}/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{POD_IMAGE}"
  # Where nobody may make a process more precious than it is, sandboxes fail without this, with an error that says nothing about it.
  restrict_oom_score_adj = true
  # As on most clusters today: who is not root can serve on port 80.
  enable_unprivileged_ports = true

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{}"
  conf_dir = "{HOME}/networks"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
"#,
        plugins.display(),
    )
}

/// All pods on one bridge, where this machine is too.
fn network_config() -> String {
    let (subnet, first, last) = PODS;
    let addresses = serde_json::json!([[{ "subnet": subnet, "rangeStart": first, "rangeEnd": last, "gateway": NODE }]]);
    serde_json::json!({
        "cniVersion": "0.4.0",
        "name": "pods",
        "plugins": [
            {
                "type": "bridge",
                "bridge": BRIDGE,
                "isGateway": true,
                // A pod reaches itself through its service.
                "hairpinMode": true,
                "ipam": { "type": "host-local", "ranges": addresses, "routes": [{ "dst": "0.0.0.0/0" }] },
            },
            { "type": "portmap", "capabilities": { "portMappings": true } },
        ],
    })
    .to_string()
}

fn kubelet_config() -> String {
    format!(
        r#"apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: {NODE}
authentication:
  anonymous: {{enabled: false}}
  webhook: {{enabled: false}}
  x509: {{clientCAFile: {HOME}/kubelet-client.crt}}
authorization: {{mode: AlwaysAllow}}
containerRuntimeEndpoint: unix://{SOCKET}
resolvConf: {HOME}/resolv.conf
volumePluginDir: {HOME}/volume-plugins
healthzPort: 0
oomScoreAdj: 0
# Machines for tests have the old kind of groups now and then, and swap; and not every group can be nested.
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
# The disk is not ours to watch over, and there is nowhere to fetch an image from again.
evictionHard: {{nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%", imagefs.inodesFree: "0%"}}
imageGCHighThresholdPercent: 100
"#
    )
}

fn proxy_config() -> String {
    let (pods, _, _) = PODS;
    format!(
        r"apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {{kubeconfig: {HOME}/kube-proxy.kubeconfig}}
clusterCIDR: {pods}
mode: iptables
# A pod must not answer another one directly that has asked a service, and on one bridge it would.
iptables: {{masqueradeAll: true, minSyncPeriod: 0s}}
# These are settings of the whole machine.
conntrack: {{maxPerCore: 0, min: 0, tcpCloseWaitTimeout: 0s, tcpEstablishedTimeout: 0s}}
oomScoreAdj: 0
"
    )
}
