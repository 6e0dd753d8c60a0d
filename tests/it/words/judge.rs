//! Faults of a text, by docs/STYLE.md.

use std::fmt;

use super::prose::{CODE, Sentence, SentencePlace};

/// The longest sentence that a text may have, in words.
pub(super) const LONGEST: usize = 30;

/// A word or phrase that is not used. A word of it that ends in `*` matches all words with that begin.
pub(super) struct Avoided {
    phrase: Vec<String>,
    instead: String,
    except: Vec<String>,
}

/// The heading of the table for documents, help and messages.
pub(super) const WORDS: &str = "## Words that we do not use";

/// The table of docs/STYLE.md below a heading.
pub(super) fn avoided(style: &str, heading: &str) -> Vec<Avoided> {
    let at = style
        .find(heading)
        .map_or(style.len(), |at| at + heading.len());
    let table = style[at..].split("\n## ").next().unwrap_or_default();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let instead = cells[1].to_owned();
        let except = cells.get(2).map_or("", |it| *it).split(", ");
        let except: Vec<String> = except.map(str::to_owned).collect();
        let phrases: Vec<_> = cells[0].split(',').collect();
        phrases.into_iter().map(move |phrase| Avoided {
            phrase: words(phrase.trim().trim_matches('`')),
            instead: instead.clone(),
            except: except.clone(),
        })
    })
    .collect()
}

pub(super) fn words(text: &str) -> Vec<String> {
    let words = text.split_whitespace().map(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '*');
        word.trim_start_matches('*').to_lowercase()
    });
    words.collect()
}

impl Avoided {
    pub(super) fn is_in(&self, said: &[String]) -> bool {
        said.windows(self.phrase.len()).any(|window| {
            let pairs = window.iter().zip(&self.phrase);
            pairs
                .into_iter()
                .all(|(word, wanted)| match wanted.strip_suffix('*') {
                    Some(begin) => word.starts_with(begin),
                    None => word == wanted,
                })
        })
    }
}

impl fmt::Display for Avoided {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}", self.phrase.join(" "))
    }
}

/// Words of a sentence. Names of code that follow each other are a list and count once; in a cell none counts.
fn length(sentence: &Sentence) -> usize {
    let mut before = false;
    let counted = sentence.words().filter(|word| {
        let is_code = word.contains(CODE);
        let is_listed = is_code && (before || sentence.place == SentencePlace::Cell);
        before = is_code;
        !is_listed
    });
    counted.count()
}

/// The faults of a text, each with its line and what to write.
pub(super) fn faults(document: &str, sentences: &[Sentence], avoided: &[Avoided]) -> Vec<String> {
    let mut faults = Vec::new();
    for sentence in sentences {
        let at = format!("{document}:{}", sentence.line);
        let said = words(&sentence.text);
        let text = sentence.text.replace(CODE, "`…`");
        for word in avoided {
            if word.is_in(&said) && !word.except.iter().any(|it| it == document) {
                faults.push(format!("{at}: “{word}”, write: {}: {text}", word.instead));
            }
        }
        let count = length(sentence);
        if count > LONGEST && sentence.place != SentencePlace::Heading {
            faults.push(format!("{at}: {count} words: {text}"));
        }
    }
    faults
}

#[test]
fn words_and_long_sentences_are_faults() {
    let style = "## Words that we do not use\n\n| w | i | e |\n|---|---|---|\n\
                 | `moment`, `utilize*` | timestamp | |\n| `for that` | the noun | A |\n";
    let avoided = avoided(style, WORDS);
    let faults = |name, text: &str| {
        let sentences = super::prose::of_markdown(text);
        faults(name, &sentences, &avoided).len()
    };
    assert_eq!(avoided.len(), 3);
    assert_eq!(
        faults("B", "At the Moment, it utilizes code. It is fine."),
        2
    );
    assert_eq!(faults("B", "It is for that, and `moment` is code."), 1);
    assert_eq!(faults("A", "It is for that."), 0);
    assert_eq!(faults("B", &"word ".repeat(LONGEST + 1)), 1);
    assert_eq!(faults("B", &"word ".repeat(LONGEST)), 0);
}
