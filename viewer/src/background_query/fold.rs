//! An analysis of all of a recording, for a panel.

use std::fmt::{Debug, Formatter, Result as FormatResult};

use ascend_trace_analysis::{Fold, WindowSize};
use ascend_trace_recording::Recording;
use ascend_trace_recording::recording::WindowError;

use crate::app::{App, ViewData};
use crate::job::JobProgress;

/// A query that knows what becomes of its result.
pub(crate) trait PanelQuery: Debug + Send {
    fn advance(
        &mut self,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(JobProgress) -> bool,
    ) -> Result<bool, WindowError>;

    /// Gives the result to the view.
    fn done(self: Box<Self>, app: &mut App, world: ViewData<'_>);
}

/// It starts over when it has to wait, like other sums.
pub(crate) struct FoldQuery<M, A, D> {
    /// Makes the fold.
    make: M,
    answer: Option<A>,
    done: D,
}

impl<M, A, D> FoldQuery<M, A, D> {
    pub(crate) fn new(make: M, done: D) -> Self {
        let answer = None;
        Self { make, answer, done }
    }
}

impl<M, A, D> Debug for FoldQuery<M, A, D> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> FormatResult {
        let mut text = formatter.debug_struct("FoldQuery");
        text.field("is_done", &self.answer.is_some());
        text.finish_non_exhaustive()
    }
}

impl<F, M, D> PanelQuery for FoldQuery<M, F::Answer, D>
where
    F: Fold,
    F::Answer: Send,
    M: Fn() -> F + Send,
    D: FnOnce(&mut App, ViewData<'_>, F::Answer) + Send,
{
    fn advance(
        &mut self,
        recording: &mut Recording,
        keep_on: &mut dyn FnMut(JobProgress) -> bool,
    ) -> Result<bool, WindowError> {
        let on_progress = |reached| keep_on(JobProgress::Moment(reached, false));
        let fold = (self.make)();
        self.answer = fold.of_recording(recording, WindowSize::default(), on_progress)?;
        Ok(self.answer.is_some())
    }

    fn done(self: Box<Self>, app: &mut App, world: ViewData<'_>) {
        if let Some(answer) = self.answer {
            (self.done)(app, world, answer);
        }
    }
}
