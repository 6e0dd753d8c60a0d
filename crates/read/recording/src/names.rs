//! Names that the program gave to objects which it passes by handle or number.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::entities::ProcessId;
use crate::rows::NameRow;

/// A name, and from when on it holds.
type NamedKey = (i64, Arc<str>);

/// Names by process and key. A handle may be used again, so a name holds from some time on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    all: HashMap<(ProcessId, u64), Vec<NamedKey>>,
    /// Each name once: programs name the same things again and again.
    texts: HashSet<Arc<str>>,
}

impl Names {
    pub(crate) fn add(&mut self, process: ProcessId, row: NameRow) {
        let name = match self.texts.get(row.name.as_str()) {
            Some(known) => Arc::clone(known),
            None => {
                let name: Arc<str> = row.name.into();
                self.texts.insert(Arc::clone(&name));
                name
            }
        };
        let names = self.all.entry((process, row.key)).or_default();
        let place = names.partition_point(|(since, _)| *since <= row.since_ns);
        let is_same = |at: usize| names.get(at).is_some_and(|(_, known)| *known == name);
        // Named so already, or a little later: it held from now on then.
        if place.checked_sub(1).is_some_and(is_same) {
            return;
        }
        match is_same(place) {
            true => names[place].0 = row.since_ns,
            false => names.insert(place, (row.since_ns, name)),
        }
    }

    /// The name at a time. A later name is better than none: the comparison is between clocks of two
    /// threads.
    pub(crate) fn get(&self, process: ProcessId, key: u64, at: i64) -> Option<&str> {
        let names = self.all.get(&(process, key))?;
        let later = names.partition_point(|(since, _)| *since <= at);
        let found = names.get(later.saturating_sub(1));
        found.map(|(_, name)| name.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_that_is_used_again_has_a_name_at_a_time() {
        let mut names = Names::default();
        let process = ProcessId(0);
        for (since_ns, name) in [(200, "second"), (100, "first")] {
            let name = name.to_owned();
            names.add(
                process,
                NameRow {
                    process: 0,
                    since_ns,
                    key: 7,
                    name,
                },
            );
        }
        assert_eq!(names.get(process, 7, 150), Some("first"));
        assert_eq!(names.get(process, 7, 200), Some("second"));
        assert_eq!(names.get(process, 7, 50), Some("first"));
        assert_eq!(names.get(ProcessId(1), 7, 150), None);
        assert_eq!(names.get(process, 8, 150), None);
    }
}
