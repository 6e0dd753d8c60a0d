//! What Prometheus reads: a format, numbers that rise and agree with `stats`, and who may read it.
#![expect(clippy::float_cmp, reason = "counts are exact")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;

use crate::support::hanging::PATIENCE;
use crate::support::process::finish;
use crate::support::{Outcome, Run, program, run, tool};

mod control;
mod exposition;

use exposition::Exposition;

/// A program that is recorded, and serves its metrics.
struct Served {
    folder: TempDir,
    recorder: Option<Child>,
    /// Host and port.
    address: String,
}

impl Served {
    fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut all = vec!["--metrics", "0", "--metrics-interval", "1s"];
        all.extend(options);
        let mut command = Run::new(&program("served"))
            .options(&all)
            .command(folder.path());
        let file = |name: &str| File::create(folder.path().join(name)).unwrap();
        command
            .stdin(Stdio::null())
            .stdout(file("out"))
            .stderr(file("err"));
        // So that nothing is left of a test that fails.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut served = Self {
            recorder: Some(command.spawn().unwrap()),
            folder,
            address: String::new(),
        };
        let said = served.until("err", "/metrics\n");
        let (_, url) = said.split_once("metrics: http://").expect(&said);
        url.split_once('/')
            .unwrap()
            .0
            .clone_into(&mut served.address);
        served
    }

    fn written(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    #[track_caller]
    fn until(&self, name: &str, what: &str) -> String {
        let mut written = String::new();
        wait_for(&format!("{what} in {name}"), || {
            written = self.written(name);
            written.contains(what)
        });
        written
    }

    fn ask(&self, request: &str) -> (String, String) {
        ask(&self.address, request)
    }

    #[track_caller]
    fn scrape(&self) -> Exposition {
        let (head, body) = self.ask("GET /metrics HTTP/1.1");
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        assert!(
            head.contains("Content-Type: text/plain; version=0.0.4"),
            "{head}"
        );
        Exposition::parse(&body)
    }

    /// Scrapes until something holds.
    #[track_caller]
    fn scraped(&self, what: &str, holds: impl Fn(&Exposition) -> bool) -> Exposition {
        let mut last = self.scrape();
        wait_for(what, || {
            let next = self.scrape();
            last.assert_followed_by(&next);
            last = next;
            holds(&last)
        });
        last
    }

    /// The recorder passes it on to the running program.
    fn signal(&self, signal: Signal) {
        self.until("out", "works");
        kill_process(Pid::from_child(self.recorder.as_ref().unwrap()), signal).unwrap();
    }

    #[track_caller]
    fn end(mut self) -> (Outcome, TempDir) {
        self.signal(Signal::USR1);
        self.until("out", "rests");
        self.signal(Signal::USR2);
        let outcome = finish(self.recorder.take().unwrap());
        let outcome = outcome.unwrap_or_else(|outcome| panic!("{outcome}"));
        let folder = std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap());
        (outcome, folder)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(mut recorder) = self.recorder.take() {
            let group = Pid::from_raw(recorder.id().cast_signed()).unwrap();
            // It may have ended.
            let _ = kill_process_group(group, Signal::KILL);
            let _ = recorder.wait();
        }
    }
}

#[track_caller]
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "not so: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn ask(address: &str, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{request}\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect(&answer);
    (head.to_owned(), body.to_owned())
}

/// Sums of `stats` for the same recording, in seconds.
fn stats(file: &std::path::Path) -> BTreeMap<&'static str, f64> {
    let outcome = run(tool().args(["stats", "--json"]).arg(file)).expect(0);
    let stats: serde_json::Value = serde_json::from_str(&outcome.out()).unwrap();
    let sum = |rows: &str, field: &str, wanted: &dyn Fn(&serde_json::Value) -> bool| {
        let rows = stats[rows].as_array().unwrap().iter();
        let values = rows
            .filter(|row| wanted(row))
            .map(|row| row[field].as_f64().unwrap());
        values.sum::<f64>()
    };
    let all = |_: &serde_json::Value| true;
    let causes = |lane: &'static str| {
        move |row: &serde_json::Value| row["lane"] == lane && row["cause"] != "drained"
    };
    BTreeMap::from([
        ("calls", sum("apis", "count", &all)),
        ("errors", sum("apis", "errors", &all)),
        ("tasks", sum("streams", "tasks", &all)),
        ("busy", sum("devices", "busy_ns", &all) / 1e9),
        ("copy", sum("devices", "copy_ns", &all) / 1e9),
        ("work", sum("streams", "busy_ns", &all) / 1e9),
        ("steps", stats["steps"].as_array().unwrap().len() as f64),
        ("step time", sum("steps", "length_ns", &all) / 1e9),
        (
            "streams",
            sum("stall_causes", "total_ns", &causes("stream")) / 1e9,
        ),
        (
            "threads",
            sum("stall_causes", "total_ns", &causes("thread")) / 1e9,
        ),
    ])
}

