//! Names in the code: of types, functions, modules and tests.

use super::judge::{Avoided, words};
use super::literals::code;

/// Words that declare a type.
const TYPES: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// A declared name, and the word before it.
#[derive(Debug, PartialEq)]
struct Declared {
    by: String,
    name: String,
    is_test: bool,
}

/// Words of a code that may be names, with the text between each and the one before.
fn identifiers(code: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = code;
    std::iter::from_fn(move || {
        let begin = rest.find(is_part)?;
        let (between, from) = rest.split_at(begin);
        let end = from.find(|c| !is_part(c)).unwrap_or(from.len());
        let (name, after) = from.split_at(end);
        rest = after;
        Some((between, name))
    })
}

/// The names of types, functions and modules that a code declares.
fn declared(code: &str) -> Vec<Declared> {
    let mut found = Vec::new();
    let mut before = "";
    let mut is_test = false;
    for (between, name) in identifiers(code) {
        let is_declared = TYPES.contains(&before) || before == "fn" || before == "mod";
        if is_declared && between.trim().is_empty() {
            found.push(Declared {
                by: before.to_owned(),
                name: name.to_owned(),
                is_test: is_test && before == "fn",
            });
            is_test = false;
        }
        is_test |= name == "test" && between.ends_with("#[");
        before = name;
    }
    found
}

/// The faults of a source: types with a name that says nothing, and names with a word that is not used.
pub(super) fn faults(path: &str, source: &str, types: &[String], parts: &[String]) -> Vec<String> {
    let code = code(source);
    let mut faults = Vec::new();
    for it in declared(&code) {
        if TYPES.contains(&it.by.as_str()) && types.contains(&it.name.to_lowercase()) {
            faults.push(format!("{path}: the type `{}`", it.name));
        }
    }
    let has_part = |name: &str| {
        let mut own = name.split('_').map(str::to_lowercase);
        own.any(|it| parts.contains(&it))
    };
    let mut names: Vec<&str> = identifiers(&code).map(|(_, name)| name).collect();
    names.push(path.rsplit('/').next().unwrap_or(path));
    let found = names
        .into_iter()
        .filter(|it| has_part(it.trim_end_matches(".rs")));
    faults.extend(found.map(|name| format!("{path}: the name `{name}`")));
    faults
}

/// Phrases in the names of a source's tests, which are sentences: the number of words, and the faults.
pub(super) fn of_tests(path: &str, source: &str, avoided: &[Avoided]) -> (usize, Vec<String>) {
    let tests = declared(&code(source)).into_iter().filter(|it| it.is_test);
    let (mut count, mut faults) = (0, Vec::new());
    for test in tests {
        let said = words(&test.name.replace('_', " "));
        count += said.len();
        let found = avoided.iter().filter(|it| it.is_in(&said));
        faults.extend(found.map(|phrase| format!("{path}: “{phrase}”: {}", test.name)));
    }
    (count, faults)
}

#[test]
fn declarations_are_found() {
    let source =
        "pub struct A; /* */ fn b<'a>(c: D) {} #[test]\nfn e() {} mod f { type G = H; } // fn no";
    let found: Vec<(String, bool)> = declared(&code(source))
        .into_iter()
        .map(|it| (it.name, it.is_test))
        .collect();
    let expected = [
        ("A", false),
        ("b", false),
        ("e", true),
        ("f", false),
        ("G", false),
    ];
    assert_eq!(found, expected.map(|(name, test)| (name.to_owned(), test)));
}

#[test]
fn bare_types_and_words_in_names_are_faults() {
    let (types, parts) = (["place".to_owned()], ["told".to_owned()]);
    let faults = |path, source| faults(path, source, &types, &parts).len();
    assert_eq!(
        faults("a.rs", "struct Place; struct MarketPlace; enum E { Place }"),
        1
    );
    assert_eq!(
        faults("a.rs", "let is_told = TOLD; let stolid = \"told\"; // told"),
        2
    );
    assert_eq!(faults("x/told.rs", ""), 1);
}
