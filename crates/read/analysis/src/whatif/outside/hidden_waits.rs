//! Pauses that always take the same time. They may be waits nevertheless.
//!
//! Such a pause looks like a sleep. But it may be a wait that reached its time limit: then the thread waits for others after the same
//! call, in other rounds. Or the thread looks for its next item, and sleeps between two looks: then it goes on as often as another thread,
//! which does not wait for it. These pauses stay as they are in a simulation, and their time is part of the error.

use super::Site;
use super::pauses::{Pauses, Source};

/// The pauses of a site.
#[derive(Clone, Copy, Debug)]
struct Steady {
    site: Site,
    /// How long the thread did not use a processor in them.
    waited: i64,
    /// A thread that goes on as often as this one.
    paced_by: Option<u32>,
}

/// Those of all sites.
#[derive(Debug, Default)]
pub(super) struct HiddenWaits(Vec<Steady>);

impl HiddenWaits {
    pub(super) fn add(&mut self, site: Site, pauses: &Pauses, interval: impl Fn(Source) -> i64) {
        let waited = pauses.waited();
        if waited > 0 {
            self.0.push(Steady {
                site,
                waited,
                paced_by: pauses.paced_by(interval),
            });
        }
    }

    /// How long the pauses are that may be waits, by the sites with a known end.
    pub(super) fn waited(&self, known: &[(Site, Source)]) -> i64 {
        let may_wait = |it: &&Steady| {
            let (thread, before, after) = it.site;
            let has_limit = known
                .iter()
                .any(|it| (it.0.0, it.0.1) == (thread, before) && it.0.2 != after);
            let waits_for = |other: u32, it: &(Site, Source)| {
                let is_own = match it.1 {
                    Source::Calls(by, _) => by == thread,
                    Source::AnyCalls(_) => true,
                    Source::FunctionEnds(_) | Source::FunctionBegins(_) => false,
                };
                it.0.0 == other && is_own
            };
            let is_paced = it
                .paced_by
                .is_some_and(|other| !known.iter().any(|it| waits_for(other, it)));
            has_limit || is_paced
        };
        let waits = self.0.iter().filter(may_wait);
        waits.map(|it| it.waited).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(site: Site, paced_by: Option<u32>) -> HiddenWaits {
        HiddenWaits(vec![Steady {
            site,
            waited: 70,
            paced_by,
        }])
    }

    #[test]
    fn a_pause_after_a_call_after_which_the_thread_also_waits_may_have_reached_a_limit() {
        let hidden = steady((1, 5, 6), None);
        assert_eq!(hidden.waited(&[((1, 5, 7), Source::Calls(2, 9))]), 70);
        // Another thread, another call before it, or the same call after it.
        for site in [(2, 5, 7), (1, 4, 7), (1, 5, 6)] {
            assert_eq!(hidden.waited(&[(site, Source::Calls(2, 9))]), 0);
        }
    }

    #[test]
    fn a_thread_that_goes_on_as_often_as_another_one_waits_unless_that_one_does() {
        let hidden = steady((1, 5, 6), Some(2));
        assert_eq!(hidden.waited(&[]), 70);
        assert_eq!(hidden.waited(&[((2, 3, 4), Source::Calls(3, 9))]), 70);
        assert_eq!(hidden.waited(&[((2, 3, 4), Source::Calls(1, 9))]), 0);
        assert_eq!(hidden.waited(&[((2, 3, 4), Source::AnyCalls(9))]), 0);
    }
}
