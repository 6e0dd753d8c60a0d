//! `dataset align`: the clocks of the hosts of each run, as the table `clocks`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use ascend_trace_analysis::align::{Alignment, Placed, Recorded, align};
use ascend_trace_export::{ClockRow, Collected, write_clocks};

use super::AlignArgs;
use super::files::{cannot_write, replace};
use super::manifest::Manifest;
use super::place::{is_plain, plain};
use super::schema;
use crate::cli::clocks;
use crate::output::{say, tell};

const TABLE: &str = "clocks";
const NAME: &str = "part-clocks.parquet";

pub(super) fn run(args: &AlignArgs) -> anyhow::Result<u8> {
    schema::find(&args.dataset)?;
    let shown = args.dataset.display();
    let mut runs: BTreeMap<String, Vec<Manifest>> = BTreeMap::new();
    for manifest in Manifest::all(&args.dataset)? {
        let is_wanted = args.run.as_ref().is_none_or(|run| *run == manifest.run);
        if is_wanted && is_plain(&manifest.run) {
            runs.entry(manifest.run.clone()).or_default().push(manifest);
        }
    }
    match &args.run {
        Some(run) if runs.is_empty() => bail!("{shown} has no recording of the run {run}"),
        None if runs.is_empty() => bail!("{shown} has no recordings: dataset add adds them"),
        _ => {}
    }
    for (run, manifests) in &runs {
        let recorded = manifests.iter().map(|it| collected(&args.dataset, it));
        let recorded = recorded.collect::<anyhow::Result<Vec<_>>>()?;
        let alignment = align(&recorded);
        let notes = clocks::notes(&alignment, &recorded, |it| manifests[it].source.clone());
        for (_, note) in notes {
            say(format!("run {run}: {note}"));
        }
        write(&args.dataset, run, &recorded, &alignment)
            .with_context(|| cannot_write(&args.dataset))?;
        for placed in &alignment.hosts {
            tell(format!("run {run}: {}", clocks::line(placed, &alignment)));
        }
    }
    Ok(0)
}

/// What the tables of a recording say of its clock.
fn collected(root: &Path, manifest: &Manifest) -> anyhow::Result<Recorded> {
    let mut collected = Collected::default();
    for (table, rank, path) in manifest.tables(root) {
        if table != "processes" {
            continue;
        }
        let read = File::open(&path).and_then(|file| collected.processes(file, rank.parse().ok()));
        read.with_context(|| cannot_read(&path))?;
    }
    for (table, _, path) in manifest.tables(root) {
        if table == "collectives" {
            let read = File::open(&path).and_then(|file| collected.collectives(file));
            read.with_context(|| cannot_read(&path))?;
        }
    }
    Ok(collected.finish())
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read {}", path.display())
}

/// Writes the clocks of a run: a file for each host name. Files of hosts that the run does not have any more go.
fn write(root: &Path, run: &str, recorded: &[Recorded], alignment: &Alignment) -> io::Result<()> {
    let mut hosts: BTreeMap<String, Vec<ClockRow>> = BTreeMap::new();
    for placed in &alignment.hosts {
        let row = row(placed, recorded, alignment);
        hosts.entry(plain(&placed.host)).or_default().push(row);
    }
    let folder = root.join(TABLE).join(format!("run={run}"));
    let mut written: BTreeSet<PathBuf> = BTreeSet::new();
    for (host, rows) in hosts {
        let own = folder.join(format!("host={host}"));
        fs::create_dir_all(&own)?;
        let mut bytes = Vec::new();
        write_clocks(&mut bytes, &rows)?;
        replace(&own.join(NAME), &bytes)?;
        written.insert(own);
    }
    for entry in fs::read_dir(&folder)?.flatten() {
        let path = entry.path();
        if !written.contains(&path) && path.join(NAME).exists() {
            fs::remove_file(path.join(NAME))?;
        }
    }
    Ok(())
}

fn row(placed: &Placed, recorded: &[Recorded], alignment: &Alignment) -> ClockRow {
    let told = clocks::row(placed, alignment);
    let first = placed.recordings.first();
    let boot = first.map(|it| recorded[*it].boot.clone());
    let reference = &alignment.hosts[0].host;
    ClockRow {
        boot_id: boot.unwrap_or_default(),
        through: match &*told.aligned_by {
            "collectives" if told.through.is_empty() => reference.clone(),
            _ => told.through,
        },
        aligned_by: told.aligned_by,
        reference: reference.clone(),
        at_ns: placed.middle(),
        offset_ns: placed.offset_ns,
        rate_ppb: placed.rate_ppb,
        bar_ns: placed.line_bar_ns(),
        collectives: told.collectives,
        begin_ns: placed.span.0,
        end_ns: placed.span.1,
    }
}
