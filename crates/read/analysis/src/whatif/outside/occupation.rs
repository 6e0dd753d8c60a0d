//! Whether a thread worked or waited in its pauses, by its processor time.
//!
//! A thread that looks again and again at a place in memory uses its processor as one that works. One that waits for a lock, for a
//! time or for input does not.

use crate::pause_work::Work;

/// Processor times are known of many pauses if they are known of this part: four of five.
const MANY: (usize, usize) = (4, 5);

/// A thread that works uses its processor in this part of a pause: other programs have it now and then.
const WORKS: f64 = 0.95;

/// One in this number of pauses may be an exception.
const FEW: usize = 16;

/// Activity of a thread in the pauses of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occupation {
    Unknown,
    /// It used a processor all the time in nearly all of them, or wanted to.
    Busy,
    /// It used none for a part of them, at least.
    Waited,
}

impl Occupation {
    /// By the lengths of the pauses, with the processor time of each as far as it is known.
    pub(super) fn of(pauses: impl Iterator<Item = (i64, Option<Work>)>) -> Self {
        let (mut count, mut known, mut busy, mut may_be_busy) = (0, 0, 0, 0);
        for (length, work) in pauses {
            let least = (length as f64 * WORKS) as i64;
            count += 1;
            known += usize::from(work.is_some());
            busy += usize::from(work.is_some_and(|it| it.least >= least || it.blocks == 0));
            may_be_busy += usize::from(work.is_some_and(|it| it.most >= least));
        }
        if known == 0 || known * MANY.1 < count * MANY.0 {
            return Self::Unknown;
        }
        let are_most = |some: usize| known - some <= known / FEW;
        match (are_most(busy), are_most(may_be_busy)) {
            (true, _) => Self::Busy,
            (_, false) => Self::Waited,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: usize, pause: (i64, Option<Work>)) -> impl Iterator<Item = (i64, Option<Work>)> {
        std::iter::repeat_n(pause, count)
    }

    fn used(least: i64, most: i64) -> (i64, Option<Work>) {
        let blocks = 1;
        let work = Work {
            least,
            most,
            blocks,
        };
        (1000, Some(work))
    }

    #[test]
    fn a_thread_is_busy_that_uses_its_processor_in_nearly_all_pauses() {
        let busy = of(15, used(990, 1000));
        assert_eq!(
            Occupation::of(busy.chain(of(1, used(100, 100)))),
            Occupation::Busy
        );
        let half = of(8, used(990, 1000)).chain(of(8, used(100, 100)));
        assert_eq!(Occupation::of(half), Occupation::Waited);
    }

    #[test]
    fn a_thread_that_never_blocks_is_busy_though_others_have_its_processor() {
        let blocks = 0;
        let work = |most| Work {
            least: 0,
            most,
            blocks,
        };
        let pauses = of(9, (1000, Some(work(600))));
        assert_eq!(Occupation::of(pauses), Occupation::Busy);
    }

    #[test]
    fn bounds_that_allow_both_say_nothing() {
        assert_eq!(Occupation::of(of(9, used(0, 1000))), Occupation::Unknown);
        assert_eq!(Occupation::of(of(9, used(0, 900))), Occupation::Waited);
    }

    #[test]
    fn few_known_pauses_say_nothing() {
        let few = of(3, used(1000, 1000)).chain(of(2, (1000, None)));
        assert_eq!(Occupation::of(few), Occupation::Unknown);
        assert_eq!(Occupation::of(of(0, used(0, 0))), Occupation::Unknown);
    }
}
