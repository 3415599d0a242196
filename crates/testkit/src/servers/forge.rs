//! A server of pull requests, as much of GitHub's and Gitea's APIs as planning them takes, with their rules: who may ask, pages, what is not
//! sent again, how long comments may be, and being asked too often.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::web::{Answer, Request, WebServer};

/// Whose API it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// GitHub's.
    Github,
    /// Gitea's, and Forgejo's.
    Gitea,
}

/// What GitHub takes for a comment, and for the text of a status.
const MOST_OF_COMMENT: usize = 65_536;
const MOST_OF_DESCRIPTION: usize = 140;

/// A pull request.
#[derive(Debug, Clone)]
pub struct Pull {
    /// Its number.
    pub number: u64,
    /// Its newest commit.
    pub sha: String,
    /// The branch that it is to become part of.
    pub base: String,
    /// The repository that it comes from, as `owner/name`; none if that was deleted.
    pub from: Option<String>,
    /// What it changes.
    pub files: Vec<String>,
}

impl Pull {
    /// One from the repository itself, to `main`.
    pub fn new(number: u64, sha: &str, files: &[&str]) -> Self {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        Self { number, sha: sha.to_owned(), base: "main".to_owned(), from: Some("acme/infra".to_owned()), files }
    }
}

/// A comment.
#[derive(Debug, Clone)]
pub struct Comment {
    /// Its id.
    pub id: u64,
    /// The pull request.
    pub number: u64,
    /// What it says.
    pub body: String,
    /// How often it was written anew.
    pub edits: usize,
}

/// A status of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The commit.
    pub sha: String,
    /// `pending`, `success`, `failure` or `error`.
    pub state: String,
    /// Whose it is.
    pub context: String,
    /// In words.
    pub description: String,
}

struct Inner {
    flavour: Flavour,
    token: String,
    pulls: Vec<Pull>,
    comments: Vec<Comment>,
    statuses: Vec<Status>,
    ids: u64,
    asked: Vec<String>,
    page_size: usize,
    /// So many requests are too many.
    limited: usize,
    lost: usize,
}

/// A server for the repository `acme/infra`, which ends with this.
pub struct ForgeServer {
    server: WebServer,
    inner: Arc<Mutex<Inner>>,
}

impl ForgeServer {
    /// Starts one that lets in who has this token.
    pub fn start(flavour: Flavour, token: &str) -> Self {
        let inner = Arc::new(Mutex::new(Inner {
            flavour,
            token: token.to_owned(),
            pulls: Vec::new(),
            comments: Vec::new(),
            statuses: Vec::new(),
            ids: 100,
            asked: Vec::new(),
            page_size: 100,
            limited: 0,
            lost: 0,
        }));
        let known = Arc::clone(&inner);
        let server =
            WebServer::start(move |request| known.lock().unwrap_or_else(PoisonError::into_inner).answer(request));
        Self { server, inner }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where its API is.
    pub fn api(&self) -> String {
        match self.inner().flavour {
            Flavour::Github => self.server.url(),
            Flavour::Gitea => format!("{}/api/v1", self.server.url()),
        }
    }

    /// Opens a pull request, or gives it another commit.
    pub fn open(&self, pull: Pull) {
        let mut inner = self.inner();
        inner.pulls.retain(|known| known.number != pull.number);
        inner.pulls.push(pull);
        inner.pulls.sort_by_key(|pull| std::cmp::Reverse(pull.number));
    }

    /// Closes a pull request.
    pub fn close(&self, number: u64) {
        self.inner().pulls.retain(|known| known.number != number);
    }

    /// Somebody else says something.
    pub fn say(&self, number: u64, body: &str) -> u64 {
        self.inner().comment(number, body)
    }

    /// Somebody deletes a comment.
    pub fn unsay(&self, id: u64) {
        self.inner().comments.retain(|comment| comment.id != id);
    }

    /// No more than so many on one page.
    pub fn pages_of(&self, size: usize) {
        self.inner().page_size = size;
    }

    /// The next so many requests are too many.
    pub fn limit(&self, count: usize) {
        self.inner().limited = count;
    }

    /// The next so many comments are written, and nobody hears of it.
    pub fn lose_answers(&self, count: usize) {
        self.inner().lost = count;
    }

    /// The comments on a pull request.
    pub fn comments(&self, number: u64) -> Vec<Comment> {
        self.inner().comments.iter().filter(|comment| comment.number == number).cloned().collect()
    }

    /// All statuses that were set, in their order.
    pub fn statuses(&self) -> Vec<Status> {
        self.inner().statuses.clone()
    }

    /// What was asked: method, path, and status of the answer.
    pub fn asked(&self) -> Vec<String> {
        self.inner().asked.clone()
    }
}

impl Inner {
    fn answer(&mut self, request: &Request) -> Answer {
        let answer = self.answer_to(request);
        self.asked.push(format!("{} {} {}", request.method, request.path, answer.status));
        answer
    }

