//! Texts that match the typed text, best first.
//!
//! Some seventy lines in this file: the crates that do this well bring a matcher for paths and Unicode
//! that is ten times as long, or a licence that the project does not allow.

/// Letters that follow each other, begin a word, begin the text.
const CONSECUTIVE: i32 = 6;
const WORD: i32 = 8;
const FIRST: i32 = 4;
/// Worse than any score.
const NONE: i32 = i32::MIN / 2;

/// How well a text has the words of a query, each with all letters in their order. `None`: it has not.
pub(crate) fn score(query: &str, text: &str) -> Option<i32> {
    let letters: Vec<char> = text.chars().collect();
    let words = query.split_whitespace();
    let sum = words
        .map(|word| word_score(word, &letters))
        .try_fold(0_i32, |sum, score| Some(sum + score?))?;
    let is_same = query.trim().eq_ignore_ascii_case(text);
    // Of texts that have it as well, the shorter one is meant.
    Some(sum * 64 - letters.len().min(63) as i32 + i32::from(is_same) * 65_536)
}

/// The best way to find the letters of a word in their order.
fn word_score(word: &str, text: &[char]) -> Option<i32> {
    // Per letter of the text: the best score of a match that ends there.
    let mut ends: Vec<i32> = vec![0; text.len()];
    for (number, letter) in word.chars().enumerate() {
        let mut next = vec![NONE; text.len()];
        // The best match that ended before, minus the gap.
        let mut before = if number == 0 { 0 } else { NONE };
        for (place, own) in text.iter().enumerate() {
            if is_same(letter, *own) {
                let joined = match place.checked_sub(1) {
                    Some(last) if number > 0 && ends[last] > NONE => ends[last] + CONSECUTIVE,
                    _ => NONE,
                };
                let best = joined.max(before);
                if best > NONE {
                    next[place] = best + 1 + begins(text, place);
                }
            }
            if number > 0 {
                before = (before - 1).max(ends[place] - 1).max(NONE);
            }
        }
        ends = next;
    }
    ends.into_iter().max().filter(|best| *best > NONE / 2)
}

fn is_same(wanted: char, own: char) -> bool {
    wanted == own || wanted.to_lowercase().eq(own.to_lowercase())
}

/// Score of a letter at the begin of a word.
fn begins(text: &[char], place: usize) -> i32 {
    let Some(before) = place.checked_sub(1).map(|it| text[it]) else {
        return WORD + FIRST;
    };
    let own = text[place];
    let is_word = own.is_alphanumeric() && !before.is_alphanumeric();
    let is_hump = own.is_uppercase() && !before.is_uppercase();
    let is_number = own.is_ascii_digit() && !before.is_ascii_digit();
    match is_word || is_hump || is_number {
        true => WORD,
        false => 0,
    }
}

/// How many letters must be put in, left out, changed or exchanged with the next one to get from one text
/// to the other.
pub(crate) fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().flat_map(char::to_lowercase).collect();
    let other: Vec<char> = other.chars().flat_map(char::to_lowercase).collect();
    let mut last: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, its) in other.iter().enumerate() {
            let mut best = (row[j] + usize::from(letter != its))
                .min(row[j + 1] + 1)
                .min(next[j] + 1);
            let is_turned = i > 0 && j > 0 && one[i - 1] == *its && *letter == other[j - 1];
            if is_turned {
                best = best.min(last[j - 1] + 1);
            }
            next.push(best);
        }
        last = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(0)
}

/// Whether one text is a likely typing error of the other, and the distance: to all of it, or to as
/// many words as were typed.
pub(crate) fn near(typed: &str, text: &str) -> Option<usize> {
    let number = typed.split_whitespace().count();
    let words: Vec<&str> = text.split_whitespace().collect();
    let parts = words.windows(number.clamp(1, words.len().max(1)));
    let parts = parts.map(|part| distance(typed, &part.join(" ")));
    let best = parts.chain([distance(typed, text)]).min()?;
    (best * 3 <= typed.chars().count()).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked<'t>(query: &str, texts: &[&'t str]) -> Vec<&'t str> {
        let found = texts
            .iter()
            .filter_map(|text| Some((score(query, text)?, *text)));
        let mut found: Vec<(i32, &str)> = found.collect();
        found.sort_by_key(|(score, _)| -score);
        found.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn letters_must_be_there_in_their_order() {
        assert!(score("zin", "zoom in").is_some());
        assert!(score("niz", "zoom in").is_none());
        assert!(score("", "anything").is_some());
        assert!(
            score("in zoom", "zoom in").is_some(),
            "words come in any order"
        );
        assert!(score("MATMUL", "aclnnMatMul").is_some(), "in any case");
        assert!(score("x", "").is_none());
    }

    #[test]
    fn begins_of_words_and_runs_of_letters_come_first() {
        let texts = [
            "unfold all lanes",
            "go to the lane below",
            "fold or unfold the lanes here",
        ];
        assert_eq!(ranked("fold", &texts)[0], "fold or unfold the lanes here");
        assert_eq!(ranked("ul", &["fully", "unfold lanes"])[0], "unfold lanes");
        assert_eq!(ranked("mm", &["hammer", "MatMul"])[0], "MatMul");
        assert_eq!(
            ranked("zoom in", &["zoom in fast", "zoom in"])[0],
            "zoom in"
        );
        assert_eq!(
            ranked("s12", &["stream 2 of 1", "stream 12"])[0],
            "stream 12"
        );
    }

    #[test]
    fn the_best_way_through_a_text_is_found() {
        // The first b is no part of the best match.
        let (near, far) = (score("fb", "fab foo xar"), score("fb", "fab foo bar"));
        assert!(far > near, "{far:?} {near:?}");
    }

    #[test]
    fn slips_of_the_fingers_are_near() {
        assert_eq!(distance("laest", "least"), 1);
        assert_eq!(distance("zom", "zoom"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
        assert_eq!(near("zomo in", "zoom in fast"), Some(1));
        assert_eq!(near("qiut", "quit"), Some(1));
        assert_eq!(near("bookmrak", "list the bookmarks"), Some(2));
        assert_eq!(near("xyz", "zoom in"), None);
    }
}
