//! Programs made by hand, and changes of them.

use super::clocked::{Clocked, FIRST_STREAM};
use super::judge::Pair;
use super::script::{Script, narrower};

/// A call costs a microsecond.
const CALLS: &str = "virtual_ns=1000";

/// A loop: the part before, the repeated part, and the part after.
pub(crate) fn looped(before: &str, times: usize, round: &str, after: &str) -> Script {
    Script::read(&format!(
        "{before};{}{after}",
        format!("{round};").repeat(times)
    ))
}

/// `stream=… wait=none` for a stream by its number in the script.
pub(crate) fn no_waits(stream: u32) -> String {
    format!(
        "stream={} wait=none",
        i64::from(stream) + i64::from(FIRST_STREAM)
    )
}

/// Pairs of one program.
struct Family {
    name: &'static str,
    script: Script,
    soft: String,
    pairs: Vec<Pair>,
}

impl Family {
    fn new(name: &'static str, soft: &str, script: Script) -> Self {
        Self {
            name,
            script,
            soft: soft.to_owned(),
            pairs: Vec::new(),
        }
    }

    fn original(&self) -> Clocked {
        Clocked::new(&self.soft, &[&self.script])
    }

    /// With these words of `what-if`, another script does it.
    fn script(mut self, words: &[&str], make: impl FnOnce(&Script) -> Script) -> Self {
        let changed = Clocked::new(&self.soft, &[&make(&self.script)]);
        self.add(words, changed);
        self
    }

    /// The same script on another runtime; of options the last one holds.
    fn runtime(mut self, words: &[&str], soft: &str) -> Self {
        let changed = Clocked::new(&format!("{},{soft}", self.soft), &[&self.script]);
        self.add(words, changed);
        self
    }

    fn graph(mut self, words: &[&str], changed: &Script) -> Self {
        let changed = Clocked::new(&self.soft, &[changed]);
        self.add(words, changed);
        if let Some(pair) = self.pairs.last_mut() {
            pair.captures = true;
        }
        self
    }

    fn add(&mut self, words: &[&str], changed: Clocked) {
        self.pairs.push(Pair {
            name: self.name.to_owned(),
            original: self.original(),
            changes: words.iter().map(ToString::to_string).collect(),
            changed,
            captures: false,
        });
    }
}

/// Copies take no time on such a runtime.
const FREE_COPIES: &str = "h2d_mbps=1000000000,d2h_mbps=1000000000,d2d_mbps=1000000000";
const COPY: &str = "op=aclrtMemcpyAsync";
const FILL: &str = "op=aclrtMemsetAsync";
const REDUCE: &str = "op=aclrtReduceAsync";

/// A stream waits for another one, and the host for that.
fn two_streams() -> Family {
    let round = "c 0 400;r 0 0;w 1 0;c 1 200;r 1 1;c 1 300;y 1";
    let script = looped("s 0;s 1;e 0;e 1", 6, round, "v");
    let waits = no_waits(1);
    let both = [waits.as_str(), "copy x0.5"];
    Family::new("two streams", CALLS, script)
        .script(&[&format!("{COPY} x0.5")], |it| it.scaled("c", 0.5))
        .script(&[&format!("{COPY} x0.25")], |it| it.scaled("c", 0.25))
        .script(&[&format!("{COPY} x2")], |it| it.scaled("c", 2.0))
        .script(&[&waits], |it| it.without_waits(1))
        .script(&both, |it| it.without_waits(1).scaled("c", 0.5))
        .script(&["sync=StreamSync->event"], |it| {
            it.with_syncs('y', narrower::event)
        })
        .script(&["sync=StreamSync->none"], |it| {
            it.with_syncs('y', narrower::none)
        })
        .runtime(&["copy x0"], FREE_COPIES)
}