    fn answer_to(&mut self, request: &Request) -> Answer {
        let scheme = if self.flavour == Flavour::Github { "Bearer" } else { "token" };
        if request.header("authorization") != Some(&format!("{scheme} {}", self.token)) {
            return said(401, "Bad credentials");
        }
        if request.header("user-agent").is_none_or(str::is_empty) {
            return said(403, "Request forbidden by administrative rules: no User-Agent");
        }
        if self.limited > 0 {
            self.limited -= 1;
            let mut answer = said(if self.flavour == Flavour::Github { 403 } else { 429 }, "slow down");
            answer.headers.push(("Retry-After".to_owned(), "1".to_owned()));
            return answer;
        }
        let path = request.path.strip_prefix("/api/v1").unwrap_or(&request.path);
        let Some(rest) = path.strip_prefix("/repos/acme/infra/") else { return said(404, "Not Found") };
        let parts: Vec<&str> = rest.split('/').collect();
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        match (request.method.as_str(), parts.as_slice()) {
            ("GET", ["pulls"]) => {
                let all = self.pulls.iter().map(written).collect();
                self.page(request, all)
            }
            ("GET", ["pulls", number, "files"]) => {
                match self.pulls.iter().find(|pull| pull.number.to_string() == *number) {
                    Some(pull) => {
                        let files =
                            pull.files.iter().map(|name| json!({"filename": name, "status": "modified"})).collect();
                        self.page(request, files)
                    }
                    None => said(404, "Not Found"),
                }
            }
            ("GET", ["issues", number, "comments"]) => {
                let of = self.comments.iter().filter(|comment| comment.number.to_string() == *number);
                let all = of
                    .map(|comment| json!({"id": comment.id, "body": comment.body, "user": {"login": "who"}}))
                    .collect();
                self.page(request, all)
            }
            ("POST", ["issues", number, "comments"]) => self.post(number, &body),
            ("PATCH", ["issues", "comments", id]) => self.patch(id, &body),
            ("DELETE", ["issues", "comments", id]) => self.delete(id),
            ("POST", ["statuses", sha]) => self.status(sha, &body),
            _ => said(404, "Not Found"),
        }
    }

    fn comment(&mut self, number: u64, body: &str) -> u64 {
        self.ids += 1;
        self.comments.push(Comment { id: self.ids, number, body: body.to_owned(), edits: 0 });
        self.ids
    }

    fn is_too_long(&self, body: &str) -> bool {
        self.flavour == Flavour::Github && body.chars().count() > MOST_OF_COMMENT
    }

    fn post(&mut self, number: &str, body: &Value) -> Answer {
        let text = body["body"].as_str().unwrap_or_default();
        if text.is_empty() || self.is_too_long(text) {
            return said(422, "Validation Failed: body is too long (maximum is 65536 characters)");
        }
        let id = self.comment(number.parse().unwrap_or_default(), text);
        if self.lost > 0 {
            self.lost -= 1;
            return Answer::lost();
        }
        Answer::json(201, &json!({"id": id, "body": text}))
    }

    fn patch(&mut self, id: &str, body: &Value) -> Answer {
        let text = body["body"].as_str().unwrap_or_default().to_owned();
        if self.is_too_long(&text) {
            return said(422, "Validation Failed: body is too long (maximum is 65536 characters)");
        }
        match self.comments.iter_mut().find(|comment| comment.id.to_string() == id) {
            Some(comment) => {
                comment.body.clone_from(&text);
                comment.edits += 1;
                Answer::json(200, &json!({"id": comment.id, "body": text}))
            }
            None => said(404, "Not Found"),
        }
    }

    fn delete(&mut self, id: &str) -> Answer {
        let before = self.comments.len();
        self.comments.retain(|comment| comment.id.to_string() != id);
        if self.comments.len() < before { Answer::status(204) } else { said(404, "Not Found") }
    }

    fn status(&mut self, sha: &str, body: &Value) -> Answer {
        let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
        let status = Status {
            sha: sha.to_owned(),
            state: text("state"),
            context: text("context"),
            description: text("description"),
        };
        let is_known = matches!(status.state.as_str(), "pending" | "success" | "failure" | "error");
        if !is_known || sha.len() != 40 || status.description.chars().count() > MOST_OF_DESCRIPTION {
            return said(422, "Validation Failed");
        }
        self.statuses.push(status);
        Answer::json(201, &json!({}))
    }

    fn page(&self, request: &Request, all: Vec<Value>) -> Answer {
        let asked = |name: &str| {
            request.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse::<usize>().ok())
        };
        let (size, most) = match self.flavour {
            Flavour::Github => (asked("per_page").unwrap_or(30), 100),
            Flavour::Gitea => (asked("limit").unwrap_or(30), 50),
        };
        let size = size.min(most).min(self.page_size).max(1);
        let at = asked("page").unwrap_or(1).max(1) - 1;
        let has_next = all.len() > (at + 1) * size;
        let page: Vec<Value> = all.into_iter().skip(at * size).take(size).collect();
        let document = json!(page);
        let tag = format!("W/\"{:x}\"", checksum(&document.to_string()));
        if request.header("if-none-match") == Some(&tag) {
            return Answer::status(304);
        }
        let mut answer = Answer::json(200, &document);
        answer.headers.push(("ETag".to_owned(), tag));
        if has_next {
            let mut link = String::new();
            let _ = write!(link, "<https://elsewhere.example{}?page={}>; rel=\"next\"", request.path, at + 2);
            answer.headers.push(("Link".to_owned(), link));
        }
        answer
    }
}

fn said(status: u16, message: &str) -> Answer {
    Answer::json(status, &json!({ "message": message }))
}

/// Other texts have others, as good as always.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(14_695_981_039_346_656_037, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(1_099_511_628_211))
}

fn written(pull: &Pull) -> Value {
    let repository = json!({"full_name": "acme/infra", "default_branch": "main"});
    let from = pull.from.as_ref().map(|name| json!({ "full_name": name }));
    json!({
        "number": pull.number, "state": "open", "title": "a change", "draft": false,
        "head": {"ref": format!("change-{}", pull.number), "sha": pull.sha, "repo": from},
        "base": {"ref": pull.base, "sha": "0".repeat(40), "repo": repository},
    })
}
