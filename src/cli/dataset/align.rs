//! `dataset align`: the clocks of the hosts of each run, as the table `clocks`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use anyhow::{Context, bail};

use ascend_trace_analysis::align::{AlignedHost, Alignment, Recorded, align};
use ascend_trace_export::{ClockRow, CollectedRecording, write_clocks};

use super::AlignArgs;
use super::dataset_store::{self, DatasetStore};
use super::files::cannot_write;
use super::manifest::Manifest;
use super::partition_path::{is_plain, plain};
use super::schema;
use crate::cli::clocks;
use crate::output::{print_message, print_status};

const TABLE: &str = "clocks";
const NAME: &str = "part-clocks.parquet";

pub(super) fn run(args: &AlignArgs) -> anyhow::Result<u8> {
    let store = dataset_store::open(&args.dataset)?;
    let store = &*store;
    schema::find(store)?;
    let mut runs: BTreeMap<String, Vec<Manifest>> = BTreeMap::new();
    for manifest in Manifest::all(store)? {
        let is_wanted = args.run.as_ref().is_none_or(|run| *run == manifest.run);
        if is_wanted && is_plain(&manifest.run) {
            runs.entry(manifest.run.clone()).or_default().push(manifest);
        }
    }
    match &args.run {
        Some(run) if runs.is_empty() => bail!("{store} has no recording of the run {run}"),
        None if runs.is_empty() => bail!("{store} has no recordings: dataset add adds them"),
        _ => {}
    }
    for (run, manifests) in &runs {
        let recorded = manifests.iter().map(|it| collected(store, it));
        let recorded = recorded.collect::<anyhow::Result<Vec<_>>>()?;
        let alignment = align(&recorded);
        let notes = clocks::notes(&alignment, &recorded, |it| manifests[it].source.clone());
        for (_, note) in notes {
            print_message(format!("run {run}: {note}"));
        }
        write(store, run, &recorded, &alignment).with_context(|| cannot_write(store))?;
        for placed in &alignment.hosts {
            print_status(format!("run {run}: {}", clocks::line(placed, &alignment)));
        }
    }
    Ok(0)
}

/// The clock of a recording, from its tables.
fn collected(store: &dyn DatasetStore, manifest: &Manifest) -> anyhow::Result<Recorded> {
    let mut collected = CollectedRecording::default();
    for (part, name) in manifest.parts().filter(|it| it.0.table == "processes") {
        let rank = part.rank.parse().ok();
        let read = store
            .open(&name)
            .and_then(|it| collected.processes(it, rank));
        read.with_context(|| format!("cannot read {store}/{name}"))?;
    }
    for (_, name) in manifest.parts().filter(|it| it.0.table == "collectives") {
        let read = store.open(&name).and_then(|it| collected.collectives(it));
        read.with_context(|| format!("cannot read {store}/{name}"))?;
    }
    Ok(collected.finish())
}

/// Writes the clocks of a run: a file for each host name. Files of hosts that the run does not have any more go.
fn write(
    store: &dyn DatasetStore,
    run: &str,
    recorded: &[Recorded],
    alignment: &Alignment,
) -> io::Result<()> {
    let mut hosts: BTreeMap<String, Vec<ClockRow>> = BTreeMap::new();
    for placed in &alignment.hosts {
        let row = row(placed, recorded, alignment);
        hosts.entry(plain(&placed.host)).or_default().push(row);
    }
    let folder = format!("{TABLE}/run={run}");
    let mut written: BTreeSet<String> = BTreeSet::new();
    for (host, rows) in hosts {
        let mut bytes = Vec::new();
        write_clocks(&mut bytes, &rows)?;
        let own = format!("host={host}");
        store.replace(&format!("{folder}/{own}/{NAME}"), &bytes)?;
        written.insert(own);
    }
    for other in store.list(&folder)? {
        if other.starts_with("host=") && !written.contains(&other) {
            store.remove(&format!("{folder}/{other}/{NAME}"))?;
        }
    }
    Ok(())
}

fn row(placed: &AlignedHost, recorded: &[Recorded], alignment: &Alignment) -> ClockRow {
    let row = clocks::row(placed, alignment);
    let first = placed.recordings.first();
    let boot = first.map(|it| recorded[*it].boot.clone());
    let reference = &alignment.hosts[0].host;
    ClockRow {
        boot_id: boot.unwrap_or_default(),
        through: match &*row.aligned_by {
            "collectives" if row.through.is_empty() => reference.clone(),
            _ => row.through,
        },
        aligned_by: row.aligned_by,
        reference: reference.clone(),
        at_ns: placed.middle(),
        offset_ns: placed.offset_ns,
        rate_ppb: placed.rate_ppb,
        bar_ns: placed.line_bar_ns(),
        collectives: row.collectives,
        begin_ns: placed.span.0,
        end_ns: placed.span.1,
    }
}
