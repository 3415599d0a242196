//! Talking to a server that has pull requests: what is open is listed, comments are written, and commits get a status. GitHub and Gitea
//! (and Forgejo, which comes from it) have the same addresses for that, and differ in how they are asked.

use std::time::Duration;

use hyper::header::{ACCEPT, AUTHORIZATION, ETAG, HeaderMap, IF_NONE_MATCH, LINK, RETRY_AFTER};
use reqwest::{Client, Method};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::repository::Repository;
use crate::api::voices::Forge as Kind;
use crate::bundle::Content;
use crate::objects::cluster::shortened;
use crate::voices::webhooks::call::causes;

/// What is read of an answer. A hundred pull requests with long texts are several megabytes.
const MOST_BYTES: usize = 32 << 20;
/// How many pages are read.
const MOST_PAGES: usize = 50;
/// How long it is waited when a server says that it was asked too often, and not for how long.
const USUAL_PAUSE: Duration = Duration::from_mins(1);
const MOST_PAUSE: Duration = Duration::from_hours(1);
/// What GitHub takes for the text of a status.
const MOST_DESCRIPTION: usize = 140;

/// Why a server did not do what was asked. Nothing of the token is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ForgeError {
    /// It does not want to.
    #[error("{doing}: the server answers with {status}{said}")]
    Refused { doing: String, status: u16, said: String },
    /// It was asked too often.
    #[error("the server was asked too often, and wants to be left alone for {} s", .0.as_secs())]
    Limited(Duration),
    /// It did not answer.
    #[error("{doing}: no answer: {why}")]
    Away { doing: String, why: String },
    /// It answers something else.
    #[error("{doing}: what the server answers is not what was asked for: {why}")]
    Unreadable { doing: String, why: String },
}

/// An open pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) number: u64,
    /// The newest commit.
    pub(super) commit: String,
    /// The branch that it is to become part of.
    pub(super) base: String,
    /// The branch that the repository has unless somebody says otherwise.
    pub(super) usual_base: Option<String>,
    /// Whether it comes from another repository.
    pub(super) is_fork: bool,
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Comment {
    pub(super) id: u64,
    #[serde(default)]
    pub(super) body: String,
}

/// How a commit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CommitState {
    Pending,
    Success,
    Failure,
}

/// A page that was listed before, and what it is known by.
#[derive(Debug, Clone)]
pub(super) struct Page {
    etag: String,
    requests: Vec<Request>,
    has_next: bool,
}

