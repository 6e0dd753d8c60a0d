//! What Prometheus reads of a recording while it is made: `record --metrics ADDR`.
//!
//! One thread sums up the new part of the recording, every few seconds. It has a lower priority than
//! the program and the collector, and reads the file as the view does. Other threads serve clients with
//! the last sums. The program and the collector wait for none of these threads. The same address takes requests that control the
//! recording.

mod address;
mod control;
mod device;
mod families;
mod http;
mod page;
mod reader;
mod steps;
mod sums;
mod text;
mod token;

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anyhow::Context;

use ascend_trace_collector::gauge::Gauge;

use crate::control::ControlledRecording;
use crate::hang;
use crate::output::{print_message, print_status};
use crate::view_source::step_back;
pub(crate) use address::ListenAddress;
use page::{MetricsPage, RecordedFile};
use reader::SumReader;
use token::AccessToken;

/// Records of this age are in the file. Calls that have lasted longer are known to be running.
const FLUSHED_NS: i64 = 300_000_000;

/// Options of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MetricsOptions {
    pub(crate) place: ListenAddress,
    /// The file with the token that clients must have.
    pub(crate) token: Option<PathBuf>,
    /// Time between two looks at the recording.
    pub(crate) interval: Duration,
}

/// Where clients connect, before anything is served there.
#[derive(Debug)]
pub(crate) struct MetricsEndpoint {
    listener: TcpListener,
    token: Option<AccessToken>,
    interval: Duration,
}

impl MetricsEndpoint {
    /// Takes the address, or says why that cannot be.
    pub(crate) fn open(wanted: &MetricsOptions) -> anyhow::Result<Self> {
        let token = wanted.token.as_deref().map(AccessToken::read).transpose()?;
        let listener = wanted.place.listen(token.is_some())?;
        let address = listener.local_addr();
        let address = address.context("cannot find out the address of the metrics")?;
        print_status(format!("metrics: {}", url(address)));
        Ok(Self {
            listener,
            token,
            interval: wanted.interval,
        })
    }
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}{}", http::PATH)
}

/// Metrics that are served.
pub(crate) struct Metrics {
    page: Arc<MetricsPage>,
    /// Ends the thread that reads. None with a ring or several files: there is nothing to sum up.
    end: Option<Sender<()>>,
}

impl Metrics {
    /// Begins to serve. `path`: where the recording is.
    pub(crate) fn start(
        endpoint: MetricsEndpoint,
        path: Option<&Path>,
        recording: ControlledRecording,
    ) -> anyhow::Result<Self> {
        let path = path.context("it goes to a pipe")?;
        let gauge = Arc::clone(&recording.gauge);
        let changing = match (recording.has_ring, recording.has_several_files) {
            (true, _) => Some(RecordedFile::Named(path.to_owned())),
            (_, true) => Some(RecordedFile::Last(Arc::clone(&recording.board))),
            _ => None,
        };
        let (page, end) = match changing {
            Some(file) => (Arc::new(MetricsPage::with_counts(gauge, file)), None),
            None => {
                let (page, end) = sum_up(path, gauge, endpoint.interval)?;
                (page, Some(end))
            }
        };
        let served = Arc::clone(&page);
        http::serve(endpoint.listener, endpoint.token, served, recording)?;
        Ok(Self { page, end })
    }

    /// The recording is complete. Its rest is read while the command continues, for the view; the end
    /// does not wait for that.
    pub(crate) fn finish(self) {
        self.page.recording_ended();
        let _ = self.end.map(|it| it.send(()));
    }
}

/// Starts the thread that sums up the recording at `path`. Returns the page, and a channel that ends the thread.
fn sum_up(
    path: &Path,
    gauge: Arc<Gauge>,
    interval: Duration,
) -> anyhow::Result<(Arc<MetricsPage>, Sender<()>)> {
    let file = File::open(path).context("cannot read the recording")?;
    let size = file.try_clone().context("cannot read the recording")?;
    let page = MetricsPage::with_sums(Arc::clone(&gauge), size, hang::now());
    let page = Arc::new(page);
    let (end, ended) = channel();
    let work = ReaderState {
        file,
        gauge,
        page: Arc::clone(&page),
        reader: None,
        ended,
    };
    std::thread::Builder::new()
        .name("metrics".into())
        .spawn(move || work.run(interval))
        .context("cannot start the thread for metrics")?;
    Ok((page, end))
}

/// State of the reading thread.
struct ReaderState {
    /// The recording. By its file, as its name may change.
    file: File,
    gauge: Arc<Gauge>,
    page: Arc<MetricsPage>,
    /// None before the first look.
    reader: Option<SumReader>,
    ended: Receiver<()>,
}

impl ReaderState {
    fn run(mut self, interval: Duration) {
        step_back();
        loop {
            let is_last = match self.ended.recv_timeout(interval) {
                Err(RecvTimeoutError::Timeout) => false,
                Ok(()) | Err(RecvTimeoutError::Disconnected) => true,
            };
            if let Err(error) = self.look(is_last) {
                print_message(format!("the metrics stand still: {error:#}"));
                return;
            }
            if is_last {
                return;
            }
        }
    }

    fn look(&mut self, is_last: bool) -> anyhow::Result<()> {
        let (now, recorded) = (hang::now(), self.gauge.now().calls);
        let reader = match &mut self.reader {
            Some(reader) => reader,
            None => self.reader.insert(SumReader::open(&self.file)?),
        };
        reader.poll()?;
        // The file may be behind the collector.
        let known = match reader.calls() >= recorded {
            true => now.saturating_sub(FLUSHED_NS),
            false => reader.last_moment().saturating_sub(FLUSHED_NS),
        };
        let page = &self.page;
        if is_last {
            reader.finish(|it| page.put(it))
        } else {
            reader.advance(known, |it| page.put(it))
        }
    }
}
