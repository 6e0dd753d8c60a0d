//! Sentences of a text, without code, markup and names of options.

/// Stands for a piece of code in a sentence: it counts as one word, and has no letters.
pub(super) const CODE: char = '\u{1}';

/// Place of a sentence, which decides its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentencePlace {
    Heading,
    Paragraph,
    Cell,
}

#[derive(Debug)]
pub(super) struct Sentence {
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) place: SentencePlace,
}

impl Sentence {
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        let words = self.text.split_whitespace();
        words.filter(|word| word.contains(|c: char| c.is_alphanumeric() || c == CODE))
    }
}

/// Collects blocks of text and cuts them into sentences.
#[derive(Default)]
struct Blocks {
    sentences: Vec<Sentence>,
    open: String,
    line: usize,
}

impl Blocks {
    fn add(&mut self, line: usize, text: &str) {
        if self.open.is_empty() {
            self.line = line;
        } else {
            self.open.push(' ');
        }
        self.open.push_str(text.trim());
    }

    fn close(&mut self, place: SentencePlace) {
        let text = plain(&std::mem::take(&mut self.open));
        // Items of a cell end with a semicolon.
        let text = match place {
            SentencePlace::Cell => text.replace("; ", ". "),
            _ => text,
        };
        for text in split(&text) {
            let line = self.line;
            self.sentences.push(Sentence { text, line, place });
        }
    }

    fn whole(&mut self, line: usize, text: &str, place: SentencePlace) {
        self.close(SentencePlace::Paragraph);
        self.add(line, text);
        self.close(place);
    }
}

/// The sentences of a document in Markdown.
pub(super) fn of_markdown(text: &str) -> Vec<Sentence> {
    let mut blocks = Blocks::default();
    let mut in_code = false;
    let mut in_list = false;
    for (at, line) in text.lines().enumerate() {
        let (at, words) = (at + 1, line.trim());
        if words.starts_with("```") {
            in_code = !in_code;
            blocks.close(SentencePlace::Paragraph);
        } else if in_code || words.starts_with("<!--") {
        } else if words.is_empty() {
            blocks.close(SentencePlace::Paragraph);
        } else if words.starts_with('#') {
            in_list = false;
            blocks.whole(at, words.trim_start_matches('#'), SentencePlace::Heading);
        } else if words.starts_with('|') {
            for cell in cells(words) {
                blocks.whole(at, cell, SentencePlace::Cell);
            }
        } else if let Some(item) = list_item(words) {
            in_list = true;
            blocks.close(SentencePlace::Paragraph);
            blocks.add(at, item);
        } else if line.starts_with("    ") && !in_list {
            blocks.close(SentencePlace::Paragraph);
        } else {
            in_list &= !blocks.open.is_empty() || line.starts_with(' ');
            blocks.add(at, words);
        }
    }
    blocks.close(SentencePlace::Paragraph);
    blocks.sentences
}

/// The sentences of a command's help: the text of its options, and the paragraphs around.
pub(super) fn of_help(text: &str) -> Vec<Sentence> {
    let mut blocks = Blocks::default();
    for (at, line) in text.lines().enumerate() {
        let words = line.trim();
        let is_head = words.starts_with('-') || (line.starts_with("  ") && words.contains("  "));
        if words.is_empty() || words.starts_with("Usage:") || words.ends_with(':') {
            blocks.close(SentencePlace::Paragraph);
        } else if is_head {
            blocks.close(SentencePlace::Paragraph);
            if let Some((_, rest)) = words.split_once("  ") {
                blocks.add(at + 1, rest);
            }
        } else if !words.starts_with("ascend-trace ") {
            blocks.add(at + 1, words);
        }
    }
    blocks.close(SentencePlace::Paragraph);
    blocks.sentences
}

/// One text of the program: `{…}` is an inserted value.
pub(super) fn of_literal(text: &str, line: usize) -> Vec<Sentence> {
    let mut blocks = Blocks::default();
    for part in text.split("\n\n") {
        blocks.whole(line, &without(part, '{', '}'), SentencePlace::Paragraph);
    }
    blocks.sentences
}

fn cells(row: &str) -> impl Iterator<Item = &str> {
    let is_line = row.chars().all(|c| "|-: ".contains(c));
    let row = if is_line { "" } else { row.trim_matches('|') };
    row.split('|').filter(|cell| !cell.trim().is_empty())
}

fn list_item(words: &str) -> Option<&str> {
    let bullet = words.strip_prefix("- ").or(words.strip_prefix("* "));
    bullet.or_else(|| {
        let (number, item) = words.split_once(". ")?;
        let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
        is_number.then_some(item)
    })
}

/// A text with everything between two characters taken out, and [`CODE`] put in its place.
fn without(text: &str, open: char, close: char) -> String {
    let mut plain = String::new();
    let mut inside = false;
    for c in text.chars() {
        match c {
            c if c == open && !inside => {
                inside = true;
                plain.push(CODE);
            }
            c if c == close && inside => inside = false,
            c if !inside => plain.push(c),
            _ => {}
        }
    }
    plain
}

/// A paragraph without its markup.
fn plain(text: &str) -> String {
    let text = without(&text.replace("``", "`"), '`', '`');
    let text = text.replace("**", "").replace("<br>", " ");
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("](") {
        let (before, after) = rest.split_at(at);
        let open = before.rfind('[').unwrap_or(0);
        let is_picture = before[..open].ends_with('!');
        plain.push_str(before[..open].trim_end_matches('!'));
        if !is_picture {
            plain.push_str(before[open..].trim_start_matches('['));
        }
        rest = after.find(')').map_or("", |end| &after[end + 1..]);
    }
    plain.push_str(rest);
    plain
}

/// Whether a sentence can end with this word.
fn ends(word: &str) -> bool {
    let word = word.trim_end_matches([')', '"', '”', '\'', '*']);
    let is_short = ["e.g.", "i.e.", "vs.", "etc.", "…"].contains(&word);
    word.ends_with(['.', '?', '!']) && !is_short
}

fn split(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        open.push(word);
        if ends(word) {
            sentences.push(open.join(" "));
            open.clear();
        }
    }
    if !open.is_empty() {
        sentences.push(open.join(" "));
    }
    sentences
}

#[test]
fn a_document_is_cut_into_sentences() {
    let text = "# A head\n\nOne `code()` here.\nTwo [a link](b.md), and\nmore.\n\n```\nno prose.\n```\n\n\
                - item one\n  goes on\n- item two\n\n| a | b |\n|---|---|\n| `x` | What it is. And more |\n";
    let found = of_markdown(text);
    let texts: Vec<String> = found.iter().map(|it| it.text.replace(CODE, "@")).collect();
    let expected = [
        "A head",
        "One @ here.",
        "Two a link, and more.",
        "item one goes on",
        "item two",
        "a",
        "b",
        "@",
        "What it is.",
        "And more",
    ];
    assert_eq!(texts, expected);
    assert_eq!(found[2].words().count(), 5);
    assert_eq!((found[0].line, found[3].line), (1, 11));
    assert_eq!(found[0].place, SentencePlace::Heading);
    assert_eq!(found[9].place, SentencePlace::Cell);
}

#[test]
fn help_is_cut_into_sentences() {
    let text = "Does it\n\nUsage: x [Y]\n\nOptions:\n  -o, --out <F>  The file\n                 it writes\n      \
                --more\n          More of it. Much\n";
    let texts: Vec<String> = of_help(text).into_iter().map(|it| it.text).collect();
    assert_eq!(
        texts,
        ["Does it", "The file it writes", "More of it.", "Much"]
    );
}
