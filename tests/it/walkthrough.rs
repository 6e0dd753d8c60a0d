//! The questions of docs/ANALYSIS.md: their commands are run, and print the text of the page.

use std::fs;
use std::path::Path;

use crate::support::run;
use crate::tutorials::{Block, blocks, shell};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ANALYSIS.md");
const BEGIN: &str = "\n## Three questions\n";

/// The part of the page with the questions, and the parts before and after it.
fn parts(page: &str) -> (&str, &str, &str) {
    let begin = page.find(BEGIN).expect("the questions") + BEGIN.len();
    let rest = &page[begin..];
    let end = begin + rest.find("\n## ").expect("another heading");
    (&page[..begin], &page[begin..end], &page[end..])
}

/// A line without its numbers, units and signs: the part that is the same in all runs.
fn masked(line: &str) -> String {
    let units = ["ns", "µs", "ms", "s", "%", "±", "=", "<", "p"];
    let mut words: Vec<&str> = Vec::new();
    for word in line.split_whitespace() {
        let bare = word.trim_matches([',', ';', ':', '.']);
        let shown = match bare {
            "" => continue,
            bare if units.contains(&bare) => continue,
            bare if bare.starts_with(|it: char| it.is_ascii_digit() || it == '+' || it == '-') => {
                "#"
            }
            bare => bare,
        };
        if shown != "#" || words.last() != Some(&"#") {
            words.push(shown);
        }
    }
    words.join(" ")
}

/// Rows of tables come in another order, or not at all, when the times are others.
fn is_row(line: &str) -> bool {
    line.starts_with("  ") && line.contains(|it: char| it.is_ascii_digit())
}

/// Runs the commands of a page, and passes each block of output on with the present output.
fn follow<'t>(folder: &Path, text: &'t str, mut printed: impl FnMut(&Block<'t>, &str)) {
    let mut now = String::new();
    for block in blocks(text) {
        match block.language {
            "sh" => now = run(&mut shell(folder, block.content)).expect(0).out(),
            "text" => printed(&block, &now),
            other => panic!("a block of {other}"),
        }
    }
}

#[test]
fn the_commands_of_the_page_print_its_results() {
    let page = fs::read_to_string(PAGE).expect("the page");
    let (before, questions, after) = parts(&page);
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = Vec::new();
    let mut pasted = String::new();
    let mut rest = questions;
    follow(folder.path(), questions, |block, now| {
        all.push(now.to_owned());
        let old = format!("```text\n{}", block.content);
        let place = rest.find(&old).expect("the block");
        pasted += &rest[..place];
        pasted += &format!("```text\n{}", now.trim_end());
        rest = &rest[place + old.len()..];
        if std::env::var_os("PASTE").is_some() {
            return;
        }
        let printed: Vec<String> = now.lines().map(masked).collect();
        let shown = block.content.lines().filter(|line| !is_row(line));
        for line in shown {
            assert!(printed.contains(&masked(line)), "no “{line}” in\n{now}");
        }
    });
    assert_eq!(all.len(), 6);
    // The text's values of them.
    let first_row = |text: &str, after: &str| {
        let from = text
            .find(after)
            .unwrap_or_else(|| panic!("no “{after}” in\n{text}"));
        let mut rows = text[from..].lines().skip(1).filter(|line| is_row(line));
        rows.next().unwrap_or_default().to_owned()
    };
    assert!(
        first_row(&all[0], "The slowest").contains(" free "),
        "{}",
        all[0]
    );
    assert!(all[1].contains(" edge"), "{}", all[1]);
    let wait = all[2]
        .lines()
        .find(|line| line.contains("aclrtSynchronizeStream"));
    assert!(
        wait.is_some_and(|line| line.contains(" none ")),
        "{}",
        all[2]
    );
    assert!(all[3].contains("% less"), "{}", all[3]);
    let matmul = all[4].lines().find(|line| line.contains("aclnnMatmul"));
    assert!(
        matmul.is_some_and(|line| line.contains("longer")),
        "{}",
        all[4]
    );
    assert_eq!(all[5].trim(), "status 1");
    if std::env::var_os("PASTE").is_some() {
        let page = [before, &pasted, rest, after].concat();
        fs::write(PAGE, page).expect("the page can be written");
    }
}

#[test]
fn numbers_units_and_signs_are_left_out_of_lines() {
    assert_eq!(
        masked("10 steps of thread 7, from the pattern: median 382 µs, mean 2.9 ms ± 9 ms"),
        "# steps of thread # from the pattern median # mean #"
    );
    assert_eq!(
        masked("  +12 µs  longer  operation  p = 0.01"),
        "# longer operation #"
    );
    assert!(is_row("  3.3 %  sync") && !is_row("  less  ±  time") && !is_row("10 steps"));
}
