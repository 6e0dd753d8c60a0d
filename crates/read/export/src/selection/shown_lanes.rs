//! The threads and streams with any shown content: this must be known of a whole recording before its
//! first row is written.

use ascend_trace_recording::{OpenError, Recording, StreamId, ThreadId, Trace};

use super::WantedPart;

/// By number of the thread and the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShownLanes {
    pub(super) threads: Vec<bool>,
    pub(super) streams: Vec<bool>,
}

impl ShownLanes {
    /// Looks at all of a trace.
    pub(crate) fn of(trace: &Trace, wanted: &WantedPart) -> Self {
        let mut shown = Self::default();
        if !wanted.is_all() {
            shown.look(trace, wanted, i64::MAX);
        }
        shown
    }

    /// Reads a file through, about `rows` rows at a time.
    pub(crate) fn find(
        recording: &mut Recording,
        wanted: &WantedPart,
        rows: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, OpenError> {
        let mut shown = Self::default();
        let mut replay = recording.replay();
        loop {
            replay.advance(rows)?;
            let until = match replay.is_done() {
                true => i64::MAX,
                false => replay.horizon(),
            };
            shown.look(replay.trace(), wanted, until);
            let (done, all) = replay.progress();
            progress(done, all);
            if replay.is_done() {
                return Ok(shown);
            }
            let calls = replay.trace().calls().iter();
            let keep: Vec<bool> = calls.map(|call| call.begin >= until).collect();
            replay.forget(&keep);
        }
    }

    /// Examines the calls that begin before a time, and their tasks.
    fn look(&mut self, trace: &Trace, wanted: &WantedPart, until: i64) {
        self.threads.resize(trace.threads().len(), false);
        self.streams.resize(trace.streams().len(), false);
        let whole = i64::MAX == until;
        let is_known = |begin: i64| whole || begin < until;
        for call in trace.calls().iter().filter(|call| is_known(call.begin)) {
            if wanted.has_call(trace, call) {
                show(&mut self.threads, call.thread.index());
            }
        }
        for task in trace.tasks() {
            let call = trace.call(task.call);
            if is_known(call.begin) && wanted.has_task(trace, task) {
                show(&mut self.streams, task.stream.index());
                show(&mut self.threads, call.thread.index());
            }
        }
    }

    /// Whether nothing is shown at all.
    pub(crate) fn is_empty(&self) -> bool {
        !self.threads.contains(&true) && !self.streams.contains(&true)
    }

    pub(super) fn thread(&self, id: ThreadId) -> bool {
        self.threads.get(id.index()).copied().unwrap_or(false)
    }

    pub(super) fn stream(&self, id: StreamId) -> bool {
        self.streams.get(id.index()).copied().unwrap_or(false)
    }
}

fn show(lanes: &mut [bool], place: usize) {
    if let Some(is_shown) = lanes.get_mut(place) {
        *is_shown = true;
    }
}
