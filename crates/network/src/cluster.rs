//! Clusters: their server is looked up once, judged, and connected to at that address only.

use http::header::{HOST, HeaderValue};
use http::uri::{Authority, Uri};
use kube::Config;

use crate::{Networks, Unreachable};

/// Holds a client that is made of this to the address that its server, or the proxy on the way there, has now. For everybody else it is still
/// called what it was called: in certificates, and where several share an address.
pub async fn hold_cluster(networks: Option<&Networks>, config: &mut Config) -> Result<(), Unreachable> {
    let Some(networks) = networks else { return Ok(()) };
    if let Some(proxy) = &config.proxy_url {
        if let Some(host) = config.cluster_url.host() {
            networks.check_host(host)?;
        }
        let held = held(networks, proxy).await?;
        // The name of a proxy is needed for its certificate, and there is one name for both.
        if proxy.scheme_str() != Some("https") {
            config.proxy_url = Some(held.uri);
        }
        return Ok(());
    }
    let held = held(networks, &config.cluster_url).await?;
    if let Some(name) = held.name {
        if let Some(authority) = config.cluster_url.authority()
            && let Ok(authority) = HeaderValue::from_str(without_user(authority))
        {
            config.headers.push((HOST, authority));
        }
        config.tls_server_name.get_or_insert(name);
    }
    config.cluster_url = held.uri;
    Ok(())
}

struct Held {
    uri: Uri,
    /// What it was called, if that was a name.
    name: Option<String>,
}

async fn held(networks: &Networks, uri: &Uri) -> Result<Held, Unreachable> {
    let Some(host) = uri.host() else { return Ok(Held { uri: uri.clone(), name: None }) };
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("http") { 80 } else { 443 });
    let found = networks.find(host, port).await?;
    if host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok() {
        return Ok(Held { uri: uri.clone(), name: None });
    }
    let no_address = || std::io::Error::other(format!("{host} has no address"));
    let address = found.first().ok_or_else(no_address)?;
    let user =
        uri.authority().and_then(|authority| authority.as_str().rsplit_once('@')).map(|(user, _)| format!("{user}@"));
    let authority = format!("{}{address}", user.unwrap_or_default());
    let mut parts = uri.clone().into_parts();
    parts.authority = Some(authority.parse::<Authority>().map_err(|_| no_address())?);
    Ok(Held { uri: Uri::from_parts(parts).map_err(|_| no_address())?, name: Some(host.to_owned()) })
}

fn without_user(authority: &Authority) -> &str {
    authority.as_str().rsplit_once('@').map_or(authority.as_str(), |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback_allowed() -> Networks {
        Networks::new("-allow", &["127.0.0.0/8".parse().unwrap(), "::1".parse().unwrap()], &[])
    }

    #[tokio::test]
    async fn a_server_keeps_its_name_and_gets_an_address() {
        let mut config = Config::new("https://localhost:6443/k8s".parse().unwrap());
        hold_cluster(Some(&loopback_allowed()), &mut config).await.unwrap();
        let host = config.cluster_url.host().unwrap();
        assert!(host == "127.0.0.1" || host == "[::1]", "{host}");
        assert_eq!((config.cluster_url.port_u16(), config.cluster_url.path()), (Some(6443), "/k8s"));
        assert_eq!(config.tls_server_name.as_deref(), Some("localhost"));
        assert_eq!(config.headers, [(HOST, HeaderValue::from_static("localhost:6443"))]);
    }

    #[tokio::test]
    async fn servers_and_proxies_are_judged() {
        let usual = Networks::usual("-allow");
        for url in [
            "https://localhost:6443",
            "https://127.0.0.1",
            "https://[::1]:1",
            "https://169.254.169.254",
            "https://2130706433",
        ] {
            let mut config = Config::new(url.parse().unwrap());
            let said = hold_cluster(Some(&usual), &mut config).await.unwrap_err();
            assert!(matches!(said, Unreachable::Refused(_)), "{url}: {said}");
            let mut config = Config::new("https://192.0.2.1".parse().unwrap());
            config.proxy_url = Some(url.replace("https", "http").parse().unwrap());
            assert!(hold_cluster(Some(&usual), &mut config).await.is_err(), "{url}");
        }
        let mut config = Config::new("https://192.0.2.1:6443".parse().unwrap());
        hold_cluster(Some(&usual), &mut config).await.unwrap();
        assert_eq!(
            (config.cluster_url.to_string().as_str(), config.tls_server_name),
            ("https://192.0.2.1:6443/", None)
        );
    }
}
