//! Which times are of tasks that were launched where.

use super::pending::FileSpan;

/// In this part of the file are times of tasks that were launched in that part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TimesLink {
    pub(crate) times: FileSpan,
    pub(crate) launches: FileSpan,
}

impl TimesLink {
    fn and(&self, other: &Self) -> Self {
        Self {
            times: self.times.and(other.times),
            launches: self.launches.and(other.launches),
        }
    }
}

/// More links of a group are put together.
const MOST: usize = 1 << 14;

/// The links of a group, while it grows.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    all: Vec<TimesLink>,
    /// That many of them are in order.
    sorted: usize,
}

impl Links {
    pub(super) fn add(&mut self, link: TimesLink) {
        // As a rule it is one of the last: the times of a chunk are together by stream.
        if self.all.iter().rev().take(8).any(|known| *known == link) {
            return;
        }
        self.all.push(link);
        if self.all.len() >= 2 * self.sorted.max(MOST) {
            self.sort();
            while self.all.len() > MOST {
                self.all = halved(&self.all);
            }
            self.sorted = self.all.len();
        }
    }

    fn sort(&mut self) {
        self.all.sort_unstable();
        self.all.dedup();
    }

    /// All of them, in order.
    pub(super) fn known(&self) -> Vec<TimesLink> {
        let mut sorted = self.clone();
        sorted.sort();
        sorted.all
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.sorted = 0;
    }
}

/// Neighbours become one that names all that both name, and maybe more.
fn halved(links: &[TimesLink]) -> Vec<TimesLink> {
    let pairs = links.chunks(2);
    pairs
        .map(|pair| match pair {
            [one, other] => one.and(other),
            _ => pair[0],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_links_become_fewer_that_still_name_all() {
        let mut links = Links::default();
        let all: Vec<TimesLink> = (0..100_000_u64)
            .map(|number| TimesLink {
                times: FileSpan::at(number / 1_000),
                launches: FileSpan::at(number.wrapping_mul(0x9e37_79b9) % 1_000_000),
            })
            .collect();
        for link in all.iter().flat_map(|link| [link, link]) {
            links.add(*link);
        }
        let known = links.known();
        assert!(known.len() <= 3 * MOST, "{}", known.len());
        let holds = |place: FileSpan, other: FileSpan| {
            place.from <= other.from && other.until <= place.until
        };
        for link in all.iter().step_by(997) {
            assert!(
                known
                    .iter()
                    .any(|it| { holds(it.times, link.times) && holds(it.launches, link.launches) })
            );
        }
    }
}
