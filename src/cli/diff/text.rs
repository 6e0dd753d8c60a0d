//! A comparison as text.

use ascend_trace_analysis::diff::{
    Change, Diff, DiffRow, Edit, Pair, SubjectKind, Summary, Verdict,
};
use ascend_trace_recording::units::duration;

use crate::text_table::{count, declared};

/// Changes that are listed of each pair, unless all rows are asked for.
const LISTED: usize = 30;

pub(super) fn of(found: &Diff, all: bool) -> String {
    let mut parts = Vec::new();
    if !found.by_steps {
        parts.push(
            "no steps in both recordings: single operations, calls and stalls are compared\n"
                .to_owned(),
        );
    }
    for pair in &found.pairs {
        parts.push(of_pair(found, pair, all));
    }
    let alone = [("A", &found.a), ("B", &found.b)].map(|(side, all)| {
        let alone = all.iter().filter(|it| !it.compared);
        let alone =
            alone.map(|it| format!("process {} of {side} has no counterpart\n", it.process));
        alone.collect::<String>()
    });
    parts.extend(alone.into_iter().filter(|it| !it.is_empty()));
    if !found.changed {
        parts.push(format!(
            "no significant change, by {} tests\n",
            count(found.tests)
        ));
    }
    parts.join("\n")
}

fn of_pair(found: &Diff, pair: &Pair, all: bool) -> String {
    let mut text = head(found, pair);
    let step = pair.rows.iter().find(|it| it.kind == SubjectKind::Step);
    text += &step.map_or_else(String::new, headline);
    let edits: Vec<&Edit> = pair.edits.iter().filter(|it| it.certain || all).collect();
    if !edits.is_empty() {
        text += "\nSequence of operations\n";
        edits
            .iter()
            .for_each(|it| text += &format!("  {}\n", edit(it)));
    }
    let rows = pair.rows.iter().filter(|it| it.kind != SubjectKind::Step);
    let rows: Vec<&DiffRow> = rows
        .filter(|it| all || it.verdict != Verdict::Same)
        .collect();
    let most = if all { usize::MAX } else { LISTED };
    if !rows.is_empty() {
        let title = match (all, pair.a_process) {
            (true, _) => "All rows, changes first",
            (false, Some(_)) => "Changes, by the time that they add to a step",
            (false, None) => "Changes, by the time that they add in all",
        };
        text += &format!(
            "\n{title}\n{}",
            declared(rows.iter().take(most).copied(), 0)
                .with_only_if("most of it", pair.a_process.is_some())
                .render(2)
        );
    }
    if rows.len() > most {
        let more = count((rows.len() - most) as u64);
        text += &format!("  … and {more} more; --all lists them\n");
    }
    text
}

/// The compared recordings.
fn head(found: &Diff, pair: &Pair) -> String {
    let summary = |all: &[Summary], process: Option<u32>| {
        let own = all.iter().find(|it| Some(it.process) == process);
        own.map(|it| (it.steps, it.origin.name(), it.rank))
    };
    let a = summary(&found.a, pair.a_process);
    let b = summary(&found.b, pair.b_process);
    let Some(((a_steps, origin, rank), (b_steps, other, _))) = a.zip(b) else {
        return String::new();
    };
    let process = match (found.pairs.len() > 1, rank) {
        (false, _) => String::new(),
        (true, Some(rank)) => format!("rank {rank}: "),
        (true, None) => format!("process {}: ", pair.a_process.unwrap_or(0)),
    };
    let skipped = match (pair.a_steps < a_steps, pair.b_steps < b_steps) {
        (false, false) => String::new(),
        _ => format!(
            "; compared are {} and {}, without the first",
            count(pair.a_steps),
            count(pair.b_steps)
        ),
    };
    let found_by = match origin == other {
        true => origin.to_owned(),
        false => format!("{origin} and {other}"),
    };
    format!(
        "{process}{} steps of A, {} of B ({found_by}){skipped}\n",
        count(a_steps),
        count(b_steps)
    )
}

fn headline(step: &DiffRow) -> String {
    let medians = format!(
        "{} before, {} now",
        time(step.a.typical_ns),
        time(step.b.typical_ns)
    );
    match step.verdict {
        Verdict::Same => format!("step: {medians}; the difference is not significant\n"),
        verdict => format!(
            "step: {} {}, {medians}{}\n",
            percent(step.change),
            verdict.name(),
            chance(step.p_corrected)
        ),
    }
}

fn chance(p: Option<f64>) -> String {
    match p {
        Some(p) if p < 0.0001 => ", p < 0.0001".to_owned(),
        Some(p) => format!(", p = {p:.4}"),
        None => String::new(),
    }
}

fn edit(edit: &Edit) -> String {
    let after = edit.after.as_ref();
    let after = after.map_or_else(String::new, |it| format!(", after {it}"));
    let times = match edit.count {
        1 => String::new(),
        more => format!("{} times, first ", count(more)),
    };
    let side = match edit.change {
        Change::Deleted => "A",
        _ => "B",
    };
    let was = edit.was.as_ref();
    let was = was.map_or_else(String::new, |it| format!("{it} to "));
    format!(
        "{} {was}{}: {times}operation {} of {side}{after}",
        edit.change.name(),
        edit.name,
        count(edit.place)
    )
}

fn time(ns: Option<i64>) -> String {
    ns.map_or_else(|| "-".to_owned(), duration)
}

fn percent(part: Option<f64>) -> String {
    part.map_or_else(|| "-".to_owned(), |it| format!("{:+.1} %", it * 100.0))
}
