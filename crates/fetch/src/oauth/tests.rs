//! Logins at a server on this machine.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::http::testing::{Reply, Server, client};

fn described(more: &Value) -> Result<LoginService, String> {
    let mut all = json!({ "client": "cli", "authz": "/authz", "token": "/token" });
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more.clone());
    }
    LoginService::read(&Url::parse("https://example.com/.well-known/terraform.json").unwrap(), &all)
}

#[test]
fn descriptions_are_read() {
    let service = described(&json!({ "ports": [10000, 10010], "scopes": ["openid"] })).unwrap();
    assert_eq!(service.authorization.unwrap().as_str(), "https://example.com/authz");
    assert_eq!(service.token.unwrap().as_str(), "https://example.com/token");
    assert_eq!((service.ports, service.scopes), (10000..=10010, vec!["openid".to_owned()]));
    assert_eq!(service.grants, [GrantType::Code].into());
    let both = described(&json!({ "grant_types": ["password", "device", "authz_code"] })).unwrap();
    assert_eq!(both.grants, [GrantType::Code, GrantType::Password].into());
    assert_eq!(described(&json!({ "ports": null })).unwrap().ports, 1024..=65535);
    assert!(
        LoginService::read(&Url::parse("https://x.test/").unwrap(), &json!([{ "client": "a", "grant_types": [] }]))
            .is_ok()
    );
}

#[test]
fn what_is_wrong_with_a_description_is_said() {
    let refused = |more: Value| described(&more).unwrap_err();
    assert!(refused(json!({ "client": null })).contains("\"client\""));
    assert!(refused(json!({ "authz": null })).contains("\"authz\""));
    assert!(refused(json!({ "token": null })).contains("\"token\""));
    assert!(refused(json!({ "token": "ftp://x/" })).contains("scheme"));
    assert!(refused(json!({ "token": "https://me:pw@x/" })).contains("username/password"));
    assert!(refused(json!({ "ports": [1, 2] })).contains("between 1024"));
    assert!(refused(json!({ "ports": [2000, 1999] })).contains("greater"));
    assert!(refused(json!({ "ports": [2000.5, 3000] })).contains("whole numbers"));
    assert!(refused(json!({ "ports": [2000] })).contains("two numbers"));
    assert!(refused(json!({ "grant_types": "x" })).contains("grant_types"));
    assert!(refused(json!({ "scopes": [1] })).contains("scopes"));
    assert!(LoginService::read(&Url::parse("https://x.test/").unwrap(), &json!("no")).is_err());
}

/// Goes where a host sends a browser, as the browser would.
async fn visit(address: &str) -> String {
    let url = Url::parse(address).unwrap();
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", url.port().unwrap())).await.unwrap();
    let target = format!("{}?{}", url.path(), url.query().unwrap_or_default());
    stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn parameter(url: &Url, name: &str) -> String {
    url.query_pairs().find(|(found, _)| found == name).unwrap().1.into_owned()
}

fn service(server: &Server) -> LoginService {
    let described = json!({
        "client": "cli", "authz": server.url("/authz").as_str(), "token": server.url("/token").as_str(),
        "grant_types": ["authz_code", "password"], "scopes": ["a", "b"],
    });
    LoginService::read(&server.url("/"), &described).unwrap()
}

#[tokio::test]
async fn a_code_becomes_a_token() {
    let server = Server::start(|_, _| Reply::json("{\"access_token\":\"t0ken\",\"token_type\":\"bearer\"}"));
    let grant = CodeGrant::begin(&service(&server)).await.unwrap();
    let page = grant.page().unwrap();
    assert_eq!((parameter(&page, "client_id"), parameter(&page, "scope")), ("cli".to_owned(), "a b".to_owned()));
    let (redirect, state) = (parameter(&page, "redirect_uri"), parameter(&page, "state"));
    let challenge = parameter(&page, "code_challenge");
    let client = client(&server);
    let finishing = tokio::spawn(async move { grant.finish(&client).await });
    // One that never says anything does not keep the others from being served.
    let port = Url::parse(&redirect).unwrap().port().unwrap();
    let _silent = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    assert!(visit(&format!("{redirect}?state=guess&code=evil")).await.starts_with("HTTP/1.1 400"));
    assert!(visit(&format!("{redirect}?state={state}&code=c0de")).await.starts_with("HTTP/1.1 200"));
    assert_eq!(finishing.await.unwrap().unwrap(), Token::new("t0ken"));
    let asked = server.asked();
    assert_eq!((asked.len(), asked[0].path.as_str()), (1, "/token"));
    assert_eq!(asked[0].header("content-type"), Some("application/x-www-form-urlencoded"));
    let form: Vec<(String, String)> = url::form_urlencoded::parse(&asked[0].body).into_owned().collect();
    let field = |name: &str| form.iter().find(|(found, _)| found == name).unwrap().1.clone();
    assert_eq!((field("code"), field("grant_type")), ("c0de".to_owned(), "authorization_code".to_owned()));
    assert_eq!(URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier").as_bytes())), challenge);
    assert_eq!(field("redirect_uri"), redirect);
}

#[tokio::test]
async fn a_refusal_ends_the_waiting() {
    let server = Server::start(|_, _| Reply::new(500, ""));
    let grant = CodeGrant::begin(&service(&server)).await.unwrap();
    let page = grant.page().unwrap();
    let address =
        format!("{}?state={}&error=access_denied", parameter(&page, "redirect_uri"), parameter(&page, "state"));
    let client = client(&server);
    let finishing = tokio::spawn(async move { grant.finish(&client).await });
    visit(&address).await;
    let refused = finishing.await.unwrap().unwrap_err();
    assert_eq!(refused.to_string(), "the host refused: access_denied");
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_password_becomes_a_token_or_not() {
    let server = Server::start(|asked, _| {
        if String::from_utf8_lossy(&asked.body).contains("password=right") {
            Reply::new(200, "access_token=t&token_type=bearer")
                .header("Content-Type", "application/x-www-form-urlencoded")
        } else {
            Reply::new(400, "{\"error\":\"invalid_grant\",\"error_description\":\"wrong\"}")
        }
    });
    let (client, service) = (client(&server), service(&server));
    assert_eq!(password_grant(&client, &service, "me", &Token::new("right")).await.unwrap(), Token::new("t"));
    let refused = password_grant(&client, &service, "me", &Token::new("hunter2")).await.unwrap_err().to_string();
    assert_eq!(refused, "the host refused: invalid_grant: wrong");
    let broken = Server::start(|_, _| Reply::json("{\"token\":\"secret\"}"));
    let silent = password_grant(&client, &self::service(&broken), "me", &Token::new("right")).await.unwrap_err();
    assert!(matches!(silent, OauthError::NoToken), "{silent}");
}

#[tokio::test]
async fn ports_outside_the_range_are_not_used() {
    let taken = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let server = Server::start(|_, _| Reply::new(500, ""));
    let busy = LoginService { ports: port..=port, ..service(&server) };
    assert!(matches!(CodeGrant::begin(&busy).await, Err(OauthError::NoPort { .. })));
}
