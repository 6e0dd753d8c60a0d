//! The stalls that selections are.

use ascend_trace_analysis::Stall;
use ascend_trace_recording::{TimeRange, Trace};

use crate::item::CallOrTask;
use crate::selection::Selection;

use super::App;

impl App {
    /// The stall that the selection is, if it is one.
    pub(crate) fn selected_stall(&self, trace: &Trace) -> Option<Stall> {
        match self.camera.selected? {
            Selection::Gap(stall) => Some(stall),
            Selection::Item(item) => self.stall_of(trace, item),
            Selection::Range(..) | Selection::Node(_) | Selection::Open(_) => None,
        }
    }

    /// The stall that an item is: a wait that held its stream, or a call that blocked. Of a call that
    /// waited and then took time to return it is the wait.
    pub(crate) fn stall_of(&self, trace: &Trace, item: CallOrTask) -> Option<Stall> {
        self.stalls_of(trace, item).next().copied()
    }

    /// The stalls that an item consists of.
    pub(crate) fn stalls_of(
        &self,
        trace: &Trace,
        item: CallOrTask,
    ) -> impl Iterator<Item = &Stall> + use<'_> {
        let TimeRange { begin, end } = item.span(trace);
        let lane = item.track(trace).lane();
        let stalls = lane.map_or(&[][..], |lane| {
            self.document.stalls.in_window(lane, begin, end)
        });
        let node = item.node();
        let own = move |stall: &&Stall| stall.node == node && !stall.is_gap();
        stalls.iter().filter(own)
    }
}
