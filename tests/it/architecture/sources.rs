//! Which source files of a package name which others.
//!
//! A file names another one by a path that begins with `crate` or `super`. A module that names its
//! submodules by their bare names composes them, which does not count. Code of tests does not count
//! either.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The path of a module below its package's root.
pub(super) type Module = Vec<String>;

/// The modules of a package with separate files, and the modules that each of them names.
pub(super) struct Sources {
    pub(super) names: BTreeMap<Module, BTreeSet<Module>>,
}

impl Sources {
    /// Reads the sources below a folder with a `lib.rs` or `main.rs`.
    pub(super) fn read(folder: &Path) -> Self {
        let root = [folder.join("lib.rs"), folder.join("main.rs")];
        let root = root.into_iter().find(|it| it.exists()).expect("a root");
        let mut texts = BTreeMap::new();
        read(&root, folder, Vec::new(), &mut texts);
        let known: BTreeSet<Module> = texts.keys().cloned().collect();
        let names = texts.iter().map(|(module, tokens)| {
            let paths = paths(tokens);
            let named = paths.iter().map(|path| target(&known, module, path));
            let named = named.filter(|it| it != module).collect();
            (module.clone(), named)
        });
        Self {
            names: names.collect(),
        }
    }

    /// Files that name each other in a circle: each circle once, without files that are in none.
    pub(super) fn circles(&self) -> Vec<BTreeSet<&Module>> {
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            self.names.keys().map(|it| (it, self.reached(it))).collect();
        let mut circles = BTreeSet::new();
        for (module, own) in &reached {
            let is_in = |other: &&&Module| reached[**other].contains(module);
            let circle: BTreeSet<&Module> = own.iter().filter(is_in).copied().collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    fn reached<'s>(&'s self, from: &'s Module) -> BTreeSet<&'s Module> {
        let (mut found, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            let named = self.names[module].iter();
            open.extend(named.filter(|it| found.insert(*it)));
        }
        found
    }
}

/// Reads a module's file and those of its submodules.
fn read(file: &Path, folder: &Path, module: Module, texts: &mut BTreeMap<Module, Vec<String>>) {
    let text = std::fs::read_to_string(file).unwrap();
    let tokens = without_tests(tokens(&text));
    for words in tokens.windows(3) {
        if words[0] != "mod" || words[2] != ";" {
            continue;
        }
        let inner = folder.join(&words[1]);
        let files: [PathBuf; 2] = [inner.with_extension("rs"), inner.join("mod.rs")];
        let Some(file) = files.iter().find(|it| it.exists()) else {
            continue;
        };
        let path = [&module[..], &words[1..2]].concat();
        read(file, &inner, path, texts);
    }
    texts.insert(module, tokens);
}

/// Words and signs of a source, without comments, texts and characters.
fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |it| it + 2)
        } else if let Some(length) = text_length(rest) {
            length
        } else if first.is_alphanumeric() || first == '_' {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            found.push(rest[..length].to_owned());
            length
        } else if rest.starts_with("::") {
            found.push("::".to_owned());
            2
        } else {
            if !first.is_whitespace() {
                found.push(first.to_string());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

/// The length of a text or a character at the begin; `None` where something else is, such as a lifetime.
fn text_length(rest: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""];
    let prefix = prefix.iter().find(|it| {
        rest.strip_prefix(**it)
            .is_some_and(|rest| rest.starts_with('"') || it.ends_with('r') && rest.starts_with('#'))
    });
    if let Some(prefix) = prefix {
        let after = &rest[prefix.len()..];
        let hashes = after.len() - after.trim_start_matches('#').len();
        let inside = after[hashes..].strip_prefix('"')?;
        let begin = prefix.len() + hashes + 1;
        if prefix.ends_with('r') {
            let end = format!("\"{}", "#".repeat(hashes));
            return inside.find(&end).map(|at| begin + at + end.len());
        }
        return end_of(inside, '"').map(|at| begin + at);
    }
    let inside = rest
        .strip_prefix('\'')
        .or_else(|| rest.strip_prefix("b'"))?;
    let begin = rest.len() - inside.len();
    let is_escaped = inside.starts_with('\\');
    let mut chars = inside.chars();
    let one = chars.next()?.len_utf8();
    (is_escaped || chars.next() == Some('\''))
        .then(|| match is_escaped {
            true => end_of(inside, '\''),
            false => Some(one + 1),
        })
        .flatten()
        .map(|at| begin + at)
}

/// Where a text ends that may have escaped signs.
fn end_of(inside: &str, end: char) -> Option<usize> {
    let mut chars = inside.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => {
                chars.next();
            }
            _ if char == end => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Leaves out the items of tests.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_test(&tokens[at..]) {
            at = item_end(&tokens, at);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Whether an attribute that restricts the next item to tests begins there.
fn is_test(tokens: &[String]) -> bool {
    let is = |words: &[&str]| {
        tokens
            .iter()
            .map(String::as_str)
            .take(words.len())
            .eq(words.iter().copied())
    };
    is(&["#", "[", "cfg", "(", "test"]) || is(&["#", "[", "cfg", "(", "all", "(", "test"])
}

/// The end of the item with attributes that begin there.
fn item_end(tokens: &[String], mut at: usize) -> usize {
    while tokens.get(at).is_some_and(|it| it == "#") {
        at = closed(tokens, at + 1);
    }
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            "{" => return closed(tokens, at),
            "(" | "[" => at = closed(tokens, at),
            ";" | "," => return at + 1,
            // The last field or variant of all.
            "}" => return at,
            _ => at += 1,
        }
    }
    at
}

/// Behind the bracket that closes the one there.
fn closed(tokens: &[String], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The names in a source, as written there.
pub(super) fn references(text: &str) -> Vec<String> {
    let found = paths(&without_tests(tokens(text))).into_iter();
    let found = found.map(|it| it.into_iter().filter(|it| it != "self").collect::<Vec<_>>());
    found.map(|it| it.join("::")).collect()
}

/// All paths that begin with `crate` or `super`, those in braces one by one.
fn paths(tokens: &[String]) -> Vec<Module> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_first = at == 0 || tokens[at - 1] != "::";
        let begins = matches!(tokens[at].as_str(), "crate" | "super") && is_first;
        let goes_on = tokens.get(at + 1).is_some_and(|it| it == "::");
        if begins && goes_on {
            at = path(tokens, at, Vec::new(), &mut found);
        } else if tokens[at] == "use" && tokens.get(at + 1).is_some_and(|it| it == "{") {
            at = path(tokens, at + 1, Vec::new(), &mut found);
        } else {
            at += 1;
        }
    }
    let begins = |it: &Module| it.first().is_some_and(|it| it == "crate" || it == "super");
    found.retain(begins);
    found
}