/// The host waits for the device in each round, without need.
fn device_syncs() -> Family {
    let round = "f 0 100;c 1 150;f 2 52;v";
    let script = looped("s 0;s 1;s 2", 8, round, "y 0;y 1;y 2");
    Family::new("device syncs", CALLS, script)
        .script(&["sync=DeviceSync->stream"], |it| {
            it.with_syncs('v', narrower::stream)
        })
        .script(&["sync=DeviceSync->none"], |it| {
            it.with_syncs('v', narrower::none)
        })
        .script(&[&format!("{FILL} x0.5")], |it| it.scaled("f", 0.5))
        .script(&[&format!("{COPY} x0.5")], |it| it.scaled("c", 0.5))
}

fn device_syncs_and_records() -> Family {
    let round = "f 0 100;r 0 0;c 1 152;f 2 52;v";
    let script = looped("s 0;s 1;s 2;e 0", 8, round, "y 0;y 1;y 2");
    Family::new("device syncs and records", CALLS, script)
        .script(&["sync=DeviceSync->event"], |it| {
            it.with_syncs('v', narrower::event)
        })
        .script(&["sync=DeviceSync->event", &format!("{FILL} x0.5")], |it| {
            it.with_syncs('v', narrower::event).scaled("f", 0.5)
        })
}

/// Copy in, compute, copy out, each on its stream; the host reads the result and works.
fn pipeline() -> Family {
    let round = "i 0 80;r 0 0;w 1 0;f 1 120;r 1 1;w 2 1;u 2 48;r 2 2;v;a 48;p 40";
    let script = looped("s 0;s 1;s 2;e 0;e 1;e 2", 10, round, "");
    let of_copies = |_: &[_]| Script::read("z 0;z 2").0;
    Family::new("pipeline", CALLS, script)
        .script(&["sync=DeviceSync->stream"], |it| {
            it.with_syncs('v', narrower::stream)
        })
        .script(&["sync=DeviceSync->event"], |it| {
            it.with_syncs('v', of_copies)
        })
        .script(&["copy x0.5"], |it| it.scaled("iu", 0.5))
        .script(&[&format!("{FILL} x0.5")], |it| it.scaled("f", 0.5))
        .runtime(&["copy x0"], FREE_COPIES)
}

/// Launches take longer than tasks.
fn launches() -> Family {
    let script = looped("s 0", 4, &"f 0 2;".repeat(300), "y 0");
    let graph = format!("s 0;G 0;{}E 0 0;", "f 0 2;".repeat(300));
    let graph = looped(&graph, 4, "l 0 0", "y 0");
    Family::new("launches", "virtual_ns=4000", script)
        .runtime(&["launch x0.5"], "virtual_submit_ns=2000,submit_ns=1500")
        .runtime(&["launch x0"], "virtual_submit_ns=0,submit_ns=0")
        .graph(&["launch x0"], &graph)
        .script(&[&format!("{FILL} x0.5")], |it| it.scaled("f", 0.5))
}

/// The host copies itself.
fn host_copies() -> Family {
    let script = looped("s 0", 12, "b 100;f 0 80;y 0", "v");
    Family::new("host copies", CALLS, script)
        .script(&["copy x0.5"], |it| it.scaled("b", 0.5))
        .runtime(&["copy x0"], FREE_COPIES)
        .script(&["sync=StreamSync->none"], |it| {
            it.with_syncs('y', narrower::none)
        })
}

/// The host waits for an event in the middle of a stream's work.
fn event_syncs() -> Family {
    let script = looped(
        "s 0;s 1;e 0",
        8,
        "c 0 200;r 0 0;c 0 100;f 1 250;z 0;p 30",
        "v",
    );
    Family::new("event syncs", CALLS, script)
        .script(&["sync=EventSync->none"], |it| {
            it.with_syncs('z', narrower::none)
        })
        .script(&[&format!("{COPY} x0.5")], |it| it.scaled("c", 0.5))
        .script(&[&format!("{FILL} x0.4")], |it| it.scaled("f", 0.4))
}

