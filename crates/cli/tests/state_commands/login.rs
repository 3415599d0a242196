//! `login` and `logout`, at a host on this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::fixture::refused;
use crate::sandbox::Sandbox;

/// A server that answers every request in the same way, and remembers what it was asked.
struct Host {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Host {
    fn start(status: &'static str, answer: &'static str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        // It ends with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let request = read_request(&stream);
                log.lock().unwrap().push(request);
                let length = answer.len();
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
                );
                let mut stream = stream;
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(answer.as_bytes()));
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn read_request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut text = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        let end = line.trim().is_empty();
        text.push_str(&line);
        if end {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    text + &String::from_utf8(body).unwrap()
}

/// What a browser does when the host sends it back.
fn visit(url: &str) -> String {
    let rest = url.strip_prefix("http://localhost:").unwrap();
    let (port, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port.parse().unwrap())).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A home whose configuration says what a host offers. No browser is found there.
fn home(host: &str, service: &str) -> Sandbox {
    let config = format!("host \"{host}\" {{\n  services = {{\n    {service}\n  }}\n}}\n");
    Sandbox::new().file(".tofurc", &config).file(".terraform.d/.keep", "").env("PATH", "")
}

fn oauth(host: &Host, more: &str) -> String {
    let port = host.port;
    format!(
        "\"login.v1\" = {{\n      client = \"cli\"\n      authz  = \"http://127.0.0.1:{port}/authz\"\n      token  = \
         \"http://127.0.0.1:{port}/token\"\n      {more}\n    }}"
    )
}

const KEPT: &str = ".terraform.d/credentials.tfrc.json";

fn parameter(url: &str, name: &str) -> String {
    let (_, query) = url.split_once('?').unwrap();
    let value = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}="))).unwrap();
    value.replace("%3A", ":").replace("%2F", "/")
}

#[test]
fn a_token_is_had_in_the_browser_and_forgotten_again() {
    let host = Host::start("200 OK", "{\"access_token\":\"s3cret\",\"token_type\":\"bearer\"}");
    let sandbox = home("login.test", &oauth(&host, "ports = [20000, 60000]"));
    let mut running = sandbox.begin(&["login", "login.test"]);
    running.wait_for("Enter a value:");
    assert!(running.told().contains("groma will request an API token for login.test using OAuth."));
    assert!(running.told().contains(KEPT));
    running.answer("yes\n");
    running.wait_for("login was successful.\n");
    let page = running.told().lines().find(|line| line.trim().starts_with("http://")).unwrap().trim().to_owned();
    assert!(page.starts_with(&format!("http://127.0.0.1:{}/authz?client_id=cli&", host.port)), "{page}");
    assert_eq!(parameter(&page, "code_challenge_method"), "S256");
    let (back, state) = (parameter(&page, "redirect_uri"), parameter(&page, "state"));
    assert!(visit(&format!("{back}?state=guessed&code=evil")).starts_with("HTTP/1.1 400"));
    assert!(visit(&format!("{back}?state={state}&code=c0de")).starts_with("HTTP/1.1 200"));
    let done = running.end();
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("Success! groma has obtained and saved an API token."), "{}", done.stdout);
    assert!(!done.stdout.contains("s3cret") && !done.stderr.contains("s3cret"));
    let asked = host.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with("POST /token ") && asked[0].contains("code=c0de"), "{}", asked[0]);
    let kept: serde_json::Value = serde_json::from_str(&sandbox.read(KEPT)).unwrap();
    assert_eq!(kept["credentials"]["login.test"]["token"], "s3cret");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(sandbox.path(KEPT)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let out = sandbox.run(&["logout", "login.test"]);
    assert_eq!(out.code, 0, "{}", out.stderr);
    assert!(out.stdout.contains("Success! groma has removed the stored API token for login.test."), "{}", out.stdout);
    assert!(!sandbox.read(KEPT).contains("s3cret"));
    let again = sandbox.run(&["logout", "login.test"]);
    assert_eq!((again.code, again.stdout.as_str()), (0, "No credentials for login.test are stored.\n\n"));
}

#[test]
fn who_does_not_say_yes_gets_no_token() {
    let host = Host::start("200 OK", "{}");
    let sandbox = home("login.test", &oauth(&host, ""));
    for answer in ["no\n", ""] {
        let outcome = sandbox.run_with(&["login", "login.test"], answer);
        assert_eq!(outcome.code, 1);
        assert!(!sandbox.exists(KEPT));
    }
    refused(&sandbox, &["login", "-input=false", "login.test"], "Login is an interactive command");
    refused(&sandbox, &["login", "https://login.test/"], "Invalid hostname");
    refused(&sandbox, &["logout", ".."], "Invalid hostname");
    assert!(host.asked().is_empty());
}

