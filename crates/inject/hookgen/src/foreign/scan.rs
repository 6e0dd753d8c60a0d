//! Searches headers, as text, for the names to compile.

use std::collections::BTreeMap;
use std::path::Path;

use super::{ForeignError, SkippedDeclaration};
use crate::model::ApiModel;

/// One header.
pub(crate) struct Header {
    /// Its path in an `#include` of programs.
    pub(crate) name: String,
    /// Names that are followed by an opening parenthesis.
    names: Vec<String>,
    /// Names of macros that take arguments.
    macros: Vec<String>,
}

/// The headers of a folder that contain names of the interface.
pub(crate) struct Scan {
    pub(crate) headers: Vec<Header>,
    /// For each name the first header with it.
    owners: BTreeMap<String, usize>,
}

impl Scan {
    pub(crate) fn of(folder: &Path) -> Result<Self, ForeignError> {
        let mut headers = Vec::new();
        collect(folder, "", &mut headers)?;
        headers.sort_by(|a, b| a.name.cmp(&b.name));
        let mut owners = BTreeMap::new();
        for (index, header) in headers.iter().enumerate() {
            for name in &header.names {
                owners.entry(name.clone()).or_insert(index);
            }
        }
        Ok(Self { headers, owners })
    }

    /// The header that declares a name, as far as its text shows.
    pub(crate) fn header_of(&self, name: &str) -> &str {
        let header = self
            .owners
            .get(name)
            .and_then(|index| self.headers.get(*index));
        header.map_or("", |header| &header.name)
    }

    /// Every name that may be that of a function.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.owners.keys().map(String::as_str)
    }

    /// The headers with one of these names.
    pub(crate) fn headers_with<'a>(&'a self, names: &[&str]) -> Vec<&'a Header> {
        let has = |header: &&Header| header.names.iter().any(|it| names.contains(&it.as_str()));
        self.headers.iter().filter(has).collect()
    }

    /// Macros that look like functions of the interface.
    pub(crate) fn macros(&self, model: &ApiModel) -> Vec<SkippedDeclaration> {
        let mut odd = Vec::new();
        for header in &self.headers {
            let new = header
                .macros
                .iter()
                .filter(|name| model.function(name).is_none());
            odd.extend(new.map(|name| SkippedDeclaration {
                name: name.clone(),
                header: header.name.clone(),
                reason: "is a macro".to_owned(),
            }));
        }
        odd
    }
}

/// Whether a function of this name belongs to the interface. `acl_` is POSIX's.
pub(crate) fn is_acl(name: &str) -> bool {
    let after_acl = name
        .strip_prefix("acl")
        .and_then(|rest| rest.chars().next());
    after_acl.is_some_and(|next| next.is_ascii_alphabetic())
        || ["Acl", "Hccl", "Lccl", "mstx"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

fn collect(folder: &Path, prefix: &str, headers: &mut Vec<Header>) -> Result<(), ForeignError> {
    let failed = |source| ForeignError::Read {
        path: folder.to_owned(),
        source,
    };
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), headers)?;
        } else if path.extension().is_some_and(|extension| extension == "h") {
            let text = std::fs::read(&path).map_err(|source| ForeignError::Read {
                path: path.clone(),
                source,
            })?;
            let header = header(name, &String::from_utf8_lossy(&text));
            if !header.names.is_empty() || !header.macros.is_empty() {
                headers.push(header);
            }
        }
    }
    Ok(())
}

fn header(name: String, text: &str) -> Header {
    let text = without_comments(text);
    let (mut names, mut macros) = (Vec::new(), Vec::new());
    let mut continues = false;
    for line in text.lines() {
        let is_directive = continues || line.trim_start().starts_with('#');
        continues = is_directive && line.trim_end().ends_with('\\');
        if !is_directive {
            names.extend(called(line));
        } else if let Some(defined) = line.trim_start().strip_prefix("#define ") {
            let word = defined
                .split(|c: char| c != '_' && !c.is_ascii_alphanumeric())
                .next();
            let word = word.filter(|word| is_acl(word) && defined[word.len()..].starts_with('('));
            macros.extend(word.map(str::to_owned));
        }
    }
    Header {
        name,
        names,
        macros,
    }
}

/// Names of the interface that an opening parenthesis follows.
fn called(line: &str) -> Vec<String> {
    let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let parts = line.split('(').collect::<Vec<_>>();
    let before = parts.iter().take(parts.len().saturating_sub(1));
    let words = before.filter_map(|part| part.trim_end().rsplit(|c: char| !is_word(c)).next());
    words
        .filter(|word| is_acl(word))
        .map(str::to_owned)
        .collect()
}

/// Comments become spaces. Text in quotes that looks like one does not matter for names.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('/') {
        let (before, comment) = rest.split_at(start);
        plain.push_str(before);
        let end = match comment.as_bytes().get(1) {
            Some(b'/') => comment.find('\n').unwrap_or(comment.len()),
            Some(b'*') => comment.find("*/").map_or(comment.len(), |end| end + 2),
            _ => 1,
        };
        plain.push(' ');
        rest = &comment[end..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_before_parentheses_are_found_and_those_in_comments_and_macros_are_not() {
        let text = "/* aclOld(int) */\n#define aclMacro(x) aclInner(x)\n#define more \\\n  aclMore(1)\n\
                    ACL_VISIBLE aclError aclrtNew (int a); // aclrtNot()\nint acl_get_file(int);\n";
        let header = header("acl/x.h".to_owned(), text);
        assert_eq!(header.names, ["aclrtNew"]);
        assert_eq!(header.macros, ["aclMacro"]);
    }

    #[test]
    fn names_are_those_of_the_interface() {
        for name in [
            "aclInit",
            "aclnnAdd",
            "AclSetTensorAddr",
            "HcclSend",
            "mstxMarkA",
        ] {
            assert!(is_acl(name), "{name}");
        }
        for name in ["acl_get_file", "acl", "ACL_X", "rtSetDevice", "hccl"] {
            assert!(!is_acl(name), "{name}");
        }
    }
}
