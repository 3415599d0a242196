//! Hashes, UUIDs and keys. Expected results are those of OpenTofu; the keys were made for these tests.

use groma_model::value::Value;

use super::super::support::testing::{call, string_of};
use super::functions;

fn run(name: &str, args: &[&str]) -> String {
    let args: Vec<Value> = args.iter().map(|text| Value::string(*text)).collect();
    string_of(call(functions, name, &args))
}

#[test]
fn texts_are_hashed() {
    let cases = [
        ("md5", "5d41402abc4b2a76b9719d911017c592"),
        ("sha1", "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"),
        ("sha256", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"),
        ("base64sha256", "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="),
    ];
    for (name, expected) in cases {
        assert_eq!(run(name, &["hello"]), expected, "{name}");
    }
}

#[test]
fn names_have_uuids() {
    let cases = [
        ("dns", "www.example.com", "2ed6657d-e927-568b-95e1-2665a8aea6a2"),
        ("6ba7b8109dad11d180b400c04fd430c8", "www.example.com", "2ed6657d-e927-568b-95e1-2665a8aea6a2"),
        ("{6ba7b810-9dad-11d1-80b4-00c04fd430c8}", "www.example.com", "2ed6657d-e927-568b-95e1-2665a8aea6a2"),
        ("tofu", "x", "error: uuidv5() doesn't support namespace tofu (invalid UUID length: 4)"),
    ];
    for (namespace, name, expected) in cases {
        assert_eq!(run("uuidv5", &[namespace, name]), expected, "{namespace}");
    }
    assert_eq!(run("uuid", &[]), "00010203-0405-0607-0809-0a0b0c0d0e0f");
}

#[test]
fn passwords_are_salted() {
    let hash = string_of(call(functions, "bcrypt", &["hello".into(), 4.into()]));
    assert!(hash.starts_with("$2a$04$") && hash.len() == 60, "{hash}");
    assert!(bcrypt::verify("hello", &hash).unwrap());
    let too_much = string_of(call(functions, "bcrypt", &["hello".into(), 32.into()]));
    assert_eq!(
        too_much,
        "error: error occurred generating password crypto/bcrypt: cost 32 is outside allowed inclusive range 4..31"
    );
    assert!(run("bcrypt", &[&"x".repeat(73)]).ends_with("bcrypt: password length exceeds 72 bytes"));
}

const CIPHERTEXT: &str = "EHhuSP4ueHoM8bGF7aEInfTCE6mwgf3AK2L4lKxzf0XnL+YAGxtl9tO3p4joJhSxNpLByaI0UaB251ZS2ANmyCpNagKhDQlnT+DMevT+97vqXf9kaYZYThg7/imN1Ha0cjK7yts9iGqKr45sKFfI1lQclevq8Y+FsgNvOzrR0Zo=";

const PKCS1: &str = "-----BEGIN RSA PRIVATE KEY-----
MIICXgIBAAKBgQDPJbrun0DNcDR3ZN+93TQDoYwFAowVFFlpLypqx1U0XhpkbwH5
NY5WSRq07YnurtlN0xQ8cWJTbGlfgaR2Ign0xcS42n1h6rapETaC/duaTQsPm6PZ
E80jbbo8dELubN8VdRXdWOuX5UWzW9AAQI6xBFNzQtZzAXFpyEVlYoC0vwIDAQAB
AoGAI/nTi1nRMVzJX+r/CMSAIhlObhhRJ+AO3zu3zC+uVpf5UXQODbAFdmrf3oha
qj9nsiJ0o0K15vMvIc0sOPAUdkRXq5iJhtPyiEJb4KzK9EDm2OeiBAEVxAzFjsS4
tR/AlMAq4/JJmxqCB0BtJQTLXd/6oDF4ncMtOuqgRO2LINECQQDr5Tyn41jjso25
Qd8qDi2IscUWBiFieVX5IPBFG+naJCXWUyBw7CfJDBvTBdieFUeaO04D2THhgMbi
j9IPjaaNAkEA4M1ErwASWcy6S2b22fk3D2azUn6NYjT2pejLHuzboMWKb5TOsXFw
d7IQCM2hinHLZx05iAYiIsvthyCw1lgrewJBAJkO7XNVrUhYg2KP3hfwiRTnm6R1
p9W4OtNhzuRYfzyeNbrBxwvd/taRN8CNS4cO8Z2eGzmeBKJ3pxQ8EyUqWMUCQQDU
dOs+wUCWoghHDu6pnwDMi3Fau8P/VrLsphCiD5SaY1eskOSvitiSJzVEPKM5Zsan
k1U2GyXT4QuBtAGs8fNVAkEAkfbGyUIdTT+gEVt7LDFNm00Oa7aafgFAKb+HEuo5
9LfbMFPXfkiZZKiKQ58fQ+CvVqyy58Ys3Gws5eum9VKkCA==
-----END RSA PRIVATE KEY-----";

const PKCS8: &str = "-----BEGIN PRIVATE KEY-----
MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAM8luu6fQM1wNHdk
373dNAOhjAUCjBUUWWkvKmrHVTReGmRvAfk1jlZJGrTtie6u2U3TFDxxYlNsaV+B
pHYiCfTFxLjafWHqtqkRNoL925pNCw+bo9kTzSNtujx0Qu5s3xV1Fd1Y65flRbNb
0ABAjrEEU3NC1nMBcWnIRWVigLS/AgMBAAECgYAj+dOLWdExXMlf6v8IxIAiGU5u
GFEn4A7fO7fML65Wl/lRdA4NsAV2at/eiFqqP2eyInSjQrXm8y8hzSw48BR2RFer
mImG0/KIQlvgrMr0QObY56IEARXEDMWOxLi1H8CUwCrj8kmbGoIHQG0lBMtd3/qg
MXidwy066qBE7Ysg0QJBAOvlPKfjWOOyjblB3yoOLYixxRYGIWJ5Vfkg8EUb6dok
JdZTIHDsJ8kMG9MF2J4VR5o7TgPZMeGAxuKP0g+Npo0CQQDgzUSvABJZzLpLZvbZ
+TcPZrNSfo1iNPal6Mse7NugxYpvlM6xcXB3shAIzaGKcctnHTmIBiIiy+2HILDW
WCt7AkEAmQ7tc1WtSFiDYo/eF/CJFOebpHWn1bg602HO5Fh/PJ41usHHC93+1pE3
wI1Lhw7xnZ4bOZ4EonenFDwTJSpYxQJBANR06z7BQJaiCEcO7qmfAMyLcVq7w/9W
suymEKIPlJpjV6yQ5K+K2JInNUQ8ozlmxqeTVTYbJdPhC4G0Aazx81UCQQCR9sbJ
Qh1NP6ARW3ssMU2bTQ5rtpp+AUApv4cS6jn0t9swU9d+SJlkqIpDnx9D4K9WrLLn
xizcbCzl66b1UqQI
-----END PRIVATE KEY-----";

const OPENSSH: &str = "-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAlwAAAAdzc2gtcn
NhAAAAAwEAAQAAAIEAzyW67p9AzXA0d2Tfvd00A6GMBQKMFRRZaS8qasdVNF4aZG8B+TWO
VkkatO2J7q7ZTdMUPHFiU2xpX4GkdiIJ9MXEuNp9Yeq2qRE2gv3bmk0LD5uj2RPNI226PH
RC7mzfFXUV3Vjrl+VFs1vQAECOsQRTc0LWcwFxachFZWKAtL8AAAH44GnomeBp6JkAAAAH
c3NoLXJzYQAAAIEAzyW67p9AzXA0d2Tfvd00A6GMBQKMFRRZaS8qasdVNF4aZG8B+TWOVk
katO2J7q7ZTdMUPHFiU2xpX4GkdiIJ9MXEuNp9Yeq2qRE2gv3bmk0LD5uj2RPNI226PHRC
7mzfFXUV3Vjrl+VFs1vQAECOsQRTc0LWcwFxachFZWKAtL8AAAADAQABAAAAgCP504tZ0T
FcyV/q/wjEgCIZTm4YUSfgDt87t8wvrlaX+VF0Dg2wBXZq396IWqo/Z7IidKNCtebzLyHN
LDjwFHZEV6uYiYbT8ohCW+CsyvRA5tjnogQBFcQMxY7EuLUfwJTAKuPySZsaggdAbSUEy1
3f+qAxeJ3DLTrqoETtiyDRAAAAQQCR9sbJQh1NP6ARW3ssMU2bTQ5rtpp+AUApv4cS6jn0
t9swU9d+SJlkqIpDnx9D4K9WrLLnxizcbCzl66b1UqQIAAAAQQDr5Tyn41jjso25Qd8qDi
2IscUWBiFieVX5IPBFG+naJCXWUyBw7CfJDBvTBdieFUeaO04D2THhgMbij9IPjaaNAAAA
QQDgzUSvABJZzLpLZvbZ+TcPZrNSfo1iNPal6Mse7NugxYpvlM6xcXB3shAIzaGKcctnHT
mIBiIiy+2HILDWWCt7AAAAAAEC
-----END OPENSSH PRIVATE KEY-----";

#[test]
fn keys_of_all_kinds_decrypt() {
    for key in [PKCS1, PKCS8, OPENSSH] {
        assert_eq!(run("rsadecrypt", &[CIPHERTEXT, key]), "message");
        assert_eq!(run("rsadecrypt", &["aGVsbG8=", key]), "error: failed to decrypt: crypto/rsa: decryption error");
    }
    assert_eq!(run("rsadecrypt", &["aGVsbG8=", "x"]), "error: invalid private key: ssh: no key found");
    assert_eq!(
        run("rsadecrypt", &["!", PKCS1]),
        "error: failed to decode input \"!\": cipher text must be base64-encoded"
    );
    let broken = PKCS1.replacen("MII", "MIA", 1);
    assert!(run("rsadecrypt", &["aGVsbG8=", &broken]).contains("invalid ASN1 data"));
}
