//! Sequences without what repeats inside a step.
//!
//! The number of layers may differ from step to step: no two steps are then the same. A block that comes several times
//! in a row is taken as one. A block with a sign of a step is left as it is: several steps must not become one.

use super::repetition::Sign;
use super::sequence::RequestedOperation;

/// The longest block.
const LONGEST: usize = 32;

/// The entries with each block once. `None` if none repeats.
pub(super) fn folded(
    entries: &[RequestedOperation],
    sign: impl Fn(u32) -> Sign,
) -> Option<Vec<RequestedOperation>> {
    if entries.iter().all(|it| sign(it.symbol) <= Sign::None) {
        return None;
    }
    let mut kept = entries.to_vec();
    for length in 1..=LONGEST {
        fold(&mut kept, length, &sign);
    }
    (kept.len() < entries.len()).then_some(kept)
}

/// Leaves one of several equal blocks in a row.
fn fold(entries: &mut Vec<RequestedOperation>, length: usize, sign: &impl Fn(u32) -> Sign) {
    // How many of the last entries are the same as those one block before.
    let (mut kept, mut same, mut unsigned) = (0, 0, 0);
    for at in 0..entries.len() {
        let entry = entries[at];
        entries[kept] = entry;
        kept += 1;
        unsigned = match sign(entry.symbol) {
            Sign::Copy | Sign::None => unsigned + 1,
            _ => 0,
        };
        let is_same = kept > length && entries[kept - 1 - length].symbol == entry.symbol;
        same = if is_same { same + 1 } else { 0 };
        if same >= length && unsigned >= length {
            kept -= length;
            entries[kept - 1].extend(entry.end());
            same = 0;
            unsigned = length;
        }
    }
    entries.truncate(kept);
}

#[cfg(test)]
mod tests {
    use ascend_trace_recording::TimeRange;

    use super::*;

    fn text(text: &str) -> Option<String> {
        let entries = text.bytes().zip(0..);
        let entry =
            |(it, at)| RequestedOperation::new(TimeRange::new(at, at + 1), u32::from(it), None);
        let entries: Vec<RequestedOperation> = entries.map(entry).collect();
        let is_wait = |symbol: u32| match symbol == u32::from(b'W') {
            true => Sign::Wait,
            false => Sign::None,
        };
        let kept = folded(&entries, is_wait)?;
        // The last block has the length of the blocks that it replaces.
        assert_eq!(
            kept.last().map(RequestedOperation::end),
            entries.last().map(RequestedOperation::end)
        );
        let text = kept.iter().map(|it| char::from(it.symbol as u8));
        Some(text.collect())
    }

    #[test]
    fn layers_become_one_and_steps_do_not() {
        assert_eq!(
            text("ababcdddWabababcdWabcW").as_deref(),
            Some("abcdWabcdWabcW")
        );
        assert_eq!(text("abWabWabW"), None);
        assert_eq!(text("aabb"), None);
        assert_eq!(text("Waabaab").as_deref(), Some("Wab"));
    }
}
