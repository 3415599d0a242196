//! What certificates may be used for, by the names that configurations have for it.

/// All names, sorted.
pub(super) const NAMES: [&str; 23] = [
    "any_extended",
    "cert_signing",
    "client_auth",
    "code_signing",
    "content_commitment",
    "crl_signing",
    "data_encipherment",
    "decipher_only",
    "digital_signature",
    "email_protection",
    "encipher_only",
    "ipsec_end_system",
    "ipsec_tunnel",
    "ipsec_user",
    "key_agreement",
    "key_encipherment",
    "microsoft_commercial_code_signing",
    "microsoft_kernel_code_signing",
    "microsoft_server_gated_crypto",
    "netscape_server_gated_crypto",
    "ocsp_signing",
    "server_auth",
    "timestamping",
];

/// The bit of a basic use; 0 for the extended ones.
pub(super) fn bit(name: &str) -> u16 {
    const BITS: [&str; 9] = [
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "cert_signing",
        "crl_signing",
        "encipher_only",
        "decipher_only",
    ];
    BITS.iter().position(|bit| *bit == name).map_or(0, |at| 1 << at)
}

/// The object identifier of an extended use; none for the basic ones.
pub(super) fn extended(name: &str) -> Option<&'static [u64]> {
    Some(match name {
        "any_extended" => &[2, 5, 29, 37, 0],
        "server_auth" => &[1, 3, 6, 1, 5, 5, 7, 3, 1],
        "client_auth" => &[1, 3, 6, 1, 5, 5, 7, 3, 2],
        "code_signing" => &[1, 3, 6, 1, 5, 5, 7, 3, 3],
        "email_protection" => &[1, 3, 6, 1, 5, 5, 7, 3, 4],
        "ipsec_end_system" => &[1, 3, 6, 1, 5, 5, 7, 3, 5],
        "ipsec_tunnel" => &[1, 3, 6, 1, 5, 5, 7, 3, 6],
        "ipsec_user" => &[1, 3, 6, 1, 5, 5, 7, 3, 7],
        "timestamping" => &[1, 3, 6, 1, 5, 5, 7, 3, 8],
        "ocsp_signing" => &[1, 3, 6, 1, 5, 5, 7, 3, 9],
        "microsoft_server_gated_crypto" => &[1, 3, 6, 1, 4, 1, 311, 10, 3, 3],
        "netscape_server_gated_crypto" => &[2, 16, 840, 1, 113_730, 4, 1],
        "microsoft_commercial_code_signing" => &[1, 3, 6, 1, 4, 1, 311, 2, 1, 22],
        "microsoft_kernel_code_signing" => &[1, 3, 6, 1, 4, 1, 311, 61, 1, 1],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_means_something() {
        assert!(NAMES.is_sorted());
        for name in NAMES {
            assert!((bit(name) != 0) != extended(name).is_some(), "{name}");
        }
    }
}
