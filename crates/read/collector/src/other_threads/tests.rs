//! Looks at threads of this process and at a child of it.

use super::*;

/// The rows of a look after another one, while `work` runs.
fn rows_of(pid: u32, recorded: &[u32], work: impl FnOnce()) -> Vec<OtherThreadRow> {
    let (sender, receiver) = channel();
    let mut looker = Looker::default();
    looker.take(Notice::Process { process: 7, pid }, &sender);
    for tid in recorded {
        looker.take(Notice::Thread { pid, tid: *tid }, &sender);
    }
    looker.look(&sender);
    work();
    looker.look(&sender);
    looker.sums.close(&sender);
    receiver.try_iter().collect()
}

fn own_tid() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Works until the kernel has counted this much of it.
fn work_until(cpu_ns: u64) {
    let used = || kernel::ProcessorTimes::of(std::process::id(), own_tid()).map(|it| it.cpu_ns);
    let Some(before) = used() else { return };
    while used().is_some_and(|it| it < before + cpu_ns) {
        // Else the kernel counts the time only at its ticks.
        std::thread::yield_now();
    }
}

#[test]
fn a_thread_that_works_is_seen_with_its_processor_time() {
    let pid = std::process::id();
    if kernel::ProcessorTimes::of(pid, own_tid()).is_none() {
        eprintln!("skipped: this kernel does not count the processor time of threads in /proc");
        return;
    }
    let rows = rows_of(pid, &[], || work_until(30_000_000));
    let own = rows.iter().find(|it| it.tid == own_tid()).unwrap();
    assert_eq!((own.process, own.pid), (7, pid));
    assert!(own.cpu_ns >= 30_000_000, "{own:?}");
    assert!(own.cpu_ns <= (own.at_ns - own.first_ns) as u64, "{own:?}");
    assert!(own.runs > 0 && !own.name.is_empty(), "{own:?}");
    let rows = rows_of(pid, &[own_tid()], || work_until(5_000_000));
    assert!(rows.iter().all(|it| it.tid != own_tid()), "{rows:?}");
}

#[test]
fn a_child_that_is_not_recorded_belongs_to_its_parent() {
    let pid = std::process::id();
    let mut child = std::process::Command::new("/bin/sh")
        .args(["-c", "while :; do :; done"])
        .spawn()
        .unwrap();
    let of_child = || kernel::ProcessorTimes::of(child.id(), child.id());
    if of_child().is_some() {
        let rows = rows_of(pid, &[], || {
            let before = of_child().map_or(0, |it| it.cpu_ns);
            while of_child().is_some_and(|it| it.cpu_ns < before + 20_000_000) {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let own = rows.iter().find(|it| it.pid == child.id()).unwrap();
        assert_eq!((own.process, own.tid), (7, child.id()));
        assert!(own.cpu_ns >= 20_000_000, "{own:?}");
        // A child that is recorded itself has its threads there.
        let mut children = kernel::Children::default();
        let all = children.descendants(pid, &HashSet::from([child.id()]));
        assert!(!all.contains(&child.id()), "{all:?}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_last_rows_come_at_the_end() {
    let mut threads = OtherThreads::default();
    assert_eq!(threads.close(), []);
    let mut threads = OtherThreads::default();
    threads.add_process(7, std::process::id());
    let mut early = Vec::new();
    let has_schedstat = kernel::ProcessorTimes::of(std::process::id(), own_tid()).is_some();
    while has_schedstat && !early.iter().any(|it: &OtherThreadRow| it.tid == own_tid()) {
        work_until(1_000_000);
        early.extend(threads.take());
    }
    threads.end_process(7);
    threads.close();
    // Nothing starts again after the end.
    threads.add_process(7, std::process::id());
    assert_eq!(threads.take().count(), 0);
}
