//! `stats --memory`, judged by the runtime's own count.

use serde_json::Value;

use crate::support::process::run;
use crate::support::{Recording, Run, program, tool};

const MIB: u64 = 1 << 20;

fn recorded() -> (Recording, Vec<u64>) {
    let recording = Run::new(&program("memory"))
        .soft("memory=1073741824")
        .options(&["--stacks"])
        .traced();
    let out = recording.outcome.out();
    let counts = out.lines().last().expect("its counts").split(' ');
    let counts = counts.map(|it| it.parse().unwrap()).collect();
    assert!(out.contains("failed: 1"), "{out}");
    (recording, counts)
}

fn document(recording: &Recording) -> Value {
    let mut command = tool();
    command
        .args(["stats", "--memory", "--json"])
        .arg(recording.trace());
    serde_json::from_str(&run(&mut command).expect(0).out()).unwrap()
}

/// A caching allocator that reports its blocks, judged by its own count.
#[test]
fn reserved_and_allocated_memory_is_that_of_the_allocator() {
    let run_it = Run::new(&program("caching")).soft("memory=1073741824");
    let bare = run_it.clone().bare().expect(0);
    let recording = run_it.options(&["--stacks"]).traced();
    let out = recording.outcome.out();
    assert_eq!(out, bare.out(), "{}", recording.outcome);
    let counts = out.lines().last().expect("its counts").split(' ');
    let counts: Vec<u64> = counts.map(|it| it.parse().unwrap()).collect();
    let found = document(&recording);
    assert_eq!(found["missed_blocks"], 0);
    let pools = found["pools"].as_array().unwrap();
    let [pool, workspace] = &pools[..] else {
        panic!("{pools:?}")
    };
    assert_eq!(pool["place"], "caching allocator of device 0");
    let fields = [
        "peak_allocated_bytes",
        "reserved_at_peak_bytes",
        "peak_reserved_bytes",
    ];
    let values = fields.map(|it| pool[it].as_u64().unwrap());
    assert_eq!(values, [counts[0], counts[1], counts[2]], "{pool}");
    assert_eq!(pool["unused_at_peak_bytes"], counts[1] - counts[0]);
    assert_eq!(pool["peak_allocated_step"], "step 2");
    assert_eq!(pool["end_reserved_bytes"], counts[4]);
    assert_eq!(pool["end_allocated_bytes"], counts[5]);
    let refused = &found["refused"][0];
    assert_eq!(
        (&refused["unused_bytes"], &refused["step"]),
        (&counts[3].into(), &"step 4".into())
    );
    assert_eq!(workspace["place"], "other blocks of device 0");
    assert_eq!(
        (
            &workspace["peak_reserved_bytes"],
            &workspace["peak_allocated_bytes"],
            &workspace["end_reserved_bytes"]
        ),
        (&MIB.into(), &MIB.into(), &0.into())
    );
    // The blocks at the peak have the lines that asked for them.
    let peak = found["peak"].as_array().unwrap().iter();
    let blocks = peak.filter(|it| it["place"] == pool["place"]);
    let bytes: u64 = blocks.map(|it| it["bytes"].as_u64().unwrap()).sum();
    assert_eq!(bytes, counts[0]);
    // The blocks are a part of the memory of the device, and do not count twice.
    let device = &found["places"].as_array().unwrap()[0];
    assert_eq!(device["place"], "device 0");
    assert_eq!(device["peak_bytes"], counts[2] + MIB);
}

/// The runtime's count of up to six allocations: it adds some bytes to each.
#[track_caller]
fn is_near(found: &Value, count: u64) {
    let found = found.as_u64().unwrap();
    assert!(
        (found..found + 6 * 4096).contains(&count),
        "{found} {count}"
    );
}

