//! Pauses on the path: what threads seem to have waited for outside of AscendCL.

use rustc_hash::FxHashMap;

use super::item_code::Code;
use super::wait_reasons::WaitReason;
use crate::whatif::{EndOfPause, Handover, PauseCauses};

impl PauseCauses {
    /// The cause of a call with no known cause except the call before it on its thread.
    pub(super) fn cause(&self, code: Code, before: Code) -> (Code, WaitReason) {
        let pause = (!code.is_task()).then(|| self.pauses.get(&code.number()));
        match pause.flatten() {
            None => (before, WaitReason::Program),
            Some(None) => (before, WaitReason::Outside),
            Some(Some(EndOfPause { release, .. })) => {
                let way = match release.kind.is_of_begin() {
                    true => WaitReason::HandoverBegin,
                    false => WaitReason::Handover,
                };
                (Code::of_number(release.by), way)
            }
        }
    }

    /// Those on a path.
    pub(super) fn on(&self, path: &[(Code, WaitReason)]) -> FxHashMap<Code, EndOfPause> {
        let own = path
            .iter()
            .filter(|it| matches!(it.1, WaitReason::Handover | WaitReason::HandoverBegin));
        let ended = own.filter_map(|(code, _)| Some((*code, (*self.pauses.get(&code.number())?)?)));
        ended.collect()
    }
}

/// The descriptions with the number of these pauses instead of all: those without any are left out.
pub(super) fn counted<'e>(
    mut handovers: Vec<Handover>,
    ended: impl Iterator<Item = &'e EndOfPause>,
) -> Vec<Handover> {
    handovers.iter_mut().for_each(|it| it.count = 0);
    for it in ended {
        if let Some(known) = handovers.get_mut(it.handover) {
            known.count += 1;
        }
    }
    handovers.retain(|it| it.count > 0);
    handovers
}
