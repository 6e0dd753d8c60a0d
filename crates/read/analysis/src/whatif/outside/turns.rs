//! Functions on the host that one thread runs, one after another: with two of different streams, the later one waits.

use super::HostFunction;
use crate::whatif::links::{Link, LinkKind};

/// A function that waited for another one begins within this time after the other one's end. Nanoseconds.
const SOON_NS: i64 = 50_000;

/// The least number of functions that begin soon after one of another stream, and of those that would overlap by chance.
const LEAST: usize = 8;

/// Links for the functions of a process, if one thread seems to run them all, without an overlap. They are in the order of their
/// begins.
pub(super) fn links(functions: &[HostFunction]) -> Vec<Link> {
    let pairs = || functions.windows(2).map(|it| (&it[0], &it[1]));
    let overlap = pairs().any(|(one, next)| next.begin < one.end);
    if overlap || !would_overlap(functions) || count_soon(pairs()) < LEAST {
        return Vec::new();
    }
    let each = pairs().filter(|(one, next)| one.stream != next.stream);
    let link = |(one, next): (&HostFunction, &HostFunction)| {
        let way = LinkKind::Turn;
        let (from, to) = way.points(one.place, next.place);
        let at = one.end;
        Link { way, from, to, at }
    };
    each.map(link).collect()
}

/// Functions of another stream than the one before, that begin soon after it.
fn count_soon<'f>(pairs: impl Iterator<Item = (&'f HostFunction, &'f HostFunction)>) -> usize {
    let others = pairs.filter(|(one, next)| one.stream != next.stream);
    others
        .filter(|(one, next)| next.begin - one.end <= SOON_NS)
        .count()
}

/// Whether functions at any time, with these durations, would overlap often.
fn would_overlap(functions: &[HostFunction]) -> bool {
    let (Some(first), Some(last)) = (functions.first(), functions.last()) else {
        return false;
    };
    let span = (last.end - first.begin).max(1) as f64;
    let worked: i64 = functions.iter().map(|it| it.end - it.begin).sum();
    functions.len() as f64 * worked as f64 / span >= LEAST as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whatif::links::{LaneCode, LanePosition};

    const US: i64 = 1_000;

    /// A function on each of two streams in turn, with this time between the end of one and the begin of the next.
    fn functions(count: u32, between: i64) -> Vec<HostFunction> {
        let each = (0..count).map(|number| {
            let stream = number % 2;
            let begin = i64::from(number) * (500 * US + between);
            HostFunction {
                begin,
                end: begin + 500 * US,
                stream,
                place: LanePosition::new(LaneCode::stream(stream as usize), number / 2),
            }
        });
        each.collect()
    }

    #[test]
    fn functions_that_follow_each_other_and_never_overlap_wait_for_each_other() {
        let found = links(&functions(20, 10 * US));
        assert_eq!(found.len(), 19);
        assert!(
            found
                .iter()
                .all(|it| it.way == LinkKind::Turn && it.from.is_end())
        );
    }

    #[test]
    fn functions_that_overlap_once_run_on_several_threads() {
        let mut some = functions(20, 10 * US);
        some[4].end += 20 * US;
        assert_eq!(links(&some), []);
    }

    #[test]
    fn functions_far_from_each_other_show_nothing() {
        assert_eq!(links(&functions(20, 20_000 * US)), []);
        assert_eq!(links(&functions(20, 60 * US)), []);
        assert_eq!(links(&functions(6, 10 * US)), []);
    }
}
