//! Where a database is, and who asks: from a connection string in either form, and the variables that everybody uses for it.
//! The names are those of `lib/pq`, which the other tools use, with its defaults.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use groma_network::{Networks, Unreachable};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::tls::Tls;
use crate::Surroundings;

/// A database and whoever uses it.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// Without anything secret.
    pub(super) shown: String,
}

/// Variables of the environment, and which parameter each one stands for.
const VARIABLES: &[(&str, &str)] = &[
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGPORT", "port"),
    ("PGDATABASE", "dbname"),
    ("PGUSER", "user"),
    ("PGPASSWORD", "password"),
    ("PGPASSFILE", "passfile"),
    ("PGOPTIONS", "options"),
    ("PGAPPNAME", "application_name"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGTARGETSESSIONATTRS", "target_session_attrs"),
];

/// How long to wait for a server that does not answer, unless something is said.
const PATIENCE: Duration = Duration::from_secs(30);

/// Holds a connection to the addresses that its hosts have now, if they may be connected to. The names stay, for certificates.
pub(super) async fn hold(config: &mut Config, networks: &Networks) -> Result<(), Unreachable> {
    for address in config.get_hostaddrs() {
        networks.check(*address)?;
    }
    if !config.get_hostaddrs().is_empty() {
        return Ok(());
    }
    let hosts = config.get_hosts().to_vec();
    let ports = config.get_ports().to_vec();
    for (at, host) in hosts.iter().enumerate() {
        let name = match host {
            Host::Tcp(name) => name,
            #[cfg(unix)]
            Host::Unix(path) => {
                let problem = format!("{} is on this machine, and nothing is connected to there", path.display());
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem).into());
            }
        };
        let port = ports.get(at).or_else(|| ports.first()).copied().unwrap_or(5432);
        if let Some(address) = networks.find(name, port).await?.first() {
            config.hostaddr(address.ip());
        }
    }
    Ok(())
}

type Parameters = BTreeMap<String, String>;

impl Address {
    /// From a connection string, which may be empty.
    pub(super) fn new(conn_str: &str, surroundings: &Surroundings) -> Result<Self, String> {
        let mut parameters = Parameters::new();
        for (variable, name) in VARIABLES {
            if let Some(value) = (surroundings.variable)(variable).filter(|value| !value.is_empty()) {
                parameters.insert((*name).to_owned(), value);
            }
        }
        for refused in ["PGSERVICE", "PGSERVICEFILE"] {
            if (surroundings.variable)(refused).is_some_and(|value| !value.is_empty()) {
                return Err(format!("{refused} is set, and files of services are not read: name the database itself"));
            }
        }
        let is_url = conn_str.starts_with("postgres://") || conn_str.starts_with("postgresql://");
        parameters.extend(if is_url { of_url(conn_str)? } else { of_pairs(conn_str)? });
        Self::of(parameters, surroundings)
    }

