//! Logging in and out: which way a host offers, and where its token is kept. Asking people and opening browsers is the caller's
//! business.

mod store;

#[cfg(test)]
mod tests;

use groma_fetch::discovery::{DiscoveryError, LOGIN};
use groma_fetch::host::Host;
use groma_fetch::http::{Request, StatusCode};
use groma_fetch::oauth::{self, CodeGrant, GrantType, LoginService, OauthError};
use groma_model::diag::{Diagnostic, Diagnostics};

use crate::online::Online;
pub use groma_fetch::credentials::Token;
pub use store::{Place, TokenStore};
pub use url::Url;

/// The only host that may be given a password: it is how it always was there, and nobody else should ask for one.
const PASSWORD_HOST: &str = "app.terraform.io";
/// The service of hosts where people make tokens on a page.
const TOKENS_API: &str = "tfe.v2";
/// Descriptions of accounts are small.
const MAX_ACCOUNT: u64 = 1 << 20;

/// How a token is had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// A person says yes in the browser.
    Browser(LoginService),
    /// With name and password.
    Password(LoginService),
    /// A person makes one on this page and hands it over.
    Page {
        /// The page.
        page: Url,
        /// Where it can be tried.
        api: Url,
    },
}

/// A login that can begin.
pub struct Login<'o> {
    online: &'o Online,
    host: Host,
    way: Way,
    store: TokenStore,
    /// What is to be known, but does not keep anybody from going on.
    pub warnings: Diagnostics,
}

/// Reads the name of a host.
fn read_host(text: &str) -> Result<Host, Diagnostic> {
    Host::parse(text).map_err(|problem| {
        Diagnostic::error("Invalid hostname", format!("The given hostname {text:?} is not valid: {problem}."))
    })
}

impl<'o> Login<'o> {
    /// Finds out what a host offers, and where its token would be kept.
    pub fn begin(online: &'o Online, host: &str) -> Result<Login<'o>, Diagnostics> {
        let host = read_host(host)?;
        let store = TokenStore::of_host(online, &host)?;
        let (way, mut diagnostics) = online.wait(way(online, &host))?;
        if *store.place() == Place::OtherFile {
            diagnostics.push(manual(&host, "log in", "To log in, first revoke the existing credentials and remove"));
        }
        match way.filter(|_| !diagnostics.has_errors()) {
            Some(way) => Ok(Login { online, host, way, store, warnings: diagnostics }),
            None => Err(diagnostics),
        }
    }

    /// The name of the host, for people.
    pub fn host(&self) -> String {
        self.host.for_display()
    }

    /// How a token is had there.
    pub fn way(&self) -> &Way {
        &self.way
    }

    /// Where it will be kept.
    pub fn place(&self) -> &Place {
        self.store.place()
    }

    /// Gets a token with the browser. The page is shown as soon as there is somebody who waits for the answer.
    pub fn in_browser(&self, service: &LoginService, show: impl FnOnce(&Url)) -> Result<Token, Diagnostics> {
        let failed = |problem: OauthError| Diagnostics::from(not_granted(&problem));
        self.online.wait(async {
            let grant = CodeGrant::begin(service).await.map_err(failed)?;
            show(&grant.page().map_err(failed)?);
            grant.finish(self.online.discovery().client()).await.map_err(failed)
        })?
    }

    /// Gets a token for a name and a password.
    pub fn with_password(&self, service: &LoginService, user: &str, password: &Token) -> Result<Token, Diagnostics> {
        let client = self.online.discovery().client();
        let token = self.online.wait(oauth::password_grant(client, service, user, password))?;
        token.map_err(|problem| {
            let detail = format!("The remote host did not issue an API token: {problem}.");
            Diagnostic::error("Failed to retrieve API token", detail).into()
        })
    }

    /// Tries a token. Gives the name of the one it belongs to.
    pub fn try_token(&self, api: &Url, token: &Token) -> Result<String, Diagnostics> {
        let failed = |problem: String| {
            Diagnostics::from(Diagnostic::error("Failed to retrieve user account details", format!("{problem}.")))
        };
        let url = api.join("account/details").map_err(|problem| failed(problem.to_string()))?;
        let request = Request::get(url).bearer(Some(token.clone())).plain_http(true);
        let client = self.online.discovery().client();
        let response =
            self.online.wait(client.get(&request, MAX_ACCOUNT))?.map_err(|error| failed(error.to_string()))?;
        if response.status == StatusCode::UNAUTHORIZED {
            return Err(Diagnostic::error("Token is invalid", "The host does not accept this token.").into());
        }
        let account: serde_json::Value =
            response.into_success().and_then(|response| response.json()).map_err(|error| failed(error.to_string()))?;
        Ok(account["data"]["attributes"]["username"].as_str().unwrap_or_default().to_owned())
    }

    /// Keeps a token, in the place of the one that may be there.
    pub fn keep(&self, token: &Token) -> Result<(), Diagnostics> {
        self.store.keep(self.online, &self.host, Some(token)).map_err(|problem| {
            let detail = format!("The given host returned an API token, but it could not be saved: {problem}.");
            Diagnostic::error("Failed to save API token", detail).into()
        })
    }
}

/// A logout that can begin.
pub struct Logout<'o> {
    online: &'o Online,
    host: Host,
    store: TokenStore,
}

