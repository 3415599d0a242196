//! The `meta` tag by which a page says where a package is: `<meta name="terraform-get" content="…">`.

/// The address, if the head of the page has one.
pub(super) fn terraform_get(page: &[u8]) -> Option<String> {
    let page = String::from_utf8_lossy(page);
    let mut rest = page.as_ref();
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let tag = Tag::parse(rest);
        if tag.name.eq_ignore_ascii_case("body") || tag.name.eq_ignore_ascii_case("/head") {
            return None;
        }
        let is_ours =
            tag.name.eq_ignore_ascii_case("meta") && tag.attribute("name").as_deref() == Some("terraform-get");
        if let Some(content) = tag.attribute("content").filter(|content| is_ours && !content.is_empty()) {
            return Some(content);
        }
        rest = &rest[tag.length..];
    }
    None
}

struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    length: usize,
}

impl<'a> Tag<'a> {
    /// Reads from behind the `<`. What is malformed ends it: a page that cannot be read names nothing.
    fn parse(text: &'a str) -> Self {
        let name_end = text.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(text.len());
        let mut tag = Tag { name: text[..name_end].trim_end_matches('/'), attributes: Vec::new(), length: name_end };
        loop {
            let rest = &text[tag.length..];
            let start = rest.find(|c: char| !c.is_whitespace() && c != '/').unwrap_or(rest.len());
            let rest = &rest[start..];
            tag.length += start;
            if rest.is_empty() || rest.starts_with('>') {
                return tag;
            }
            let key_end = rest.find(|c: char| c.is_whitespace() || "=>/".contains(c)).unwrap_or(rest.len());
            let (key, behind) = rest.split_at(key_end);
            tag.length += key_end.max(1);
            let Some(value) = behind.trim_start().strip_prefix('=') else {
                if key_end == 0 {
                    return tag;
                }
                continue;
            };
            let value = value.trim_start();
            let quote = value.chars().next().filter(|c| ['"', '\''].contains(c));
            let (value, after) = match quote {
                Some(quote) => match value[1..].find(quote) {
                    Some(end) => (&value[1..=end], &value[end + 2..]),
                    None => return tag,
                },
                None => value.split_at(value.find(|c: char| c.is_whitespace() || c == '>').unwrap_or(value.len())),
            };
            tag.attributes.push((key, value));
            tag.length = text.len() - after.len();
        }
    }

    fn attribute(&self, name: &str) -> Option<String> {
        let found = self.attributes.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| unescape(value))
    }
}

fn unescape(text: &str) -> String {
    let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#34;", "\""), ("&#39;", "'"), ("&apos;", "'")];
    let text = named.iter().fold(text.to_owned(), |text, (entity, plain)| text.replace(entity, plain));
    text.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str) -> Option<String> {
        terraform_get(page.as_bytes())
    }

    #[test]
    fn the_tag_is_found_in_the_head() {
        let wanted = Some("https://example.com/x.zip?a=1&b=2".to_owned());
        for page in [
            r#"<html><head><meta name="terraform-get" content="https://example.com/x.zip?a=1&amp;b=2" /></head></html>"#,
            "<!DOCTYPE html><HEAD><META CONTENT='https://example.com/x.zip?a=1&amp;b=2' NAME='terraform-get'>",
            "<meta charset=utf-8><meta name=terraform-get content=https://example.com/x.zip?a=1&amp;b=2>",
            "<meta\n  name = \"terraform-get\"\n  content = \"https://example.com/x.zip?a=1&amp;b=2\"\n>",
        ] {
            assert_eq!(found(page), wanted, "{page}");
        }
    }

    #[test]
    fn other_places_do_not_count() {
        for page in [
            "",
            "<",
            "<meta",
            "<meta name=",
            "<meta name=\"terraform-get",
            "<meta = = =>",
            r#"<body><meta name="terraform-get" content="x">"#,
            r#"<head></head><meta name="terraform-get" content="x">"#,
            r#"<!-- <meta name="terraform-get" content="x"> -->"#,
            r#"<meta name="other" content="x">"#,
            r#"<meta name="terraform-get" content="">"#,
        ] {
            assert_eq!(found(page), None, "{page}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_page_is_read_without_panicking(page in "[<>a-z/=\"' !é-]{0,60}") {
            let _ = found(&page);
            let _ = found(&format!("<meta {page}"));
        }
    }
}
