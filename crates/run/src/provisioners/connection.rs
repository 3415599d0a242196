//! What a `connection` block says, with what holds where it says nothing.

use std::time::Duration;

use groma_model::value::Value;

use super::{argument, text};

/// How long connecting may take, if nothing was said.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);

/// Stands for a random number in the path of a script.
const RANDOM: &str = "%RAND%";

/// What kind of shell is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Platform {
    Unix,
    Windows,
}

impl Platform {
    /// As it is written.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Unix => "unix",
            Self::Windows => "windows",
        }
    }
}

/// A machine, and who we are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Login {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) private_key: Option<String>,
    pub(super) certificate: Option<String>,
    /// The key that the machine must show, or that must have signed it. Any will do if none is given.
    pub(super) host_key: Option<String>,
}

impl Login {
    /// For messages and the other side.
    pub(super) fn place(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

/// A proxy that connections go through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proxy {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

/// How to reach a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Connection {
    pub(super) target: Login,
    /// A machine on the way.
    pub(super) bastion: Option<Login>,
    pub(super) proxy: Option<Proxy>,
    /// Whether the user's agent is asked, and passed on.
    pub(super) agent: bool,
    /// Which of its keys is tried first.
    pub(super) agent_identity: Option<String>,
    pub(super) platform: Platform,
    pub(super) timeout: Duration,
    script_path: String,
}

impl Connection {
    /// Reads a `connection` block. `has_agent` says whether the user has an agent.
    pub(super) fn read(value: &Value, has_agent: bool) -> Result<Self, String> {
        if value.is_null() {
            return Err("Missing connection configuration for provisioner.".to_owned());
        }
        let given = |name: &str| text(value, name).filter(|text| !text.is_empty()).map(str::to_owned);
        match given("type").as_deref() {
            None | Some("ssh") => {}
            Some("winrm") => {
                return Err(
                    "Connection type 'winrm' is not supported. Use SSH with target_platform = \"windows\".".to_owned()
                );
            }
            Some(other) => return Err(format!("Connection type '{other}' not supported.")),
        }
        let platform = match given("target_platform").as_deref() {
            None | Some("unix") => Platform::Unix,
            Some("windows") => Platform::Windows,
            Some(_) => return Err("target_platform for provisioner has to be either unix or windows".to_owned()),
        };
        let target = Login {
            host: bare(&given("host").ok_or("host for provisioner cannot be empty")?),
            port: port(value, "port")?.unwrap_or(22),
            user: given("user").unwrap_or_else(|| "root".to_owned()),
            password: given("password"),
            private_key: given("private_key"),
            certificate: given("certificate"),
            host_key: given("host_key"),
        };
        let default_path = match platform {
            Platform::Unix => "/tmp/terraform_%RAND%.sh",
            Platform::Windows => "C:/windows/temp/terraform_%RAND%.cmd",
        };
        Ok(Self {
            bastion: bastion(value, &target)?,
            proxy: proxy(value)?,
            agent: argument(value, "agent").and_then(Value::as_bool).unwrap_or(has_agent),
            agent_identity: given("agent_identity"),
            platform,
            timeout: given("timeout").and_then(|text| duration(&text)).unwrap_or(DEFAULT_TIMEOUT),
            script_path: given("script_path").unwrap_or_else(|| default_path.to_owned()),
            target,
        })
    }

    /// Where a script goes; a new place each time, if the path allows for that.
    pub(super) fn script_path(&self) -> Result<String, String> {
        if !self.script_path.contains(RANDOM) {
            return Ok(self.script_path.clone());
        }
        let random = getrandom::u32().map_err(|problem| format!("The system gave no random number: {problem}"))?;
        Ok(self.script_path.replace(RANDOM, &(random >> 1).to_string()))
    }
}

/// The machine on the way. Who we are there is who we are at the target, where nothing else is said.
fn bastion(value: &Value, target: &Login) -> Result<Option<Login>, String> {
    let given = |name: &str| text(value, name).filter(|text| !text.is_empty()).map(str::to_owned);
    let Some(host) = given("bastion_host") else { return Ok(None) };
    Ok(Some(Login {
        host: bare(&host),
        port: port(value, "bastion_port")?.unwrap_or(target.port),
        user: given("bastion_user").unwrap_or_else(|| target.user.clone()),
        password: given("bastion_password").or_else(|| target.password.clone()),
        private_key: given("bastion_private_key").or_else(|| target.private_key.clone()),
        certificate: given("bastion_certificate").or_else(|| target.certificate.clone()),
        host_key: given("bastion_host_key"),
    }))
}

fn proxy(value: &Value) -> Result<Option<Proxy>, String> {
    let given = |name: &str| text(value, name).filter(|text| !text.is_empty()).map(str::to_owned);
    let Some(host) = given("proxy_host") else { return Ok(None) };
    if let Some(other) = given("proxy_scheme").filter(|scheme| !matches!(scheme.as_str(), "http" | "https")) {
        return Err(format!("proxy: unknown scheme: {other}"));
    }
    Ok(Some(Proxy {
        host: bare(&host),
        port: port(value, "proxy_port")?.unwrap_or(0),
        user: given("proxy_user_name"),
        password: given("proxy_user_password"),
    }))
}

/// A host without the brackets that addresses with colons may have.
fn bare(host: &str) -> String {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host).to_owned()
}

fn port(value: &Value, name: &str) -> Result<Option<u16>, String> {
    let Some(number) = argument(value, name).and_then(Value::as_number) else { return Ok(None) };
    let port = number.to_u64().and_then(|number| u16::try_from(number).ok());
    port.map(|port| (port != 0).then_some(port)).ok_or_else(|| format!("{name} must be a number from 0 to 65535"))
}

/// A duration as Go writes it, e.g. `1m30s`. None if it is none.
fn duration(text: &str) -> Option<Duration> {
    let (mut rest, mut sum) = (text.strip_prefix('+').unwrap_or(text), 0.0);
    if rest == "0" {
        return Some(Duration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        sum += number * unit;
        rest = &rest[letters..];
    }
    Duration::try_from_secs_f64(sum).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        let cases = [("5m", 300_000), ("1m30s", 90_000), ("1.5h", 5_400_000), ("250ms", 250), ("0", 0)];
        for (text, milliseconds) in cases {
            assert_eq!(duration(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "5", "m", "5 m", "-5m", "5x", "1e5s"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
