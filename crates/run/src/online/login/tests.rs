//! What hosts offer, and where their tokens are.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::*;
use crate::cli_config::CliConfig;

fn online(dir: &Path, host: &str, services: serde_json::Value) -> Online {
    let serde_json::Value::Object(services) = services else { unreachable!("services are an object") };
    let config = CliConfig {
        hosts: BTreeMap::from([(Host::parse(host).unwrap(), services)]),
        credentials_file: Some(dir.join("credentials.tfrc.json")),
        ..CliConfig::default()
    };
    Online::new(config, BTreeMap::new())
}

fn way_of(host: &str, services: serde_json::Value) -> Result<Way, Vec<String>> {
    let dir = tempfile::tempdir().unwrap();
    let online = online(dir.path(), host, services);
    let login = Login::begin(&online, host).map_err(|problems| {
        let summaries = problems.iter().map(|problem| problem.summary.clone());
        summaries.collect::<Vec<_>>()
    })?;
    Ok(login.way().clone())
}

#[test]
fn the_way_is_what_the_host_offers() {
    let service = |grants: serde_json::Value| json!({ "login.v1": { "client": "cli", "authz": "/a", "token": "/t", "grant_types": grants } });
    assert!(matches!(way_of("x.test", service(json!(["authz_code", "password"]))), Ok(Way::Browser(_))));
    assert!(matches!(way_of("app.terraform.io", service(json!(["password"]))), Ok(Way::Password(_))));
    // Nobody else is given a password.
    assert_eq!(way_of("x.test", service(json!(["password"]))).unwrap_err(), ["Host does not support groma login"]);
    let Ok(Way::Page { page, api }) = way_of("x.test", json!({ "tfe.v2": "/api/v2/" })) else { panic!("no page") };
    assert_eq!(page.as_str(), "https://x.test/app/settings/tokens?source=terraform-login");
    assert_eq!(api.as_str(), "https://x.test/api/v2/");
    assert_eq!(way_of("x.test", json!({})).unwrap_err(), ["Host does not support groma tokens API"]);
    let problems = way_of("x.test", json!({ "login.v2": {}, "modules.v1": "/m/" })).unwrap_err();
    assert_eq!(problems, ["Host does not support groma login", "Host does not support groma tokens API"]);
    assert_eq!(way_of("x.test", json!({ "login.v1": {} })).unwrap_err().len(), 2);
}

#[test]
fn names_of_hosts_are_judged() {
    let dir = tempfile::tempdir().unwrap();
    let online = online(dir.path(), "x.test", json!({}));
    let problems = Login::begin(&online, "https://x.test/").err().unwrap();
    assert_eq!(problems.iter().next().unwrap().summary, "Invalid hostname");
    assert!(Logout::begin(&online, "").is_err());
}

#[test]
fn tokens_stay_where_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let services = json!({ "tfe.v2": "/api/v2/" });
    let config = CliConfig {
        credentials: BTreeMap::from([(Host::parse("x.test").unwrap(), Token::new("by hand"))]),
        ..online(dir.path(), "x.test", services).config().clone()
    };
    let online = Online::new(config, BTreeMap::new());
    let problems = Login::begin(&online, "x.test").err().unwrap();
    assert_eq!(problems.iter().next().unwrap().summary, "Credentials for x.test are manually configured");
    let problems = Logout::begin(&online, "x.test").err().unwrap();
    assert_eq!(problems.iter().next().unwrap().summary, "Credentials for x.test are manually configured");
    let logout = Logout::begin(&online, "y.test").unwrap();
    assert_eq!(logout.place(), None);
}

#[test]
fn what_is_kept_can_be_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let online = online(dir.path(), "x.test", json!({ "tfe.v2": "/api/v2/" }));
    let login = Login::begin(&online, "X.test").unwrap();
    assert_eq!(login.place(), &Place::File(dir.path().join("credentials.tfrc.json")));
    login.keep(&Token::new("t")).unwrap();
    let logout = Logout::begin(&online, "x.test").unwrap();
    assert!(logout.place().is_some());
    logout.forget().unwrap();
    assert_eq!(Logout::begin(&online, "x.test").unwrap().place(), None);
}
