//! Values to MessagePack, in the smallest form of each item.

use std::cmp::Ordering;

use rmp::encode::{self, ByteBuf};
use unicode_segmentation::UnicodeSegmentation;

use super::super::{CodecError, CodecErrorKind, Depth, attribute, element, key, required, type_json};
use super::{MAX_PREFIX, REFINED, UNKNOWN, refinement_key};
use crate::number::Number;
use crate::path::PathStep;
use crate::ty::Type;
use crate::value::{Bound, Refinement, Value, ValueKind};

/// Encodes a value for a type. Where the type says `any`, the value's own type goes with it.
pub fn encode(value: &Value, ty: &Type) -> Result<Vec<u8>, CodecError> {
    let mut out = Output(ByteBuf::new());
    out.value(value, ty, Depth::default())?;
    Ok(out.0.into_vec())
}

/// Bytes in memory: writing to them cannot fail, so the results of the writers are dropped.
struct Output(ByteBuf);

impl Output {
    fn value(&mut self, value: &Value, ty: &Type, depth: Depth) -> Result<(), CodecError> {
        if !value.marks().is_empty() {
            return Err(CodecError::new(CodecErrorKind::Marked));
        }
        if *ty == Type::Dynamic && !value.is_dynamic() {
            let own = value.ty();
            self.array_len(2);
            let _ = encode::write_bin(&mut self.0, type_json::encode(&own).as_bytes());
            return self.value(value, &own, depth.wrapped()?);
        }
        match (value.kind(), ty) {
            (ValueKind::Unknown(refinement), _) => self.unknown(refinement),
            (ValueKind::Null, _) => {
                let _ = encode::write_nil(&mut self.0);
            }
            (ValueKind::Bool(value), Type::Bool) => self.bool(value),
            (ValueKind::Number(number), Type::Number) => self.number(number),
            (ValueKind::String(text), Type::String) => self.string(text),
            _ => return self.compound(value, ty, depth.deeper()?),
        }
        Ok(())
    }

    fn compound(&mut self, value: &Value, ty: &Type, depth: Depth) -> Result<(), CodecError> {
        match (value.kind(), ty) {
            (ValueKind::List(items), Type::List(inner)) => {
                self.array_len(items.len());
                for (at, item) in items.iter().enumerate() {
                    self.value(item, inner, depth).map_err(element(at))?;
                }
            }
            (ValueKind::Set(items), Type::Set(inner)) => {
                self.array_len(items.len());
                for item in items {
                    let in_set = |error: CodecError| error.within(PathStep::Element(Box::new(item.clone())));
                    self.value(item, inner, depth).map_err(in_set)?;
                }
            }
            (ValueKind::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
                self.array_len(items.len());
                for (at, (item, ty)) in items.iter().zip(types.iter()).enumerate() {
                    self.value(item, ty, depth).map_err(element(at))?;
                }
            }
            (ValueKind::Map(entries), Type::Map(inner)) => {
                self.map_len(entries.len());
                for (name, item) in entries.iter() {
                    self.string(name);
                    self.value(item, inner, depth).map_err(key(name))?;
                }
            }
            (ValueKind::Object(entries), Type::Object(object)) if entries.len() == object.len() => {
                self.map_len(entries.len());
                for (name, wanted) in object.iter() {
                    let Some(item) = entries.get(name) else {
                        return Err(CodecError::mismatch(format!("attribute {:?} is required", name.as_str())));
                    };
                    self.string(name);
                    self.value(item, &wanted.ty, depth).map_err(attribute(name))?;
                }
            }
            _ => return Err(CodecError::mismatch(required(ty))),
        }
        Ok(())
    }

    fn array_len(&mut self, length: usize) {
        let _ = encode::write_array_len(&mut self.0, length as u32);
    }

    fn map_len(&mut self, length: usize) {
        let _ = encode::write_map_len(&mut self.0, length as u32);
    }

    fn bool(&mut self, value: bool) {
        let _ = encode::write_bool(&mut self.0, value);
    }

    fn integer(&mut self, value: i64) {
        let _ = encode::write_sint(&mut self.0, value);
    }

    fn string(&mut self, text: &str) {
        let _ = encode::write_str(&mut self.0, text);
    }

    /// An integer if it fits, else a float if that loses nothing, else decimal text.
    fn number(&mut self, number: &Number) {
        if let Some(integer) = number.to_i64() {
            return self.integer(integer);
        }
        let float = number.to_f64();
        let exact = Number::from_f64(float).is_some_and(|again| again.compare(number) == Ordering::Equal);
        if number.is_infinite() || (exact && !number.is_integer()) {
            let _ = encode::write_f64(&mut self.0, float);
        } else {
            self.string(&number.to_string());
        }
    }

    fn unknown(&mut self, refinement: &Refinement) {
        let mut body = Output(ByteBuf::new());
        let count = body.refinement(refinement);
        if count == 0 {
            self.0.as_mut_vec().extend([0xd4, UNKNOWN as u8, 0]);
            return;
        }
        let mut header = Output(ByteBuf::new());
        header.map_len(count);
        let (header, body) = (header.0.into_vec(), body.0.into_vec());
        let _ = encode::write_ext_meta(&mut self.0, (header.len() + body.len()) as u32, REFINED);
        self.0.as_mut_vec().extend(header);
        self.0.as_mut_vec().extend(body);
    }

    /// The entries of a refinement, and how many there are.
    fn refinement(&mut self, refinement: &Refinement) -> usize {
        let mut count = 0;
        if refinement.not_null {
            count += 1;
            self.integer(refinement_key::NULLNESS);
            self.bool(false);
        }
        let bounds =
            [(refinement_key::NUMBER_LOWER, &refinement.lower), (refinement_key::NUMBER_UPPER, &refinement.upper)];
        for (key, bound) in bounds {
            if let Some(Bound { number, inclusive }) = bound
                && !number.is_infinite()
            {
                count += 1;
                self.integer(key);
                self.array_len(2);
                self.number(number);
                self.bool(*inclusive);
            }
        }
        if let Some(prefix) = refinement.prefix.as_ref().map(|prefix| sendable_prefix(prefix))
            && !prefix.is_empty()
        {
            count += 1;
            self.integer(refinement_key::PREFIX);
            self.string(prefix);
        }
        let lengths = [
            (refinement_key::LENGTH_LOWER, (refinement.min_length > 0).then_some(refinement.min_length)),
            (refinement_key::LENGTH_UPPER, refinement.max_length),
        ];
        for (key, length) in lengths {
            if let Some(length) = length.and_then(|length| i64::try_from(length).ok()) {
                count += 1;
                self.integer(key);
                self.integer(length);
            }
        }
        count
    }
}

/// Cuts a prefix that is too long, where no character behind it could change its last one.
fn sendable_prefix(prefix: &str) -> &str {
    if prefix.len() <= MAX_PREFIX {
        return prefix;
    }
    let mut end = MAX_PREFIX - 1;
    while !prefix.is_char_boundary(end) {
        end -= 1;
    }
    let prefix = &prefix[..end];
    // These never join what follows them; of anything else the last cluster may still grow.
    if prefix.ends_with(|c: char| c.is_ascii_punctuation() || c == ' ' || c == '\t') {
        return prefix;
    }
    let last = prefix.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
    &prefix[..last]
}
