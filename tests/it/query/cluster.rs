//! A generated cluster of 64 ranks on hosts with different clocks: the planted rank comes out first.

use ascend_trace_testkit::cluster::ClusterJob;
use serde_json::Value;

use super::rows;
use crate::merge::jobs::Recorded;
use crate::support::{run, tool};

const SLOW_RANK: usize = 37;
const SLOW_HOST: usize = 5;

/// Two hosts of two ranks, of which one is behind a slow link.
pub(super) fn small() -> ClusterJob {
    ClusterJob {
        hosts: 2,
        ranks: 2,
        slow_rank: None,
        slow_link: Some(1),
        ..cluster(20)
    }
}

fn cluster(steps: u32) -> ClusterJob {
    ClusterJob {
        hosts: 16,
        ranks: 4,
        steps,
        seed: 3,
        slow_rank: Some(SLOW_RANK),
        slow_link: Some(SLOW_HOST),
        slow_step: Some(steps / 2),
    }
}

fn number(row: &Value, name: &str) -> i64 {
    row[name]
        .as_i64()
        .unwrap_or_else(|| panic!("{name} of {row}"))
}

/// How far the clock of a host may be off, and how far it is, between the first and the last collective.
fn assert_bars_contain_the_truth(recorded: &Recorded, job: &ClusterJob, clocks: &[Value]) {
    assert_eq!(clocks.len(), job.hosts);
    for clock in clocks {
        let host: usize = clock["host"].as_str().unwrap()["node".len()..]
            .parse()
            .unwrap();
        let rank = host * job.ranks;
        let bar = number(clock, "bar_ns");
        let [begin, end] = ["begin_ns", "end_ns"].map(|it| number(clock, it));
        for reading in [begin, begin + (end - begin) / 2, end] {
            let rate = number(clock, "rate_ppb") as f64 * 1e-9;
            let moved = (reading - number(clock, "at_ns")) as f64 * rate;
            let aligned = reading + number(clock, "offset_ns") + moved.round() as i64;
            let off = aligned - recorded.on_reference(rank, reading);
            assert!(
                off.abs() <= bar,
                "host {host}: off by {off}, the bar is {bar}"
            );
        }
    }
}

fn assert_planted_come_first(job: &ClusterJob) {
    let recorded = Recorded::new(*job);
    let root = recorded.path("fleet");
    let mut command = tool();
    command.args(["dataset", "add", "--run", "job", "--to"]);
    run(command.arg(&root).args(&recorded.files)).expect(0);
    run(tool().args(["dataset", "align"]).arg(&root)).expect(0);
    let Some(clocks) = rows(&root, &["select * from clocks"]) else {
        return;
    };
    assert_bars_contain_the_truth(&recorded, job, &clocks);
    let first = |query: &str| rows(&root, &[query]).unwrap().swap_remove(0);

    let straggler = first("stragglers");
    assert_eq!(straggler["rank"], SLOW_RANK.to_string(), "{straggler}");
    assert_eq!(straggler["more_of"], "computing");
    let step = first("slow-steps");
    assert_eq!(step["step"], job.slow_step.unwrap() + 1, "{step}");
    let slow = first("slow-operations");
    assert_eq!(slow["rank"], SLOW_RANK.to_string(), "{slow}");

    // All ranks of the host are behind its link, and only the large collectives show that.
    let late = rows(&root, &["late-ends"]).unwrap();
    let (behind, others) = late.split_at(job.ranks);
    for row in behind {
        assert_eq!(row["host"], format!("node{SLOW_HOST}"), "{row}");
        assert_eq!(row["bytes"], 4_096);
        // The planted delay is three transfers of 60 us.
        let late = row["late_us"].as_f64().unwrap();
        assert!(
            (late - 180.0).abs() < 5.0 + row["bar_us"].as_f64().unwrap(),
            "{row}"
        );
    }
    let next = others[0]["late_us"].as_f64().unwrap();
    assert!(next < 60.0, "{}", others[0]);
}

#[test]
fn planted_faults_of_a_queried_cluster_come_first() {
    assert_planted_come_first(&cluster(60));
}

#[test]
#[ignore = "a million rows: minutes in a debug build"]
fn planted_faults_of_a_cluster_of_a_thousand_steps_come_first() {
    assert_planted_come_first(&cluster(1_000));
}
