//! `.netrc`: who one is at which host. The file is read by the caller.

use std::fmt;

use url::Url;

/// What a `.netrc` file says.
#[derive(Clone, Default)]
pub struct Netrc {
    entries: Vec<Entry>,
}

#[derive(Clone, Default)]
struct Entry {
    /// None for the entry that holds everywhere else.
    machine: Option<String>,
    login: String,
    password: String,
}

impl fmt::Debug for Netrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| entry.machine.as_deref())).finish()
    }
}

impl Netrc {
    /// Reads the text of such a file. What is not understood is passed over.
    pub fn parse(text: &str) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        let without_macros = remove_macros(text);
        let mut words = without_macros.lines().flat_map(|line| {
            // A hash begins a remark only as a word of its own: passwords have them too.
            line.split_whitespace()
                .take_while(|word| *word != "#" && !(word.starts_with('#') && line.trim_start().starts_with('#')))
        });
        while let Some(word) = words.next() {
            match (word, entries.last_mut()) {
                ("machine", _) => {
                    entries.push(Entry { machine: words.next().map(str::to_ascii_lowercase), ..Entry::default() });
                }
                ("default", _) => entries.push(Entry::default()),
                ("login", Some(entry)) => words.next().unwrap_or_default().clone_into(&mut entry.login),
                ("password", Some(entry)) => words.next().unwrap_or_default().clone_into(&mut entry.password),
                _ => {}
            }
        }
        Self { entries }
    }

    /// Puts user and password into a URL that has none, if its host is known.
    pub fn apply(&self, url: &mut Url) {
        if !url.username().is_empty() || url.password().is_some() {
            return;
        }
        let Some(host) = url.host_str() else { return };
        let exact = self.entries.iter().find(|entry| entry.machine.as_deref() == Some(host));
        let Some(entry) = exact.or_else(|| self.entries.iter().find(|entry| entry.machine.is_none())) else { return };
        // These fail only for URLs without a host.
        let _ = url.set_username(&entry.login);
        let _ = url.set_password(Some(&entry.password));
    }
}

/// Macros are commands for ftp, up to an empty line.
fn remove_macros(text: &str) -> String {
    let mut kept = String::new();
    let mut in_macro = false;
    for line in text.lines() {
        in_macro = (in_macro || line.trim_start().starts_with("macdef")) && !line.trim().is_empty();
        if !in_macro {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# mine\nmachine example.com login me password s3#cret\n\
        machine other.test\n  login you\n  password p@ss/word\n\
        macdef init\nmachine evil.test login x password y\n\nmachine last.test login l password q # remark\n";

    fn applied(file: &str, url: &str) -> String {
        let mut url = Url::parse(url).unwrap();
        Netrc::parse(file).apply(&mut url);
        url.to_string()
    }

    #[test]
    fn known_hosts_get_their_user() {
        assert_eq!(applied(FILE, "https://example.com/x"), "https://me:s3%23cret@example.com/x");
        assert_eq!(applied(FILE, "https://other.test:8443/x"), "https://you:p%40ss%2Fword@other.test:8443/x");
        assert_eq!(applied(FILE, "https://last.test/"), "https://l:q@last.test/");
    }

    #[test]
    fn others_do_not() {
        for same in ["https://sub.example.com/", "https://evil.test/", "https://already:there@example.com/"] {
            assert_eq!(applied(FILE, same), same);
        }
        assert_eq!(applied("default login d password e", "https://any.test/"), "https://d:e@any.test/");
        for odd in ["", "machine", "login x", "machine a login", "password", "default"] {
            assert!(applied(odd, "https://b.test/").ends_with("b.test/"), "{odd}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        assert!(!format!("{:?}", Netrc::parse(FILE)).contains("cret"));
    }
}
