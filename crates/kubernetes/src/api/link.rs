//! One way to reach a server: a client with credentials that are renewed, and single requests through it.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use groma_kit::outside::Outside;
use groma_network::{Unreachable, hold_cluster};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request};
use kube::client::Body;
use kube::{Client, Config};

use super::credentials::{Credentials, Source};
use super::settings::Settings;
use crate::failure::{Failure, FailureKind, causes};

/// How long one request may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A request.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    /// Path and query.
    pub(super) target: String,
    pub(super) content_type: Option<&'static str>,
    pub(super) body: Bytes,
    /// Whether doing it twice is the same as doing it once.
    pub(super) repeatable: bool,
}

/// An answer, whatever it is.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// A way to reach a server.
pub(super) struct Link {
    config: Config,
    source: Source,
    outside: Outside,
    current: RwLock<Option<Arc<Pass>>>,
    /// Whoever gets new credentials; the others wait for them.
    turn: tokio::sync::Mutex<()>,
}

/// A client with what it shows at the door.
struct Pass {
    client: Client,
    credentials: Credentials,
}

impl Link {
    pub(super) fn new(settings: Settings, outside: &Outside) -> Self {
        let Settings { config, source } = settings;
        Self {
            config,
            source,
            outside: outside.clone(),
            current: RwLock::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// Asks once. Credentials that the server does not know are renewed, if they can be.
    pub(super) async fn ask(&self, ask: &Ask) -> Result<Answer, Failure> {
        let pass = self.pass(None).await?;
        let answer = exchange(&pass, ask).await?;
        if answer.status != 401 || !self.source.is_renewable() {
            return Ok(answer);
        }
        let renewed = self.pass(Some(&pass)).await?;
        exchange(&renewed, ask).await
    }

    /// The client, with credentials that last a while, and not those that were refused.
    async fn pass(&self, refused: Option<&Arc<Pass>>) -> Result<Arc<Pass>, Failure> {
        if let Some(pass) = self.usable(refused) {
            return Ok(pass);
        }
        let _turn = self.turn.lock().await;
        if let Some(pass) = self.usable(refused) {
            return Ok(pass);
        }
        let before = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        let credentials = match (self.source.get(&self.outside).await, &before) {
            (Ok(credentials), _) => credentials,
            // Whoever takes a token file away while this runs has done so on purpose.
            (Err(_), Some(before)) if matches!(self.source, Source::File(_)) => return Ok(before.clone()),
            (Err(failure), _) => return Err(failure),
        };
        let client = match before.filter(|before| before.credentials.identity == credentials.identity) {
            Some(before) => before.client.clone(),
            None => self.client(&credentials).await?,
        };
        let pass = Arc::new(Pass { client, credentials });
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(pass.clone());
        Ok(pass)
    }

    fn usable(&self, refused: Option<&Arc<Pass>>) -> Option<Arc<Pass>> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let pass = current.as_ref()?;
        let lasts = pass.credentials.renew_at.is_none_or(|at| self.outside.clock.now() < at);
        let is_refused = refused.is_some_and(|refused| Arc::ptr_eq(refused, pass));
        (lasts && !is_refused).then(|| pass.clone())
    }

    async fn client(&self, credentials: &Credentials) -> Result<Client, Failure> {
        let mut config = self.config.clone();
        if let Some((certificate, key)) = &credentials.identity {
            config.auth_info.client_certificate_data = Some(STANDARD.encode(certificate));
            config.auth_info.client_key_data = Some(STANDARD.encode(key).into());
        }
        hold_cluster(self.outside.networks.as_ref(), &mut config).await.map_err(|problem| match problem {
            Unreachable::Refused(refused) => Failure::new(FailureKind::Other, refused.to_string()),
            Unreachable::Failed(problem) => Failure::new(FailureKind::Unreachable, problem.to_string()),
        })?;
        // Certificates are read from files, and programs of old kubeconfigs are run.
        let made = tokio::task::spawn_blocking(move || {
            // One process has one crypto provider; another client may have set it already.
            let _ = rustls::crypto::ring::default_provider().install_default();
            Client::try_from(config)
        });
        match made.await {
            Ok(Ok(client)) => Ok(client),
            Ok(Err(kube::Error::Auth(_))) => {
                Err(Failure::new(FailureKind::Unauthenticated, "the credentials cannot be used"))
            }
            // The address of a proxy may have a password.
            Ok(Err(kube::Error::ProxyProtocolUnsupported { .. } | kube::Error::ProxyProtocolDisabled { .. })) => {
                Err(Failure::new(FailureKind::Other, "the proxy is not one of http, https or socks5"))
            }
            Ok(Err(error)) => Err(Failure::new(FailureKind::Other, causes(&error))),
            Err(error) => Err(Failure::new(FailureKind::Other, error.to_string())),
        }
    }
}

async fn exchange(pass: &Pass, ask: &Ask) -> Result<Answer, Failure> {
    if let Ok(answer) = tokio::time::timeout(PATIENCE, send(pass, ask)).await {
        return answer;
    }
    let message = format!("the server did not answer within {} s (timeout)", PATIENCE.as_secs());
    Err(Failure::new(FailureKind::Unreachable, message))
}

async fn send(pass: &Pass, ask: &Ask) -> Result<Answer, Failure> {
    let mut request = Request::builder()
        .method(ask.method.clone())
        .uri(&ask.target)
        .header(ACCEPT, HeaderValue::from_static("application/json"))
        .header(USER_AGENT, HeaderValue::from_static("groma"));
    if let Some(kind) = ask.content_type {
        request = request.header(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    if let Some(authorization) = &pass.credentials.authorization {
        request = request.header(AUTHORIZATION, authorization.clone());
    }
    let request = request.body(Body::from(ask.body.clone()));
    let request = request.map_err(|error| Failure::new(FailureKind::Other, error.to_string()))?;
    let response = pass.client.send(request).await.map_err(|error| Failure::of_connection(&error))?;
    let (parts, body) = response.into_parts();
    let body = body.collect_bytes().await.map_err(|error| Failure::of_connection(&error))?;
    Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
}
