//! Distinguished names: whom a certificate is about. Written in the order that the published plugin writes them in.

use std::fmt::Write as _;

use super::der::{self, DerError, Item, Reader};

const COUNTRY: u64 = 6;
const ORGANIZATION: u64 = 10;
const UNIT: u64 = 11;
const LOCALITY: u64 = 7;
const PROVINCE: u64 = 8;
const STREET: u64 = 9;
const POSTAL_CODE: u64 = 17;
const COMMON_NAME: u64 = 3;
const SERIAL_NUMBER: u64 = 5;
const EMAIL: &[u64] = &[1, 2, 840, 113_549, 1, 9, 1];

/// Parts that have a name of their own, in the order of writing.
const KNOWN: [(u64, &str); 9] = [
    (COUNTRY, "C"),
    (PROVINCE, "ST"),
    (LOCALITY, "L"),
    (STREET, "STREET"),
    (POSTAL_CODE, "POSTALCODE"),
    (ORGANIZATION, "O"),
    (UNIT, "OU"),
    (COMMON_NAME, "CN"),
    (SERIAL_NUMBER, "SERIALNUMBER"),
];

/// A distinguished name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Name {
    /// `C`
    pub(super) country: Vec<String>,
    /// `O`
    pub(super) organization: Vec<String>,
    /// `OU`
    pub(super) unit: Vec<String>,
    /// `L`
    pub(super) locality: Vec<String>,
    /// `ST`
    pub(super) province: Vec<String>,
    /// `STREET`
    pub(super) street: Vec<String>,
    /// `PC`
    pub(super) postal_code: Vec<String>,
    /// `CN`
    pub(super) common: String,
    /// `SERIALNUMBER`
    pub(super) serial_number: String,
    /// Only for names that are written.
    pub(super) email: Option<String>,
    /// Parts without a name of their own, of names that were read: object identifier, and value as Go would write it.
    pub(super) others: Vec<(Vec<u64>, Vec<u8>)>,
}

impl Name {
    /// Whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Without parts that have no name of their own: certificates for requests do not take them over.
    pub(super) fn without_others(&self) -> Name {
        Name { others: Vec::new(), ..self.clone() }
    }

    fn values(&self, kind: u64) -> Vec<&str> {
        fn list(list: &[String]) -> Vec<&str> {
            list.iter().map(String::as_str).collect()
        }
        fn single(text: &str) -> Vec<&str> {
            if text.is_empty() { Vec::new() } else { vec![text] }
        }
        match kind {
            COUNTRY => list(&self.country),
            ORGANIZATION => list(&self.organization),
            UNIT => list(&self.unit),
            LOCALITY => list(&self.locality),
            PROVINCE => list(&self.province),
            STREET => list(&self.street),
            POSTAL_CODE => list(&self.postal_code),
            COMMON_NAME => single(&self.common),
            SERIAL_NUMBER => single(&self.serial_number),
            _ => Vec::new(),
        }
    }

    /// As certificates have it.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut parts = Vec::new();
        for (kind, _) in KNOWN {
            let values = self.values(kind);
            let pairs = values.iter().map(|value| der::sequence(&[der::oid(&[2, 5, 4, kind]), der::text(value)]));
            if !values.is_empty() {
                parts.push(der::set_of(pairs.collect()));
            }
        }
        if let Some(email) = &self.email {
            parts.push(der::set_of(vec![der::sequence(&[der::oid(EMAIL), der::ascii(email)])]));
        }
        der::sequence(&parts)
    }

    /// Reads what is inside the sequence of a name.
    pub(super) fn read(mut parts: Reader<'_>) -> Result<Self, DerError> {
        let mut name = Name::default();
        while !parts.is_done() {
            let mut set = parts.expect(der::SET)?.inside();
            while !set.is_done() {
                let mut pair = set.sequence()?;
                let oid = pair.any()?.as_oid().ok_or_else(|| DerError("x509: invalid RDNSequence".to_owned()))?;
                name.add(&oid, &pair.any()?);
            }
        }
        Ok(name)
    }

    fn add(&mut self, oid: &[u64], value: &Item<'_>) {
        let (kind, text) = match (oid, value.as_text()) {
            ([2, 5, 4, kind], Some(text)) => (*kind, text),
            (_, text) => {
                let written = text.map_or_else(|| value.raw.to_vec(), |text| der::text(&text));
                return self.others.push((oid.to_vec(), written));
            }
        };
        match kind {
            COUNTRY => self.country.push(text),
            ORGANIZATION => self.organization.push(text),
            UNIT => self.unit.push(text),
            LOCALITY => self.locality.push(text),
            PROVINCE => self.province.push(text),
            STREET => self.street.push(text),
            POSTAL_CODE => self.postal_code.push(text),
            COMMON_NAME => self.common = text,
            SERIAL_NUMBER => self.serial_number = text,
            _ => self.others.push((oid.to_vec(), der::text(&text))),
        }
    }

    /// For people: `CN=example.com,O=Acme`, the last part first.
    pub(super) fn shown(&self) -> String {
        let mut groups: Vec<String> = Vec::new();
        for (kind, label) in KNOWN.iter().rev() {
            let parts: Vec<String> =
                self.values(*kind).iter().map(|value| format!("{label}={}", escaped(value))).collect();
            if !parts.is_empty() {
                groups.push(parts.join("+"));
            }
        }
        for (oid, raw) in self.others.iter().rev() {
            let numbers: Vec<String> = oid.iter().map(u64::to_string).collect();
            groups.push(format!("{}=#{}", numbers.join("."), hex::encode(raw)));
        }
        groups.join(",")
    }
}

fn escaped(value: &str) -> String {
    let last = value.chars().count().saturating_sub(1);
    let mut out = String::new();
    for (at, letter) in value.chars().enumerate() {
        let special = match letter {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' => true,
            '#' => at == 0,
            ' ' => at == 0 || at == last,
            _ => false,
        };
        let _ = write!(out, "{}{letter}", if special { "\\" } else { "" });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Name {
        Name {
            country: vec!["DE".to_owned()],
            organization: vec!["Acme, Inc".to_owned()],
            street: vec!["2 Z St".to_owned(), "1 A St".to_owned()],
            common: " x".to_owned(),
            ..Name::default()
        }
    }

    #[test]
    fn names_are_shown_last_part_first() {
        assert_eq!(sample().shown(), "CN=\\ x,O=Acme\\, Inc,STREET=2 Z St+STREET=1 A St,C=DE");
    }

    #[test]
    fn names_come_back() {
        let encoded = sample().encode();
        let read = Name::read(der::only_sequence(&encoded).unwrap()).unwrap();
        // The parts of a set are ordered by their bytes.
        let expected = Name { street: vec!["1 A St".to_owned(), "2 Z St".to_owned()], ..sample() };
        assert_eq!(read, expected);
    }

    #[test]
    fn parts_without_a_name_are_shown_as_numbers() {
        let name = Name { email: Some("a@b".to_owned()), ..Name::default() };
        let read = Name::read(der::only_sequence(&name.encode()).unwrap()).unwrap();
        assert_eq!(read.shown(), "1.2.840.113549.1.9.1=#0c03614062");
        assert!(!read.is_empty());
    }
}
