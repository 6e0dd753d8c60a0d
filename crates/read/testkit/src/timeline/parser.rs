//! Reads the text of a timeline, item by item.

use ascend_trace_format::api::{TaskKind, Untimed};
use ascend_trace_recording::Ending;

use super::SyntaxError;
use super::syntax::{
    CallItem, CallTime, CallWhat, EventRef, LaneText, Submitter, TaskItem, TaskWhat, TimeSpec,
};

const DEFAULT_PROCESS: u32 = 1;
const DEFAULT_THREAD: u32 = 1;

pub(super) fn parse(text: &str) -> Result<Vec<LaneText>, SyntaxError> {
    let mut parser = Parser { text, next: 0 };
    let mut lanes = Vec::new();
    loop {
        while parser.at_separator() {
            parser.next += 1;
        }
        if parser.rest().is_empty() {
            return Ok(lanes);
        }
        lanes.push(parser.lane()?);
    }
}

struct Parser<'a> {
    text: &'a str,
    next: usize,
}

impl<'a> Parser<'a> {
    fn lane(&mut self) -> Result<LaneText, SyntaxError> {
        let offset = self.offset();
        let name = self.name("a lane such as s1 or t1")?;
        let (process, name) = match numbered(name, 'p') {
            Some(process) if self.take('.') => (process, self.name("a lane such as s1 or t1")?),
            _ => (DEFAULT_PROCESS, name),
        };
        if let Some(number) = numbered(name, 't') {
            self.expect(':')?;
            let calls = self.items(Self::call)?;
            let thread = (process, number);
            return Ok(LaneText::Thread { thread, calls });
        }
        let Some(number) = numbered(name, 's') else {
            let message = format!("a lane is s1, t1 or p1.s1, not {name}");
            return Err(SyntaxError::new(offset, message));
        };
        let device = if self.take('@') {
            Some(self.small()?)
        } else {
            None
        };
        let by = if self.take_word("by") {
            self.thread()?
        } else {
            DEFAULT_THREAD
        };
        self.expect(':')?;
        Ok(LaneText::Stream {
            stream: (process, number),
            device,
            by,
            offset,
            tasks: self.items(Self::task)?,
        })
    }

