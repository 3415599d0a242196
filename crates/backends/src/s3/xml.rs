//! The little XML that answers are made of: listings and errors.

use quick_xml::Reader;
use quick_xml::events::Event;

/// An object in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) key: String,
    pub(super) size: u64,
}

/// One page of a listing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) found: Vec<Found>,
    /// Where the next one begins, if there is one.
    pub(super) next: Option<String>,
}

/// Every text in a document, with the names of the elements that it is in.
fn texts(document: &str) -> Result<Vec<(Vec<String>, String)>, String> {
    let mut reader = Reader::from_str(document);
    let mut path: Vec<String> = Vec::new();
    let mut found: Vec<(Vec<String>, String)> = Vec::new();
    let mut current = String::new();
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(start) => {
                path.push(start.local_name().into_inner().to_owned());
                current.clear();
            }
            Event::Text(text) => current.push_str(&text.xml10_content()),
            Event::CData(text) => current.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let escaped = format!("&{};", reference.xml10_content());
                let text = quick_xml::escape::unescape(&escaped).map_err(|error| error.to_string())?;
                current.push_str(&text);
            }
            Event::End(_) => {
                if !current.is_empty() {
                    found.push((path.clone(), std::mem::take(&mut current)));
                }
                path.pop();
            }
            Event::Eof => return Ok(found),
            _ => {}
        }
    }
}

/// Reads a listing.
pub(super) fn listing(document: &str) -> Result<Page, String> {
    let mut page = Page::default();
    let mut truncated = false;
    let found = texts(document)?;
    if !document.contains("ListBucketResult") {
        return Err("the answer is no listing".to_owned());
    }
    for (path, text) in found {
        let names: Vec<&str> = path.iter().skip(1).map(String::as_str).collect();
        match names.as_slice() {
            ["Contents", "Key"] => page.found.push(Found { key: text, size: 0 }),
            ["Contents", "Size"] => {
                let size = text.trim().parse().map_err(|_| format!("{text:?} is no size"))?;
                page.found.last_mut().into_iter().for_each(|found| found.size = size);
            }
            ["IsTruncated"] => truncated = text.trim() == "true",
            ["NextContinuationToken"] => page.next = Some(text),
            _ => {}
        }
    }
    page.next = page.next.filter(|_| truncated);
    Ok(page)
}

/// The code and the message of an error. Empty if it is something else.
pub(super) fn error(document: &str) -> (String, String) {
    let texts = texts(document).unwrap_or_default();
    let get = |name: &str| {
        let found = texts.iter().find(|(path, _)| {
            path.first().is_some_and(|first| first == "Error") && path.last().is_some_and(|last| last == name)
        });
        found.map(|(_, text)| text.clone()).unwrap_or_default()
    };
    (get("Code"), get("Message"))
}
