//! Settings, as they are given and as the environment has them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;

fn surroundings(variables: &[(&str, &str)]) -> Surroundings {
    static RUNTIME: std::sync::OnceLock<tokio::runtime::Runtime> = std::sync::OnceLock::new();
    let variables: BTreeMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let runtime = RUNTIME.get_or_init(|| tokio::runtime::Runtime::new().unwrap());
    Surroundings {
        variable: Arc::new(move |name| variables.get(name).cloned()),
        working_dir: PathBuf::from("."),
        home: None,
        runtime: runtime.handle().clone(),
        random: Arc::new(|| [7; 16]),
        spool: PathBuf::from("spool"),
        cluster: None,
        limits: crate::Limits::default(),
        is_gone: None,
    }
}

fn given(settings: &[(&str, &str)]) -> Value {
    Value::object(settings.iter().map(|(name, value)| (*name, Value::from(*value))))
}

fn wrong(settings: &Value, variables: &[(&str, &str)]) -> String {
    match Http.configure(settings, &surroundings(variables)) {
        Ok(_) => String::new(),
        Err(wrong) => {
            let all: Vec<String> = wrong.iter().map(|one| format!("{}: {}", one.summary, one.detail)).collect();
            all.join("\n")
        }
    }
}

#[test]
fn the_address_is_wanted_and_may_come_from_the_environment() {
    assert!(wrong(&given(&[]), &[]).contains("Missing required argument: The argument \"address\""));
    assert_eq!(wrong(&given(&[]), &[("TF_HTTP_ADDRESS", "https://states.example/a")]), "");
    assert!(wrong(&given(&[("address", "ftp://a")]), &[]).contains("must be HTTP or HTTPS"));
    assert!(wrong(&given(&[("address", "http://a"), ("lock_address", "x")]), &[]).contains("lock_address"));
    let counts = [("TF_HTTP_RETRY_MAX", "many")];
    assert!(wrong(&given(&[("address", "http://a")]), &counts).contains("retry_max"));
}

#[test]
fn a_certificate_needs_its_key() {
    let half = given(&[("address", "https://a"), ("client_certificate_pem", "x")]);
    assert!(wrong(&half, &[]).contains("client_certificate_pem is set but client_private_key_pem is not"));
    let half = given(&[("address", "https://a"), ("client_private_key_pem", "canary")]);
    let text = wrong(&half, &[]);
    assert!(
        text.contains("client_private_key_pem is set but client_certificate_pem is not") && !text.contains("canary")
    );
}

#[test]
fn headers_that_would_break_requests_are_refused() {
    let with = |name: &str, value: &str, more: &[(&str, &str)]| {
        let headers = Value::map(Type::String, [(name, Value::from(value))].into_iter().collect());
        let mut all: Vec<(&str, Value)> = vec![("address", Value::from("http://a")), ("headers", headers)];
        all.extend(more.iter().map(|(name, value)| (*name, Value::from(*value))));
        wrong(&Value::object(all), &[])
    };
    assert_eq!(with("X-Team", "sea", &[]), "");
    assert_eq!(with("Authorization", "Bearer x", &[]), "");
    assert!(with("Authorization", "Bearer x", &[("username", "me")]).contains("cannot be set when providing username"));
    assert!(with("content-type", "x", &[]).contains("is reserved"));
    assert!(with("a b", "x", &[]).contains("only contain A-Za-z0-9-_"));
    assert!(with("X-Team", "  ", &[]).contains("must not be empty"));
    assert!(with("X-Team", "meer\u{fc}", &[]).contains("ascii"));
}

#[test]
fn there_is_one_workspace_and_its_name_has_no_secrets() {
    let address = "https://me:canary@states.example/a?token=canary";
    let backend = Http.configure(&given(&[("address", address)]), &surroundings(&[])).ok().unwrap();
    assert!(matches!(backend.workspaces(), Err(BackendError::OneWorkspace)));
    let codec: Arc<dyn StateCodec> = Arc::new(groma_state::PlainCodec);
    let place = backend.open(&WorkspaceName::default_workspace(), Arc::clone(&codec)).unwrap();
    assert_eq!(place.name, "http state https://states.example/a");
    assert!(place.journal.is_none());
    let other = backend.open(&WorkspaceName::parse("prod").unwrap(), codec);
    assert!(matches!(other, Err(BackendError::OneWorkspace)));
}