#[test]
fn a_refusal_is_told() {
    let host = Host::start("400 Bad Request", "{\"error\":\"invalid_grant\",\"error_description\":\"too late\"}");
    let sandbox = home("login.test", &oauth(&host, ""));
    let mut running = sandbox.begin(&["login", "login.test"]);
    running.wait_for("Enter a value:");
    running.answer("yes\n");
    running.wait_for("login was successful.\n");
    let page = running.told().lines().find(|line| line.trim().starts_with("http://")).unwrap().trim().to_owned();
    visit(&format!("{}?state={}&code=c0de", parameter(&page, "redirect_uri"), parameter(&page, "state")));
    let done = running.end();
    assert_eq!(done.code, 1);
    assert!(done.stderr.contains("Error: Failed to obtain auth token"), "{}", done.stderr);
    assert!(done.stderr.contains("too late"), "{}", done.stderr);
    assert!(!sandbox.exists(KEPT));
}

#[test]
fn a_password_is_only_for_one_host() {
    let host = Host::start("200 OK", "{\"access_token\":\"s3cret\"}");
    let service = oauth(&host, "grant_types = [\"password\"]");
    let sandbox = home("login.test", &service);
    refused(&sandbox, &["login", "login.test"], "Host does not support groma login");
    let sandbox = home("app.terraform.io", &service);
    let outcome = sandbox.run_with(&["login", "app.terraform.io"], "yes\nme\nhunter2\n");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(host.asked()[0].ends_with("client_id=cli&grant_type=password&password=hunter2&username=me"));
    assert!(!outcome.stdout.contains("hunter2"), "{}", outcome.stdout);
    assert!(sandbox.read(KEPT).contains("s3cret"));
}

#[test]
fn a_token_can_be_handed_over() {
    let account = "{\"data\":{\"id\":\"u\",\"attributes\":{\"username\":\"someone\"}}}";
    let host = Host::start("200 OK", account);
    let service = format!("\"tfe.v2\" = \"http://127.0.0.1:{}/api/v2/\"", host.port);
    let sandbox = home("login.test", &service);
    let outcome = sandbox.run_with(&["login", "login.test"], "yes\n made-by-hand \n");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("Retrieved token for user someone"), "{}", outcome.stdout);
    let asked = host.asked();
    assert!(asked[0].starts_with("GET /api/v2/account/details "), "{}", asked[0]);
    assert!(asked[0].to_ascii_lowercase().contains("authorization: bearer made-by-hand\r\n"), "{}", asked[0]);
    assert!(sandbox.read(KEPT).contains("made-by-hand"));
    let refusing = Host::start("401 Unauthorized", "{}");
    let sandbox = home("login.test", &format!("\"tfe.v2\" = \"http://127.0.0.1:{}/api/v2/\"", refusing.port));
    let outcome = sandbox.run_with(&["login", "login.test"], "yes\nwrong\n");
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("Error: Token is invalid"), "{}", outcome.stderr);
    assert!(!sandbox.exists(KEPT));
}

#[test]
fn what_people_wrote_is_left_alone() {
    let host = Host::start("200 OK", "{}");
    let sandbox = home("login.test", &oauth(&host, ""));
    let config = sandbox.read(".tofurc") + "credentials \"login.test\" {\n  token = \"by hand\"\n}\n";
    let sandbox = sandbox.file(".tofurc", &config);
    refused(&sandbox, &["login", "login.test"], "Credentials for login.test are manually configured");
    refused(&sandbox, &["logout", "login.test"], "Credentials for login.test are manually configured");
}

#[test]
fn a_host_that_offers_nothing() {
    let sandbox = home("login.test", "\"modules.v1\" = \"https://login.test/m/\"");
    refused(&sandbox, &["login", "login.test"], "Host does not support groma tokens API");
}

#[cfg(unix)]
#[test]
fn a_program_can_keep_tokens() {
    use std::os::unix::fs::PermissionsExt as _;
    let account = "{\"data\":{\"attributes\":{\"username\":\"someone\"}}}";
    let host = Host::start("200 OK", account);
    let sandbox = home("login.test", &format!("\"tfe.v2\" = \"http://127.0.0.1:{}/api/v2/\"", host.port));
    let config = sandbox.read(".tofurc") + "credentials_helper \"vault\" {\n  args = []\n}\n";
    let kept = sandbox.path("vault");
    let script = format!(
        "#!/bin/sh\nPATH=/usr/bin:/bin\ncase \"$1\" in store) cat > {0};; forget) rm {0};; get) cat {0} 2>/dev/null || echo '{{}}';; esac\n",
        kept.display()
    );
    let program = ".terraform.d/plugins/terraform-credentials-vault";
    let sandbox = sandbox.file(".tofurc", &config).file(program, &script);
    std::fs::set_permissions(sandbox.path(program), std::fs::Permissions::from_mode(0o755)).unwrap();
    let outcome = sandbox.run_with(&["login", "login.test"], "yes\nkept-token\n");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("\"vault\" credentials helper"), "{}", outcome.stdout);
    assert_eq!(sandbox.read("vault"), "{\"token\":\"kept-token\"}");
    assert!(!sandbox.exists(KEPT));
    let out = sandbox.run(&["logout", "login.test"]);
    assert_eq!(out.code, 0, "{}", out.stderr);
    assert!(!sandbox.exists("vault"));
}
