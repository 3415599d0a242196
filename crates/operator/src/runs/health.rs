//! Whether what was made answers: connections that are taken, addresses that answer. Names of outputs stand for their values.

use std::time::Duration;

use groma_fetch::http::{Client, ClientSettings, HttpError, Request};
use groma_network::{Networks, Unreachable};
use tokio::net::TcpStream;

use crate::api::run::FailureKind;
use crate::api::stack::HealthCheck;
use crate::work::{Output, Problem};

/// How long a check may take, if nothing is said.
const PATIENCE: Duration = Duration::from_secs(20);
/// How soon it is tried again within that time.
const PAUSE: Duration = Duration::from_millis(200);
/// What is read of an answer.
const MOST_BYTES: u64 = 1 << 20;

/// Makes all checks at once. What does not answer in its time is told, all of it.
pub(super) async fn check(
    checks: &[HealthCheck],
    outputs: &[Output],
    networks: Option<&Networks>,
) -> Result<(), Problem> {
    let asked = checks.iter().map(|check| one(check, outputs, networks));
    let answers = futures_util::future::join_all(asked).await;
    let failed: Vec<String> = answers.into_iter().filter_map(Result::err).collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Problem { kind: FailureKind::NotReady, message: failed.join("\n") })
}

async fn one(check: &HealthCheck, outputs: &[Output], networks: Option<&Networks>) -> Result<(), String> {
    let patience = check.timeout.map_or(PATIENCE, |length| length.0);
    let named = |problem: String| format!("Health check {:?}: {problem}", check.name);
    let start = tokio::time::Instant::now();
    loop {
        let tried = match (&check.tcp, &check.http) {
            (Some(address), _) => connect(&filled(address, outputs).map_err(named)?, networks).await,
            (None, Some(address)) => ask(&filled(address, outputs).map_err(named)?, networks).await,
            (None, None) => Ok(()),
        };
        match tried {
            Ok(()) => return Ok(()),
            Err(Failed::Never(problem)) => return Err(named(problem)),
            Err(Failed::Yet(problem)) if start.elapsed() + PAUSE >= patience => return Err(named(problem)),
            Err(Failed::Yet(_)) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Why something does not answer.
enum Failed {
    /// It may, later.
    Yet(String),
    /// It is not asked.
    Never(String),
}

async fn connect(address: &str, networks: Option<&Networks>) -> Result<(), Failed> {
    let opening = async {
        match networks {
            None => TcpStream::connect(address).await.map_err(Unreachable::from),
            Some(networks) => {
                let parts = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
                let (host, port) = parts.ok_or_else(|| std::io::Error::other("it is not HOST:PORT"))?;
                networks.connect(host, port).await
            }
        }
    };
    match tokio::time::timeout(Duration::from_secs(5), opening).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(Unreachable::Refused(refused))) => Err(Failed::Never(refused.to_string())),
        Ok(Err(Unreachable::Failed(problem))) => Err(Failed::Yet(format!("{address} takes no connection: {problem}"))),
        Err(_) => Err(Failed::Yet(format!("{address} does not answer"))),
    }
}

async fn ask(address: &str, networks: Option<&Networks>) -> Result<(), Failed> {
    let url = address.parse().map_err(|problem| Failed::Yet(format!("{address:?} is no address: {problem}")))?;
    let request = Request::get(url).plain_http(true).timeout(Duration::from_secs(5)).retries(0);
    let settings = ClientSettings { networks: networks.cloned(), ..ClientSettings::default() };
    match Client::new(settings).get(&request, MOST_BYTES).await {
        Ok(answer) if answer.status.as_u16() < 400 => Ok(()),
        Ok(answer) => Err(Failed::Yet(format!("{address} answers with {}", answer.status))),
        Err(problem @ HttpError::Address { .. }) => Err(Failed::Never(problem.to_string())),
        Err(problem) => Err(Failed::Yet(problem.to_string())),
    }
}

/// With the values of outputs. What must not be shown cannot be part of an address, which is shown.
fn filled(text: &str, outputs: &[Output]) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after.split_once('}').ok_or_else(|| format!("{text:?} has no end of \"${{\""))?;
        let output = outputs.iter().find(|output| output.name == name.trim());
        let output = output.ok_or_else(|| format!("there is no output {:?}", name.trim()))?;
        if output.sensitive {
            return Err(format!("the output {:?} is sensitive, and cannot be part of an address", output.name));
        }
        filled.push_str(before);
        filled.push_str(&output.text());
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn output(name: &str, value: serde_json::Value, sensitive: bool) -> Output {
        Output { name: name.to_owned(), value, ty: json!("string"), sensitive }
    }

    #[test]
    fn names_of_outputs_stand_for_values() {
        let outputs = [output("host", json!("db"), false), output("port", json!(5432), false)];
        assert_eq!(filled("${host}:${ port }", &outputs).unwrap(), "db:5432");
        assert!(filled("${gone}", &outputs).unwrap_err().contains("no output \"gone\""));
        assert!(filled("${host", &outputs).is_err());
        let secret = [output("token", json!("s3cret"), true)];
        let refused = filled("http://x/${token}", &secret).unwrap_err();
        assert!(refused.contains("sensitive") && !refused.contains("s3cret"), "{refused}");
    }

    #[tokio::test]
    async fn what_takes_connections_is_well() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let check = |tcp: String| HealthCheck {
            name: "db".to_owned(),
            tcp: Some(tcp),
            http: None,
            timeout: Some(crate::api::shared::Length(Duration::from_millis(500))),
        };
        let address = listener.local_addr().unwrap().to_string();
        super::check(&[check(address.clone())], &[], None).await.unwrap();
        drop(listener);
        let refused = super::check(&[check(address)], &[], None).await.unwrap_err();
        assert_eq!(refused.kind, FailureKind::NotReady);
        assert!(refused.message.starts_with("Health check \"db\":"), "{}", refused.message);
    }
}
