//! The order in which tasks can have been submitted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::PlannedTask;
use crate::timeline::SyntaxError;

/// Places of the tasks in an order that keeps each stream's own, puts records before the waits
/// bound to them, and otherwise follows the key.
pub(super) fn submission_order<K: Ord>(
    tasks: &[PlannedTask<'_>],
    key: impl Fn(usize, &PlannedTask<'_>) -> K,
) -> Result<Vec<usize>, SyntaxError> {
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    let mut missing = vec![0; tasks.len()];
    for (place, task) in tasks.iter().enumerate() {
        for before in task.after.into_iter().flatten() {
            followers[before].push(place);
            missing[place] += 1;
        }
    }
    let entry = |place: usize| Reverse((key(place, &tasks[place]), place));
    let mut ready: BinaryHeap<_> = (0..tasks.len())
        .filter(|place| missing[*place] == 0)
        .map(entry)
        .collect();
    let mut order = Vec::with_capacity(tasks.len());
    while let Some(Reverse((_, place))) = ready.pop() {
        order.push(place);
        for &follower in &followers[place] {
            missing[follower] -= 1;
            if missing[follower] == 0 {
                ready.push(entry(follower));
            }
        }
    }
    match missing.iter().position(|count| *count > 0) {
        None => Ok(order),
        Some(place) => {
            let message = "tasks wait for each other in a circle";
            Err(SyntaxError::new(tasks[place].item.offset, message))
        }
    }
}
