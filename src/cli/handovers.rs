//! Waits outside of AscendCL in words. Waits for many threads, and waits of many threads, take one line.

use std::collections::BTreeMap;

use ascend_trace_analysis::whatif::Handover;

use crate::text_table::count;

/// As many threads as have separate lines.
const APART: usize = 3;

/// Lines at most.
const MOST: usize = 20;

/// Threads on one side of a wait.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Threads {
    /// The function says who called it.
    Unnamed,
    One(u32),
    Many(usize),
}

impl Threads {
    fn of(tids: &[u32]) -> Self {
        match tids {
            [] => Self::Unnamed,
            [one] => Self::One(*one),
            many => Self::Many(many.len()),
        }
    }
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wait<'h> {
    by: Threads,
    waits: Threads,
    before: &'h str,
    after: &'h str,
    count: u64,
}

impl Wait<'_> {
    fn text(&self) -> String {
        let waits = match &self.waits {
            Threads::One(tid) => format!("Thread {tid} seems"),
            Threads::Many(threads) => format!("{} threads seem", count(*threads as u64)),
            Threads::Unnamed => "A thread seems".to_owned(),
        };
        let by = match &self.by {
            Threads::Unnamed => self.after.to_owned(),
            Threads::One(tid) => format!("{} of thread {tid}", self.after),
            Threads::Many(threads) => {
                format!("{} of {} threads", self.after, count(*threads as u64))
            }
        };
        let times = match self.count {
            1 => "once".to_owned(),
            more => format!("{} times", count(more)),
        };
        format!("{waits} to wait for {by} before {}, {times}\n", self.before)
    }
}

/// The lines for all of them.
pub(super) fn text(all: &[Handover]) -> String {
    let waits = lines(all);
    let shown: String = waits.iter().take(MOST).map(Wait::text).collect();
    match waits.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown}… and {} more such waits\n", count(more as u64)),
    }
}

/// In the order in which the first wait of each comes.
fn lines(all: &[Handover]) -> Vec<Wait<'_>> {
    // Of one thread, for calls of a function.
    let mut of_one: BTreeMap<_, Vec<(usize, &Handover)>> = BTreeMap::new();
    for (place, it) in all.iter().enumerate() {
        let key = (it.process, it.tid, &it.before, &it.after, it.by.is_some());
        of_one.entry(key).or_default().push((place, it));
    }
    let mut joined: Vec<(usize, u32, Wait<'_>)> = Vec::new();
    for group in of_one.into_values() {
        let parts: Vec<&[(usize, &Handover)]> = match group.len() {
            0..=APART => group.chunks(1).collect(),
            _ => vec![&group],
        };
        for part in parts {
            let Some((place, first)) = part.first() else {
                continue;
            };
            let by: Vec<u32> = part.iter().filter_map(|it| it.1.by).collect();
            let wait = Wait {
                by: Threads::of(&by),
                waits: Threads::One(first.tid),
                before: &first.before,
                after: &first.after,
                count: part.iter().map(|it| it.1.count).sum(),
            };
            joined.push((*place, first.process, wait));
        }
    }
    // Of many threads, for the same.
    let mut of_many: BTreeMap<_, Vec<(usize, Wait<'_>)>> = BTreeMap::new();
    for (place, process, wait) in joined {
        let key = (process, wait.by.clone(), wait.before, wait.after);
        of_many.entry(key).or_default().push((place, wait));
    }
    let mut lines: Vec<(usize, Wait<'_>)> = Vec::new();
    for group in of_many.into_values() {
        match group.len() {
            0..=APART => lines.extend(group),
            threads => {
                let count = group.iter().map(|it| it.1.count).sum();
                lines.extend(group.into_iter().take(1).map(|(place, wait)| {
                    let waits = Threads::Many(threads);
                    (
                        place,
                        Wait {
                            waits,
                            count,
                            ..wait
                        },
                    )
                }));
            }
        }
    }
    lines.sort_by_key(|it| it.0);
    lines.into_iter().map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handover(tid: u32, by: Option<u32>, count: u64) -> Handover {
        Handover {
            process: 0,
            tid,
            before: "launch".to_owned(),
            by,
            after: "sync".to_owned(),
            count,
        }
    }

    #[test]
    fn few_waits_have_separate_lines() {
        let few = [
            handover(7, Some(9), 40),
            handover(7, Some(8), 1),
            handover(7, None, 2),
        ];
        let expected = "Thread 7 seems to wait for sync of thread 9 before launch, 40 times\n\
                        Thread 7 seems to wait for sync of thread 8 before launch, once\n\
                        Thread 7 seems to wait for sync before launch, 2 times\n";
        assert_eq!(text(&few), expected);
        assert_eq!(text(&[]), "");
    }

    #[test]
    fn waits_of_and_for_many_threads_have_a_line() {
        let mut many: Vec<Handover> = (0..250).map(|it| handover(7, Some(100 + it), 1)).collect();
        assert_eq!(
            text(&many),
            "Thread 7 seems to wait for sync of 250 threads before launch, 250 times\n"
        );
        many = (0..250).map(|it| handover(100 + it, Some(7), 2)).collect();
        assert_eq!(
            text(&many),
            "250 threads seem to wait for sync of thread 7 before launch, 500 times\n"
        );
    }

    #[test]
    fn there_are_no_more_lines_than_a_screen_has() {
        let function = |it: u32| Handover {
            before: format!("call {it}"),
            ..handover(7, Some(8), 1)
        };
        let many: Vec<Handover> = (0..30).map(function).collect();
        let text = text(&many);
        assert_eq!(text.lines().count(), MOST + 1);
        assert!(text.ends_with("… and 10 more such waits\n"), "{text}");
    }
}
