use std::collections::BTreeMap;

use ascend_trace_format::record::CpuTime;
use ascend_trace_recording::file::{self, FileContents, Warning, Writer};
use ascend_trace_recording::rows::*;
use ascend_trace_testkit::workload::{self, Workload};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// A file of these rows, ended properly.
pub(crate) fn write(session: &SessionRow, tables: &TablesRow, rows: &[Row]) -> Vec<u8> {
    let mut writer = Writer::create(Vec::new(), session, tables).unwrap();
    for row in rows {
        writer.push(row).unwrap();
    }
    let end = EndRow {
        end_ns: 77,
        exit_status: 3,
        ..EndRow::default()
    };
    writer.finish(end).unwrap()
}

/// Rows of a made-up program of `steps` steps, without the end.
pub(crate) fn program(steps: u32) -> Vec<Row> {
    let mut rows = Vec::new();
    let workload = Workload {
        steps,
        rest_ns: 10_000_000,
        ..Workload::default()
    };
    workload::run(workload, |row| rows.push(row));
    rows.pop();
    rows
}

pub(crate) fn read(bytes: &[u8]) -> (FileContents, Vec<Warning>) {
    file::read(bytes).unwrap()
}

/// Rows by kind: their order across kinds is not kept, nor that of task times of several streams. Of
/// a counter only the largest value counts.
pub(crate) fn by_kind(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut kinds: Vec<Vec<&Row>> = Vec::new();
    let mut counters = BTreeMap::new();
    let mut times = BTreeMap::<_, Vec<&Row>>::new();
    for row in rows {
        match row {
            Row::Counter(it) => {
                let largest = counters
                    .entry((it.process, it.what))
                    .or_insert((it.value, row));
                if it.value > largest.0 {
                    *largest = (it.value, row);
                }
            }
            Row::TaskTime(it) => times.entry((it.process, it.stream)).or_default().push(row),
            _ => {}
        }
    }
    let once = rows
        .iter()
        .filter(|row| !matches!(row, Row::Counter(_) | Row::TaskTime(_)));
    let counters = counters.into_values().map(|(_, row)| row);
    let times = times.into_values().flatten();
    for row in once.chain(counters).chain(times) {
        let same = |other: &&mut Vec<&Row>| {
            std::mem::discriminant(other[0]) == std::mem::discriminant(row)
        };
        match kinds.iter_mut().find(same) {
            Some(kind) => kind.push(row),
            None => kinds.push(vec![row]),
        }
    }
    kinds.sort_by_key(|kind| format!("{:?}", std::mem::discriminant(kind[0])));
    kinds
}

fn text() -> impl Strategy<Value = String> {
    "[a-zé\0]{0,12}"
}

/// Mostly small, sometimes any number: the values that vary in real traces, and those that a codec may
/// get wrong.
fn word() -> impl Strategy<Value = u64> {
    prop_oneof![0..500_u64, any::<u64>()]
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0..5_u32, any::<u32>()]
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![1_000_000..2_000_000_i64, any::<i64>()]
}

fn call() -> impl Strategy<Value = Row> {
    let task = (number(), any::<u8>(), any::<u8>());
    let target = (
        option::of(any::<u8>()),
        option::of(number()),
        option::of(number()),
        option::of((number(), number())),
        option::of(task),
        option::of((number(), number())),
    );
    // Most calls return.
    let ending = prop_oneof![
        4 => Just(Ending::Returned),
        1 => Just(Ending::Left),
        1 => Just(Ending::Open),
    ];
    let payload = (
        vec(word(), 0..12),
        vec(option::of(text().prop_map(Into::into)), 0..3),
        ending,
        (option::of(number()), option::of(cpu())),
    );
    let call = (number(), 0..9_u16, time(), time(), time(), any::<u8>());
    (call, target, payload).prop_map(|(call, target, payload)| {
        let task = target.4.map(|(sequence, kind, untimed)| TaskRow {
            sequence,
            kind,
            untimed,
        });
        Row::Call(CallRow {
            thread: call.0,
            function: call.1,
            begin_ns: call.2,
            end_ns: call.3,
            ret: call.4,
            depth: call.5,
            device: target.0,
            stream: target.1,
            context: target.2,
            event: target.3,
            task,
            graph: target.5.map(|(serial, index)| GraphRef { serial, index }),
            args: payload.0,
            strings: payload.1,
            ending: payload.2,
            stack: payload.3.0,
            cpu: payload.3.1,
        })
    })
}