/// The same sums in the metrics.
fn sums(metrics: &Exposition) -> BTreeMap<&'static str, f64> {
    let of = |name: &str| metrics.sum(name, &[]);
    BTreeMap::from([
        ("calls", of("ascend_calls_total")),
        ("errors", of("ascend_failed_calls_total")),
        ("tasks", of("ascend_tasks_total")),
        ("busy", of("ascend_device_busy_seconds_total")),
        (
            "copy",
            metrics.sum("ascend_device_use_seconds_total", &[("kind", "copy")]),
        ),
        ("work", of("ascend_stream_busy_seconds_total")),
        ("steps", of("ascend_steps_total")),
        ("step time", of("ascend_step_duration_seconds_sum")),
        ("streams", of("ascend_stream_stall_seconds_total")),
        ("threads", of("ascend_thread_stall_seconds_total")),
    ])
}

#[test]
fn metrics_of_a_running_program_rise_to_the_values_of_stats() {
    let served = Served::start(&[]);
    let first = served.scraped("a step has ended", |it| {
        it.sum("ascend_steps_total", &[]) > 0.0
    });
    assert_eq!(first.sum("ascend_recording_active", &[]), 1.0);
    served.scraped("the card is known", |it| {
        it.sum("ascend_device_info", &[("card", "0")]) > 0.0
    });
    let later = served.scraped("more work is known", |it| {
        sums(it)
            .iter()
            .all(|(name, value)| *value > sums(&first)[name])
    });
    assert!(later.sum("ascend_recording_bytes", &[]) > 0.0);
    served.signal(Signal::USR1);
    served.until("out", "rests");
    let calls = |it: &Exposition| it.sum("ascend_calls_total", &[]);
    // The time up to which everything is known is after the last task then.
    let behind = Instant::now();
    let last = served.scraped("all that was done is known", |it| {
        let is_settled =
            it.sum("ascend_metrics_behind_seconds", &[]) < behind.elapsed().as_secs_f64();
        is_settled && calls(it) >= calls(&later)
    });
    assert_eq!(last.sum("ascend_lost_records_total", &[]), 0.0);
    assert_eq!(last.sum("ascend_metrics_unsummed_seconds_total", &[]), 0.0);
    assert!(last.sum("ascend_tracer_overhead_seconds_total", &[]) > 0.0);
    assert!(last.sum("ascend_injected_events_total", &[]) > 0.0);
    let (outcome, folder) = served.end();
    assert_eq!(outcome.status, 7, "{outcome}");
    assert_eq!(
        std::fs::read_to_string(folder.path().join("out")).unwrap(),
        "works\nrests\nends\n"
    );
    let expected = stats(&folder.path().join("t.atrace"));
    for (name, value) in sums(&last) {
        let expected = expected[name];
        let exact = ["errors", "tasks", "steps"].contains(&name);
        // Times are mapped to the host's clock by the facts at that time.
        let room = if exact { 0.0 } else { 0.01 * expected + 0.001 };
        assert!(
            (value - expected).abs() <= room,
            "{name}: {value} instead of {expected}"
        );
    }
}

#[test]
fn two_recordings_take_free_ports() {
    let (one, other) = (Served::start(&[]), Served::start(&[]));
    assert_ne!(one.address, other.address);
    for served in [one, other] {
        served.scraped("calls are counted", |it| {
            it.sum("ascend_calls_total", &[]) > 0.0
        });
        assert_eq!(served.end().0.status, 7);
    }
}

