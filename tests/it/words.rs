//! Documents, help and messages are written as docs/STYLE.md asks.

mod comments;
mod grade;
mod identifiers;
mod judge;
mod literals;
mod prose;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use judge::{WORDS, avoided, faults};
use prose::Sentence;

use crate::support::{run, tool};

/// No text asks for more years of school; docs/STYLE.md has the number, too.
const HIGHEST_GRADE: f64 = 8.0;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Files below a folder with names that end like this, by their path from the root.
fn files(folder: &str, end: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(end) {
                found.push(name.to_owned());
            }
        }
    }
    found.sort();
    found
}

fn documents() -> Vec<String> {
    let mut documents = files("docs", ".md");
    let others = fs::read_dir(root()).unwrap().flatten();
    let others = others.filter_map(|it| it.file_name().into_string().ok());
    documents.extend(others.filter(|it| it.ends_with(".md") && it != "CHANGELOG.md"));
    documents.sort();
    documents
}

/// A document as STYLE.md calls it: by its file's name alone.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".md").unwrap_or(name)
}

fn help() -> Vec<(String, Vec<Sentence>)> {
    let commands = ascend_trace::commands();
    assert!(commands.len() > 20, "{commands:?}");
    let calls = commands.iter().map(|command| {
        let words = command.split(' ').filter(|word| !word.is_empty());
        words.chain(["--help"]).collect::<Vec<&str>>()
    });
    let texts = calls.map(|words| {
        let text = run(tool().args(&words)).expect(0).out();
        // The rest is a list of names.
        let text = text.split("\nDocuments, with").next().unwrap_or_default();
        (words.join(" "), prose::of_help(text))
    });
    texts.collect()
}

/// Whether a source file is neither a test nor assembly.
fn has_texts(path: &str) -> bool {
    let others = ["/tests", "src/cli/docs.rs", "/engine/entrance/"];
    others.iter().all(|other| !path.contains(other))
}

#[track_caller]
fn assert_none(faults: &[String]) {
    let count = faults.len();
    assert!(faults.is_empty(), "{count} faults:\n{}", faults.join("\n"));
}

#[test]
fn documents_use_our_words_in_short_sentences() {
    let avoided = avoided(&read("docs/STYLE.md"), WORDS);
    assert!(avoided.len() > 30);
    let mut found = Vec::new();
    for path in documents() {
        let sentences = prose::of_markdown(&read(&path));
        assert!(sentences.len() > 10, "{path}");
        found.extend(faults(stem(&path), &sentences, &avoided));
    }
    assert_none(&found);
}

#[test]
fn help_uses_our_words_in_short_sentences() {
    let avoided = avoided(&read("docs/STYLE.md"), WORDS);
    let mut found = Vec::new();
    for (command, sentences) in help() {
        assert!(sentences.len() > 3, "{command}");
        found.extend(faults(&command, &sentences, &avoided));
    }
    assert_none(&found);
}

/// Messages, the words of the view and those of exports: everything in quotes that is more than one word.
#[test]
fn texts_in_the_sources_use_our_words() {
    let avoided = avoided(&read("docs/STYLE.md"), WORDS);
    let mut found = Vec::new();
    let mut texts = 0;
    for folder in [
        "src",
        "viewer/src",
        "interposer/src",
        "crates/read/analysis/src",
        "crates/read/collector/src",
        "crates/read/export/src",
        "crates/read/recording/src",
    ] {
        for path in files(folder, ".rs") {
            if !has_texts(&path) {
                continue;
            }
            for literal in literals::of(&read(&path)) {
                if literal.text.contains(' ') {
                    texts += 1;
                    let sentences = prose::of_literal(&literal.text, literal.line);
                    found.extend(faults(&path, &sentences, &avoided));
                }
            }
        }
    }
    assert!(texts > 500, "only {texts} texts were found");
    assert_none(&found);
}

/// The package of a source file, by its path.
fn package(path: &str) -> &str {
    let end = path.match_indices('/').map(|(at, _)| at);
    let parts = if path.starts_with("crates/") { 2 } else { 0 };
    end.clone().nth(parts).map_or(path, |end| &path[..end])
}