/// A server, and a repository on it.
pub(super) struct Forge<'a> {
    pub(super) client: &'a Client,
    pub(super) kind: Kind,
    pub(super) at: Repository,
    pub(super) token: &'a Content,
    /// In seconds since 1970.
    pub(super) now: i64,
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Forge<'_> {
    /// All open pull requests. `pages` is what was seen the last time: what has not changed is not sent again, and costs nothing.
    pub(super) async fn open(&self, pages: &mut Vec<Page>) -> Result<Vec<Request>, ForgeError> {
        let mut seen: Vec<Page> = Vec::new();
        loop {
            let at = seen.len();
            let known = pages.get(at).filter(|page| !page.etag.is_empty());
            let path = format!("{}?state=open&{}", self.path("pulls"), self.page(at));
            let answer = self.ask(Method::GET, &path, None, known.map(|page| page.etag.as_str())).await?;
            let page = match known {
                Some(known) if answer.status == 304 => known.clone(),
                _ => Page {
                    etag: text(&answer.headers, ETAG.as_str()).to_owned(),
                    requests: Self::requests(&path, &answer.body)?,
                    has_next: has_next(&answer.headers),
                },
            };
            let ends = !page.has_next || at + 1 >= MOST_PAGES;
            seen.push(page);
            if ends {
                break;
            }
        }
        *pages = seen;
        Ok(pages.iter().flat_map(|page| page.requests.iter().cloned()).collect())
    }

    /// The files that a pull request changes, with those that it moves from where they were.
    pub(super) async fn files(&self, number: u64) -> Result<Vec<String>, ForgeError> {
        #[derive(Deserialize)]
        struct File {
            filename: String,
            previous_filename: Option<String>,
        }
        let files: Vec<File> = self.all(&self.path(&format!("pulls/{number}/files"))).await?;
        Ok(files.into_iter().flat_map(|file| [Some(file.filename), file.previous_filename]).flatten().collect())
    }

    /// The comments of a pull request, oldest first.
    pub(super) async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeError> {
        self.all(&self.path(&format!("issues/{number}/comments"))).await
    }

    /// Writes a comment. Gives its id.
    pub(super) async fn comment(&self, number: u64, body: &str) -> Result<u64, ForgeError> {
        let path = self.path(&format!("issues/{number}/comments"));
        let answer = self.ask(Method::POST, &path, Some(json!({ "body": body })), None).await?;
        Ok(read::<Comment>(&path, &answer.body)?.id)
    }

    /// Writes a comment anew. False if it is not there any more.
    pub(super) async fn edit(&self, comment: u64, body: &str) -> Result<bool, ForgeError> {
        let path = self.path(&format!("issues/comments/{comment}"));
        match self.ask(Method::PATCH, &path, Some(json!({ "body": body })), None).await {
            Ok(_) => Ok(true),
            Err(ForgeError::Refused { status: 404, .. }) => Ok(false),
            Err(problem) => Err(problem),
        }
    }

    /// Takes a comment away, if it is there.
    pub(super) async fn remove(&self, comment: u64) -> Result<(), ForgeError> {
        let path = self.path(&format!("issues/comments/{comment}"));
        match self.ask(Method::DELETE, &path, None, None).await {
            Ok(_) | Err(ForgeError::Refused { status: 404, .. }) => Ok(()),
            Err(problem) => Err(problem),
        }
    }

    /// Says how a commit is.
    pub(super) async fn set_status(
        &self,
        commit: &str,
        state: CommitState,
        context: &str,
        description: &str,
    ) -> Result<(), ForgeError> {
        let path = self.path(&format!("statuses/{commit}"));
        let body =
            json!({ "state": state, "context": context, "description": shortened(description, MOST_DESCRIPTION) });
        self.ask(Method::POST, &path, Some(body), None).await.map(|_| ())
    }

    fn path(&self, rest: &str) -> String {
        format!("/repos/{}/{}/{rest}", self.at.owner, self.at.name)
    }

    fn page(&self, at: usize) -> String {
        match self.kind {
            Kind::Github => format!("per_page=100&page={}", at + 1),
            // It gives no more than fifty unless its owner says otherwise.
            Kind::Gitea => format!("limit=50&page={}", at + 1),
        }
    }

    async fn all<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, ForgeError> {
        let mut found = Vec::new();
        for at in 0..MOST_PAGES {
            let path = format!("{path}?{}", self.page(at));
            let answer = self.ask(Method::GET, &path, None, None).await?;
            found.extend(read::<Vec<T>>(&path, &answer.body)?);
            if !has_next(&answer.headers) {
                break;
            }
        }
        Ok(found)
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<Json>,
        etag: Option<&str>,
    ) -> Result<Answer, ForgeError> {
        let doing = format!("{method} {}", path.split('?').next().unwrap_or(path));
        let away = |problem: reqwest::Error| ForgeError::Away { doing: doing.clone(), why: causes(&problem) };
        let token = String::from_utf8_lossy(&self.token.0);
        let mut request = self.client.request(method, format!("{}{path}", self.at.api));
        request = match self.kind {
            Kind::Github => request
                .header(ACCEPT, "application/vnd.github+json")
                .header("x-github-api-version", "2022-11-28")
                .header(AUTHORIZATION, format!("Bearer {}", token.trim())),
            Kind::Gitea => {
                request.header(ACCEPT, "application/json").header(AUTHORIZATION, format!("token {}", token.trim()))
            }
        };
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let mut answer = request.send().await.map_err(away)?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let mut whole = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(away)? {
            whole.extend_from_slice(&part);
            if whole.len() > MOST_BYTES {
                let why = format!("it is longer than {MOST_BYTES} bytes");
                return Err(ForgeError::Unreadable { doing, why });
            }
        }
        if status.is_success() || (status.as_u16() == 304 && etag.is_some()) {
            return Ok(Answer { status: status.as_u16(), headers, body: whole });
        }
        if let Some(pause) = limited(status.as_u16(), &headers, self.now) {
            return Err(ForgeError::Limited(pause));
        }
        Err(ForgeError::Refused { doing, status: status.as_u16(), said: said(&whole, &token) })
    }

    fn requests(path: &str, body: &[u8]) -> Result<Vec<Request>, ForgeError> {
        Ok(read::<Vec<WireRequest>>(path, body)?.into_iter().filter_map(WireRequest::read).collect())
    }
}

/// As servers write it.
#[derive(Debug, Deserialize)]
struct WireRequest {
    number: u64,
    head: WireEnd,
    base: WireEnd,
}

#[derive(Debug, Deserialize)]
struct WireEnd {
    #[serde(rename = "ref")]
    branch: String,
    sha: String,
    /// Null if it was deleted.
    repo: Option<WireRepository>,
}

#[derive(Debug, Deserialize)]
struct WireRepository {
    full_name: String,
    default_branch: Option<String>,
}