/// Times of a processor of all sizes.
fn cpu() -> impl Strategy<Value = CpuTime> {
    (any::<u64>(), 1..=u64::MAX >> 36, any::<u8>())
        .prop_filter_map("no part of it", |(used, over, blocks)| {
            CpuTime::of_numbers(used % over, over, blocks.into())
        })
}

fn entity() -> impl Strategy<Value = Row> {
    let texts = (text(), text(), text());
    let pids = (number(), number(), number());
    let process = (number(), pids, time(), texts);
    let process = process.prop_map(|(process, pids, begin_ns, texts)| {
        let (pid, parent_pid, outer_pid) = pids;
        let (name, rank, command) = texts;
        Row::Process(ProcessRow {
            process,
            pid,
            parent_pid,
            begin_ns,
            name,
            rank,
            command,
            outer_pid,
        })
    });
    let thread = (number(), number(), number(), text());
    let thread = thread.prop_map(|(thread, process, tid, name)| {
        Row::Thread(ThreadRow {
            thread,
            process,
            tid,
            handle: 0x7f00_0000_1700,
            name,
        })
    });
    let context = (number(), number(), number(), word(), any::<bool>());
    let context = context.prop_map(|(process, serial, device, handle, is_default)| {
        Row::Context(ContextRow {
            process,
            serial,
            device,
            handle,
            is_default,
        })
    });
    let stream = (
        (number(), number(), number(), number()),
        word(),
        option::of(any::<i32>()),
    );
    let stream = (stream, number(), number(), any::<(bool, u8)>());
    let stream = stream.prop_map(|((names, handle, acl_id), flags, priority, last)| {
        let (is_default, manner) = last;
        Row::Stream(StreamRow {
            process: names.0,
            serial: names.1,
            context: names.2,
            device: names.3,
            handle,
            acl_id,
            flags,
            priority,
            is_default,
            manner,
        })
    });
    let event = (number(), number(), number(), word(), number(), any::<u8>());
    let event = event.prop_map(|(process, serial, context, handle, flags, creation)| {
        Row::Event(EventRow {
            process,
            serial,
            context,
            handle,
            flags,
            creation,
        })
    });
    prop_oneof![process, thread, context, stream, event]
}

fn measurement() -> impl Strategy<Value = Row> {
    let times = (time(), time(), time()).boxed();
    let times = prop_oneof![Just((0, 0, 0)), times];
    let task = (number(), number(), number(), any::<u8>(), times);
    let task = task.prop_map(|(process, stream, sequence, untimed, times)| {
        Row::TaskTime(TaskTimeRow {
            process,
            stream,
            sequence,
            untimed,
            begin_device_ns: times.0,
            end_device_ns: times.1,
            seen_ns: times.2,
            arming_ns: 0,
            submitting_ns: 0,
            record_ns: 0,
            record_open_ns: 0,
            run_tasks: 0,
        })
    });
    let anchor = (number(), number(), time(), time(), time(), any::<u8>());
    let anchor = anchor.prop_map(
        |(process, device, before_ns, after_ns, device_ns, source)| {
            Row::Anchor(AnchorRow {
                process,
                device,
                before_ns,
                after_ns,
                device_ns,
                source,
            })
        },
    );
    let loss = (option::of(number()), word(), word(), word());
    let loss = loss.prop_map(|(thread, calls, others, times)| {
        Row::Loss(LossRow {
            thread,
            calls,
            others,
            times,
        })
    });
    let counter = (number(), any::<u16>(), word()).prop_map(|(process, what, value)| {
        Row::Counter(CounterRow {
            process,
            what,
            value,
        })
    });
    let cost = (
        number(),
        time(),
        [word(), word(), word()],
        [word(), word(), word()],
    );
    let cost = cost.prop_map(|(thread, at_ns, counts, times)| {
        Row::Cost(CostRow {
            thread,
            at_ns,
            calls: counts[0],
            tasks: counts[1],
            events: counts[2],
            recording_ns: times[0],
            timing_ns: times[1],
            reading_ns: times[2],
        })
    });
    let other = (
        [number(), number(), number()],
        text(),
        [time(), time()],
        [word(), word()],
    );
    let other = other.prop_map(|(ids, name, times, sums)| {
        Row::OtherThread(OtherThreadRow {
            process: ids[0],
            pid: ids[1],
            tid: ids[2],
            name,
            first_ns: times[0],
            at_ns: times[1],
            cpu_ns: sums[0],
            runs: sums[1],
        })
    });
    prop_oneof![4 => task, 2 => anchor, 1 => loss, 1 => counter, 1 => cost, 1 => other]
}