/// Functions of the host run between tasks.
fn host_functions() -> Family {
    let round = "c 0 100;h 0 60;r 0 0;w 1 0;f 1 120;y 1";
    let script = looped("s 0;s 1;e 0", 8, round, "v");
    let waits = no_waits(1);
    Family::new("host functions", CALLS, script)
        .script(&[&waits], |it| it.without_waits(1))
        .script(&[&format!("{COPY} x0.5")], |it| it.scaled("c", 0.5))
        .script(&[&format!("{FILL} x0.5")], |it| it.scaled("f", 0.5))
}

/// One stream, then three, then one again.
fn fan() -> Family {
    let round = "f 0 52;r 0 0;w 1 0;w 2 0;w 3 0;c 1 200;c 2 152;m 3 300;r 1 1;r 2 2;r 3 3;\
                 w 0 1;w 0 2;w 0 3;f 0 40;y 0";
    let script = looped("s 0;s 1;s 2;s 3;e 0;e 1;e 2;e 3", 6, round, "v");
    let (own, last) = (no_waits(0), no_waits(3));
    let reduce = format!("{REDUCE} x0.5");
    let copy = format!("{COPY} x0.5");
    Family::new("fan", CALLS, script)
        .script(&[&reduce], |it| it.scaled("m", 0.5))
        .script(&[&copy], |it| it.scaled("c", 0.5))
        .script(&[&copy, &reduce], |it| it.scaled("cm", 0.5))
        .script(&[&last], |it| it.without_waits(3))
        .script(&[&own], |it| it.without_waits(0))
        .script(&["sync=StreamSync->none"], |it| {
            it.with_syncs('y', narrower::none)
        })
}

/// The queue of a stream is full most of the time.
fn full_queues() -> Family {
    let script = looped("s 0;s 1", 60, "c 0 20;c 1 12", "v");
    Family::new("full queues", "virtual_ns=1000,queue=8", script)
        .script(&[&format!("{COPY} x0.5")], |it| it.scaled("c", 0.5))
        .script(&[&format!("{COPY} x2")], |it| it.scaled("c", 2.0))
}

/// A graph between copies.
fn replays() -> Family {
    let before = "s 0;G 0;f 0 100;f 0 60;E 0 0";
    let script = looped(before, 6, "i 0 48;l 0 0;u 0 52;y 0;a 52", "");
    Family::new("replays", CALLS, script)
        .script(&["copy x0.5"], |it| it.scaled("iu", 0.5))
        .runtime(&["copy x0"], FREE_COPIES)
}

/// Each of two threads has its stream.
fn two_threads() -> Vec<Pair> {
    let main = looped("s 0;s 1;t", 8, "c 0 100;y 0;p 20", "j");
    let other = looped("", 8, "f 1 152;y 1", "");
    let pair = |words: String, scripts: [&Script; 2]| Pair {
        name: "two threads".to_owned(),
        original: Clocked::new(CALLS, &[&main, &other]),
        changes: vec![words],
        changed: Clocked::new(CALLS, &scripts),
        captures: false,
    };
    let (fill, copy) = (other.scaled("f", 0.5), main.scaled("c", 2.0));
    vec![
        pair(format!("{FILL} x0.5"), [&main, &fill]),
        pair(format!("{COPY} x2"), [&copy, &other]),
    ]
}

/// The host asks until a stream is done.
fn polled_streams() -> Family {
    let script = looped("s 0;s 1", 10, "f 0 152;c 1 100;q 0;p 20;m 1 40;q 1", "v");
    Family::new("polled streams", CALLS, script)
        .script(&[&format!("{FILL} x0.5")], |it| it.scaled("f", 0.5))
        .script(&[&format!("{FILL} x2")], |it| it.scaled("f", 2.0))
        .script(&[&format!("{COPY} x0.5")], |it| it.scaled("c", 0.5))
        .script(&["sync=aclrtStreamQuery->none"], |it| {
            it.with_syncs('q', narrower::none)
        })
}