    fn items<T>(
        &mut self,
        item: fn(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<Vec<T>, SyntaxError> {
        let mut items = Vec::new();
        while !self.rest().is_empty() && !self.at_separator() {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn task(&mut self) -> Result<TaskItem, SyntaxError> {
        let offset = self.offset();
        let name = self.name("a task")?;
        let (what, needs_time) = match (name, TaskKind::from_name(name)) {
            ("rec", _) => (TaskWhat::Record(self.recorded()?), false),
            ("wait", _) => {
                self.expect('(')?;
                let event = self.event()?;
                self.expect(')')?;
                (TaskWhat::Wait(event), false)
            }
            (_, Some(TaskKind::Kernel | TaskKind::Record | TaskKind::Wait)) => {
                let message = format!("{name} is no item; write a name, rec(E) or wait(E)");
                return Err(SyntaxError::new(offset, message));
            }
            ("reset", _) => (TaskWhat::Reset(self.recorded()?), false),
            (_, Some(kind)) => (TaskWhat::Work(kind, self.numbers()?), true),
            (_, None) => (TaskWhat::Kernel(name.to_owned(), self.numbers()?), true),
        };
        let time = if needs_time || self.at('[') {
            self.when()?
        } else {
            TimeSpec::Derived
        };
        let by = if self.take_word("by") {
            Some(self.by()?)
        } else {
            None
        };
        Ok(TaskItem {
            offset,
            what,
            time,
            by,
            graph: self.graph()?,
            ret: self.result()?,
        })
    }

    fn recorded(&mut self) -> Result<String, SyntaxError> {
        self.expect('(')?;
        let name = self.name("an event")?.to_owned();
        if self.at('#') {
            return Err(self.mistake("a record makes the next generation: no # here"));
        }
        self.expect(')')?;
        Ok(name)
    }

    fn by(&mut self) -> Result<Submitter, SyntaxError> {
        Ok(Submitter {
            thread: self.thread()?,
            time: self.call_time()?,
        })
    }

    fn call(&mut self) -> Result<CallItem, SyntaxError> {
        let offset = self.offset();
        let what = match self.name("a call")? {
            "sync" => {
                self.expect('(')?;
                self.sync_target()?
            }
            "query" => {
                self.expect('(')?;
                self.query_target()?
            }
            "capture" => CallWhat::CaptureBegin(self.stream()?),
            "end" => CallWhat::CaptureEnd(self.stream()?),
            "create" => self.life(CallWhat::CreateStream, CallWhat::CreateEvent)?,
            "destroy" => self.life(CallWhat::DestroyStream, CallWhat::DestroyEvent)?,
            "force" => CallWhat::ForceStream(self.stream()?),
            "subscribe" => self.subscription(CallWhat::Subscribe)?,
            "unsubscribe" => self.subscription(CallWhat::Unsubscribe)?,
            name => CallWhat::Other(name.to_owned(), self.numbers()?),
        };
        Ok(CallItem {
            offset,
            what,
            time: self.call_time()?,
            graph: self.graph()?,
            ret: self.result()?,
        })
    }

    /// The stream in parentheses.
    fn stream(&mut self) -> Result<u32, SyntaxError> {
        self.expect('(')?;
        let stream = self.stream_name()?;
        self.expect(')')?;
        Ok(stream)
    }

    fn stream_name(&mut self) -> Result<u32, SyntaxError> {
        let offset = self.offset();
        let name = self.name("a stream such as s1")?;
        numbered(name, 's')
            .ok_or_else(|| SyntaxError::new(offset, format!("a stream is s1 or s2, not {name}")))
    }

    /// The stream and the thread in parentheses.
    fn subscription(&mut self, what: fn(u32, u32) -> CallWhat) -> Result<CallWhat, SyntaxError> {
        self.expect('(')?;
        let stream = self.stream_name()?;
        self.expect(',')?;
        let thread = self.thread()?;
        self.expect(')')?;
        Ok(what(stream, thread))
    }

    /// The graph that a task or call belongs to.
    fn graph(&mut self) -> Result<Option<u32>, SyntaxError> {
        if !self.take_word("of") {
            return Ok(None);
        }
        let offset = self.offset();
        let name = self.name("a graph such as g1")?;
        numbered(name, 'g')
            .map(Some)
            .ok_or_else(|| SyntaxError::new(offset, format!("a graph is g1 or g2, not {name}")))
    }

    /// The created or ended object: the stream or the event in parentheses.
    fn life(
        &mut self,
        stream: fn(u32) -> CallWhat,
        event: fn(EventRef) -> CallWhat,
    ) -> Result<CallWhat, SyntaxError> {
        self.expect('(')?;
        let named = self.event()?;
        self.expect(')')?;
        Ok(match numbered(&named.name, 's') {
            Some(number) => stream(number),
            None => event(named),
        })
    }

    fn sync_target(&mut self) -> Result<CallWhat, SyntaxError> {
        if self.take(')') {
            return Ok(CallWhat::SyncDevice);
        }
        let event = self.event()?;
        self.expect(')')?;
        Ok(match numbered(&event.name, 's') {
            Some(stream) => CallWhat::SyncStream(stream),
            None => CallWhat::SyncEvent(event),
        })
    }

    fn query_target(&mut self) -> Result<CallWhat, SyntaxError> {
        let event = self.event()?;
        let status = match self.take(',') {
            true => Some(self.small()?.into()),
            false => None,
        };
        self.expect(')')?;
        Ok(match numbered(&event.name, 's') {
            Some(stream) => CallWhat::QueryStream(stream, status.unwrap_or(STREAM_DONE)),
            None => CallWhat::QueryEvent(event, status.unwrap_or(EVENT_DONE)),
        })
    }

    fn event(&mut self) -> Result<EventRef, SyntaxError> {
        let offset = self.offset();
        let name = self.name("an event")?.to_owned();
        let generation = if self.take('#') {
            Some(self.small()?)
        } else {
            None
        };
        Ok(EventRef {
            offset,
            name,
            generation,
        })
    }

    fn when(&mut self) -> Result<TimeSpec, SyntaxError> {
        let start = self.next;
        self.expect('[')?;
        if self.take('?') {
            self.expect(']')?;
            return Ok(TimeSpec::Untimed(Untimed::Timed));
        }
        if self.rest().starts_with(|c: char| c.is_ascii_alphabetic()) {
            let offset = self.offset();
            let word = self.word(|c| c.is_ascii_alphanumeric() || c == '-');
            self.expect(']')?;
            return Untimed::from_name(word)
                .map(TimeSpec::Untimed)
                .ok_or_else(|| SyntaxError::new(offset, format!("no reason is called {word}")));
        }
        let at = self.number()?;
        if self.take(']') {
            return Ok(TimeSpec::Given(at, at));
        }
        self.next = start;
        self.span().map(|(begin, end)| TimeSpec::Given(begin, end))
    }

    fn span(&mut self) -> Result<(i64, i64), SyntaxError> {
        let span = self.begun()?;
        self.expect(']')?;
        Ok(span)
    }

    fn call_time(&mut self) -> Result<CallTime, SyntaxError> {
        let (begin, end) = self.begun()?;
        let is_open = self.take('?');
        self.expect(']')?;
        let ending = match is_open {
            true => Ending::Open,
            false => Ending::Returned,
        };
        Ok(CallTime { begin, end, ending })
    }

    /// The times of a span, without its last character.
    fn begun(&mut self) -> Result<(i64, i64), SyntaxError> {
        self.expect('[')?;
        let offset = self.offset();
        let begin = self.number()?;
        self.expect('.')?;
        self.expect('.')?;
        let end = self.number()?;
        if end < begin {
            return Err(SyntaxError::new(offset, "the end comes before the begin"));
        }
        Ok((begin, end))
    }

    /// Numbers in parentheses, if there are any.
    fn numbers(&mut self) -> Result<Vec<u64>, SyntaxError> {
        let mut numbers = Vec::new();
        if !self.take('(') {
            return Ok(numbers);
        }
        loop {
            let offset = self.offset();
            let number = u64::try_from(self.number()?);
            numbers.push(number.map_err(|_| SyntaxError::new(offset, "a negative size"))?);
            if !self.take(',') {
                break;
            }
        }
        self.expect(')')?;
        Ok(numbers)
    }

    fn result(&mut self) -> Result<i64, SyntaxError> {
        if self.take('=') { self.number() } else { Ok(0) }
    }

    fn thread(&mut self) -> Result<u32, SyntaxError> {
        let offset = self.offset();
        let name = self.name("a thread such as t1")?;
        numbered(name, 't')
            .ok_or_else(|| SyntaxError::new(offset, format!("a thread is t1 or t2, not {name}")))
    }

    fn small(&mut self) -> Result<u32, SyntaxError> {
        let offset = self.offset();
        let number = u32::try_from(self.number()?);
        number.map_err(|_| SyntaxError::new(offset, "out of range"))
    }

    /// A number with an optional sign and unit, in nanoseconds.
    fn number(&mut self) -> Result<i64, SyntaxError> {
        let offset = self.offset();
        let negative = self.take('-');
        let digits = self.word(|c| c.is_ascii_digit());
        let unit = self
            .unit()
            .ok_or_else(|| SyntaxError::new(offset, "units are ns, us, ms, s"))?;
        let number: Option<i64> = digits.parse().ok();
        let number = number.and_then(|number| number.checked_mul(unit));
        let number = number.ok_or_else(|| SyntaxError::new(offset, "expected a number"))?;
        Ok(if negative { -number } else { number })
    }

    fn unit(&mut self) -> Option<i64> {
        // Not `word`: a unit follows its number without a space.
        let text = &self.text[self.next..];
        let length = text.bytes().take_while(u8::is_ascii_alphabetic).count();
        self.next += length;
        Some(match &text[..length] {
            "" | "ns" => 1,
            "us" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => return None,
        })
    }

    fn name(&mut self, expected: &str) -> Result<&'a str, SyntaxError> {
        let name = self.word(|c| c.is_alphanumeric() || c == '_');
        if name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return Ok(name);
        }
        self.next -= name.len();
        Err(self.mistake(&format!("expected {expected}")))
    }
}

/// Single characters and the text between them.
impl<'a> Parser<'a> {
    /// The rest of the text, from the next character that is neither blank nor comment.
    fn rest(&mut self) -> &'a str {
        loop {
            let text = &self.text[self.next..];
            let trimmed = text.trim_start_matches([' ', '\t', '\r']);
            self.next += text.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return trimmed;
            }
            self.next += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn offset(&mut self) -> usize {
        self.rest();
        self.next
    }

    fn at(&mut self, wanted: char) -> bool {
        self.rest().starts_with(wanted)
    }

    fn at_separator(&mut self) -> bool {
        self.rest().starts_with(['|', '\n'])
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.at(wanted);
        if found {
            self.next += wanted.len_utf8();
        }
        found
    }

    fn take_word(&mut self, wanted: &str) -> bool {
        let Some(after) = self.rest().strip_prefix(wanted) else {
            return false;
        };
        let found = after.starts_with([' ', '\t']);
        if found {
            self.next += wanted.len();
        }
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), SyntaxError> {
        if self.take(wanted) {
            return Ok(());
        }
        Err(self.mistake(&format!("expected '{wanted}'")))
    }

    fn word(&mut self, belongs: fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !belongs(c)).unwrap_or(rest.len())];
        self.next += word.len();
        word
    }

    /// A mistake at the next character, which the message quotes.
    fn mistake(&mut self, message: &str) -> SyntaxError {
        let found = match self.rest().chars().next() {
            None => "the end".to_owned(),
            Some('\n') => "the end of the line".to_owned(),
            Some(other) => format!("'{other}'"),
        };
        SyntaxError::new(self.next, format!("{message}, found {found}"))
    }
}

/// The status of a query that finds a stream, or an event, done.
const STREAM_DONE: u64 = 0;
const EVENT_DONE: u64 = 1;

/// The number in a name such as `s12`.
fn numbered(name: &str, letter: char) -> Option<u32> {
    let digits = name.strip_prefix(letter)?;
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| digits.parse().ok()).flatten()
}