    fn of(mut parameters: Parameters, surroundings: &Surroundings) -> Result<Self, String> {
        let mut take = |name: &str| parameters.remove(name).filter(|value| !value.is_empty());
        let file = |path: String| match surroundings.readable(&path) {
            Err(problem) if problem.kind() == std::io::ErrorKind::PermissionDenied => Err(problem.to_string()),
            // What else is wrong with it is told when it is read.
            place => Ok(place.unwrap_or_else(|_| surroundings.working_dir.join(path))),
        };
        let tls = Tls {
            mode: take("sslmode").unwrap_or_else(|| "require".to_owned()),
            root: take("sslrootcert").map(file).transpose()?,
            certificate: take("sslcert").map(file).transpose()?,
            key: take("sslkey").map(file).transpose()?,
        };
        let mut config = Config::new();
        config.ssl_mode(match tls.mode.as_str() {
            "disable" => SslMode::Disable,
            "allow" | "prefer" => SslMode::Prefer,
            "require" | "verify-ca" | "verify-full" => SslMode::Require,
            other => {
                return Err(format!(
                    "unsupported sslmode {other:?}; there are disable, require, verify-ca and verify-full"
                ));
            }
        });
        let host = take("host").unwrap_or_else(|| "localhost".to_owned());
        let ports = take("port").unwrap_or_else(|| "5432".to_owned());
        for host in host.split(',') {
            config.host(host);
        }
        for address in take("hostaddr").iter().flat_map(|all| all.split(',')) {
            config.hostaddr(address.parse().map_err(|_| format!("hostaddr {address:?} is no IP address"))?);
        }
        for port in ports.split(',') {
            config.port(port.parse().map_err(|_| format!("port {port:?} is no number of a port"))?);
        }
        let somebody = || ["USER", "LOGNAME"].iter().find_map(|name| (surroundings.variable)(name));
        let user = take("user").or_else(somebody).ok_or("it does not say as which user to connect")?;
        let database = take("dbname").unwrap_or_else(|| user.clone());
        config.user(&user).dbname(&database);
        let passfile = take("passfile").map(PathBuf::from);
        let password = take("password").or_else(|| {
            let home = surroundings.home.as_ref().map(|home| home.join(".pgpass"));
            let place = surroundings.readable(passfile.or(home)?);
            let text = place.and_then(std::fs::read_to_string).ok()?;
            password_in(&text, &[&host, &ports, &database, &user])
        });
        if let Some(password) = password {
            config.password(password);
        }
        let patience = match take("connect_timeout").map(|text| text.parse::<u64>()) {
            None | Some(Ok(0)) => PATIENCE,
            Some(Ok(seconds)) => Duration::from_secs(seconds),
            Some(Err(_)) => return Err("connect_timeout is no number of seconds".to_owned()),
        };
        config.connect_timeout(patience).keepalives_idle(Duration::from_mins(1));
        let fallback = take("fallback_application_name");
        config.application_name(take("application_name").or(fallback).unwrap_or_else(|| "groma".to_owned()));
        match take("target_session_attrs").as_deref() {
            None | Some("any") => {}
            Some("read-write" | "primary") => {
                config.target_session_attrs(TargetSessionAttrs::ReadWrite);
            }
            Some(other) => return Err(format!("unsupported target_session_attrs {other:?}")),
        }
        let mut options = take("options").unwrap_or_default();
        for ours in [
            "client_encoding",
            "binary_parameters",
            "disable_prepared_binary_result",
            "sslsni",
            "sslinline",
            "krbsrvname",
            "krbspn",
            "gssencmode",
        ] {
            take(ours);
        }
        // Everything else is a setting of the session.
        for (name, value) in &parameters {
            if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte)) {
                return Err(format!("there is no parameter {name:?}"));
            }
            let value = value.replace('\\', "\\\\").replace(' ', "\\ ");
            let _ = write!(options, " -c {name}={value}");
        }
        if !options.trim().is_empty() {
            config.options(options.trim());
        }
        let shown = format!("{user}@{host}:{ports}/{database}");
        Ok(Address { config, tls, shown })
    }
}

fn of_url(text: &str) -> Result<Parameters, String> {
    // Never the text itself: there is a password in it.
    let url = url::Url::parse(text).map_err(|error| format!("it is no URL: {error}"))?;
    let decoded = |text: &str| {
        let pairs = format!("x={}", text.replace('+', "%2B"));
        let value = url::form_urlencoded::parse(pairs.as_bytes()).next().map(|(_, value)| value.into_owned());
        value.unwrap_or_default()
    };
    let mut parameters = Parameters::new();
    let mut set = |name: &str, value: String| {
        if !value.is_empty() {
            parameters.insert(name.to_owned(), value);
        }
    };
    set("user", decoded(url.username()));
    set("password", decoded(url.password().unwrap_or_default()));
    set("host", decoded(url.host_str().unwrap_or_default()).trim_matches(['[', ']']).to_owned());
    set("port", url.port().map(|port| port.to_string()).unwrap_or_default());
    set("dbname", decoded(url.path().trim_start_matches('/')));
    parameters.extend(url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())));
    Ok(parameters)
}

/// `name=value name='va\'lue'`
fn of_pairs(text: &str) -> Result<Parameters, String> {
    let mut parameters = Parameters::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, after) =
            rest.split_once('=').ok_or("it is neither a postgres:// URL nor a list of names and values")?;
        let after = after.trim_start();
        let (quoted, mut letters) = match after.strip_prefix('\'') {
            Some(inner) => (true, inner.char_indices()),
            None => (false, after.char_indices()),
        };
        let body = if quoted { &after[1..] } else { after };
        let mut value = String::new();
        let mut end = None;
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
                '\'' if quoted => {
                    end = Some(at + 1);
                    break;
                }
                letter if !quoted && letter.is_whitespace() => {
                    end = Some(at);
                    break;
                }
                letter => value.push(letter),
            }
        }
        if quoted && end.is_none() {
            return Err(format!("the value of {:?} has no closing quote", name.trim()));
        }
        parameters.insert(name.trim().to_owned(), value);
        rest = end.map_or("", |end| body[end..].trim_start());
    }
    Ok(parameters)
}

