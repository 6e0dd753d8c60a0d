//! What every document of a recording begins with.

use schemars::JsonSchema;
use serde::Serialize;

use super::open_trace::{Completeness, LossCounts};

/// Completeness of a document's recordings.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct DocumentHead {
    /// It ended, nothing is damaged, and nothing was lost.
    complete: bool,
    ended: bool,
    growing: bool,
    damage: Vec<String>,
    damaged_inside: usize,
    pub(super) lost: LossCounts,
}

impl DocumentHead {
    /// Of all recordings that the document is about.
    pub(super) fn of<'c>(conditions: impl IntoIterator<Item = &'c Completeness>) -> Self {
        let conditions: Vec<&Completeness> = conditions.into_iter().collect();
        let damage = conditions.iter().flat_map(|it| &it.damage);
        Self {
            complete: conditions.iter().all(|it| it.is_complete()),
            ended: conditions.iter().all(|it| it.ended),
            growing: conditions.iter().any(|it| it.growing),
            damage: damage.cloned().collect(),
            damaged_inside: conditions.iter().map(|it| it.damaged_inside).sum(),
            lost: conditions
                .iter()
                .fold(LossCounts::default(), |sum, it| sum.and(it.lost)),
        }
    }
}

impl DocumentHead {
    /// Whether the recordings are complete, else the reasons.
    pub(super) fn text(&self) -> String {
        if self.complete {
            return "yes".to_owned();
        }
        let places = match self.damaged_inside {
            0 => None,
            1 => Some("damaged at 1 place".to_owned()),
            places => Some(format!("damaged at {places} places")),
        };
        let end = match (self.ended, self.growing) {
            (true, _) => None,
            (false, true) => Some("the recording goes on".to_owned()),
            (false, false) => Some("the recording has no end".to_owned()),
        };
        let lost = (self.lost.total() > 0).then(|| "calls or other records were lost".to_owned());
        let reasons: Vec<String> = [end, places, lost].into_iter().flatten().collect();
        format!("no: {}", reasons.join("; "))
    }
}

/// A document that has nothing but its head and a report.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReportDocument<'r, R> {
    #[serde(flatten)]
    head: DocumentHead,
    #[serde(flatten)]
    report: &'r R,
}

impl<'r, R> ReportDocument<'r, R> {
    pub(super) fn of(report: &'r R, head: DocumentHead) -> Self {
        Self { head, report }
    }
}
