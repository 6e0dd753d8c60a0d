//! Programs that are started without the library, and get it while they run.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use super::lives::attach_often_with;
use super::*;
use crate::support::place::is_emulated;
use crate::ways::tool_in_path;

const INJECT: &[&str] = &["--inject"];
/// The calls of one fill.
const CALLS: usize = 6;

/// Whether this user may trace its own processes here. Otherwise the reason is printed.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
pub(super) fn may_trace() -> bool {
    if is_emulated() {
        eprintln!("skipped: an emulator cannot trace programs");
        return false;
    }
    let mut other = Command::new("sleep").arg("100").spawn().unwrap();
    let seen = std::fs::read_to_string(format!("/proc/{}/syscall", other.id()));
    other.kill().unwrap();
    other.wait().unwrap();
    if let Err(error) = &seen {
        eprintln!("skipped: the kernel does not let this user trace processes: {error}");
    }
    seen.is_ok()
}

fn plain(name: &str) -> Armed {
    Armed::of(Run::new(&program(name)).plain())
}

/// A program that reads its input from a socket: its first thread never waits where the library could be loaded.
fn behind_socket() -> Armed {
    let (near, far) = UnixStream::pair().unwrap();
    let mut command = Run::new(&program("armed")).plain();
    command.stdin(OwnedFd::from(far)).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    Armed::with_input(child, Box::new(near))
}

impl Recorder {
    /// Puts the library into a program that makes no calls, and asks it for a recording.
    #[track_caller]
    fn inject(folder: &Path, pid: u32, name: &str, options: &[&str]) -> Self {
        let mut recorder = Self::start(folder, pid, name, &[INJECT, options].concat());
        recorder.says("the library is in process");
        recorder.says("the recording begins with the next AscendCL call");
        recorder
    }
}

#[test]
fn a_program_gets_the_library_while_it_runs_and_is_recorded_in_parts() {
    if !may_trace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut armed = plain("armed");
    let pid = armed.says("pid");
    armed.fills([1]);
    let alone = threads(pid);
    let mut recorder = Recorder::inject(folder.path(), pid, "one.atrace", &[]);
    armed.fills([2, 3]);
    recorder.joined();
    armed.does("last", "last");
    let one = recorder.detach(pid);
    armed.fills([4]);
    armed.does("make", "made");
    armed.fills([5]);
    is_alone(pid, alone);
    // From now on it is as an armed one.
    let options = ["--timing", "events", "--budget", "off"];
    let mut recorder = Recorder::ask(folder.path(), pid, "two.atrace", &options);
    armed.fills([6]);
    recorder.joined();
    armed.does("make", "made");
    armed.fills([7]);
    let two = recorder.interrupt();
    let mut recorder = Recorder::start(folder.path(), pid, "three.atrace", INJECT);
    recorder.says("the recording begins with the next AscendCL call");
    armed.fills([8]);
    recorder.joined();
    let three = recorder.detach(pid);
    armed.fills([9]);
    is_alone(pid, alone);
    armed.ends();
    for (trace, numbers) in [(&one, &[2, 3][..]), (&two, &[6, 7]), (&three, &[8])] {
        let known = info(trace);
        assert_eq!(known["session"]["injected"], true, "{known}");
        let tables = Tables::of_file(trace, tempfile::tempdir().unwrap().path());
        assert_eq!(fills(&tables)[..numbers.len()], *numbers);
    }
    let text = run(tool().arg("info").arg(&one)).expect(0).out();
    let gap =
        "calls through addresses of functions that the program had fetched before are not known";
    assert!(text.contains(gap), "{text}");
    let two = whole(&two);
    two.all_timed();
    assert_eq!(two.count_calls("aclrtCreateStream"), 2);
}

