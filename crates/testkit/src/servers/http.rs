//! A server of states as the `http` backend wants one, on loopback: every path is a state with a lock of its own. How strict it is
//! can be chosen, since servers differ.

use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use groma_state::LockInfo;

use super::web::{Request, read_request};

/// What a server lets through.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// Whether who holds a lock may lock again, and say something new by that.
    pub locks_again: bool,
    /// Whether something may be stored under the name of a lock that nobody holds.
    pub trusts_names: bool,
    /// The text of the only `Authorization` that is let in.
    pub authorization: Option<&'static str>,
}

/// One state.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    /// As it was stored.
    pub state: Option<Vec<u8>>,
    /// As whoever holds it has described it.
    pub lock: Option<String>,
    /// How often it was stored.
    pub stored: usize,
}

/// How many requests fail before one does not, and with which status.
type Failures = Mutex<(usize, u16)>;

#[derive(Default)]
struct Inner {
    shelves: Mutex<BTreeMap<String, Shelf>>,
    failures: Failures,
    ended: AtomicBool,
}

/// A server that ends with this.
pub struct StateServer {
    scheme: &'static str,
    port: u16,
    inner: Arc<Inner>,
}

impl StateServer {
    /// Starts one.
    pub fn start(rules: Rules) -> Self {
        Self::listen("http", move |connection, inner| serve(connection, inner, rules))
    }

    /// Starts one that lets only those in who have a certificate, and what they need for that.
    pub fn start_with_certificates(rules: Rules) -> (Self, Certificates) {
        let (config, certificates) = certificates();
        let server = Self::listen("https", move |connection, inner| {
            let session = rustls::ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
            serve(rustls::StreamOwned::new(session, connection), inner, rules)
        });
        (server, certificates)
    }

    fn listen(
        scheme: &'static str,
        serve: impl Fn(TcpStream, &Inner) -> io::Result<()> + Clone + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let inner = Arc::new(Inner::default());
        let shared = Arc::clone(&inner);
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if shared.ended.load(Ordering::SeqCst) {
                    return;
                }
                let (shared, serve) = (Arc::clone(&shared), serve.clone());
                std::thread::spawn(move || {
                    let _ = serve(connection, &shared);
                });
            }
        });
        Self { scheme, port, inner }
    }

    /// The address of a state.
    pub fn address(&self, name: &str) -> String {
        format!("{}://127.0.0.1:{}/{name}", self.scheme, self.port)
    }

    /// What is there.
    pub fn shelf(&self, name: &str) -> Shelf {
        self.shelves().get(&format!("/{name}")).cloned().unwrap_or_default()
    }

    /// Changes what is there behind everybody's back.
    pub fn change(&self, name: &str, change: impl FnOnce(&mut Shelf)) {
        change(self.shelves().entry(format!("/{name}")).or_default());
    }

    /// The next requests fail, and then one does not.
    pub fn fail(&self, times: usize, status: u16) {
        *self.inner.failures.lock().unwrap_or_else(PoisonError::into_inner) = (times, status);
    }

    fn shelves(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Shelf>> {
        self.inner.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StateServer {
    fn drop(&mut self) {
        self.inner.ended.store(true, Ordering::SeqCst);
        // It waits for somebody to come.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

/// What a client needs to be let in, as PEM.
pub struct Certificates {
    /// Who has signed the certificates of both sides.
    pub authority: String,
    /// The certificate of the client.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

fn certificates() -> (Arc<rustls::ServerConfig>, Certificates) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let pair = || rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::<String>::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = pair();
    let root = authority.self_signed(&authority_key).unwrap();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let signed = |name: &str| {
        let key = pair();
        let certificate =
            rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
        (certificate, key)
    };
    let (server, client) = (signed("127.0.0.1"), signed("client"));
    let mut roots = rustls::RootCertStore::empty();
    roots.add(root.der().clone()).unwrap();
    let verifier = rustls::server::WebPkiClientVerifier::builder(Arc::new(roots)).build().unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(server.1.serialize_der());
    let config = rustls::ServerConfig::builder()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![server.0.der().clone()], key.into())
        .unwrap();
    let certificates =
        Certificates { authority: root.pem(), certificate: client.0.pem(), key: client.1.serialize_pem() };
    (Arc::new(config), certificates)
}

type Answer = (u16, Vec<u8>);

/// Serves one connection until the other side has enough.
fn serve(connection: impl io::Read + io::Write, inner: &Inner, rules: Rules) -> io::Result<()> {
    let mut reader = BufReader::new(connection);
    while let Some(request) = read_request(&mut reader)? {
        let (status, body) = answer(&request, inner, rules);
        let head = format!("HTTP/1.1 {status} Status\r\nContent-Length: {}\r\n\r\n", body.len());
        let writer = reader.get_mut();
        writer.write_all(head.as_bytes())?;
        writer.write_all(&body)?;
        writer.flush()?;
    }
    Ok(())
}

/// The name of the lock that something is stored under.
fn lock_id(request: &Request) -> Option<String> {
    request.query.split('&').find_map(|pair| pair.strip_prefix("ID=")).map(str::to_owned)
}

fn answer(request: &Request, inner: &Inner, rules: Rules) -> Answer {
    let authorization = request.header("authorization");
    if rules.authorization.is_some_and(|wanted| authorization != Some(wanted)) {
        return (if authorization.is_none() { 401 } else { 403 }, Vec::new());
    }
    {
        let mut failures = inner.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.0 > 0 {
            failures.0 -= 1;
            return (failures.1, Vec::new());
        }
    }
    let mut shelves = inner.shelves.lock().unwrap_or_else(PoisonError::into_inner);
    let shelf = shelves.entry(request.path.clone()).or_default();
    match request.method.as_str() {
        "GET" => shelf.state.clone().map_or((404, Vec::new()), |state| (200, state)),
        "POST" | "PUT" => store(shelf, request, rules),
        "LOCK" => lock(shelf, request, rules),
        "UNLOCK" => unlock(shelf, request),
        "DELETE" => {
            shelf.state = None;
            (200, Vec::new())
        }
        _ => (405, Vec::new()),
    }
}

fn id_of(lock: &str) -> Option<String> {
    LockInfo::from_json(lock).map(|info| info.id)
}

fn refused(lock: &str) -> Answer {
    (423, lock.as_bytes().to_vec())
}

fn store(shelf: &mut Shelf, request: &Request, rules: Rules) -> Answer {
    match (&shelf.lock, lock_id(request)) {
        (Some(lock), id) if id_of(lock) != id => return refused(lock),
        (None, Some(_)) if !rules.trusts_names => return (409, Vec::new()),
        _ => {}
    }
    shelf.state = Some(request.body.clone());
    shelf.stored += 1;
    (200, Vec::new())
}

fn lock(shelf: &mut Shelf, request: &Request, rules: Rules) -> Answer {
    let asked = String::from_utf8_lossy(&request.body).into_owned();
    if let Some(lock) = &shelf.lock
        && !(rules.locks_again && id_of(lock) == id_of(&asked))
    {
        return refused(lock);
    }
    shelf.lock = Some(asked);
    (200, Vec::new())
}

fn unlock(shelf: &mut Shelf, request: &Request) -> Answer {
    let asked = String::from_utf8_lossy(&request.body);
    match &shelf.lock {
        // Some tools send nothing when they are told to.
        Some(lock) if !asked.is_empty() && id_of(lock) != id_of(&asked) => refused(lock),
        _ => {
            shelf.lock = None;
            (200, Vec::new())
        }
    }
}
