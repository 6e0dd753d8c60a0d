//! Pauses on the path: what threads seem to have waited for outside of AscendCL.

use rustc_hash::FxHashMap;

use super::item_code::Code;
use super::wait_reasons::WaitReason;
use crate::whatif::{EndOfPause, Handover, Item, PauseCauses};

/// The pauses of a recording, by the call after each.
#[derive(Debug, Default)]
pub(super) struct OutsidePauses {
    causes: PauseCauses,
}

/// A pause on the path that something seems to have ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// The time of the end.
    pub(super) at: i64,
    pub(super) by: Code,
    /// The thread may as well have worked.
    pub(super) may_be_own: bool,
    handover: usize,
}

impl OutsidePauses {
    pub(super) fn of(causes: PauseCauses) -> Self {
        Self { causes }
    }

    /// The cause of a call with no known cause except the call before it on its thread.
    pub(super) fn cause(&self, code: Code, before: Code) -> (Code, WaitReason) {
        let pause = (!code.is_task()).then(|| self.causes.pauses.get(&code.number()));
        match pause.flatten() {
            None => (before, WaitReason::Program),
            Some(None) => (before, WaitReason::Outside),
            Some(Some(end)) if end.is_begin => (by(end), WaitReason::HandoverBegin),
            Some(Some(end)) => (by(end), WaitReason::Handover),
        }
    }

    /// Those on a path.
    pub(super) fn on(&self, path: &[(Code, WaitReason)]) -> FxHashMap<Code, Ended> {
        let own = path
            .iter()
            .filter(|it| matches!(it.1, WaitReason::Handover | WaitReason::HandoverBegin));
        let ended = own.filter_map(|(code, _)| {
            let end = self.causes.pauses.get(&code.number())?.as_ref()?;
            let ended = Ended {
                at: end.at,
                by: by(end),
                may_be_own: end.may_be_own,
                handover: end.handover,
            };
            Some((*code, ended))
        });
        ended.collect()
    }

    /// The descriptions of pauses, as long as the path has them.
    pub(super) fn into_handovers(self) -> Vec<Handover> {
        self.causes.handovers
    }
}

fn by(end: &EndOfPause) -> Code {
    match end.by {
        Item::Call(number) => Code::of_call_number(number),
        Item::Task(number) => Code::of_task_number(number),
    }
}

/// The descriptions with the number of these pauses instead of all: those without any are left out.
pub(super) fn counted<'e>(
    mut handovers: Vec<Handover>,
    ended: impl Iterator<Item = &'e Ended>,
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
