//! The character sets by the names that IANA has registered for them.

use super::{Kind, pages};

/// A character set.
pub(super) struct Charset {
    /// Its name in messages.
    pub(super) name: &'static str,
    /// All its names, in lower case.
    pub(super) aliases: &'static [&'static str],
    pub(super) kind: Kind,
}

/// Where Latin-5 differs from Latin-1.
const LATIN5: [(u8, char); 6] = [(0xd0, 'Ğ'), (0xdd, 'İ'), (0xde, 'Ş'), (0xf0, 'ğ'), (0xfd, 'ı'), (0xfe, 'ş')];

const fn charset(name: &'static str, kind: Kind, aliases: &'static [&'static str]) -> Charset {
    Charset { name, aliases, kind }
}

/// All of them.
pub(super) static CHARSETS: &[Charset] = &[
    charset(
        "US-ASCII",
        Kind::Ascii,
        &[
            "ansi_x3.4-1968",
            "ansi_x3.4-1986",
            "cp367",
            "csascii",
            "ibm367",
            "iso-ir-6",
            "iso646-us",
            "iso_646.irv:1991",
            "us",
            "us-ascii",
        ],
    ),
    charset("UTF-8", Kind::Web(encoding_rs::UTF_8), &["csutf8", "utf-8"]),
    charset("UTF-16", Kind::Utf16 { little: false, mark: true }, &["csutf16", "utf-16"]),
    charset("UTF-16BE", Kind::Utf16 { little: false, mark: false }, &["csutf16be", "utf-16be"]),
    charset("UTF-16LE", Kind::Utf16 { little: true, mark: false }, &["csutf16le", "utf-16le"]),
    charset(
        "IBM037",
        Kind::Page(pages::IBM037, &[]),
        &["cp037", "csibm037", "ebcdic-cp-ca", "ebcdic-cp-nl", "ebcdic-cp-us", "ebcdic-cp-wt", "ibm037"],
    ),
    charset("IBM437", Kind::Page(pages::IBM437, &[]), &["437", "cp437", "cspc8codepage437", "ibm437"]),
    charset("IBM850", Kind::Page(pages::IBM850, &[]), &["850", "cp850", "cspc850multilingual", "ibm850"]),
    charset("IBM852", Kind::Page(pages::IBM852, &[]), &["852", "cp852", "cspcp852", "ibm852"]),
    charset("IBM855", Kind::Page(pages::IBM855, &[]), &["855", "cp855", "csibm855", "ibm855"]),
    charset(
        "IBM00858",
        Kind::Page(pages::IBM850, &[(0xd5, '€')]),
        &["ccsid00858", "cp00858", "csibm00858", "ibm00858", "pc-multilingual-850+euro"],
    ),
    charset("IBM860", Kind::Page(pages::IBM860, &[]), &["860", "cp860", "csibm860", "ibm860"]),
    charset("IBM862", Kind::Page(pages::IBM862, &[]), &["862", "cp862", "cspc862latinhebrew", "ibm862"]),
    charset("IBM863", Kind::Page(pages::IBM863, &[]), &["863", "cp863", "csibm863", "ibm863"]),
    charset("IBM865", Kind::Page(pages::IBM865, &[]), &["865", "cp865", "csibm865", "ibm865"]),
    charset("IBM866", Kind::Web(encoding_rs::IBM866), &["866", "cp866", "csibm866", "ibm866"]),
    charset("IBM1047", Kind::Page(pages::IBM1047, &[]), &["csibm1047", "ibm-1047", "ibm1047"]),
    charset(
        "IBM01140",
        Kind::Page(pages::IBM037, &[(0x9f, '€')]),
        &["ccsid01140", "cp01140", "csibm01140", "ebcdic-us-37+euro", "ibm01140"],
    ),
    charset(
        "ISO_8859-1:1987",
        Kind::Latin1(&[]),
        &[
            "cp819",
            "csisolatin1",
            "ibm819",
            "iso-8859-1",
            "iso-ir-100",
            "iso_8859-1",
            "iso_8859-1:1987",
            "l1",
            "latin1",
        ],
    ),
    charset(
        "ISO_8859-2:1987",
        Kind::Web(encoding_rs::ISO_8859_2),
        &["csisolatin2", "iso-8859-2", "iso-ir-101", "iso_8859-2", "iso_8859-2:1987", "l2", "latin2"],
    ),
    charset(
        "ISO_8859-3:1988",
        Kind::Web(encoding_rs::ISO_8859_3),
        &["csisolatin3", "iso-8859-3", "iso-ir-109", "iso_8859-3", "iso_8859-3:1988", "l3", "latin3"],
    ),
    charset(
        "ISO_8859-4:1988",
        Kind::Web(encoding_rs::ISO_8859_4),
        &["csisolatin4", "iso-8859-4", "iso-ir-110", "iso_8859-4", "iso_8859-4:1988", "l4", "latin4"],
    ),
    charset(
        "ISO_8859-5:1988",
        Kind::Web(encoding_rs::ISO_8859_5),
        &["csisolatincyrillic", "cyrillic", "iso-8859-5", "iso-ir-144", "iso_8859-5", "iso_8859-5:1988"],
    ),
    charset(
        "ISO_8859-6:1987",
        Kind::Web(encoding_rs::ISO_8859_6),
        &[
            "arabic",
            "asmo-708",
            "csisolatinarabic",
            "ecma-114",
            "iso-8859-6",
            "iso-ir-127",
            "iso_8859-6",
            "iso_8859-6:1987",
        ],
    ),
    charset("ISO_8859-6-E", Kind::Web(encoding_rs::ISO_8859_6), &["csiso88596e", "iso-8859-6-e", "iso_8859-6-e"]),
    charset("ISO_8859-6-I", Kind::Web(encoding_rs::ISO_8859_6), &["csiso88596i", "iso-8859-6-i", "iso_8859-6-i"]),
    charset(
        "ISO_8859-7:1987",
        Kind::Web(encoding_rs::ISO_8859_7),
        &[
            "csisolatingreek",
            "ecma-118",
            "elot_928",
            "greek",
            "greek8",
            "iso-8859-7",
            "iso-ir-126",
            "iso_8859-7",
            "iso_8859-7:1987",
        ],
    ),
    charset(
        "ISO_8859-8:1988",
        Kind::Web(encoding_rs::ISO_8859_8),
        &["csisolatinhebrew", "hebrew", "iso-8859-8", "iso-ir-138", "iso_8859-8", "iso_8859-8:1988"],
    ),
    charset("ISO_8859-8-E", Kind::Web(encoding_rs::ISO_8859_8), &["csiso88598e", "iso-8859-8-e", "iso_8859-8-e"]),
    charset("ISO_8859-8-I", Kind::Web(encoding_rs::ISO_8859_8), &["csiso88598i", "iso-8859-8-i", "iso_8859-8-i"]),
    charset(
        "ISO_8859-9:1989",
        Kind::Latin1(&LATIN5),
        &["csisolatin5", "iso-8859-9", "iso-ir-148", "iso_8859-9", "iso_8859-9:1989", "l5", "latin5"],
    ),
    charset(
        "ISO-8859-10",
        Kind::Web(encoding_rs::ISO_8859_10),
        &["csisolatin6", "iso-8859-10", "iso-ir-157", "iso_8859-10:1992", "l6", "latin6"],
    ),
    charset("ISO-8859-13", Kind::Web(encoding_rs::ISO_8859_13), &["csiso885913", "iso-8859-13"]),
    charset(
        "ISO-8859-14",
        Kind::Web(encoding_rs::ISO_8859_14),
        &["csiso885914", "iso-8859-14", "iso-celtic", "iso-ir-199", "iso_8859-14", "iso_8859-14:1998", "l8", "latin8"],
    ),
    charset(
        "ISO-8859-15",
        Kind::Web(encoding_rs::ISO_8859_15),
        &["csiso885915", "iso-8859-15", "iso_8859-15", "latin-9"],
    ),
    charset(
        "ISO-8859-16",
        Kind::Web(encoding_rs::ISO_8859_16),
        &["csiso885916", "iso-8859-16", "iso-ir-226", "iso_8859-16", "iso_8859-16:2001", "l10", "latin10"],
    ),
    charset("KOI8-R", Kind::Web(encoding_rs::KOI8_R), &["cskoi8r", "koi8-r"]),
    charset("KOI8-U", Kind::Web(encoding_rs::KOI8_U), &["cskoi8u", "koi8-u"]),
    charset("macintosh", Kind::Web(encoding_rs::MACINTOSH), &["csmacintosh", "mac", "macintosh"]),
    charset("windows-874", Kind::Web(encoding_rs::WINDOWS_874), &["cswindows874", "windows-874"]),
    charset("windows-1250", Kind::Web(encoding_rs::WINDOWS_1250), &["cswindows1250", "windows-1250"]),
    charset("windows-1251", Kind::Web(encoding_rs::WINDOWS_1251), &["cswindows1251", "windows-1251"]),
    charset("windows-1252", Kind::Web(encoding_rs::WINDOWS_1252), &["cswindows1252", "windows-1252"]),
    charset("windows-1253", Kind::Web(encoding_rs::WINDOWS_1253), &["cswindows1253", "windows-1253"]),
    charset("windows-1254", Kind::Web(encoding_rs::WINDOWS_1254), &["cswindows1254", "windows-1254"]),
    charset("windows-1255", Kind::Web(encoding_rs::WINDOWS_1255), &["cswindows1255", "windows-1255"]),
    charset("windows-1256", Kind::Web(encoding_rs::WINDOWS_1256), &["cswindows1256", "windows-1256"]),
    charset("windows-1257", Kind::Web(encoding_rs::WINDOWS_1257), &["cswindows1257", "windows-1257"]),
    charset("windows-1258", Kind::Web(encoding_rs::WINDOWS_1258), &["cswindows1258", "windows-1258"]),
    charset(
        "Extended_UNIX_Code_Packed_Format_for_Japanese",
        Kind::Web(encoding_rs::EUC_JP),
        &["cseucpkdfmtjapanese", "euc-jp", "extended_unix_code_packed_format_for_japanese"],
    ),
    charset("ISO-2022-JP", Kind::Web(encoding_rs::ISO_2022_JP), &["csiso2022jp", "iso-2022-jp"]),
    charset("Shift_JIS", Kind::Web(encoding_rs::SHIFT_JIS), &["csshiftjis", "ms_kanji", "shift_jis"]),
    charset("EUC-KR", Kind::Web(encoding_rs::EUC_KR), &["cseuckr", "euc-kr"]),
    charset("GB18030", Kind::Web(encoding_rs::GB18030), &["csgb18030", "gb18030"]),
    charset("GBK", Kind::Web(encoding_rs::GBK), &["cp936", "csgbk", "gbk", "ms936", "windows-936"]),
    charset("HZ-GB-2312", Kind::Hz, &["hz-gb-2312"]),
    charset("Big5", Kind::Web(encoding_rs::BIG5), &["big5", "csbig5"]),
];
