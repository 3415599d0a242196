//! Texts with places for values: `${{ .name.key }}`, as tofu-controller has them. Only names can stand there, and nothing that computes.

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// As it is.
    Text(String),
    /// A place for a value, by the names that lead to it.
    Path(Vec<String>),
}

/// The parts of a text; or what is wrong with it.
pub(crate) fn parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        let (inside, after) = after.split_once("}}").ok_or_else(|| "\"${{\" has no \"}}\" behind it".to_owned())?;
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        let wrong = || {
            format!(
                "\"${{{{{inside}}}}}\" cannot be filled in: only names can, such as \"${{{{ .name.key }}}}\" or \"${{{{ index .name \\\"key\\\" }}}}\""
            )
        };
        parts.push(Part::Path(path(inside).ok_or_else(wrong)?));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

/// `.a.b` or `index .a "b"`, with or without parentheses and the dashes that take spaces away.
fn path(inside: &str) -> Option<Vec<String>> {
    let inside = inside.trim_matches('-').trim();
    let inside = inside.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(inside).trim();
    let (start, keys) = match inside.strip_prefix("index ") {
        Some(rest) => rest.trim().split_once(' ').unwrap_or((rest.trim(), "")),
        None => (inside, ""),
    };
    let mut names = dotted(start)?;
    let mut rest = keys.trim();
    while !rest.is_empty() {
        let (key, after) = rest.strip_prefix('"')?.split_once('"')?;
        names.push(key.to_owned());
        rest = after.trim_start();
    }
    (!names.is_empty()).then_some(names)
}

fn dotted(text: &str) -> Option<Vec<String>> {
    let inside = text.strip_prefix('.')?;
    if inside.is_empty() {
        return Some(Vec::new());
    }
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|at| at.is_alphanumeric() || at == '_');
    inside.split('.').map(|name| Some(name).filter(is_name).map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match parts(text) {
            Err(problem) => problem,
            Ok(parts) => parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => format!("{text:?}"),
                    Part::Path(names) => format!("<{}>", names.join("/")),
                })
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    #[test]
    fn names_stand_for_values() {
        assert_eq!(shown("a ${{ .db.host }}:${{.db.port}}"), "\"a \" <db/host> \":\" <db/port>");
        assert_eq!(shown("${{ index .db \"user-name\" }}"), "<db/user-name>");
        assert_eq!(shown("${{- (.out) -}}"), "<out>");
        assert_eq!(shown("${plain} {{ .x }}"), "\"${plain} {{ .x }}\"");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn nothing_is_computed() {
        for text in ["${{ .a | upper }}", "${{ a.b }}", "${{ . }}", "${{ index .a key }}", "${{ .a..b }}", "${{}}"] {
            assert!(shown(text).contains("only names can"), "{text}: {}", shown(text));
        }
        assert!(shown("${{ .a").contains("has no"));
    }
}