pub(crate) fn any_row() -> impl Strategy<Value = Row> {
    prop_oneof![3 => call(), 1 => entity(), 2 => measurement()]
}

#[test]
fn graphs_of_calls_end_where_they_end() {
    let on = |graph| {
        Row::Call(CallRow {
            graph,
            ..CallRow::default()
        })
    };
    let (serial, index) = (0, 0);
    // Three values that are the same, in a table of three rows.
    let rows = [on(Some(GraphRef { serial, index })), on(None), on(None)];
    let (session, tables) = workload::leading();
    let (contents, _) = read(&write(&session, &tables, &rows));
    assert_eq!(contents.rows.get(..3), Some(&rows[..]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_row_survives_the_file(rows in vec(any_row(), 0..60), flushes in vec(0..60_usize, 0..4)) {
        let (session, tables) = workload::leading();
        let mut writer = Writer::create(Vec::new(), &session, &tables).unwrap();
        for (place, row) in rows.iter().enumerate() {
            writer.push(row).unwrap();
            if flushes.contains(&place) {
                writer.flush().unwrap();
            }
        }
        let end = EndRow { end_ns: -1, exit_status: i32::MIN, ..EndRow::default() };
        let bytes = writer.finish(end.clone()).unwrap();
        let (contents, warnings) = read(&bytes);
        prop_assert_eq!(warnings, []);
        prop_assert_eq!(&contents.session, &session);
        prop_assert_eq!(&contents.tables, &tables);
        let mut expected = rows;
        expected.push(Row::End(end));
        prop_assert_eq!(by_kind(&contents.rows), by_kind(&expected));
    }
}

#[test]
fn a_long_recording_is_cut_into_chunks_and_survives() {
    let rows = program(2_000);
    let (session, tables) = workload::leading();
    let bytes = write(&session, &tables, &rows);
    assert!(bytes.windows(4).filter(|bytes| *bytes == b"CALL").count() > 2);
    let (mut contents, warnings) = read(&bytes);
    assert_eq!(warnings, []);
    contents.rows.pop();
    assert_eq!(by_kind(&contents.rows), by_kind(&rows));
}

#[test]
fn things_come_before_the_calls_that_use_them() {
    let rows = program(1);
    let (session, tables) = workload::leading();
    let mut late: Vec<Row> = rows;
    late.reverse();
    let (contents, _) = read(&write(&session, &tables, &late));
    let place = |wanted: fn(&Row) -> bool| contents.rows.iter().position(wanted).unwrap();
    let last_entity = contents
        .rows
        .iter()
        .rposition(|row| matches!(row, Row::Stream(_)))
        .unwrap();
    assert!(last_entity < place(|row| matches!(row, Row::Call(_))));
}

#[test]
fn long_texts_are_cut_at_a_character() {
    let name = "é".repeat(4000);
    let row = Row::Thread(ThreadRow {
        thread: 1,
        process: 1,
        tid: 1,
        handle: 0x7f00_0000_1700,
        name: format!("x{name}"),
    });
    let (session, tables) = workload::leading();
    let (contents, warnings) = read(&write(&session, &tables, &[row]));
    assert_eq!(warnings, []);
    let Row::Thread(thread) = &contents.rows[0] else {
        panic!("{:?}", contents.rows[0]);
    };
    assert_eq!(thread.name.len(), 4095);
}