#[test]
fn peak_end_and_failed_allocations_are_those_of_the_runtime() {
    let (recording, counts) = recorded();
    let [peak, refused, end] = counts[..] else {
        panic!("{counts:?}")
    };
    let found = document(&recording);
    let places = found["places"].as_array().unwrap();
    let device = places.iter().find(|it| it["place"] == "device 0").unwrap();
    is_near(&device["peak_bytes"], peak);
    assert_eq!(device["peak_step"], "step 5");
    is_near(&device["end_bytes"], end);
    assert_eq!(
        (&device["allocations"], &device["releases"]),
        (&10.into(), &6.into())
    );
    let host = places.iter().find(|it| it["place"] == "host").unwrap();
    assert_eq!(
        (&host["peak_bytes"], &host["end_bytes"]),
        (&4096.into(), &0.into())
    );

    let of_device = |key: &str| -> Vec<(u64, String)> {
        let rows = found[key].as_array().unwrap().iter();
        rows.filter(|it| it["place"] == "device 0")
            .map(|it| {
                (
                    it["bytes"].as_u64().unwrap(),
                    it["site"].as_str().unwrap().to_owned(),
                )
            })
            .collect()
    };
    let at_peak = of_device("peak");
    let [(kept, kept_at), (between, between_at)] = &at_peak[..] else {
        panic!("{at_peak:?}")
    };
    assert_eq!((*kept, *between), (320 * MIB, 256 * MIB));
    assert!(
        kept_at.contains("kept") && between_at.contains("between"),
        "{at_peak:?}"
    );
    assert_eq!(of_device("in_use"), [(256 * MIB, kept_at.clone())]);

    let [failed] = &found["refused"].as_array().unwrap()[..] else {
        panic!("{found}")
    };
    assert_eq!(failed["size"], 800 * MIB);
    is_near(&failed["in_use_bytes"], refused);
    assert_eq!(
        (&failed["step"], &failed["step_bytes"]),
        (&"step 6".into(), &0.into())
    );
    assert_eq!(failed["holders"][0]["bytes"], 320 * MIB);
}

#[test]
fn each_step_has_its_peak() {
    let (recording, _) = recorded();
    let found = document(&recording);
    let steps = found["steps"].as_array().unwrap().iter();
    let steps = steps.filter(|it| it["place"] == "device 0");
    let steps: Vec<_> = steps
        .map(|it| {
            ["begin_bytes", "peak_bytes", "end_bytes"].map(|key| it[key].as_u64().unwrap() / MIB)
        })
        .collect();
    let mut wanted: Vec<[u64; 3]> = (0..5)
        .map(|kept| [64 * kept, 64 * kept + 320, 64 * kept + 64])
        .collect();
    wanted.push([320, 320, 320]);
    assert_eq!(steps, wanted);
}

#[test]
fn the_text_names_the_largest_holders() {
    let (recording, _) = recorded();
    let mut command = tool();
    command.args(["stats", "--memory"]).arg(recording.trace());
    let text = run(&mut command).expect(0).out();
    for wanted in [
        "In use at the peak",
        "In use at the end",
        "Failed allocations",
        "576 MiB",
        "in use at the first of them:",
        "320 MiB by aclrtMalloc at kept",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

/// Physical memory has a handle, and addresses that come and go.
#[test]
fn memory_by_handle_is_that_of_the_runtime() {
    let recording = Run::new(&program("physical_memory"))
        .soft("memory=1073741824")
        .options(&["--stacks"])
        .traced();
    let out = recording.outcome.out();
    let counts = out.split_whitespace().map(|it| it.parse().unwrap());
    let counts: Vec<u64> = counts.collect();
    let found = document(&recording);
    let places = found["places"].as_array().unwrap();
    let [device] = &places[..] else {
        panic!("{found}")
    };
    is_near(&device["peak_bytes"], *counts.iter().max().unwrap());
    is_near(&device["end_bytes"], *counts.last().unwrap());
    assert_eq!(device["peak_bytes"], 5 * 32 * MIB);
    assert_eq!(
        (&device["allocations"], &device["releases"]),
        (&5.into(), &3.into())
    );
    let peak = found["peak"].as_array().unwrap();
    let held = |function: &str| peak.iter().find(|it| it["function"] == function).unwrap();
    let physical = held("aclrtMallocPhysical");
    assert_eq!(
        (&physical["bytes"], &physical["count"]),
        (&(128 * MIB).into(), &4.into())
    );
    assert!(
        physical["site"].as_str().unwrap().contains("piece"),
        "{physical}"
    );
    assert_eq!(held("aclrtMalloc")["bytes"], 32 * MIB);

    // The counter of an export has the value after each change.
    let path = recording.beside("memory.json");
    let mut command = tool();
    command
        .args(["export", "--format", "chrome", "-o"])
        .arg(&path);
    run(command.arg(recording.trace())).expect(0);
    let text = std::fs::read_to_string(&path).unwrap();
    let exported: Value = serde_json::from_str(&text).unwrap();
    let events = exported["traceEvents"].as_array().unwrap().iter();
    let counters = events
        .filter(|it| it["ph"] == "C" && it["name"].as_str().unwrap().contains("memory in use"));
    let values = counters.map(|it| {
        let values = it["args"].as_object().unwrap().values();
        values.map(|it| it.as_f64().unwrap() as u64).sum::<u64>()
    });
    let mut values: Vec<u64> = values.filter(|it| *it > 0).collect();
    let mut wanted: Vec<u64> = counts.iter().map(|it| it / (32 * MIB) * 32 * MIB).collect();
    wanted.retain(|it| *it > 0);
    values.dedup();
    wanted.dedup();
    assert_eq!(values, wanted);
}
