//! The comments of a source file, and the phrases in them that a reader has to translate.

use super::judge::Avoided;

/// Counts of the comments of one package.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) words: usize,
    pub(super) faults: Vec<String>,
}

impl Counts {
    /// Faults in a thousand words.
    pub(super) fn rate(&self) -> f64 {
        1000.0 * self.faults.len() as f64 / self.words.max(1) as f64
    }

    /// Adds the comments of a source file.
    pub(super) fn add(&mut self, path: &str, source: &str, avoided: &[Avoided]) {
        self.add_lines(path, of(source), avoided);
    }

    /// Adds the comments of a file in TOML, which are lines.
    pub(super) fn add_manifest(&mut self, path: &str, text: &str, avoided: &[Avoided]) {
        let lines = (1..).zip(text.lines());
        let comments =
            lines.filter_map(|(line, text)| Some((line, text.trim().strip_prefix('#')?.trim())));
        self.add_lines(path, comments, avoided);
    }

    fn add_lines<'t>(
        &mut self,
        path: &str,
        lines: impl Iterator<Item = (usize, &'t str)>,
        avoided: &[Avoided],
    ) {
        for (line, text) in lines {
            let said = super::judge::words(text);
            self.words += said.len();
            for phrase in avoided.iter().filter(|it| it.is_in(&said)) {
                self.faults
                    .push(format!("{path}:{line}: “{phrase}”: {text}"));
            }
        }
    }
}

/// The lines of comments with their numbers. A comment begins at the start of a line, or after code and a space.
fn of(source: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(source.lines()).filter_map(|(line, text)| {
        let text = match text.trim_start().strip_prefix("//") {
            Some(text) => text,
            // A link in a string has no space before its slashes.
            None => text.split_once(" // ")?.1,
        };
        Some((line, text.trim_start_matches(['/', '!']).trim()))
    })
}

#[test]
fn comments_are_found_at_the_start_of_lines_and_after_code() {
    let source =
        "//! A file.\n/// A thing.\nlet x = 1; // one\nlet url = \"http://x\";\n    // two";
    let found: Vec<_> = of(source).collect();
    assert_eq!(
        found,
        [(1, "A file."), (2, "A thing."), (3, "one"), (5, "two")]
    );
}

#[test]
fn phrases_are_counted_in_a_thousand_words() {
    let style = "## Phrases that comments do not use\n\n| p | i |\n|---|---|\n| `what is`, `told` | name it |\n";
    let avoided = super::judge::avoided(style, "## Phrases that comments do not use");
    let mut counts = Counts::default();
    counts.add("a.rs", "// What is told of it.\n// A kind.", &avoided);
    assert_eq!((counts.words, counts.faults.len()), (7, 2));
    assert!((counts.rate() - 2000.0 / 7.0).abs() < 1e-9);
}