/// Takes the path that begins there, and returns its end.
fn path(tokens: &[String], mut at: usize, mut before: Module, found: &mut Vec<Module>) -> usize {
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("{") => {
                let end = closed(tokens, at);
                let mut inner = at + 1;
                while inner + 1 < end {
                    inner = path(tokens, inner, before.clone(), found);
                    // A new name given here is not part of its path.
                    let is_end = |at: &usize| *at >= end || tokens[*at] == ",";
                    inner = (inner..).find(is_end).unwrap_or(end) + 1;
                }
                return end;
            }
            Some(word) if word.chars().all(|it| it.is_alphanumeric() || it == '_') => {
                before.push(word.to_owned());
                if tokens.get(at + 1).is_none_or(|it| it != "::") {
                    found.push(before);
                    return at + 1;
                }
                at += 2;
            }
            _ => {
                found.push(before);
                return at;
            }
        }
    }
}

/// The file that a path leads to.
fn target(known: &BTreeSet<Module>, module: &Module, path: &Module) -> Module {
    let mut found: Module = match path[0].as_str() {
        "super" => module.clone(),
        _ => Vec::new(),
    };
    for word in path {
        match word.as_str() {
            "crate" | "self" => {}
            "super" => {
                found.pop();
            }
            word => {
                found.push(word.to_owned());
                if !known.contains(&found) {
                    found.pop();
                    break;
                }
            }
        }
    }
    found
}