/// The host asks until the record of an event is done, in the middle of a stream's work.
fn polled_events() -> Family {
    let script = looped(
        "s 0;s 1;e 0",
        10,
        "f 0 200;r 0 0;c 0 60;Q 0;m 1 120;q 1",
        "v",
    );
    Family::new("polled events", CALLS, script)
        .script(&[&format!("{FILL} x0.5")], |it| it.scaled("f", 0.5))
        .script(&[&format!("{REDUCE} x0.5")], |it| it.scaled("m", 0.5))
        .script(&["sync=aclrtQueryEventStatus->none"], |it| {
            it.with_syncs('Q', narrower::none)
        })
}

/// Rounds of different lengths: each of these in turn.
fn uneven(before: &str, lengths: [u32; 4], round: impl Fn(u32) -> String, after: &str) -> Script {
    let rounds: String = (0..16).map(|it| round(lengths[it % 4]) + ";").collect();
    Script::read(&format!("{before};{rounds}{after}"))
}

/// Two threads of uneven rounds, with other scripts for each change.
fn pairs_of(
    name: &str,
    main: impl Fn(u32) -> String,
    other: (impl Fn(u32) -> String, [u32; 4]),
) -> Vec<Pair> {
    let main = uneven("s 0;s 1;t", [200, 120, 160, 240], main, "j");
    let other = uneven("", other.1, other.0, "");
    let changes = [(COPY, "c", 0.5), (FILL, "f", 0.5), (COPY, "c", 0.25)];
    let pairs = changes.iter().map(|(operation, letters, factor)| {
        let changed = [
            main.scaled(letters, *factor),
            other.scaled(letters, *factor),
        ];
        Pair {
            name: name.to_owned(),
            original: Clocked::new(CALLS, &[&main, &other]),
            changes: vec![format!("{operation} x{factor}")],
            changed: Clocked::new(CALLS, &[&changed[0], &changed[1]]),
            captures: false,
        }
    });
    pairs.collect()
}

/// A function on the host wakes another thread, which wakes the first one when it is done.
fn woken_by_a_host_function() -> Vec<Pair> {
    let other = |it| format!("o 0;f 1 {it};y 1;n 1");
    let main = |it| format!("c 0 {it};H 0 0;o 1");
    pairs_of("woken", main, (other, [100, 80, 60, 120]))
}

/// Two threads meet after each round.
fn barrier() -> Vec<Pair> {
    let other = |it| format!("f 1 {it};y 1;n 1;o 0");
    let main = |it| format!("c 0 {it};y 0;n 0;o 1");
    pairs_of("barrier", main, (other, [60, 100, 80, 72]))
}

/// One thread works on the results of the other one.
fn queue_of_two_threads() -> Vec<Pair> {
    let other = |it| format!("o 0;f 1 {it};y 1");
    let main = |it| format!("c 0 {it};y 0;n 0");
    pairs_of("queue", main, (other, [60, 100, 80, 72]))
}

/// Programs with a part of the times of tasks.
pub(crate) fn untimed() -> Vec<Pair> {
    let families = [two_streams(), pipeline(), event_syncs(), fan()];
    let pairs = families.into_iter().flat_map(|it| it.pairs);
    let pairs = pairs.map(|mut it| {
        it.original.untimed_every = 3;
        it
    });
    pairs.collect()
}

/// Loops of queries, and threads that wait for each other outside of AscendCL.
pub(crate) fn hidden_waits() -> Vec<Pair> {
    let families = [polled_streams(), polled_events()];
    let pairs = families.into_iter().flat_map(|it| it.pairs);
    pairs.chain(woken_by_a_host_function()).collect()
}

/// Threads that wait for each other.
pub(crate) fn waits_of_threads() -> Vec<Pair> {
    let pairs = barrier().into_iter();
    pairs.chain(queue_of_two_threads()).collect()
}

pub(crate) fn all() -> Vec<Pair> {
    let families = [
        two_streams(),
        device_syncs(),
        device_syncs_and_records(),
        pipeline(),
        launches(),
        host_copies(),
        event_syncs(),
        host_functions(),
        fan(),
        full_queues(),
        replays(),
    ];
    let pairs = families.into_iter().flat_map(|it| it.pairs);
    pairs.chain(two_threads()).collect()
}
