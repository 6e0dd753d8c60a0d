//! Adds recordings to a dataset, several at the same time.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::AddArgs;
use super::add::{AddError, AddResult, AddTarget};
use super::dataset_store::DatasetStore;
use crate::cli::trace_files::TraceFiles;
use crate::error::{INCOMPLETE, TROUBLE};
use crate::output::{print_message, print_status};

/// Adds all files. Returns the status to end with.
pub(super) fn add(args: &AddArgs, store: &dyn DatasetStore) -> anyhow::Result<u8> {
    let target = AddTarget {
        store,
        run: args.run.as_deref(),
        strict: args.strict,
        taken: Mutex::default(),
    };
    let recordings = TraceFiles::recordings(&args.files);
    let work = SharedWork {
        recordings: &recordings,
        next: AtomicUsize::new(0),
        is_over: AtomicBool::new(false),
        sums: Mutex::default(),
    };
    let jobs = jobs(args, recordings.len());
    thread::scope(|scope| {
        for _ in 1..jobs {
            let builder = thread::Builder::new().name("add".to_owned());
            // Where the system has no room for more threads, fewer do it.
            let _ = builder.spawn_scoped(scope, || work.run(&target));
        }
        work.run(&target);
    });
    let sums = work.sums.into_inner();
    sums.unwrap_or_else(PoisonError::into_inner).end(store)
}

fn jobs(args: &AddArgs, recordings: usize) -> usize {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let wanted = args.jobs.map_or(processors, |it| usize::from(it.get()));
    wanted.min(recordings)
}

/// What threads share.
struct SharedWork<'a> {
    recordings: &'a [TraceFiles],
    /// The next recording without a worker.
    next: AtomicUsize,
    /// The dataset takes no more files.
    is_over: AtomicBool,
    sums: Mutex<AddTotals>,
}

impl SharedWork<'_> {
    /// Adds recordings until all are done.
    fn run(&self, target: &AddTarget<'_>) {
        while !self.is_over.load(Ordering::Relaxed) {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(files) = self.recordings.get(next) else {
                return;
            };
            let added = target.add(files);
            if matches!(added, Err(AddError::Dataset(_))) {
                self.is_over.store(true, Ordering::Relaxed);
            }
            let sums = self.sums.lock();
            sums.unwrap_or_else(PoisonError::into_inner).take(added);
        }
    }
}

/// Results for the files.
#[derive(Default)]
struct AddTotals {
    added: u64,
    there: u64,
    failed: u64,
    incomplete: u64,
    trouble: Option<anyhow::Error>,
}

impl AddTotals {
    fn take(&mut self, added: Result<AddResult, AddError>) {
        match added {
            Ok(done) => {
                self.added += u64::from(done.is_new);
                self.there += u64::from(!done.is_new);
                self.incomplete += u64::from(done.status != 0);
            }
            Err(AddError::Recording(error)) => {
                self.failed += 1;
                print_message(format!("{error:#}"));
            }
            // One is enough: the others have the same cause.
            Err(AddError::Dataset(error)) => self.trouble = self.trouble.take().or(Some(error)),
        }
    }

    fn end(self, store: &dyn DatasetStore) -> anyhow::Result<u8> {
        if let Some(trouble) = self.trouble {
            return Err(trouble);
        }
        let failed = match self.failed {
            0 => String::new(),
            failed => format!(", {failed} not added"),
        };
        print_status(format!(
            "dataset {store}: {} added, {} there before{failed}",
            self.added, self.there
        ));
        Ok(match (self.failed, self.incomplete) {
            (0, 0) => 0,
            (0, _) => INCOMPLETE,
            _ => TROUBLE,
        })
    }
}