/// All sources, without those of the rules for words, which are full of them.
fn sources() -> Vec<String> {
    let folders = [
        "src",
        "tests",
        "benches",
        "build",
        "crates",
        "examples",
        "fuzz",
        "interposer",
        "viewer",
    ];
    let paths = folders.iter().flat_map(|it| files(it, ".rs"));
    let paths = paths.filter(|it| !it.contains("/target/"));
    paths
        .filter(|it| !it.starts_with("tests/it/words"))
        .chain(["build.rs".to_owned()])
        .collect()
}

/// All files `Cargo.toml`.
fn manifests() -> Vec<String> {
    let folders = ["crates", "interposer", "viewer", "fuzz"];
    let found = folders.iter().flat_map(|it| files(it, "Cargo.toml"));
    let found = found.filter(|it| !it.contains("/target/"));
    found.chain(["Cargo.toml".to_owned()]).collect()
}

/// The words of a table in docs/STYLE.md that has one word in each row.
fn listed(heading: &str) -> Vec<String> {
    let text = read("docs/STYLE.md");
    let table = text.split(heading).nth(1).unwrap_or_default();
    let table = table.split("\n## ").next().unwrap_or_default();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let words = cells.flat_map(|cell| cell.split(','));
    words
        .map(|word| word.trim().trim_matches('`').to_lowercase())
        .collect()
}

#[test]
fn names_say_what_they_name() {
    let types = listed("## Names that types do not have");
    let parts = listed("## Words that names do not contain");
    assert!(types.len() > 20 && !parts.is_empty(), "{types:?} {parts:?}");
    let mut found = Vec::new();
    for path in sources() {
        found.extend(identifiers::faults(&path, &read(&path), &types, &parts));
    }
    assert_none(&found);
}

/// The names of tests are sentences about the program.
#[test]
fn names_of_tests_need_no_translation() {
    let avoided = avoided(
        &read("docs/STYLE.md"),
        "## Phrases that comments do not use",
    );
    let mut packages: BTreeMap<String, (usize, Vec<String>)> = BTreeMap::new();
    for path in sources() {
        let (words, faults) = identifiers::of_tests(&path, &read(&path), &avoided);
        let all = packages.entry(package(&path).to_owned()).or_default();
        all.0 += words;
        all.1.extend(faults);
    }
    let mut found = Vec::new();
    for (package, (words, faults)) in packages {
        let rate = 1000.0 * faults.len() as f64 / words.max(1) as f64;
        println!("{rate:5.1}  {package}");
        if rate > MOST {
            found.extend(faults);
        }
    }
    assert_none(&found);
}

/// The list of changes may have a few more phrases than comments.
#[test]
fn the_list_of_changes_needs_no_translation() {
    const MOST_OF_CHANGES: f64 = 3.0;
    let avoided = avoided(
        &read("docs/STYLE.md"),
        "## Phrases that comments do not use",
    );
    let (mut words, mut faults) = (0, Vec::new());
    for sentence in prose::of_markdown(&read("CHANGELOG.md")) {
        let said = judge::words(&sentence.text);
        words += said.len();
        let found = avoided.iter().filter(|it| it.is_in(&said));
        let line = sentence.line;
        faults.extend(found.map(|it| format!("CHANGELOG.md:{line}: “{it}”: {}", sentence.text)));
    }
    assert!(words > 4000, "{words}");
    let rate = 1000.0 * faults.len() as f64 / words as f64;
    println!("{rate:.1}");
    assert!(rate <= MOST_OF_CHANGES, "{rate}: {}", faults.join("\n"));
}

/// Phrases in a thousand words of comments and names; docs/STYLE.md has the number, too.
const MOST: f64 = 2.0;

/// Comments, those of tests included. docs/STYLE.md has the number, too.
#[test]
fn comments_need_no_translation() {
    let avoided = avoided(
        &read("docs/STYLE.md"),
        "## Phrases that comments do not use",
    );
    assert!(avoided.len() > 50);
    let mut packages: BTreeMap<&str, comments::Counts> = BTreeMap::new();
    let paths = sources();
    for path in &paths {
        let counts = packages.entry(package(path)).or_default();
        counts.add(path, &read(path), &avoided);
    }
    let manifests: Vec<_> = manifests();
    assert!(manifests.len() > 15, "{manifests:?}");
    for path in &manifests {
        let counts = packages.entry("the manifests").or_default();
        counts.add_manifest(path, &read(path), &avoided);
    }
    assert!(packages.len() > 20, "only {} packages", packages.len());
    for (package, counts) in &packages {
        println!("{:5.1}  {package}", counts.rate());
    }
    let above = packages.values().filter(|it| it.rate() > MOST);
    assert_none(&above.flat_map(|it| it.faults.clone()).collect::<Vec<_>>());
}

