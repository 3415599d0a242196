//! `textencodebase64` and `textdecodebase64`: texts in character sets other than UTF-8.

mod hz;
mod names;
mod pages;

use encoding_rs::{EncoderResult, Encoding};
use groma_model::ty::Type;
use groma_model::value::{Value, go_quote};

use super::super::support::{Outcome, text, text_param};
use super::super::{CallContext, Function, FunctionError};
use super::base64;
use names::{CHARSETS, Charset};

pub(super) fn functions() -> [Function; 2] {
    let encoding = || text_param("encoding").about("A character set, by a name that IANA has registered.");
    [
        Function::new(
            "textencodebase64",
            "Writes a text in a character set, and the resulting bytes in base64.",
            vec![text_param("string").about("The text."), encoding()],
            Type::String,
            encode,
        ),
        Function::new(
            "textdecodebase64",
            "Decodes base64, and reads the resulting bytes as text in a character set.",
            vec![text_param("source").about("The bytes, in base64."), encoding()],
            Type::String,
            decode,
        ),
    ]
}

/// How a character set works.
enum Kind {
    Ascii,
    /// The first 256 code points, but for some bytes.
    Latin1(&'static [(u8, char)]),
    /// With or without a byte order mark.
    Utf16 {
        little: bool,
        mark: bool,
    },
    /// A table of all bytes, or of the upper half after ASCII; but for some bytes.
    Page(&'static str, &'static [(u8, char)]),
    /// HZ-GB-2312.
    Hz,
    /// One that the web knows.
    Web(&'static Encoding),
}

const UNDEFINED: char = '\u{fffd}';

fn charset(args: &[Value]) -> Result<&'static Charset, FunctionError> {
    let name = text(args, 1);
    let wanted = name.trim().to_lowercase();
    CHARSETS.iter().find(|charset| charset.aliases.contains(&wanted.as_str())).ok_or_else(|| {
        let quoted = go_quote(name);
        // The other tools name themselves here, too.
        FunctionError::arg(
            1,
            format!("{quoted} is not a supported IANA encoding name or alias in this OpenTofu version"),
        )
    })
}

fn encode(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let charset = charset(args)?;
    let bytes = charset.kind.encode(text(args, 0)).ok_or_else(|| {
        let name = charset.name;
        FunctionError::arg(0, format!("the given string contains characters that cannot be represented in {name}"))
    })?;
    Ok(Value::string(base64::encode(&bytes)))
}

fn decode(_: &CallContext<'_>, args: &[Value]) -> Outcome {
    let charset = charset(args)?;
    let bytes = base64::decode(text(args, 0)).map_err(|offset| {
        FunctionError::arg(0, format!("the given value is has an invalid base64 symbol at offset {offset}"))
    })?;
    match charset.kind.decode(&bytes) {
        Some(decoded) if !decoded.contains(UNDEFINED) => Ok(Value::string(decoded)),
        _ => {
            let name = charset.name;
            Err(FunctionError::arg(0, format!("the given string contains symbols that are not defined for {name}")))
        }
    }
}

impl Kind {
    /// The 256 characters of a set in which every byte is one.
    fn table(&self) -> Option<Vec<char>> {
        let (mut table, changes): (Vec<char>, _) = match self {
            Kind::Ascii => ((0..=127u8).map(char::from).chain(std::iter::repeat_n(UNDEFINED, 128)).collect(), &[][..]),
            Kind::Latin1(changes) => ((0..=255u8).map(char::from).collect(), *changes),
            Kind::Page(page, changes) => {
                let missing = 256 - page.chars().count().min(256);
                ((0..=127u8).take(missing).map(char::from).chain(page.chars()).collect(), *changes)
            }
            Kind::Utf16 { .. } | Kind::Hz | Kind::Web(_) => return None,
        };
        for (byte, c) in changes {
            table[usize::from(*byte)] = *c;
        }
        Some(table)
    }

    fn encode(&self, text: &str) -> Option<Vec<u8>> {
        if let Some(table) = self.table() {
            let byte = |c: char| table.iter().position(|known| *known == c && c != UNDEFINED).map(|at| at as u8);
            return text.chars().map(byte).collect();
        }
        match self {
            Kind::Utf16 { little, mark } => {
                let units = mark.then_some(0xfeff).into_iter().chain(text.encode_utf16());
                let bytes = |unit: u16| if *little { unit.to_le_bytes() } else { unit.to_be_bytes() };
                Some(units.flat_map(bytes).collect())
            }
            Kind::Hz => hz::encode(text),
            Kind::Web(encoding) if has_all(encoding, text) => encode_web(encoding, text),
            _ => None,
        }
    }

    fn decode(&self, bytes: &[u8]) -> Option<String> {
        if let Some(table) = self.table() {
            return Some(bytes.iter().map(|byte| table[usize::from(*byte)]).collect());
        }
        match self {
            Kind::Utf16 { little, mark } => decode_utf16(bytes, *little, *mark),
            Kind::Hz => hz::decode(bytes),
            Kind::Web(encoding) => {
                let decoded = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
                has_all(encoding, &decoded).then(|| decoded.into_owned())
            }
            _ => None,
        }
    }
}

/// Browsers fill the gaps of character sets with control characters. They are gaps all the same.
fn has_all(encoding: &'static Encoding, text: &str) -> bool {
    !encoding.is_single_byte() || !text.contains(|c| matches!(c, '\u{80}'..='\u{9f}'))
}

fn encode_web(encoding: &'static Encoding, text: &str) -> Option<Vec<u8>> {
    // Browsers put a backslash and a tilde in their place, which cannot be undone.
    let japanese = [encoding_rs::SHIFT_JIS, encoding_rs::EUC_JP, encoding_rs::ISO_2022_JP].contains(&encoding);
    if japanese && text.contains(['¥', '‾']) {
        return None;
    }
    let mut encoder = encoding.new_encoder();
    let size = encoder.max_buffer_length_from_utf8_without_replacement(text.len())?;
    let mut out = Vec::with_capacity(size);
    let (result, _) = encoder.encode_from_utf8_to_vec_without_replacement(text, &mut out, true);
    matches!(result, EncoderResult::InputEmpty).then_some(out)
}

fn decode_utf16(bytes: &[u8], little: bool, mark: bool) -> Option<String> {
    let (bytes, little) = match bytes {
        [0xfe, 0xff, rest @ ..] if mark => (rest, false),
        [0xff, 0xfe, rest @ ..] if mark => (rest, true),
        _ => (bytes, little),
    };
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let unit = |pair: &[u8; 2]| if little { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) };
    char::decode_utf16(pairs.iter().map(unit)).collect::<Result<String, _>>().ok()
}
