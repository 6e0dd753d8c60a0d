//! Running calls. They are kept apart from all others, since their data changes: when they return they
//! are rows like any other.

use crate::rows::CallRow;
use crate::stacks::StackId;
use crate::trace::{Call, OPEN_WORDS};

use super::TraceBuilder;

impl TraceBuilder {
    /// These calls are under way now, and no others.
    pub(crate) fn set_open(&mut self, open: &[CallRow]) {
        self.trace.open.clear();
        self.trace.open_words.clear();
        for row in open {
            let call = self.open_call(row);
            self.trace.open.push(call);
        }
        self.trace
            .open
            .sort_by_key(|call| (call.thread, call.depth, call.begin));
    }

    /// The number in the file of the process that a thread of the file belongs to.
    pub(crate) fn process_number(&mut self, thread: u32) -> u32 {
        let thread = self.thread_of(thread);
        let process = self.trace.thread(thread).process;
        self.trace.process(process).serial
    }

    fn open_call(&mut self, row: &CallRow) -> Call {
        let thread = self.thread_of(row.thread);
        let process = self.trace.thread(thread).process;
        let device = row.device.map_or(0, u32::from);
        let first = self.trace.open_words.len() as u32;
        let words = row.args.iter().take(usize::from(u8::MAX));
        self.trace.open_words.extend(words);
        let count = self.trace.open_words.len() as u32 - first;
        Call {
            thread,
            function: self.function(row.function),
            begin: row.begin_ns,
            end: row.end_ns.max(row.begin_ns),
            ret: 0,
            depth: row.depth,
            device: row.device,
            context: row.context.map(|serial| self.context(process, serial)),
            stream: row
                .stream
                .map(|serial| self.stream(process, serial, device)),
            event: None,
            task: None,
            graph: None,
            ending: row.ending,
            stack: row.stack.and_then(StackId::new),
            cpu: None,
            args: (first | OPEN_WORDS, count as u8),
            strings: (0, 0),
        }
    }
}