#[test]
fn only_the_metrics_are_served_and_slow_clients_hold_nothing_up() {
    let served = Served::start(&[]);
    // Some that say nothing; there are places for others.
    let silent: Vec<TcpStream> = (0..8)
        .map(|_| TcpStream::connect(&served.address).unwrap())
        .collect();
    for (request, status) in [
        ("GET / HTTP/1.1", "404 Not Found"),
        ("GET /metrics/x HTTP/1.1", "404 Not Found"),
        ("POST /metrics HTTP/1.1", "405 Method Not Allowed"),
        ("GET /metrics", "400 Bad Request"),
        ("GET /metrics HTTP/2", "505 HTTP Version Not Supported"),
    ] {
        let (head, body) = served.ask(request);
        assert!(
            head.starts_with(&format!("HTTP/1.1 {status}\r\n")),
            "{request}: {head}"
        );
        assert_eq!(body, "");
    }
    let (head, body) = served.ask("HEAD /metrics HTTP/1.1");
    assert!(
        head.contains("200 OK") && !head.contains("Content-Length: 0"),
        "{head}"
    );
    assert_eq!(body, "");
    assert!(served.ask("GET /metrics?x=1 HTTP/1.0").0.contains("200 OK"));
    // One that asks without an end.
    let mut endless = TcpStream::connect(&served.address).unwrap();
    let line = [b'x'; 1 << 16];
    while endless.write_all(&line).is_ok() {}
    served.scraped("steps are counted", |it| {
        it.sum("ascend_steps_total", &[]) > 0.0
    });
    assert_eq!(served.end().0.status, 7);
    drop(silent);
}

#[test]
fn a_token_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "open-sesame\n").unwrap();
    let served = Served::start(&["--metrics-token", token.to_str().unwrap()]);
    for wrong in [
        "",
        "\r\nAuthorization: Bearer open",
        "\r\nAuthorization: Basic open-sesame",
    ] {
        for path in ["/metrics", "/"] {
            let (head, body) = served.ask(&format!("GET {path} HTTP/1.1{wrong}"));
            assert!(head.starts_with("HTTP/1.1 401 "), "{wrong}: {head}");
            assert!(head.contains("WWW-Authenticate: Bearer"), "{head}");
            assert_eq!(body, "");
        }
    }
    let right = "GET /metrics HTTP/1.1\r\nauthorization: Bearer open-sesame";
    let (head, body) = served.ask(right);
    assert!(head.contains("200 OK"), "{head}");
    Exposition::parse(&body);
    assert_eq!(served.end().0.status, 7);
}

#[test]
fn what_cannot_be_served_is_refused_before_the_program_starts() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    File::create(&empty).unwrap();
    let file = folder.path().join("t.atrace");
    let (file, empty) = (file.to_str().unwrap(), empty.to_str().unwrap());
    let cases: [(&[&str], &str); 10] = [
        (&["--metrics", "0.0.0.0:0", "-o", file], "--metrics-token"),
        (&["--metrics", &taken, "-o", file], "cannot listen on"),
        (
            &["--metrics", "nowhere.invalid:1", "-o", file],
            "cannot find the host",
        ),
        (&["--metrics", "http://x", "-o", file], "no address"),
        (
            &["--metrics", "0", "-o", "-"],
            "--metrics needs a trace file",
        ),
        (
            &["--metrics", "0", "-o", "/dev/null", "--force"],
            "--metrics needs a trace file",
        ),
        (
            &["--metrics", "0", "--metrics-token", empty, "-o", file],
            "holds no token",
        ),
        (
            &["--metrics", "0", "--metrics-token", "/nowhere", "-o", file],
            "cannot open /nowhere",
        ),
        (&["--metrics-token", empty, "-o", file], "--metrics <ADDR>"),
        (
            &["--metrics", "0", "--metrics-interval", "10ms", "-o", file],
            "from 1s to 1h",
        ),
    ];
    for (options, why) in cases {
        let mut command = tool();
        command.arg("record").args(options).args(["--", "touch"]);
        let trail = folder.path().join("started");
        let outcome = run(command.arg(&trail)).expect(125);
        assert!(outcome.err().contains(why), "{why}: {outcome}");
        assert!(
            !trail.exists() && !std::path::Path::new(file).exists(),
            "{why}"
        );
    }
}

#[test]
fn a_quiet_recorder_says_nothing_of_its_address() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = tool();
    command.args(["--quiet", "record", "--metrics", "0", "--no-tui", "-o"]);
    command
        .arg(folder.path().join("t.atrace"))
        .args(["--", "true"]);
    let outcome = run(&mut command).expect(0);
    assert!(!outcome.err().contains("http://"), "{outcome}");
}

#[test]
fn promtool_finds_nothing_to_say() {
    let Ok(mut promtool) = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
    else {
        eprintln!("skipped: there is no promtool");
        return;
    };
    let served = Served::start(&[]);
    let metrics = served.scraped("all metrics exist", |it| {
        it.sum("ascend_steps_total", &[]) > 0.0
            && it.sum("ascend_thread_stall_seconds_total", &[]) > 0.0
    });
    let mut input = promtool.stdin.take().unwrap();
    input.write_all(metrics.text.as_bytes()).unwrap();
    drop(input);
    let outcome = promtool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
    assert!(outcome.status.success() && said.is_empty(), "{said}");
    assert_eq!(served.end().0.status, 7);
}