#[test]
fn no_text_is_above_the_grade() {
    let documents = documents().into_iter();
    let documents = documents.map(|path| (path.clone(), prose::of_markdown(&read(&path))));
    let grades: BTreeMap<String, f64> = documents
        .chain(help())
        .map(|(name, sentences)| (name, grade::of(&sentences)))
        .collect();
    for (name, grade) in &grades {
        println!("{grade:5.1}  {name}");
    }
    let above: Vec<_> = grades
        .iter()
        .filter(|(_, grade)| **grade > HIGHEST_GRADE)
        .collect();
    assert!(above.is_empty(), "{above:?}");
}

/// A message with `…` for the inserted values, and without quotes.
fn message(text: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '{' => {
                depth += 1;
                if depth == 1 {
                    plain.push('…');
                }
            }
            '}' => depth -= 1,
            '`' | '“' | '”' => {}
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// docs/ERRORS.md has every message of an error, and none that does not exist.
#[test]
fn every_error_message_is_documented() {
    let document = read("docs/ERRORS.md");
    let rows = document.lines().filter(|line| line.starts_with("| `"));
    let documented: BTreeSet<String> = rows
        .filter_map(|row| row.trim_start_matches("| ").split(" | ").next())
        .map(|cell| message(&cell.replace("\\|", "|")))
        .collect();
    let folders = [
        "src",
        "viewer/src",
        "crates/read/collector/src",
        "crates/read/export/src",
        "crates/read/recording/src",
        "crates/soft/options/src",
        "crates/outside/mcp/src",
        "crates/outside/sqlite/src",
        "crates/outside/store/src",
    ];
    let (mut missing, mut all) = (BTreeSet::new(), BTreeSet::new());
    for path in folders.iter().flat_map(|folder| files(folder, ".rs")) {
        if !has_texts(&path) {
            continue;
        }
        for literal in literals::of(&read(&path)) {
            let text = message(&literal.text);
            let says = text.chars().any(char::is_alphabetic);
            if literal.is_error && says && !documented.contains(&text) {
                missing.insert(format!("{path}:{}: {text}", literal.line));
            }
            all.insert(text);
        }
    }
    assert!(missing.is_empty(), "not in docs/ERRORS.md: {missing:#?}");
    let gone: Vec<_> = documented.difference(&all).collect();
    assert!(
        gone.is_empty(),
        "in docs/ERRORS.md, and nowhere else: {gone:#?}"
    );
    assert!(documented.len() > 100);
}

/// The anchors of a document: its headings as links name them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let plain = line.trim_start_matches('#').trim().to_lowercase();
            let kept = plain
                .chars()
                .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    let mut links = 0;
    for path in documents() {
        let text = read(&path);
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|it| it.split(')').next())
        {
            if link.starts_with("http") || link.contains(char::is_whitespace) {
                continue;
            }
            links += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = root().join(&path);
            let target = match file {
                "" => folder,
                file => folder.parent().unwrap().join(file),
            };
            let is_there = target.exists()
                && (anchor.is_empty() || {
                    let text = fs::read_to_string(&target).unwrap_or_default();
                    anchors(&text).contains(anchor)
                });
            if !is_there {
                broken.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(
        links > 50 && broken.is_empty(),
        "{links} links: {broken:#?}"
    );
}

/// `.ci/subjects` accepts plain subjects, and names the others.
#[test]
fn subjects_of_commits_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let git = |words: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.c"])
            .args(words)
            .current_dir(folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        git.output().is_ok_and(|output| output.status.success())
    };
    if !git(&["init", "-q"]) {
        println!("skipped: no git");
        return;
    }
    let check = || {
        let mut check = std::process::Command::new(root().join(".ci/subjects"));
        check
            .arg(folder.path())
            .arg("0")
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        run(&mut check)
    };
    assert!(check().expect(0).out().contains("skipped: "));
    let commit = |subject| assert!(git(&["commit", "-q", "--allow-empty", "-m", subject]));
    commit("area: the reader keeps `what is` in code");
    assert!(check().expect(0).out().contains("1 checked, 0 faults"));
    commit("area: what is read is kept");
    commit("no area");
    let faults = check().expect(1);
    assert!(faults.out().contains("3 checked, 2 faults"));
}
