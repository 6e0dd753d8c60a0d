//! How many years of school a text asks for: the grade of Flesch and Kincaid.

use super::prose::{CODE, Sentence, SentencePlace};

/// Cells with fewer words are labels and no sentences.
const LABEL: usize = 6;

/// The grade of a text. Code and names are left out: their spelling is given.
pub(super) fn of<'s>(sentences: impl IntoIterator<Item = &'s Sentence>) -> f64 {
    let (mut count, mut words, mut syllables) = (0_usize, 0_usize, 0_usize);
    for sentence in sentences {
        let plain: Vec<&str> = sentence.words().filter(|word| !is_name(word)).collect();
        let is_label = sentence.place == SentencePlace::Cell && plain.len() < LABEL;
        if sentence.place == SentencePlace::Heading || is_label || plain.is_empty() {
            continue;
        }
        count += 1;
        words += plain.len();
        syllables += plain.iter().copied().map(syllables_of).sum::<usize>();
    }
    if words == 0 {
        return 0.0;
    }
    let (count, words, syllables) = (count as f64, words as f64, syllables as f64);
    0.39 * words / count + 11.8 * syllables / words - 15.59
}

/// A name or a number: it has a digit, an underscore, or a capital letter that does not begin it.
fn is_name(word: &str) -> bool {
    let inner = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_odd = |c: char| c.is_uppercase() || c.is_ascii_digit() || "_/=%".contains(c);
    word.contains(CODE)
        || inner.starts_with(|c: char| c.is_ascii_digit())
        || inner.chars().skip(1).any(is_odd)
}

/// Groups of vowels, without a silent `e` at the end.
fn syllables_of(word: &str) -> usize {
    let letters: String = word
        .chars()
        .filter(|c| c.is_alphabetic())
        .flat_map(char::to_lowercase)
        .collect();
    let mut groups = 0;
    let mut before = false;
    for c in letters.chars() {
        let is_vowel = "aeiouy".contains(c);
        groups += usize::from(is_vowel && !before);
        before = is_vowel;
    }
    let stem = letters.strip_suffix('s').unwrap_or(&letters);
    let is_silent = (stem.ends_with('e') && !stem.ends_with("le"))
        || (letters.ends_with("ed") && !letters.ends_with("ted") && !letters.ends_with("ded"));
    groups -= usize::from(is_silent && groups > 1);
    groups.max(1)
}

#[test]
fn syllables_are_counted() {
    for (word, count) in [
        ("the", 1),
        ("stream", 1),
        ("times", 1),
        ("table", 2),
        ("called", 1),
        ("started", 2),
        ("duration", 3),
        ("asynchronous", 4),
    ] {
        assert_eq!(syllables_of(word), count, "{word}");
    }
}

#[test]
fn long_sentences_of_long_words_have_a_higher_grade() {
    let grade = |text| of(&super::prose::of_markdown(text));
    let plain = grade("The tool reads the file. It shows each stream. You see why it was idle.");
    let dense = grade(
        "Notwithstanding considerable instrumentation, interpretability of asynchronous operations necessitates \
         comprehensive documentation of synchronisation characteristics.",
    );
    assert!(plain < 5.0 && dense > 20.0, "{plain} {dense}");
}
