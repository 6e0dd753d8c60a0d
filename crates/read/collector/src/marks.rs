//! Names and ranges that the program gives by its calls: their meaning is derived here, because records
//! contain only the arguments.

use std::collections::HashMap;

use ascend_trace_format::api::{ArgPart, Function, RetKind, Role};
use ascend_trace_recording::rows::{CallRow, NameRow, RangeRow, Row};

use super::decode::RecordOrigin;

/// A range that has begun.
#[derive(Clone, Debug)]
struct OpenMark {
    thread: u32,
    begin_ns: i64,
    domain: u64,
    name: String,
}

/// Ends that wait for their begins.
const MOST_EARLY: usize = 4096;

/// Ranges that have begun and not ended.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// By process and the id that the runtime gave. Lists without ranges are removed. Without a collector of the vendor's all ids
    /// are the same: then the last one ends first.
    open: HashMap<(u32, u64), Vec<OpenMark>>,
    /// Ends without a begin yet: another thread's records are read later.
    early: HashMap<(u32, u64), Vec<(u32, i64)>>,
    /// How many these are.
    early_ends: usize,
    /// The last name that each process gave. PyTorch names the same domain again with each block of memory.
    last_names: HashMap<u32, (u64, String)>,
}

impl Marks {
    /// The row of a call that gives a name or marks time.
    pub(crate) fn row(
        &mut self,
        call: &CallRow,
        function: &Function,
        at: RecordOrigin,
    ) -> Option<Row> {
        match function.role {
            Role::Mark => Some(Row::Range(range(
                at.process,
                &begun(call, function, at),
                call.begin_ns,
            ))),
            Role::RangeBegin => self.begin(call, function, at),
            Role::RangeEnd => self.end(call, function, at),
            _ => {
                let named = name(call, function, at)?;
                let name = (named.key, named.name.clone());
                let is_known = self.last_names.get(&at.process) == Some(&name);
                self.last_names.insert(at.process, name);
                (!is_known).then_some(Row::Name(named))
            }
        }
    }

    fn begin(&mut self, call: &CallRow, function: &Function, at: RecordOrigin) -> Option<Row> {
        let id = (at.process, call.ret.cast_unsigned());
        let begun = begun(call, function, at);
        let ends = self.early.get_mut(&id);
        let place = ends.as_ref().and_then(|ends| {
            let fits = |(_, end): &(u32, i64)| *end >= begun.begin_ns;
            ends.iter().position(fits)
        });
        if let (Some(ends), Some(place)) = (ends, place) {
            let (_, end_ns) = ends.remove(place);
            self.early_ends = self.early_ends.saturating_sub(1);
            // Each range has another id, and a recording may have any number of them.
            if ends.is_empty() {
                self.early.remove(&id);
            }
            return Some(Row::Range(range(at.process, &begun, end_ns)));
        }
        self.open.entry(id).or_default().push(begun);
        None
    }

    fn end(&mut self, call: &CallRow, function: &Function, at: RecordOrigin) -> Option<Row> {
        let id = (at.process, word(call, function, ArgPart::Range)?);
        let Some(open) = self.open.get_mut(&id) else {
            // Their begins were never recorded.
            if self.early_ends >= MOST_EARLY {
                self.early.clear();
                self.early_ends = 0;
            }
            self.early_ends += 1;
            let early = self.early.entry(id).or_default();
            early.push((at.thread, call.begin_ns));
            return None;
        };
        let own = open.iter().rposition(|begun| begun.thread == at.thread);
        let begun = open.remove(own.unwrap_or(open.len() - 1));
        if open.is_empty() {
            self.open.remove(&id);
        }
        Some(Row::Range(range(at.process, &begun, call.begin_ns)))
    }

    /// Ranges that were never ended, which end with the recording.
    pub(crate) fn close(&mut self, end_ns: i64) -> Vec<Row> {
        let open = self.open.drain();
        let left = open.flat_map(|((process, _), all)| {
            all.into_iter()
                .map(move |begun| Row::Range(range(process, &begun, end_ns)))
        });
        left.collect()
    }
}

fn begun(call: &CallRow, function: &Function, at: RecordOrigin) -> OpenMark {
    let first = call.strings.first().and_then(Option::as_deref);
    OpenMark {
        thread: at.thread,
        begin_ns: call.begin_ns,
        domain: word(call, function, ArgPart::Domain).unwrap_or(0),
        name: first.unwrap_or_default().to_owned(),
    }
}

fn range(process: u32, begun: &OpenMark, end_ns: i64) -> RangeRow {
    RangeRow {
        process,
        thread: begun.thread,
        begin_ns: begun.begin_ns,
        end_ns: end_ns.max(begun.begin_ns),
        domain: begun.domain,
        name: begun.name.clone(),
    }
}

fn word(call: &CallRow, function: &Function, part: ArgPart) -> Option<u64> {
    call.args.get(usize::from(function.part(part)?)).copied()
}