/// The password of the first line of a password file that fits.
fn password_in(text: &str, wanted: &[&str; 4]) -> Option<String> {
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut fields = vec![String::new()];
        let mut letters = line.chars();
        while let Some(letter) = letters.next() {
            let field = fields.last_mut()?;
            match letter {
                '\\' => field.extend(letters.next()),
                ':' => fields.push(String::new()),
                letter => field.push(letter),
            }
        }
        let fits = |(field, wanted): (&String, &&str)| field == "*" || field == wanted;
        if fields.len() == 5 && fields.iter().zip(wanted).all(fits) {
            return fields.pop();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn address(conn_str: &str, variables: &'static [(&str, &str)]) -> Result<Address, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let surroundings = Surroundings {
            variable: Arc::new(|name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, it)| (*it).to_owned())
            }),
            working_dir: "wd".into(),
            home: None,
            runtime: runtime.handle().clone(),
            random: Arc::new(|| [0; 16]),
            spool: "spool".into(),
            cluster: None,
            limits: crate::Limits::default(),
            is_gone: None,
        };
        Address::new(conn_str, &surroundings)
    }

    #[test]
    fn both_forms_say_the_same() {
        let url =
            address("postgres://me:s%40%20x@db.example:5433/st%61tes?sslmode=disable&search_path=a%20b", &[]).unwrap();
        let pairs = address(
            "host=db.example port=5433 user = me password='s@ x' dbname=states sslmode=disable search_path='a b'",
            &[],
        );
        for address in [url, pairs.unwrap()] {
            assert_eq!(address.shown, "me@db.example:5433/states");
            assert_eq!(address.config.get_password(), Some("s@ x".as_bytes()));
            assert_eq!(address.config.get_options(), Some("-c search_path=a\\ b"));
            assert_eq!(address.config.get_ssl_mode(), SslMode::Disable);
        }
    }

    #[test]
    fn what_is_not_said_comes_from_variables_and_then_from_defaults() {
        let given =
            address("", &[("PGHOST", "/run/pg"), ("PGUSER", "u"), ("PGPASSWORD", "p"), ("PGSSLMODE", "disable")])
                .unwrap();
        assert_eq!(given.shown, "u@/run/pg:5432/u");
        let nothing = address("", &[("USER", "somebody")]).unwrap();
        assert_eq!(nothing.shown, "somebody@localhost:5432/somebody");
        // As with the other tools, nobody talks in the clear by mistake.
        assert_eq!(nothing.config.get_ssl_mode(), SslMode::Require);
        assert_eq!(nothing.tls.mode, "require");
        let socket = address("postgres:///db?host=/run/pg&user=me", &[]).unwrap();
        assert_eq!(socket.shown, "me@/run/pg:5432/db");
        let both = address("postgres://a@there/db", &[("PGHOST", "here"), ("PGPORT", "1"), ("USER", "x")]).unwrap();
        assert_eq!(both.shown, "a@there:1/db");
    }

    #[test]
    fn mistakes_are_named_without_secrets() {
        let wrong = |conn_str| address(conn_str, &[("USER", "x")]).err().unwrap();
        for conn_str in [
            "postgres://u:secret@host:port/db",
            "password=secret nonsense",
            "password='secret",
            "password=secret port=abc",
            "password=secret sslmode=sometimes",
            "password=secret connect_timeout=x",
            "password=secret host=h hostaddr=h",
            "password=secret a-b=c",
        ] {
            let reason = wrong(conn_str);
            assert!(!reason.contains("secret"), "{reason}");
        }
        assert!(wrong("sslmode=sometimes").contains("verify-full"));
        assert!(address("", &[("PGSERVICE", "x")]).err().unwrap().contains("PGSERVICE"));
        assert!(address("", &[]).err().unwrap().contains("which user"));
    }

    #[test]
    fn password_files_are_understood() {
        let text = "# h:1:d:u:no\nh:1:d:other:no\nh\\:x:1:d:u:no\n*:1:d:u:p\\:w\\\\d\n*:*:*:*:last\n";
        assert_eq!(password_in(text, &["h", "1", "d", "u"]).as_deref(), Some("p:w\\d"));
        assert_eq!(password_in(text, &["h", "2", "d", "u"]).as_deref(), Some("last"));
        assert_eq!(password_in("a:b", &["h", "2", "d", "u"]), None);
    }
}
