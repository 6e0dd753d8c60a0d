//! How much room the timelines take.

use ascend_trace_export::{ArgDetail, Chrome, ExportSource, Exporter, Perfetto, WantedPart};
use ascend_trace_recording::Trace;
use ascend_trace_recording::rows::{CallRow, Row};
use ascend_trace_testkit::whole::from_rows;
use ascend_trace_testkit::workload::{self, Workload};
use serde_json::Map;

use super::checker;
use super::memory::export_source;
use super::trace_processor;

/// A training loop: with tasks or without, with events and waits or without.
fn training(tasks: bool, waits: bool) -> Trace {
    let (session, tables) = workload::leading();
    let workload = Workload {
        steps: 400,
        ..Workload::default()
    };
    let mut rows = Vec::new();
    workload::run(workload, |row| match row {
        Row::TaskTime(_) if !tasks => {}
        Row::Call(call) => rows.push(Row::Call(CallRow {
            task: call.task.filter(|_| tasks),
            event: call.event.filter(|_| waits),
            ..call
        })),
        row => rows.push(row),
    });
    from_rows(session, tables, rows)
}

fn bytes_of_a_slice(trace: &Trace, exporter: &dyn Exporter, args: ArgDetail) -> usize {
    let wanted = WantedPart {
        args,
        ..WantedPart::default()
    };
    let files = export_source(exporter, &ExportSource::of(trace, &wanted));
    let timed = trace.tasks().iter().filter(|it| it.time.is_some()).count();
    files.bytes("").len() / (trace.calls().len() + timed)
}

#[test]
fn a_slice_takes_few_bytes_in_perfettos_format() {
    for (tasks, waits) in [(false, false), (true, false), (true, true)] {
        let trace = training(tasks, waits);
        let bytes = [ArgDetail::Full, ArgDetail::Minimal, ArgDetail::None]
            .map(|args| bytes_of_a_slice(&trace, &Perfetto, args));
        let [full, minimal, none] = bytes;
        assert!(full <= 90 && minimal <= 60 && none <= minimal, "{bytes:?}");
    }
}

#[test]
fn slices_say_as_much_as_is_wanted() {
    let trace = super::tools::example();
    for exporter in [&Perfetto as &dyn Exporter, &Chrome] {
        let imported = |args| {
            let wanted = WantedPart {
                args,
                ..WantedPart::default()
            };
            let files = export_source(exporter, &ExportSource::of(&trace, &wanted));
            match exporter.name() {
                "chrome" => checker::import(files.text("")),
                _ => trace_processor::import(files.bytes("")),
            }
        };
        let [full, minimal, none] =
            [ArgDetail::Full, ArgDetail::Minimal, ArgDetail::None].map(imported);
        // The recording is described at any level of detail.
        assert_eq!(
            (&full.other, full.flows.len()),
            (&none.other, none.flows.len())
        );
        for (place, slice) in full.slices.iter().enumerate() {
            let (less, nothing) = (&minimal.slices[place], &none.slices[place]);
            for other in [less, nothing] {
                assert_eq!((&other.name, &other.track), (&slice.name, &slice.track));
            }
            assert_eq!(nothing.args.as_object().map_or(0, Map::len), 0);
            for (key, value) in less.args.as_object().into_iter().flatten() {
                assert_eq!(value, &slice.args[key]);
            }
            let is_task = !slice.args["err_ns"].is_null();
            let kept = ["correlation", "bytes", "stream"];
            for key in &kept[..if is_task { 3 } else { 1 }] {
                assert_eq!(less.args[*key], slice.args[*key], "{key} of {slice:?}");
            }
        }
    }
}
