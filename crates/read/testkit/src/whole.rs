//! Recordings with all of them in memory at once, read as any other.

use std::path::Path;

use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::{CallRow, Row, SessionRow, TablesRow};
use ascend_trace_recording::{OpenError, Recording, Trace, Warning};

/// Opens a file without a running writer. Damaged or missing parts are among the warnings.
///
/// # Errors
/// When the file cannot be read.
pub fn opened(path: impl AsRef<Path>) -> Result<(Trace, Vec<Warning>), OpenError> {
    let mut recording = Recording::open(path, |_, _| true)?;
    recording.close()?;
    recording.check()?;
    let trace = recording.whole()?;
    Ok((trace, recording.final_warnings()))
}

/// The trace that rows make when they are a file.
///
/// # Panics
/// When they make none: a mistake of the caller's.
pub fn from_rows(
    session: SessionRow,
    tables: TablesRow,
    rows: impl IntoIterator<Item = Row>,
) -> Trace {
    let mut growing = GrowingRecording::new(session, tables);
    rows.into_iter().for_each(|row| growing.apply(row));
    growing.finish()
}

/// A recording that is looked at while rows come.
#[derive(Clone, Debug, Default)]
pub struct GrowingRecording {
    session: SessionRow,
    tables: TablesRow,
    rows: Vec<Row>,
    open: Vec<CallRow>,
    trace: Trace,
}

impl GrowingRecording {
    pub fn new(session: SessionRow, tables: TablesRow) -> Self {
        Self {
            session,
            tables,
            ..Self::default()
        }
    }

    /// Adds a row. Nothing comes after the end.
    pub fn apply(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// These calls are under way now, and no others.
    pub fn set_open(&mut self, open: Vec<CallRow>) {
        self.open = open;
    }

    /// Looks at what there is.
    ///
    /// # Panics
    /// When that is no recording: a mistake of the caller's.
    pub fn settle(&mut self) {
        self.trace = self.recording().whole().expect("it reads back");
    }

    /// What there was when it was looked at last.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// All there is, where no more will come.
    ///
    /// # Panics
    /// When that is no recording: a mistake of the caller's.
    #[must_use]
    pub fn finish(self) -> Trace {
        let mut recording = self.recording();
        recording.close().expect("it reads back");
        recording.whole().expect("it reads back")
    }

    fn recording(&self) -> Recording {
        let writer = Writer::create(Vec::new(), &self.session, &self.tables);
        let mut writer = writer.expect("memory");
        let mut end = None;
        for row in &self.rows {
            // Something was lost after the calls before it, and before those that come.
            let is_place = matches!(row, Row::Loss(_));
            if is_place {
                writer.flush().expect("memory");
            }
            match row {
                Row::End(row) => end = Some(row.clone()),
                row => writer.push(row).expect("memory"),
            }
            if is_place {
                writer.flush().expect("memory");
            }
        }
        writer.set_open(self.open.clone());
        let bytes = match end {
            Some(end) => writer.finish(end),
            None => writer.flush().map(|()| writer.into_inner()),
        };
        Recording::from_bytes(bytes.expect("memory")).expect("it reads back")
    }
}
