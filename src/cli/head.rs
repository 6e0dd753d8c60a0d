//! What every document of a recording begins with.

use serde::Serialize;

use super::trace::Condition;

/// How much of the recordings is there that a document is about.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Head {
    complete: bool,
    damage: Vec<String>,
}

impl Head {
    /// Of all recordings that the document is about.
    pub(super) fn of<'c>(conditions: impl IntoIterator<Item = &'c Condition>) -> Self {
        let conditions: Vec<&Condition> = conditions.into_iter().collect();
        let damage = conditions.iter().flat_map(|it| &it.damage);
        Self {
            complete: conditions.iter().all(|it| it.ended && it.damage.is_empty()),
            damage: damage.cloned().collect(),
        }
    }
}

/// A document that has nothing but its head and a report.
#[derive(Debug, Serialize)]
pub(super) struct Document<'r, R> {
    #[serde(flatten)]
    head: Head,
    #[serde(flatten)]
    report: &'r R,
}

impl<'r, R> Document<'r, R> {
    pub(super) fn of(report: &'r R, condition: &Condition) -> Self {
        Self {
            head: Head::of([condition]),
            report,
        }
    }
}
