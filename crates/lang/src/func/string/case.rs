//! Letter case by code point, as the simple mappings of Unicode have it: a letter never becomes two.

/// Every letter in lower case.
pub(super) fn lower(text: &str) -> String {
    text.chars().map(lower_char).collect()
}

/// Every letter in upper case.
pub(super) fn upper(text: &str) -> String {
    text.chars().map(upper_char).collect()
}

/// The first letter of every word in title case.
pub(super) fn title(text: &str) -> String {
    let mut previous = ' ';
    text.chars()
        .map(|c| {
            let starts_word = separates_words(previous);
            previous = c;
            if starts_word { title_char(c) } else { c }
        })
        .collect()
}

fn lower_char(c: char) -> char {
    // Only İ becomes two code points in the full mapping; the simple one is the first of them.
    c.to_lowercase().next().unwrap_or(c)
}

fn upper_char(c: char) -> char {
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(single), None) => single,
        _ => upper_with_iota(c),
    }
}

/// Greek letters with a subscript iota have a single upper-case form beside the one of two letters.
fn upper_with_iota(c: char) -> char {
    let code = c as u32;
    let shifted = match code {
        0x1f80..=0x1faf if code & 8 == 0 => code + 8,
        0x1fb3 | 0x1fc3 | 0x1ff3 => code + 9,
        _ => code,
    };
    char::from_u32(shifted).unwrap_or(c)
}

fn title_char(c: char) -> char {
    match c {
        'Ǆ' | 'ǅ' | 'ǆ' => 'ǅ',
        'Ǉ' | 'ǈ' | 'ǉ' => 'ǈ',
        'Ǌ' | 'ǋ' | 'ǌ' => 'ǋ',
        'Ǳ' | 'ǲ' | 'ǳ' => 'ǲ',
        // Georgian has capitals, but not at the beginning of words.
        '\u{10d0}'..='\u{10fa}' | '\u{10fd}'..='\u{10ff}' => c,
        _ => upper_char(c),
    }
}

fn separates_words(c: char) -> bool {
    if c.is_ascii() { !c.is_ascii_alphanumeric() && c != '_' } else { c.is_whitespace() }
}