impl<'o> Logout<'o> {
    /// Finds out where the token of a host is.
    pub fn begin(online: &'o Online, host: &str) -> Result<Logout<'o>, Diagnostics> {
        let host = read_host(host)?;
        let store = TokenStore::of_host(online, &host)?;
        if *store.place() == Place::OtherFile {
            return Err(manual(&host, "log out", "To log out, revoke the existing credentials and remove").into());
        }
        Ok(Logout { online, host, store })
    }

    /// The name of the host, for people.
    pub fn host(&self) -> String {
        self.host.for_display()
    }

    /// Where the token is. None if there is none.
    pub fn place(&self) -> Option<&Place> {
        Some(self.store.place()).filter(|_| self.store.may_have_one())
    }

    /// Forgets the token.
    pub fn forget(&self) -> Result<(), Diagnostics> {
        self.store.keep(self.online, &self.host, None).map_err(|problem| {
            let detail = format!("Unable to remove stored API token: {problem}.");
            Diagnostic::error("Failed to remove API token", detail).into()
        })
    }
}

fn manual(host: &Host, what: &str, advice: &str) -> Diagnostic {
    let detail = format!(
        "The token of this host stands in a file of the CLI configuration that people write, so groma cannot {what} there.\n\n\
         {advice} that block from the CLI configuration."
    );
    Diagnostic::error(format!("Credentials for {host} are manually configured"), detail)
}

/// How a token is had at a host. Errors come without one.
async fn way(online: &Online, host: &Host) -> (Option<Way>, Diagnostics) {
    let no_login = |problem: String| {
        let detail = format!("The given hostname \"{host}\" cannot support \"groma login\": {problem}.");
        Diagnostic::warning("Host does not support groma login", detail)
    };
    let mut diagnostics = Diagnostics::new();
    match online.discovery().service_description(host, LOGIN).await {
        Ok((base, described)) => match LoginService::read(&base, &described) {
            Ok(service) => return chosen(host, service),
            Err(problem) => diagnostics.push(no_login(format!("in the description of {LOGIN}, {problem}"))),
        },
        // Then people may be able to make a token themselves.
        Err(DiscoveryError::NotProvided { .. }) => {}
        Err(problem @ DiscoveryError::VersionNotSupported { .. }) => diagnostics.push(no_login(problem.to_string())),
        Err(problem) => {
            let summary = format!("Service discovery failed for {host}");
            return (None, Diagnostic::error(summary, format!("{problem}.")).into());
        }
    }
    match online.discovery().service_url(host, TOKENS_API).await {
        Ok(api) => {
            let page =
                format!("https://{}/app/settings/tokens?source=terraform-login", api.host_str().unwrap_or_default());
            match Url::parse(&page) {
                Ok(page) => (Some(Way::Page { page, api }), diagnostics),
                Err(problem) => (None, no_tokens(host, &problem.to_string(), diagnostics)),
            }
        }
        Err(problem) => (None, no_tokens(host, &problem.to_string(), diagnostics)),
    }
}

fn no_tokens(host: &Host, problem: &str, mut diagnostics: Diagnostics) -> Diagnostics {
    let detail = format!("The given hostname \"{host}\" does not support creating authorization tokens: {problem}.");
    diagnostics.push(Diagnostic::error("Host does not support groma tokens API", detail));
    diagnostics
}

fn chosen(host: &Host, service: LoginService) -> (Option<Way>, Diagnostics) {
    if service.grants.contains(&GrantType::Code) {
        return (Some(Way::Browser(service)), Diagnostics::new());
    }
    if service.grants.contains(&GrantType::Password) && host.as_str() == PASSWORD_HOST {
        return (Some(Way::Password(service)), Diagnostics::new());
    }
    let detail =
        format!("The given hostname \"{host}\" does not allow any OAuth grant types that are supported by groma.");
    (None, Diagnostic::error("Host does not support groma login", detail).into())
}

fn not_granted(problem: &OauthError) -> Diagnostic {
    match problem {
        OauthError::NoPort { .. } => {
            let detail = format!(
                "The host sends the browser back to a port of this machine at the end of the login. However, {problem}."
            );
            Diagnostic::error("Can't start temporary login server", detail)
        }
        OauthError::NoRandom(_) => Diagnostic::error("Can't generate login request state", format!("{problem}.")),
        other => {
            let detail = format!("The remote server did not assign an auth token: {other}.");
            Diagnostic::error("Failed to obtain auth token", detail)
        }
    }
}
