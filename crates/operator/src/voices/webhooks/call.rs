//! Asking: a signed request with a time limit, tried again when there is no answer, to the address itself and not to where it leads.

use std::error::Error as _;
use std::time::Duration;

use groma_network::{Networks, Refused, guarded};
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Certificate, Client, ClientBuilder, Identity, Url};
use sha2::Sha256;

use super::Prepared;
use super::address::check_url;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
const MOST_PATIENCE: Duration = Duration::from_mins(1);
/// How often it is asked again.
const RETRIES: u32 = 2;
const MOST_RETRIES: u32 = 5;
/// How long to wait before; doubled each time.
const PAUSE: Duration = Duration::from_millis(250);
/// What is read of an answer.
const MOST_BYTES: usize = 64 << 10;
/// What a request was signed with.
pub(crate) const SIGNATURE: &str = "x-groma-signature-256";

/// An attempt that failed.
struct Failed {
    message: String,
    /// Whether another attempt may go better.
    passes: bool,
}

/// Asks. Gives the body of the answer.
pub(super) async fn call(prepared: &Prepared, body: String, networks: Option<&Networks>) -> Result<Vec<u8>, String> {
    let webhook = &prepared.webhook;
    let url = allowed_url(&webhook.url, networks)?;
    let client = client(prepared, networks)?;
    let retries = webhook.retries.unwrap_or(RETRIES).min(MOST_RETRIES);
    let mut attempt = 0;
    loop {
        match once(&client, &url, prepared, &body).await {
            Ok(answer) => return Ok(answer),
            Err(failed) if !failed.passes || attempt >= retries => return Err(failed.message),
            Err(_) => tokio::time::sleep(PAUSE * (1 << attempt)).await,
        }
        attempt += 1;
    }
}

/// A client for addresses that others have written down: it goes there and nowhere else.
pub(crate) fn outward(patience: Duration, networks: Option<&Networks>) -> ClientBuilder {
    // One process has one crypto provider; another client may have set it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    guarded(Client::builder(), networks)
        .user_agent(concat!("groma/", env!("CARGO_PKG_VERSION")))
        .timeout(patience)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
}

/// Reads an address that others have written down, if connections may lead there.
pub(crate) fn allowed_url(text: &str, networks: Option<&Networks>) -> Result<Url, String> {
    let url = check_url(text)?;
    groma_network::check_url(networks, &url).map_err(|refused| refused.to_string())?;
    Ok(url)
}

fn client(prepared: &Prepared, networks: Option<&Networks>) -> Result<Client, String> {
    let patience = prepared.webhook.timeout.map_or(PATIENCE, |length| length.0).min(MOST_PATIENCE);
    let mut builder = outward(patience, networks);
    if let Some(roots) = &prepared.roots {
        let roots =
            Certificate::from_pem_bundle(&roots.0).map_err(|_| "caFrom has no certificates in PEM".to_owned())?;
        builder = builder.tls_certs_merge(roots);
    }
    if let Some((certificate, key)) = &prepared.certificate {
        let both = [certificate.0.as_slice(), b"\n", key.0.as_slice()].concat();
        // What is wrong with a key is not repeated.
        let identity =
            Identity::from_pem(&both).map_err(|_| "clientCertificate has no certificate and key in PEM".to_owned())?;
        builder = builder.identity(identity);
    }
    builder.build().map_err(|problem| format!("it cannot be asked: {}", causes(&problem)))
}

async fn once(client: &Client, url: &Url, prepared: &Prepared, body: &str) -> Result<Vec<u8>, Failed> {
    let mut request = client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body.to_owned());
    if let Some(key) = &prepared.key {
        request = request.header(SIGNATURE, signature(&key.0, body.as_bytes()));
    }
    let passes = |problem: reqwest::Error| {
        let passes = Refused::behind(&problem).is_none();
        Failed { message: format!("no answer: {}", causes(&problem)), passes }
    };
    let mut answer = request.send().await.map_err(passes)?;
    let status = answer.status();
    if !status.is_success() {
        let passes = status.is_server_error() || status.as_u16() == 429;
        return Err(Failed { message: format!("it answers with {status}"), passes });
    }
    let mut whole = Vec::new();
    while let Some(part) = answer.chunk().await.map_err(passes)? {
        whole.extend_from_slice(&part);
        if whole.len() > MOST_BYTES {
            let message = format!("its answer is longer than {MOST_BYTES} bytes");
            return Err(Failed { message, passes: false });
        }
    }
    Ok(whole)
}

/// What a body is signed with.
pub(crate) fn signature(key: &[u8], body: &[u8]) -> String {
    // Keys of any length will do.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

/// Why it failed, without the address: that is known, and may be long.
pub(crate) fn causes(problem: &reqwest::Error) -> String {
    let mut last = problem.source();
    while let Some(inner) = last.and_then(std::error::Error::source) {
        last = Some(inner);
    }
    match last {
        _ if problem.is_timeout() => "it took too long".to_owned(),
        Some(inner) => inner.to_string(),
        None => "it could not be asked".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_signed_as_others_sign_them() {
        // RFC 4231, second case.
        let signed = signature(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(signed, "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }
}
