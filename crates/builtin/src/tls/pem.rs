//! PEM blocks: text around base64. What is inside is elsewhere.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pem {
    /// What it says it is: `CERTIFICATE`.
    pub(super) label: String,
    /// What is inside.
    pub(super) bytes: Vec<u8>,
}

/// A block as text, in lines of 64 characters.
pub(super) fn encode(label: &str, bytes: &[u8]) -> String {
    let base64 = STANDARD.encode(bytes);
    let mut text = format!("-----BEGIN {label}-----\n");
    for start in (0..base64.len()).step_by(64) {
        text.push_str(&base64[start..(start + 64).min(base64.len())]);
        text.push('\n');
    }
    text + &format!("-----END {label}-----\n")
}

/// The first block in a text. Blocks that are damaged are passed over.
pub(super) fn decode(text: &str) -> Option<Pem> {
    let mut rest = text;
    loop {
        let at = rest.find("-----BEGIN ")?;
        let at_line_start = at == 0 || rest.as_bytes().get(at - 1) == Some(&b'\n');
        rest = &rest[at + "-----BEGIN ".len()..];
        if !at_line_start {
            continue;
        }
        if let Some(pem) = block(rest) {
            return Some(pem);
        }
    }
}

fn block(after_begin: &str) -> Option<Pem> {
    let (first_line, body) = after_begin.split_once('\n')?;
    let label = first_line.trim_end().strip_suffix("-----")?;
    let end = format!("-----END {label}-----");
    let body = &body[..body.find(&end)?];
    let base64: String = without_headers(body).chars().filter(|letter| !letter.is_ascii_whitespace()).collect();
    let bytes = STANDARD.decode(base64).ok()?;
    Some(Pem { label: label.to_owned(), bytes })
}

/// Lines such as `Proc-Type: 4,ENCRYPTED` may come first, followed by an empty line.
fn without_headers(body: &str) -> &str {
    let has_headers = body.lines().next().is_some_and(|line| line.contains(':'));
    if !has_headers {
        return body;
    }
    body.split_once("\n\n").or_else(|| body.split_once("\r\n\r\n")).map_or("", |(_, data)| data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back() {
        let text = encode("CERTIFICATE", &[0xab; 100]);
        assert!(text.lines().all(|line| line.len() <= 64));
        let pem = decode(&format!("some text before\n{text}")).unwrap();
        assert_eq!(pem, Pem { label: "CERTIFICATE".to_owned(), bytes: vec![0xab; 100] });
    }

    #[test]
    fn damaged_blocks_are_passed_over() {
        let good = encode("PUBLIC KEY", &[1, 2, 3]);
        let text = format!("-----BEGIN X-----\n!!!\n-----END X-----\n{good}");
        assert_eq!(decode(&text).unwrap().label, "PUBLIC KEY");
        assert_eq!(decode("-----BEGIN X-----\nAAAA"), None);
        assert_eq!(decode(""), None);
    }

    #[test]
    fn headers_are_no_data() {
        let text = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAQID\n-----END RSA PRIVATE KEY-----\n";
        assert_eq!(decode(text).unwrap().bytes, [1, 2, 3]);
    }
}