#[test]
fn all_calls_after_the_library_came_are_recorded_and_streams_from_before_get_times() {
    if !may_trace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut armed = plain("armed");
    let pid = armed.says("pid");
    armed.fills([1]);
    armed.does("capture 9", "captured");
    let options = ["--timing", "events", "--budget", "off"];
    let mut recorder = Recorder::inject(folder.path(), pid, "t.atrace", &options);
    armed.fills([2, 3, 4]);
    recorder.joined();
    armed.does("replay", "replayed");
    armed.fills([5]);
    let trace = recorder.detach(pid);
    armed.ends();
    let tables = Tables::of_file(&trace, folder.path());
    assert_eq!(fills(&tables), [2, 3, 4, 5]);
    let known = info(&trace);
    assert_eq!(known["calls"]["count"], 4 * CALLS + 2, "{known}");
    // The first task shows that its stream exists.
    let reasons = tables.untimed();
    assert!(
        reasons.iter().all(|it| *it == "unknown-stream"),
        "{reasons:?}"
    );
    assert_eq!(reasons.len(), 2, "{reasons:?}");
}

#[test]
fn a_program_gets_the_library_while_several_threads_launch() {
    if !may_trace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for mut armed in [plain("armed"), behind_socket()] {
        let pid = armed.says("pid");
        armed.does("load 3", "loads");
        let options = ["--inject", "--force"];
        let mut recorder = Recorder::start(folder.path(), pid, "one.atrace", &options);
        recorder.says("the library is in process");
        recorder.joined();
        let one = recorder.detach(pid);
        armed.does("rest", "rests");
        let known = info(&one);
        assert!(known["calls"]["count"].as_u64() > Some(0), "{known}");
        let mut recorder = Recorder::ask(folder.path(), pid, "two.atrace", &["--force"]);
        armed.fills([5, 6]);
        recorder.joined();
        let two = recorder.detach(pid);
        armed.ends();
        let known = info(&two);
        assert_eq!(known["calls"]["count"], 2 * CALLS, "{known}");
    }
}

#[test]
fn a_program_with_a_library_from_later_keeps_its_results_over_many_recordings() {
    if may_trace() {
        attach_often_with(plain("armed"), 50, INJECT);
    }
}

#[test]
fn forked_workers_of_such_a_program_are_recorded_with_it_or_alone() {
    if !may_trace() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut armed = plain("armed");
    let parent = armed.says("pid");
    armed.fills([1]);
    let recorder = Recorder::inject(folder.path(), parent, "both.atrace", &[]);
    let [both, alone] = record_forked_worker(folder.path(), &mut armed, recorder);
    armed.ends();
    let both = Tables::of_file(&both, &folder.path().join("both"));
    assert_eq!(fills(&both), [2, 3]);
    assert_eq!(both.processes().len(), 2);
    let alone = Tables::of_file(&alone, &folder.path().join("alone"));
    assert_eq!(fills(&alone), [5]);
}

#[test]
fn python_that_loads_the_runtime_after_the_library_came_is_recorded() {
    let Some(python) = tool_in_path("python3").filter(|_| may_trace()) else {
        eprintln!("skipped: there is no python3, or no way to trace");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/armed.py");
    let words = ["-B", script.to_str().unwrap()];
    let start = || Armed::of(Run::new(&python).words(&words).plain());
    let mut armed = start();
    let pid = armed.says("pid");
    let mut recorder = Recorder::inject(folder.path(), pid, "one.atrace", &[]);
    armed.does("load", "loaded");
    recorder.joined();
    armed.fills([1, 2]);
    let one = recorder.detach(pid);
    armed.fills([3]);
    armed.ends();
    let tables = whole(&one);
    assert_eq!(fills(&tables), [1, 2]);
    assert_eq!(tables.count_calls("aclInit"), 1);
    // An interpreter that has fetched its functions before keeps their addresses.
    let mut armed = start();
    let pid = armed.says("pid");
    armed.does("load", "loaded");
    armed.fills([4]);
    let mut recorder = Recorder::inject(folder.path(), pid, "two.atrace", &[]);
    armed.fills([5]);
    run(tool().args(["detach", &pid.to_string()])).expect(0);
    recorder.says("0 calls");
    recorder.says("calls through addresses that the program had fetched before");
    let two = recorder.wait();
    armed.ends();
    let known = info(&two);
    assert_eq!(known["calls"]["count"], 0, "{known}");
    assert_eq!(known["session"]["injected"], true, "{known}");
}

/// The refusal of a program that waits, with this text.
#[track_caller]
fn refused(mut command: Command, text: &str) {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let pid = child.id().to_string();
    let outcome = run(tool().args(["attach", "--inject", &pid])).expect(125);
    let is_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_running, "{outcome}");
    let text = text.replace("PID", &pid);
    assert!(outcome.err().contains(&text), "{outcome}");
}

