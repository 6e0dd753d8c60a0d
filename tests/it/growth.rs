//! Memory that grows from step to step, and allocations that fail: `check` on `growth.c` and `memory.c`. The runtime's own count
//! is the truth.

use serde_json::Value;

use crate::support::{Recording, Run, program, run, tool};

const MIB: u64 = 1 << 20;
/// Steps of the program, each of which keeps this much in most cases.
const STEPS: u64 = 24;

/// Cases with a leak: the first step, and what all steps keep.
const LEAKS: [(&str, &str, u64); 3] = [
    ("each_step", "step 0", STEPS * MIB),
    ("every_second_step", "step 1", STEPS / 2 * MIB),
    ("from_the_tenth_step", "step 10", (STEPS - 10) * MIB),
];

const CORRECT: [&str; 5] = ["cache", "last_few", "freed_at_the_end", "cleared", "pool"];

/// A recording of a case, and the bytes that were in use at its end.
#[track_caller]
fn recorded(case: &str, options: &[&str]) -> (Recording, u64) {
    let run = Run::new(&program("growth")).words(&[case]).options(options);
    let recording = run.soft("devices=1").traced();
    let out = recording.outcome.out();
    let counted = out.trim().strip_prefix(case);
    let counted = counted.and_then(|it| it.trim().parse().ok());
    let counted = counted.unwrap_or_else(|| panic!("{}", recording.outcome));
    (recording, counted)
}

#[track_caller]
fn findings(recording: &Recording, check: &str) -> Vec<Value> {
    let out = run(tool().arg("check").arg(recording.trace()).arg("--json"));
    let document: Value = serde_json::from_str(&out.expect(0).out()).unwrap();
    let all = document["findings"].as_array().unwrap().iter();
    all.filter(|it| it["check"] == check).cloned().collect()
}

#[test]
fn a_leak_of_each_step_is_found_with_its_size_and_its_begin() {
    for (case, since, kept) in LEAKS {
        let (recording, counted) = recorded(case, &["--stacks"]);
        // The runtime adds some bytes to each allocation.
        assert!(
            (kept..kept + STEPS * 4096).contains(&counted),
            "{case}: {counted}"
        );
        let found = findings(&recording, "memory-growth");
        let [growth] = &found[..] else {
            panic!("{case}: {found:#?}")
        };
        let what = growth["what"].as_str().unwrap();
        let all = format!("{} MiB in", kept / MIB);
        assert!(
            what.contains(&format!("since {since},")) && what.contains(&all),
            "{case}: {what}"
        );
        assert_eq!(growth["count"], kept / MIB, "{case}");
        let site = growth["site"]["call_site"].as_str().unwrap();
        assert!(site.contains("keeps"), "{case}: {growth:#?}");
    }
}

/// Without call sites, the memory of a function is looked at as a whole.
#[test]
fn a_leak_is_found_without_call_sites() {
    let (recording, _) = recorded("each_step", &[]);
    assert_eq!(findings(&recording, "memory-growth").len(), 1);
}

#[test]
fn right_programs_have_no_growth() {
    for case in CORRECT {
        let (recording, _) = recorded(case, &["--stacks"]);
        let found = findings(&recording, "memory-growth");
        assert!(found.is_empty(), "{case}: {found:#?}");
    }
}

#[test]
fn a_failed_allocation_has_the_largest_holders() {
    let recording = Run::new(&program("memory"))
        .soft("memory=1073741824")
        .options(&["--stacks"])
        .traced();
    let found = findings(&recording, "out-of-memory");
    let [failed] = &found[..] else {
        panic!("{found:#?}")
    };
    let what = failed["what"].as_str().unwrap();
    let begin = "aclrtMalloc found no 800 MiB of memory of device 0 (ACL_ERROR_RT_MEMORY_ALLOCATION): the process had 320 MiB in use \
                 there, most of it 320 MiB by aclrtMalloc at kept";
    assert!(what.starts_with(begin), "{what}");
    assert!(findings(&recording, "failed-call").is_empty());
    let text = run(tool().arg("check").arg(recording.trace()))
        .expect(0)
        .out();
    assert!(
        text.contains("[out-of-memory]") && text.contains("stats --memory"),
        "{text}"
    );
}
