//! Virtual time: what calls and tasks take follows from the program alone.

use std::time::Duration;

use crate::support::{compile, library_dir, programs_dir, run, scratch};

/// A call costs 1 µs, and a byte that is copied another one; nothing else takes time.
const OPTIONS: &str =
    "virtual_ns=1000,submit_ns=3000,copy_ns=0,d2d_mbps=1,h2d_mbps=1,tick_ns=1,queue=4";

/// Runs, each of which has to be the same.
const RUNS: usize = 4;

/// Expected output of the program, computed by hand: a task is submitted in the middle of its call.
const TIMES: &str = "\
submitted 1000
synchronised 14000
timed out 1002000
done 2004000
seen by queries 14000
event 15000
elapsed 11000
four 4000
five 14000
six 24000
host function 9000
another 10000
before the join 2000
after it 7000
copied by the host 11000
";

#[test]
fn times_follow_from_the_calls() {
    let program = compile(&programs_dir().join("tools/virtual_time.c"));
    let log = scratch("virtual").join(format!("truth-{}", std::process::id()));
    let mut logs = Vec::new();
    for _ in 0..RUNS {
        let _ = std::fs::remove_file(&log);
        let env = [
            ("SOFTACL", OPTIONS),
            ("SOFTACL_TRUTH", log.to_str().unwrap()),
        ];
        let output = run(&program, library_dir(), &env, Duration::from_secs(300)).unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        let times: String = said
            .split_inclusive('\n')
            .filter(|line| !line.ends_with("checks\n"))
            .collect();
        assert_eq!(times, TIMES);
        logs.push(lines(&std::fs::read_to_string(&log).unwrap()));
    }
    let _ = std::fs::remove_file(log);
    let first = "\"kind\":\"call\",\"begin_ns\":1000000000,\"end_ns\":1000001000";
    assert!(logs[0].iter().any(|line| line.contains(first)));
    for other in &logs[1..] {
        assert_eq!(*other, logs[0]);
    }
}

/// The log without numbers of processes, threads and addresses, which differ between runs. Its order does, too.
fn lines(log: &str) -> Vec<String> {
    let kept = |line: &str| -> String {
        let fields = line.trim_matches(['{', '}']).split(',');
        let kept = fields.filter(|field| {
            let name = field.split(':').next().unwrap_or(field);
            !["\"pid\"", "\"tid\"", "\"event\""].contains(&name)
        });
        kept.collect::<Vec<_>>().join(",")
    };
    let mut lines: Vec<String> = log.lines().map(kept).collect();
    lines.sort();
    lines
}