fn python(python: &Path, script: &str) -> Command {
    let mut command = Command::new(python);
    let text = format!(
        "import ctypes, os, sys, time\nlibc = ctypes.CDLL(None, use_errno=True)\n{script}\nprint('up', flush=True)\ntime.sleep(1000)\n"
    );
    command.args(["-c", &text]);
    command
}

#[test]
fn programs_that_must_not_be_changed_are_refused_with_the_reason() {
    if !may_trace() {
        return;
    }
    let statically = "int puts(const char *); int pause(void); int fflush(void *);\n\
                      int main(void) { puts(\"up\"); fflush(0); return pause(); }\n";
    let folder = tempfile::tempdir().unwrap();
    let (source, output) = (folder.path().join("s.c"), folder.path().join("s"));
    std::fs::write(&source, statically).unwrap();
    let mut compiler = Command::new("cc");
    compiler.arg("-static").arg(&source).arg("-o").arg(&output);
    match compiler.status().is_ok_and(|it| it.success()) {
        true => refused(
            Command::new(&output),
            "process PID is linked statically, and has no loader for the library",
        ),
        false => eprintln!("skipped: no C library to link statically"),
    }
    let Some(interpreter) = tool_in_path("python3") else {
        eprintln!("skipped: there is no python3");
        return;
    };
    refused(
        python(
            &interpreter,
            "class Filter(ctypes.Structure):\n    \
             _fields_ = [('n', ctypes.c_ushort), ('p', ctypes.c_void_p)]\n\
             code = ctypes.create_string_buffer(bytes.fromhex('060000000000ff7f'))\n\
             one = Filter(1, ctypes.cast(code, ctypes.c_void_p))\n\
             assert libc.prctl(38, 1, 0, 0, 0) == 0\n\
             assert libc.prctl(22, 2, ctypes.byref(one), 0, 0) == 0",
        ),
        "process PID has given system calls up (seccomp), and loading the library could end it",
    );
    if rustix::process::geteuid().is_root() {
        refused(
            python(&interpreter, "os.setresuid(0, 0, 65534)"),
            "process PID has rights of several users (setuid)",
        );
    }
}

#[test]
fn a_traced_or_stopped_program_is_refused() {
    let Some(interpreter) = tool_in_path("python3").filter(|_| may_trace()) else {
        eprintln!("skipped: there is no python3, or no way to trace");
        return;
    };
    let mut other = Command::new("sleep").arg("1000").spawn().unwrap();
    let pid = other.id().to_string();
    let script = format!("assert libc.ptrace(0x4206, {pid}, 0, 0) == 0");
    let mut tracer = python(&interpreter, &script);
    let mut tracer = tracer.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(tracer.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let outcome = run(tool().args(["attach", "--inject", &pid])).expect(125);
    let text = format!("process {pid} is traced by process {}", tracer.id());
    assert!(outcome.err().contains(&text), "{outcome}");
    tracer.kill().unwrap();
    tracer.wait().unwrap();
    kill_process(Pid::from_child(&other), Signal::STOP).unwrap();
    let outcome = run(tool().args(["attach", "--inject", &pid])).expect(125);
    let text = format!("process {pid} is stopped: let it run on first");
    assert!(outcome.err().contains(&text), "{outcome}");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn a_program_without_a_thread_that_waits_safely_stays_as_it_is() {
    if !may_trace() {
        return;
    }
    let mut busy = Command::new("sh");
    let mut busy = busy.args(["-c", "while :; do :; done"]).spawn().unwrap();
    let pid = busy.id().to_string();
    let outcome = run(tool().args(["attach", "--inject", &pid])).expect(125);
    let is_running = busy.try_wait().unwrap().is_none();
    busy.kill().unwrap();
    busy.wait().unwrap();
    assert!(is_running, "{outcome}");
    let text = format!("no thread of process {pid} waits where it could load the library safely");
    assert!(outcome.err().contains(&text), "{outcome}");
}
