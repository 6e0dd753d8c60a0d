//! Exports from the view, on separate threads.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use flate2::Compression;
use flate2::write::GzEncoder;

use ascend_trace_export::{
    ExportSource, Exporter, SingleFile, WantedPart, WindowSize, format, stream,
};
use ascend_trace_recording::TimeRange;
use ascend_trace_viewer::{self as viewer, JobNews, JobProgress};

use crate::cli::trace_files::TraceFiles;
use crate::stack_symbols;

/// Calls and tasks of a range that is exported: all of it is in memory meanwhile.
const MOST: u64 = 10_000_000;

/// Between two words on how far it is.
const PAUSE: Duration = Duration::from_millis(50);

/// An export that is under way.
pub(super) struct RunningExport {
    pub(super) number: u64,
    news: Receiver<JobNews>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl RunningExport {
    /// Begins to write a file, which must not exist.
    pub(super) fn start(trace: TraceFiles, wanted: viewer::ExportJob) -> anyhow::Result<Self> {
        let viewer::ExportJob {
            number,
            path,
            range,
        } = wanted;
        let path = PathBuf::from(path);
        let exporter = exporter(&path)?;
        if path.exists() {
            bail!("{} exists: give another name", path.display());
        }
        let (sender, news) = channel();
        let stop = Arc::<AtomicBool>::default();
        let job = ExportThread {
            number,
            trace,
            path,
            range,
            exporter,
            sender,
            stop: Arc::clone(&stop),
        };
        let thread = std::thread::Builder::new()
            .name("export".into())
            .spawn(move || job.run())
            .context("cannot export in the background")?;
        Ok(Self {
            number,
            news,
            stop,
            thread: Some(thread),
        })
    }

    pub(super) fn news(&self) -> Option<JobNews> {
        self.news.try_recv().ok()
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Drop for RunningExport {
    /// An incomplete file is removed.
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // One that panicked has nothing more to say.
            let _ = thread.join();
        }
    }
}

/// The format that a file's name asks for.
fn exporter(path: &Path) -> anyhow::Result<&'static dyn Exporter> {
    let name = path.to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let word = match Path::new(name).extension().and_then(|it| it.to_str()) {
        Some("json") => "chrome",
        Some("pftrace" | "perfetto-trace") => "perfetto",
        _ => bail!("{name}: the name must end in .json or .pftrace, which selects the format"),
    };
    format(word).with_context(|| format!("{word} is not in this build"))
}

struct ExportThread {
    number: u64,
    trace: TraceFiles,
    path: PathBuf,
    range: Option<TimeRange>,
    exporter: &'static dyn Exporter,
    sender: Sender<JobNews>,
    stop: Arc<AtomicBool>,
}

impl ExportThread {
    fn run(self) {
        let shown = self.path.display();
        let news = match self.write() {
            Ok(bytes) => JobNews::Done(self.number, format!("wrote {shown}, {bytes} bytes")),
            Err(_) if self.is_stopped() => {
                JobNews::Failed(self.number, format!("stopped writing {shown}"))
            }
            Err(error) => JobNews::Failed(self.number, format!("{error:#}")),
        };
        // A view that has ended does not listen any more.
        let _ = self.sender.send(news);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Writes to a temporary file first, so that no incomplete file has its name.
    fn write(&self) -> anyhow::Result<u64> {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.new", std::process::id()));
        let place = self.path.with_file_name(name);
        let shown = self.path.display();
        let file = File::create(&place).with_context(|| format!("cannot write {shown}"))?;
        let written = self
            .fill(file)
            .with_context(|| format!("cannot write {shown}"));
        let renamed = written.and_then(|()| {
            let length = fs::metadata(&place)?.len();
            fs::rename(&place, &self.path)?;
            Ok(length)
        });
        if renamed.is_err() {
            drop(fs::remove_file(&place));
        }
        renamed
    }

    fn fill(&self, file: File) -> anyhow::Result<()> {
        let stoppable = StoppableFile {
            file,
            stop: Arc::clone(&self.stop),
        };
        if self.path.extension().is_some_and(|it| it == "gz") {
            let writer = BufWriter::with_capacity(1 << 18, stoppable);
            let mut packer = GzEncoder::new(writer, Compression::fast());
            self.export(&mut packer)?;
            packer.finish()?.flush()?;
        } else {
            // Exporters write in large pieces.
            self.export(&mut { stoppable })?;
        }
        Ok(())
    }

    fn export(&self, writer: &mut dyn Write) -> anyhow::Result<()> {
        let mut recording = self.trace.read(|_, _| !self.is_stopped())?;
        recording.close()?;
        recording.set_symbols(stack_symbols::of_this_machine());
        let sink = &mut SingleFile::new(writer);
        let Some(range) = self.range else {
            let mut last_report = Instant::now();
            let step = WindowSize::default();
            let what = (self.exporter, &WantedPart::default());
            stream(&mut recording, what, step, sink, &mut |done, all| {
                if last_report.elapsed() > PAUSE {
                    last_report = Instant::now();
                    let reached = JobProgress::Part(done, all);
                    let _ = self.sender.send(JobNews::Reached(self.number, reached));
                }
            })?;
            return Ok(());
        };
        // The range on screen is read separately, for any length of the recording.
        let trace = recording.window(range, MOST)?;
        let wanted = WantedPart {
            range: Some(range),
            ..WantedPart::default()
        };
        self.exporter
            .export(&ExportSource::of(&trace, &wanted), sink)?;
        Ok(())
    }
}

/// A file that refuses to be written once the export is stopped.
struct StoppableFile {
    file: File,
    stop: Arc<AtomicBool>,
}

impl Write for StoppableFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(io::Error::other("stopped")),
            false => self.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