impl WireRequest {
    /// None if it has no commit that could be fetched.
    fn read(self) -> Option<Request> {
        let is_hash = |text: &str| {
            matches!(text.len(), 40 | 64) && text.chars().all(|at| at.is_ascii_digit() || ('a'..='f').contains(&at))
        };
        let names = |end: &WireEnd| end.repo.as_ref().map(|repo| repo.full_name.to_lowercase());
        let is_fork = names(&self.head).is_none() || names(&self.head) != names(&self.base);
        let usual_base = self.base.repo.and_then(|repo| repo.default_branch);
        let found = Request { number: self.number, commit: self.head.sha, base: self.base.branch, usual_base, is_fork };
        is_hash(&found.commit).then_some(found)
    }
}

fn read<T: serde::de::DeserializeOwned>(path: &str, body: &[u8]) -> Result<T, ForgeError> {
    serde_json::from_slice(body).map_err(|problem| ForgeError::Unreadable {
        doing: path.split('?').next().unwrap_or(path).to_owned(),
        why: problem.to_string(),
    })
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Whether there is another page. Where it is follows from its number: we do not go where others send us.
fn has_next(headers: &HeaderMap) -> bool {
    text(headers, LINK.as_str()).split(',').any(|link| link.contains("rel=\"next\""))
}

/// For how long a server wants to be left alone, if that is what it says.
fn limited(status: u16, headers: &HeaderMap, now: i64) -> Option<Duration> {
    if !matches!(status, 403 | 429) {
        return None;
    }
    let number = |name: &str| text(headers, name).trim().parse::<i64>().ok();
    let seconds = match (number(RETRY_AFTER.as_str()), number("x-ratelimit-remaining")) {
        (Some(seconds), _) => Some(seconds),
        (None, Some(0)) => number("x-ratelimit-reset").map(|reset| reset.saturating_sub(now)),
        (None, _) if status == 429 => None,
        _ => return None,
    };
    let pause = seconds.and_then(|seconds| u64::try_from(seconds.max(1)).ok()).map(Duration::from_secs);
    Some(pause.unwrap_or(USUAL_PAUSE).min(MOST_PAUSE))
}

/// What a server says about a refusal, in brackets.
fn said(body: &[u8], token: &str) -> String {
    let message = serde_json::from_slice::<Json>(body).ok();
    let message = message.as_ref().and_then(|message| message["message"].as_str()).unwrap_or_default();
    let message: String = message.chars().map(|at| if at.is_control() { ' ' } else { at }).collect();
    let is_safe = !message.is_empty() && (token.trim().is_empty() || !message.contains(token.trim()));
    if is_safe { format!(" ({})", shortened(&message, 200)) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(given: &[(&'static str, &str)]) -> HeaderMap {
        given
            .iter()
            .map(|(name, value)| (hyper::header::HeaderName::from_static(name), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn servers_say_in_several_ways_that_they_are_asked_too_often() {
        let pause =
            |status, given: &[(&'static str, &str)]| limited(status, &headers(given), 1_000).map(|it| it.as_secs());
        assert_eq!(pause(403, &[("retry-after", "30")]), Some(30));
        assert_eq!(pause(403, &[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1090")]), Some(90));
        assert_eq!(pause(429, &[]), Some(60));
        assert_eq!(pause(429, &[("retry-after", "999999")]), Some(3600));
        assert_eq!(pause(403, &[("x-ratelimit-remaining", "7")]), None, "that is a refusal");
        assert_eq!(pause(500, &[("retry-after", "30")]), None);
    }

    #[test]
    fn a_deleted_fork_is_a_fork() {
        let request = |head: Json| {
            let base = json!({"ref": "main", "sha": "b".repeat(40), "repo": {"full_name": "Acme/Infra", "default_branch": "main"}});
            serde_json::from_value::<WireRequest>(json!({"number": 7, "head": head, "base": base})).unwrap().read()
        };
        let sha = "a".repeat(40);
        let own = request(json!({"ref": "x", "sha": sha, "repo": {"full_name": "acme/infra"}})).unwrap();
        assert!(!own.is_fork);
        assert!(request(json!({"ref": "x", "sha": sha, "repo": {"full_name": "eve/infra"}})).unwrap().is_fork);
        assert!(request(json!({"ref": "x", "sha": sha, "repo": null})).unwrap().is_fork);
        assert_eq!(request(json!({"ref": "x", "sha": "../../x", "repo": null})), None, "no commit");
    }

    #[test]
    fn the_token_is_in_no_refusal() {
        let body = json!({"message": "no such token: hunter2\u{1b}[1m"}).to_string();
        assert_eq!(said(body.as_bytes(), "hunter2"), "");
        assert_eq!(said(body.as_bytes(), "other"), " (no such token: hunter2 [1m)");
        assert_eq!(said(b"<html>", "other"), "");
    }
}
