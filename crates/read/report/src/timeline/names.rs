//! Names by number. The page has those that occur most.

use std::collections::HashMap;

use crate::bounded::shortened;

/// Different names that are followed; further ones are not in the page.
const MOST_FOLLOWED: usize = 50_000;
/// Bytes of all names in the page.
const MOST_BYTES: usize = 150_000;
/// Characters of a name.
const MOST_CHARACTERS: usize = 120;

/// The number of all names that have none.
pub(super) const OTHER: u32 = 0;

#[derive(Clone, Debug)]
pub(super) struct Names {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            texts: vec![String::new()],
        }
    }
}

impl Names {
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        if self.texts.len() > MOST_FOLLOWED {
            return OTHER;
        }
        let number = self.texts.len() as u32;
        self.texts.push(shortened(name, MOST_CHARACTERS));
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The names for the page, and for each number the number there.
    pub(super) fn used(&self, uses: impl Iterator<Item = u32>) -> (Vec<String>, Vec<u32>) {
        let mut counts = vec![0_u64; self.texts.len()];
        uses.for_each(|it| counts[it as usize] += 1);
        let mut order: Vec<usize> = (1..self.texts.len()).collect();
        order.retain(|it| counts[*it] > 0);
        order.sort_by(|a, b| {
            let most = counts[*b].cmp(&counts[*a]);
            most.then_with(|| self.texts[*a].cmp(&self.texts[*b]))
        });
        let mut numbers = vec![OTHER; self.texts.len()];
        let mut texts = vec![String::new()];
        let mut room = MOST_BYTES;
        for place in order {
            let text = &self.texts[place];
            let size = crate::bounded::size(&text.as_str().into()) + 1;
            if size > room {
                break;
            }
            room -= size;
            numbers[place] = texts.len() as u32;
            texts.push(text.clone());
        }
        (texts, numbers)
    }
}
