//! How calls were intercepted: the inputs together. Each says it once, at its end.

use std::collections::BTreeMap;

use crate::rows::{CoverageRow, Row};

#[derive(Debug, Default)]
pub(super) struct MergedCoverage {
    rows: BTreeMap<(String, String), CoverageRow>,
}

impl MergedCoverage {
    pub(super) fn take(&mut self, row: CoverageRow) {
        let key = (row.library.clone(), row.function.clone());
        let Some(known) = self.rows.get_mut(&key) else {
            self.rows.insert(key, row);
            return;
        };
        known.ways |= row.ways;
        known.calls = known.calls.saturating_add(row.calls);
        known.functions = known.functions.max(row.functions);
        if known.refused.is_empty() {
            known.refused = row.refused;
        }
    }

    pub(super) fn rows(self) -> impl Iterator<Item = Row> {
        self.rows.into_values().map(Row::Coverage)
    }
}