/// The name that a call has given.
fn name(call: &CallRow, function: &Function, at: RecordOrigin) -> Option<NameRow> {
    let naming = function.names?;
    if function.ret == RetKind::Error && call.ret != 0 {
        return None;
    }
    let key = match naming.key {
        Some(position) => *call.args.get(usize::from(position))?,
        None => call.ret.cast_unsigned(),
    };
    let text = usize::from(naming.text);
    let before = function.args.iter().take(text);
    let index = before.filter(|arg| arg.kind.is_text()).count();
    let name = call.strings.get(index)?.as_deref()?.to_owned();
    let row = NameRow {
        process: at.process,
        since_ns: call.end_ns,
        key,
        name,
    };
    (key != 0).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::FUNCTIONS;

    fn at(thread: u32) -> RecordOrigin {
        RecordOrigin {
            process: 1,
            thread,
            tid: thread,
        }
    }

    fn call(name: &str, begin_ns: i64, ret: i64, args: &[u64], text: Option<&str>) -> CallRow {
        let function = FUNCTIONS.iter().position(|it| it.name == name).unwrap();
        CallRow {
            function: function as u16,
            begin_ns,
            end_ns: begin_ns + 5,
            ret,
            args: args.to_vec(),
            strings: text.map(|text| Some(text.into())).into_iter().collect(),
            ..CallRow::default()
        }
    }

    fn take(marks: &mut Marks, thread: u32, call: &CallRow) -> Option<Row> {
        marks.row(call, &FUNCTIONS[usize::from(call.function)], at(thread))
    }

    fn shown(row: Option<Row>) -> Option<(i64, i64, String)> {
        match row? {
            Row::Range(range) => Some((range.begin_ns, range.end_ns, range.name)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_range_ends_with_its_id_in_any_order_of_threads() {
        let mut marks = Marks::default();
        let begin = call("mstxRangeStartA", 10, 7, &[1, 0], Some("step"));
        let end = call("mstxRangeEnd", 90, 0, &[7], None);
        assert_eq!(take(&mut marks, 0, &begin), None);
        assert_eq!(
            shown(take(&mut marks, 1, &end)),
            Some((10, 90, "step".into()))
        );
        assert_eq!(take(&mut marks, 1, &end), None);
        assert_eq!(
            shown(take(&mut marks, 0, &begin)),
            Some((10, 90, "step".into()))
        );
        assert!(marks.close(100).is_empty());
    }

    /// A program has a range in each step of weeks, and ends ranges from before the recording.
    #[test]
    fn ranges_that_have_ended_take_no_memory() {
        let mut marks = Marks::default();
        for id in 0..3 * MOST_EARLY as i64 {
            let begin = call("mstxRangeStartA", 10, id, &[1, 0], Some("step"));
            let end = call("mstxRangeEnd", 90, 0, &[id as u64], None);
            let early = id % 2 == 0;
            let (first, then) = if early {
                (&end, &begin)
            } else {
                (&begin, &end)
            };
            assert_eq!(take(&mut marks, 0, first), None);
            assert!(take(&mut marks, 1, then).is_some());
        }
        assert!(marks.open.is_empty() && marks.early.is_empty());
        for id in 0..3 * MOST_EARLY as u64 {
            let end = call("mstxRangeEnd", 90, 0, &[id], None);
            assert_eq!(take(&mut marks, 0, &end), None);
            assert!(marks.early.len() <= MOST_EARLY);
        }
    }

    #[test]
    fn without_ids_the_last_range_of_a_thread_ends_first() {
        let mut marks = Marks::default();
        for (thread, at, name) in [(0, 1, "outer"), (0, 2, "inner"), (1, 3, "other")] {
            let begin = call("mstxRangeStartA", at, 0, &[1, 0], Some(name));
            assert_eq!(take(&mut marks, thread, &begin), None);
        }
        let end = call("mstxRangeEnd", 9, 0, &[0], None);
        assert_eq!(
            shown(take(&mut marks, 0, &end)),
            Some((2, 9, "inner".into()))
        );
        assert_eq!(
            shown(take(&mut marks, 0, &end)),
            Some((1, 9, "outer".into()))
        );
        let left = marks.close(50);
        assert_eq!(left.len(), 1);
        assert_eq!(
            shown(left.into_iter().next()),
            Some((3, 50, "other".into()))
        );
    }

    #[test]
    fn marks_and_names_are_rows() {
        let mut marks = Marks::default();
        let mark = call("mstxMarkA", 4, 0, &[1, 0], Some("here"));
        assert_eq!(
            shown(take(&mut marks, 0, &mark)),
            Some((4, 4, "here".into()))
        );
        let found = call(
            "aclrtBinaryGetFunction",
            4,
            0,
            &[1, 2, 77],
            Some("add_kernel"),
        );
        let expected = NameRow {
            process: 1,
            since_ns: 9,
            key: 77,
            name: "add_kernel".into(),
        };
        assert_eq!(take(&mut marks, 0, &found), Some(Row::Name(expected)));
        assert_eq!(take(&mut marks, 0, &found), None, "it is known");
        let failed = call(
            "aclrtBinaryGetFunction",
            4,
            107000,
            &[1, 2, 77],
            Some("add"),
        );
        assert_eq!(take(&mut marks, 0, &failed), None);
    }
}
