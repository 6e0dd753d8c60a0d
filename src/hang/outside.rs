//! The states of threads outside AscendCL in the kernel, while the program runs on this host.

use std::fs;

use ascend_trace_analysis::hang::{Report, ThreadState};

/// Threads that are described in text.
const SHOWN: usize = 5;
/// The kernel cuts names of threads.
const NAME: usize = 15;

/// Fills in the states, from `/proc`, of the threads that are in no call.
pub(crate) fn look(report: &mut Report) {
    let outside = report.threads.iter_mut().filter(|it| is_outside(it));
    for thread in outside {
        thread.kernel = of(thread.pid, thread.tid, &thread.thread);
    }
}

fn is_outside(thread: &ThreadState) -> bool {
    thread.open_calls.is_empty() && !thread.polls
}

/// The state of a thread. Nothing where it has ended, or the number means another thread, as in another container.
fn of(pid: u32, tid: u32, name: &str) -> Option<String> {
    let folder = format!("/proc/{pid}/task/{tid}");
    let read = |file: &str| fs::read_to_string(format!("{folder}/{file}"));
    let stat = read("stat").ok()?;
    let (begin, end) = (stat.find('(')? + 1, stat.rfind(')')?);
    let known: String = name.chars().take(NAME).collect();
    let is_it = name.is_empty() || stat.get(begin..end)? == known;
    let state = stat.get(end + 2..)?.chars().next()?;
    let place = read("wchan").unwrap_or_default();
    is_it.then(|| in_words(state, place.trim()))
}

fn in_words(state: char, place: &str) -> String {
    let place = match place {
        "" | "0" => String::new(),
        place => format!(" in {place}"),
    };
    match state {
        'R' => "it runs on a processor, or is ready to".to_owned(),
        'S' => format!("it sleeps{place}"),
        'D' => format!("it waits for a disk or a driver{place}"),
        'T' => "a signal has stopped it".to_owned(),
        't' => "a debugger has stopped it".to_owned(),
        other => format!("its state is {other}{place}"),
    }
}

/// A paragraph of the report for each such thread, where the cause may be theirs.
pub(crate) fn text(report: &Report) -> String {
    let is_open = report.culprits.iter().any(|it| !it.certain);
    let outside = report.threads.iter();
    let outside = outside.filter(|it| is_open && it.kernel.is_some());
    let mut text = String::new();
    for thread in outside.take(SHOWN) {
        let (tid, kernel) = (thread.tid, thread.kernel.as_deref().unwrap_or_default());
        text.push_str(&format!(
            "\nthread {tid} is outside AscendCL: {kernel}\n    its stack: gdb -batch -p {tid} -ex bt; of Python: py-spy dump --pid {}\n",
            thread.pid
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_described_by_its_state() {
        let sleeper = std::thread::Builder::new().name("sleeper".to_owned());
        let (send, receive) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let sleeper = sleeper.spawn(move || {
            let _ = send.send(rustix::thread::gettid().as_raw_nonzero().get() as u32);
            let _ = ended.recv();
        });
        let (pid, tid) = (std::process::id(), receive.recv().unwrap());
        let asleep = loop {
            let state = of(pid, tid, "sleeper").unwrap();
            if state.starts_with("it sleeps") {
                break state;
            }
        };
        assert!(!asleep.contains('\n'), "{asleep}");
        assert_eq!(of(pid, tid, "another"), None);
        drop(end);
        sleeper.unwrap().join().unwrap();
        assert_eq!(of(pid, u32::MAX, ""), None);
    }

    #[test]
    fn the_place_in_the_kernel_is_left_out_where_it_is_unknown() {
        assert_eq!(in_words('S', "0"), "it sleeps");
        assert_eq!(in_words('S', "do_futex_wait"), "it sleeps in do_futex_wait");
    }
}
