//! The culprits of stalls, compared with the times when they ran.

use std::path::Path;

use ascend_trace_analysis::{Dependencies, Root, Stalls};
use ascend_trace_recording::TaskId;
use ascend_trace_testkit::whole::opened;

/// No stall names a task that had ended, beyond its error bar, before the stall began. Returns how many
/// tasks are named.
#[track_caller]
pub(crate) fn no_run_was_over(path: &Path) -> usize {
    let (trace, _) = opened(path).unwrap();
    let dependencies = Dependencies::of(&trace);
    let stalls = Stalls::with(&trace, &dependencies);
    let mut count = 0;
    for stall in stalls.iter() {
        let evidence = stalls.evidence(&trace, &dependencies, stall);
        let links = evidence.chain.links.iter();
        let mut named: Vec<TaskId> = links.map(|link| link.record).collect();
        named.extend(evidence.chain.links.iter().filter_map(|link| link.task));
        named.extend(
            [evidence.culprit.record, evidence.culprit.task]
                .into_iter()
                .flatten(),
        );
        if let Some(Root::Task(task)) = evidence.chain.root {
            named.push(task);
        }
        for time in named.iter().filter_map(|task| trace.task(*task).time) {
            count += 1;
            let end = time.end.saturating_add(time.error);
            assert!(
                end >= stall.begin,
                "{stall:?} names the task that ended at {end}: {evidence:?}"
            );
        }
    }
    count
}
