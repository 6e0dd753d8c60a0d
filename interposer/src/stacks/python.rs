//! The frames of CPython that the calling thread is in, read from the interpreter's own memory.
//!
//! A thread inside a call has a chain of frames that only it can change, so nobody is asked to wait. The interpreter
//! is asked three things that need no lock and change nothing: the thread's state, whether there are further
//! interpreters, and whether it ends. Where things lie is known by version ([`layout`]). That is looked at once
//! with reads that cannot fault ([`Interpreter::is_sound`]), before anything is read directly. In doubt there
//! are no frames.
//!
//! When an interpreter ends, it frees what belongs to the threads that are left. So only the process's first
//! thread, which ends it, reads all of it directly, and who has the interpreter's lock. All others let the kernel
//! read their frames for them ([`reads::Guarded`]).

mod layout;
mod lines;
mod reads;
mod text;

use core::ops::ControlFlow;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64};

use ascend_trace_format::record::{MAX_LONG_TEXT, MAX_STRING, Text, told};

use super::cache::TOLD;
use super::memory::Stack;
use super::walk::Frames;
use crate::introduce::tell;
use crate::loader::object::Object;
use crate::loader::walk;
use crate::thread::ThreadState;
use crate::{quiet, roomy, session};
use layout::Layout;
use reads::{Checked, Direct, Guarded, Reads};

/// Interpreters that a process can load one after another.
const MOST_INTERPRETERS: usize = 4;
/// Frames that are looked at before any is believed.
const MOST_LOOKED_AT: usize = 2000;
/// So often an interpreter may be of no sense before it is left alone.
const MOST_FAILURES: u8 = 8;
/// Tells a frame of Python from an address in the words of a stack.
const IS_PYTHON: u64 = 1 << 63;
const LINE_BITS: u32 = 24;
/// Bits of the number of a code object.
const CODE_BITS: u32 = 39;
const _: () = assert!(1 + CODE_BITS + LINE_BITS == u64::BITS);

/// An interpreter, once it was found.
struct Interpreter {
    /// Its object: first address and length.
    range: (usize, usize),
    /// Its object never goes away.
    is_from_start: bool,
    functions: Functions,
    types: Types,
    /// The function that runs Python code: first address and length.
    eval: (usize, usize),
    layout: Layout,
}

/// Addresses of functions that need no lock.
#[derive(Clone, Copy)]
struct Functions {
    /// `PyGILState_GetThisThreadState`
    thread: usize,
    /// `PyInterpreterState_Head`
    newest: usize,
    /// `PyInterpreterState_Main`
    main: usize,
    /// `Py_IsFinalizing`
    ends: usize,
    /// `_PyThreadState_UncheckedGet`, 0 where there is none.
    holder: usize,
}

/// Addresses of types.
#[derive(Clone, Copy, Default)]
struct Types {
    code: usize,
    text: usize,
    bytes: usize,
}

impl Types {
    /// The first object that has a type counts: a program may have a copy of what its libraries have.
    fn add(&mut self, object: &Object<'_>) {
        for (place, name) in [
            (&mut self.code, c"PyCode_Type"),
            (&mut self.text, c"PyUnicode_Type"),
            (&mut self.bytes, c"PyBytes_Type"),
        ] {
            if *place == 0 {
                *place = object.data(name).unwrap_or(0);
            }
        }
    }
}

/// What a chain of frames consists of, innermost first.
enum Item {
    Frame(RawFrame),
    /// The frames since the last of these run in one native function, whose frame this address is in if it is
    /// known.
    Entry(Option<usize>),
}

#[derive(Clone, Copy)]
struct RawFrame {
    code: usize,
    /// Bytes from the begin of its instructions.
    offset: u32,
}

/// The frames of a thread that is in Python.
pub(super) struct Chain {
    interpreter: &'static Interpreter,
    thread: usize,
    is_direct: bool,
    /// What is in use of the thread's own stack.
    stack: (usize, usize),
    /// Tells them apart from others.
    pub(super) hash: u64,
}

/// The interpreters found so far, and the one that is in use.
static PLACES: [Place; MOST_INTERPRETERS] = [const { Place::new() }; MOST_INTERPRETERS];
static CURRENT: AtomicPtr<Place> = AtomicPtr::new(core::ptr::null_mut());
/// One more than the number of objects at the last look.
static LOOKED: AtomicU64 = AtomicU64::new(0);

/// A place for an interpreter, written once.
struct Place {
    state: AtomicU8,
    is_sound: AtomicBool,
    failures: AtomicU8,
    interpreter: core::cell::UnsafeCell<Option<Interpreter>>,
}

const FREE: u8 = 0;
const TAKEN: u8 = 1;
const READY: u8 = 2;

// SAFETY: only who has changed the state to `TAKEN` writes to the interpreter, and all others read it after that
// has changed to `READY`, from when on nobody writes.
unsafe impl Sync for Place {}

impl Place {
    const fn new() -> Self {
        Self {
            state: AtomicU8::new(FREE),
            is_sound: AtomicBool::new(false),
            failures: AtomicU8::new(0),
            interpreter: core::cell::UnsafeCell::new(None),
        }
    }

    fn get(&'static self) -> Option<&'static Interpreter> {
        if self.state.load(Acquire) != READY {
            return None;
        }
        // SAFETY: nobody writes any more.
        unsafe { (*self.interpreter.get()).as_ref() }
    }

    /// Puts an interpreter here if the place is free.
    fn put(&'static self, interpreter: Interpreter) -> Result<(), Interpreter> {
        match self.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed) {
            Ok(_) => {
                // SAFETY: nobody else writes, and nobody reads yet.
                unsafe { *self.interpreter.get() = Some(interpreter) };
                self.state.store(READY, Release);
                Ok(())
            }
            Err(_) => Err(interpreter),
        }
    }
}

/// The frames of the calling thread, whose native ones are known. `None` when it is not in Python, or in none
/// that can be read.
pub(super) fn chain(
    state: &ThreadState,
    stack: &Stack,
    native: &Frames,
    most: usize,
) -> Option<Chain> {
    let place = current(state)?;
    let interpreter = place.get()?;
    // A handler may have interrupted the interpreter while it changed its frames.
    if place.failures.load(Relaxed) >= MOST_FAILURES
        || native.is_interrupted()
        || !(interpreter.is_from_start || interpreter.is_on(native))
    {
        return None;
    }
    let thread = interpreter.thread()?;
    let mut chain = Chain {
        interpreter,
        thread,
        is_direct: state.is_first() || interpreter.is_held_by(thread),
        stack: stack.own_in_use(),
        hash: 0,
    };
    if !place.is_sound.load(Relaxed) && !chain.look_at(state, place) {
        return None;
    }
    let hash = match chain.is_direct {
        true => chain.hash_by(&Direct, most),
        false => chain.hash_by(&chain.guarded(), most),
    };
    chain.hash = hash?;
    Some(chain)
}

/// The interpreter of the process, if it has one.
#[inline]
fn current(state: &ThreadState) -> Option<&'static Place> {
    let added = walk::added_if_known().wrapping_add(1);
    if LOOKED.load(Relaxed) != added {
        look(state, added);
    }
    // SAFETY: null or one of the places.
    unsafe { CURRENT.load(Acquire).as_ref() }
}

#[cold]
#[inline(never)]
fn look(state: &ThreadState, added: u64) {
    // SAFETY: null or one of the places.
    let known = unsafe { CURRENT.load(Acquire).as_ref() }.and_then(Place::get);
    if known.is_some_and(|it| it.is_from_start) {
        LOOKED.store(added, Relaxed);
        return;
    }
    state.at_work(|_| {
        roomy::run(|| {
            let found = find();
            if let Some(interpreter) = found {
                keep(interpreter);
            }
            LOOKED.store(added, Relaxed);
        });
    });
}

fn keep(interpreter: Interpreter) {
    let mut left = Some(interpreter);
    for place in &PLACES {
        let Some(interpreter) = left.take() else {
            return;
        };
        let is_it = place
            .get()
            .is_some_and(|known| known.functions.thread == interpreter.functions.thread);
        if is_it {
            CURRENT.store(core::ptr::from_ref(place).cast_mut(), Release);
            return;
        }
        match place.put(interpreter) {
            Ok(()) => CURRENT.store(core::ptr::from_ref(place).cast_mut(), Release),
            Err(back) => left = Some(back),
        }
    }
}

fn find() -> Option<Interpreter> {
    let mut found = None;
    let mut types = Types::default();
    walk::each(|place| {
        types.add(&place.object);
        found = Interpreter::of(&place.object, place.is_from_start(), types);
        match found {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    });
    found
}

/// Calls a function of the interpreter that has no parameters and returns an address.
///
/// # Safety
/// `function` must be such a function, in an object that stays.
#[inline]
unsafe fn ask(function: usize) -> usize {
    // SAFETY: as the caller says.
    unsafe { core::mem::transmute::<usize, extern "C" fn() -> usize>(function)() }
}

impl Interpreter {
    fn of(object: &Object<'_>, is_from_start: bool, types: Types) -> Option<Self> {
        let functions = Functions {
            thread: object.function(c"PyGILState_GetThisThreadState")?,
            newest: object.function(c"PyInterpreterState_Head")?,
            main: object.function(c"PyInterpreterState_Main")?,
            ends: object
                .function(c"Py_IsFinalizing")
                .or_else(|| object.function(c"_Py_IsFinalizing"))?,
            holder: object
                .function(c"_PyThreadState_UncheckedGet")
                .or_else(|| object.function(c"PyThreadState_GetUnchecked"))
                .unwrap_or(0),
        };
        Some(Self {
            range: object.range(),
            is_from_start,
            functions,
            types,
            eval: object
                .function_extent(c"_PyEval_EvalFrameDefault")
                .unwrap_or((0, 0)),
            layout: Layout::of(object)?,
        })
    }

    /// Whether one of these frames is of the interpreter: then its object is there.
    fn is_on(&self, native: &Frames) -> bool {
        let (begin, length) = self.range;
        let mut addresses = native.addresses();
        addresses.any(|address| address.wrapping_sub(begin) < length)
    }

    /// Whether an address after a call is of the function that runs Python code.
    pub(super) fn is_eval(&self, address: usize) -> bool {
        let (begin, length) = self.eval;
        address.wrapping_sub(begin).wrapping_sub(1) < length
    }

    /// The state of the calling thread, if it is one of the only interpreter.
    fn thread(&self) -> Option<usize> {
        let Functions {
            thread,
            newest,
            main,
            ends,
            ..
        } = self.functions;
        // SAFETY: the functions of these names, in an object that stays or that this thread is in. They read a
        // word each, of the interpreter's static data or of the thread's own.
        let (thread, newest, main, ends) =
            unsafe { (ask(thread), ask(newest), ask(main), ask(ends) as u32) };
        // Others come before the main one.
        (thread != 0 && main != 0 && newest == main && ends == 0).then_some(thread)
    }

    /// Whether a thread's state is the one that has the interpreter's lock. Then nobody can end that.
    #[inline]
    fn is_held_by(&self, thread: usize) -> bool {
        let holder = self.functions.holder;
        // SAFETY: as in `thread`.
        holder != 0 && unsafe { ask(holder) } == thread
    }

    /// Calls `item` with what the chain of a thread consists of, up to so many frames. `None` where something
    /// makes no sense.
    #[inline]
    fn each<R: Reads>(
        &self,
        reads: &R,
        thread: usize,
        most: usize,
        mut item: impl FnMut(Item) -> Option<()>,
    ) -> Option<()> {
        let layout = &self.layout;
        // SAFETY: only answers the thread's pointer.
        let own = unsafe { libc::pthread_self() } as usize;
        if reads.of_thread(thread.checked_add(layout.thread_id)?)? != own {
            return None;
        }
        let mut native = match layout.native {
            Some(native) => reads.of_thread(thread.checked_add(native.of_thread)?)?,
            None => 0,
        };
        let mut frame = match layout.native {
            Some(inner) => reads.of_thread(native.checked_add(inner.frame)?)?,
            None => reads.of_thread(thread.checked_add(layout.frame)?)?,
        };
        let mut left = most;
        // Frames that are of no code come between others.
        for _ in 0..most.saturating_mul(2).saturating_add(8) {
            if frame == 0 || left == 0 {
                return Some(());
            }
            let word = |offset: usize| self.of_frame(reads, frame, offset);
            let byte = |offset: usize| {
                let word = word(offset & !7)?;
                Some((word >> (8 * (offset & 7))) as u8)
            };
            if layout
                .owner
                .is_some_and(|owner| byte(owner) == Some(layout::OF_NATIVE))
            {
                item(Item::Entry(Some(frame)))?;
                frame = word(layout.previous)?;
                continue;
            }
            let raw = RawFrame {
                code: word(layout.code)?,
                offset: self.offset(reads, frame)?,
            };
            if reads.word(raw.code.checked_add(layout::TYPE)?)? != self.types.code {
                return None;
            }
            item(Item::Frame(raw))?;
            left -= 1;
            match (layout.native, layout.is_entry) {
                (Some(inner), Some(is_entry)) => {
                    if byte(is_entry)? != 0 {
                        item(Item::Entry(Some(native)))?;
                        native = reads.of_thread(native.checked_add(inner.previous)?)?;
                    }
                }
                (None, _) if layout.is_object => item(Item::Entry(None))?,
                _ => {}
            }
            frame = word(layout.previous)?;
        }
        Some(())
    }

    /// A word of a frame.
    #[inline(always)]
    fn of_frame<R: Reads>(&self, reads: &R, frame: usize, offset: usize) -> Option<usize> {
        let address = frame.checked_add(offset)?;
        match self.layout.is_object {
            true => reads.word(address),
            false => reads.of_thread(address),
        }
    }

    /// How far into its code a frame is.
    #[inline]
    fn offset<R: Reads>(&self, reads: &R, frame: usize) -> Option<u32> {
        let layout = &self.layout;
        let word = self.of_frame(reads, frame, layout.instruction)?;
        let Some(instructions) = layout.instructions else {
            // Its index, negative before the first one.
            let index = u32::try_from(word as u32 as i32).unwrap_or(0);
            return Some(index.wrapping_mul(layout.unit));
        };
        let code = self.of_frame(reads, frame, layout.code)?;
        let begin = code.checked_add(instructions)?;
        let offset = match word.wrapping_sub(begin) {
            before if before > isize::MAX as usize => 0,
            offset => offset,
        };
        let length = reads
            .word(code.checked_add(layout::SIZE)?)?
            .checked_mul(2)?;
        (offset < length).then_some(offset as u32)
    }

    /// A word that tells a frame from others, also from one of code that was where its code is now.
    #[inline]
    fn identity<R: Reads>(&self, reads: &R, frame: RawFrame) -> Option<u64> {
        let layout = &self.layout;
        let of_code = |offset: usize| reads.word(frame.code.checked_add(offset)?);
        let table = of_code(layout.lines)?;
        let length = reads.word(table.checked_add(layout::SIZE)?)?;
        let mut sum = Sum::default();
        for word in [
            frame.code,
            frame.offset as usize,
            of_code(layout.first_line & !7)?,
        ] {
            sum.add(word);
        }
        sum.add_ends(reads, table.checked_add(layout::BYTES)?, length)?;
        for text in [of_code(layout.name)?, of_code(layout.file)?] {
            sum.add(text);
            match reads.word(text.checked_add(layout::HASH)?)? {
                layout::NO_HASH => {
                    let (begin, length) = text::bytes(reads, layout, text)?;
                    // Names in one folder differ at their ends.
                    let left_out = (length & !7).saturating_sub(16);
                    sum.add(length);
                    sum.add_ends(reads, begin.checked_add(left_out)?, length - left_out)?;
                }
                hash => sum.add(hash),
            }
        }
        Some(sum.0)
    }

    /// The line that a frame is in.
    fn line<R: Reads>(&self, reads: &R, frame: RawFrame) -> Option<u32> {
        let layout = &self.layout;
        let of_code = |offset: usize| reads.word(frame.code.checked_add(offset)?);
        let table = of_code(layout.lines)?;
        let first = of_code(layout.first_line & !7)? >> (8 * (layout.first_line & 7));
        let length = reads.word(table.checked_add(layout::SIZE)?)?;
        let begin = table.checked_add(layout::BYTES)?;
        let bytes = (0..length).map_while(|at| {
            let place = begin.checked_add(at)?;
            let word = reads.word(place & !7)?;
            Some((word >> (8 * (place & 7))) as u8)
        });
        lines::line(layout.table, bytes, first as u32, frame.offset)
    }

    /// The file and the function of a code object, with their lengths.
    fn names<R: Reads>(&self, reads: &R, code: usize, names: &mut Names) -> Option<()> {
        let layout = &self.layout;
        let text = |offset: usize, into: &mut [u8]| {
            let place = reads.word(code.checked_add(offset)?)?;
            if reads.word(place.checked_add(layout::TYPE)?)? != self.types.text {
                return None;
            }
            text::read(reads, layout, place, into)
        };
        names.file_length = text(layout.file, &mut names.file)?;
        names.function_length = text(layout.name, &mut names.function)?;
        Some(())
    }

    /// Whether a thread's frames make sense all through, by reads that cannot fault.
    fn is_sound(&self, thread: usize) -> bool {
        let reads = Checked::new();
        let place = thread.checked_add(self.layout.interpreter);
        // SAFETY: as in `thread`.
        let main = unsafe { ask(self.functions.main) };
        if place.and_then(|place| reads.word(place)) != Some(main) {
            return false;
        }
        let mut count = 0;
        let mut names = Names::new();
        let all = self.each(&reads, thread, MOST_LOOKED_AT, |item| {
            if let Item::Frame(frame) = item {
                let table = reads.word(frame.code.checked_add(self.layout.lines)?)?;
                let is_table = reads.word(table.checked_add(layout::TYPE)?)? == self.types.bytes;
                self.names(&reads, frame.code, &mut names)?;
                self.identity(&reads, frame)?;
                count += usize::from(is_table);
                return is_table.then_some(());
            }
            Some(())
        });
        all.is_some() && count > 0
    }
}

/// Sums up words by their order: the products wait for nothing.
#[derive(Default)]
struct Sum(u64);

impl Sum {
    #[inline(always)]
    fn add(&mut self, word: usize) {
        let product = (word as u64 ^ word as u64 >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = self.0.rotate_left(9).wrapping_add(product);
    }

    /// Adds how many bytes there are, and the first, middle and last ones.
    #[inline]
    fn add_ends<R: Reads>(&mut self, reads: &R, begin: usize, length: usize) -> Option<()> {
        const WORD: usize = 8;
        self.add(length);
        let whole = length / WORD;
        for index in [0, whole / 2, whole.wrapping_sub(1)] {
            if index < whole {
                self.add(reads.word(begin.checked_add(index * WORD)?)?);
            }
        }
        let rest = length % WORD;
        if rest > 0 {
            let word = reads.word(begin.checked_add(whole * WORD)?)?;
            self.add(word & ((1 << (8 * rest)) - 1));
        }
        Some(())
    }
}

#[inline]
fn mixed(hash: u64, word: u64) -> u64 {
    let hash = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ hash >> 32
}

/// Names of a code object.
struct Names {
    file: [u8; MAX_LONG_TEXT],
    file_length: usize,
    function: [u8; MAX_STRING],
    function_length: usize,
}

impl Names {
    fn new() -> Self {
        Self {
            file: [0; MAX_LONG_TEXT],
            file_length: 0,
            function: [0; MAX_STRING],
            function_length: 0,
        }
    }

    fn file(&self) -> &[u8] {
        self.file.get(..self.file_length).unwrap_or(&[])
    }

    fn function(&self) -> &[u8] {
        self.function.get(..self.function_length).unwrap_or(&[])
    }

    /// A number for the two, never 0.
    fn number(&self) -> u64 {
        let mut hash = 0x9e37_79b9_7f4a_7c15;
        for text in [self.file(), self.function()] {
            for byte in text {
                hash = mixed(hash, u64::from(*byte));
            }
            hash = mixed(hash, text.len() as u64);
        }
        (hash >> (u64::BITS - CODE_BITS)).max(1)
    }
}

impl Chain {
    fn guarded(&self) -> Guarded<impl Fn() -> bool> {
        let ends = self.interpreter.functions.ends;
        // SAFETY: as in `Interpreter::thread`.
        Guarded::new(self.stack, move || unsafe { ask(ends) as u32 != 0 })
    }

    #[cold]
    #[inline(never)]
    fn look_at(&self, state: &ThreadState, place: &Place) -> bool {
        let mut is_sound = false;
        state.at_work(|_| {
            is_sound = roomy::run(|| self.interpreter.is_sound(self.thread));
            if !is_sound && !self.is_outside() {
                place.failures.fetch_add(1, Relaxed);
            }
        });
        place.is_sound.fetch_or(is_sound, Relaxed);
        is_sound
    }

    /// The thread has a state but no frames: that says nothing.
    fn is_outside(&self) -> bool {
        let mut count = 0;
        let reads = Checked::new();
        let end = self.interpreter.each(&reads, self.thread, 1, |_| {
            count += 1;
            Some(())
        });
        end.is_some() && count == 0
    }

    /// `None` when there are no frames.
    #[inline]
    fn hash_by<R: Reads>(&self, reads: &R, most: usize) -> Option<u64> {
        let mut hash = 0;
        let mut count = 0;
        // What there is up to something of no sense is as good as ever.
        let _ = self.interpreter.each(reads, self.thread, most, |item| {
            if let Item::Frame(frame) = item {
                hash = mixed(hash, self.interpreter.identity(reads, frame)?);
                count += 1;
            }
            Some(())
        });
        (count > 0).then_some(hash)
    }

    /// Whether an address after a call is of the function that runs Python code.
    pub(super) fn is_eval(&self, address: usize) -> bool {
        self.interpreter.is_eval(address)
    }

    /// Calls `item` with the words of the frames, and with their places on the stack. Names that are new are
    /// told; answers whether all of them were.
    pub(super) fn tell(
        &self,
        state: &ThreadState,
        most: usize,
        mut item: impl FnMut(Part),
    ) -> bool {
        match self.is_direct {
            true => self.tell_by(&Direct, state, most, &mut item),
            false => self.tell_by(&self.guarded(), state, most, &mut item),
        }
    }

    fn tell_by<R: Reads>(
        &self,
        reads: &R,
        state: &ThreadState,
        most: usize,
        item: &mut dyn FnMut(Part),
    ) -> bool {
        let mut names = Names::new();
        let mut are_told = true;
        let interpreter = self.interpreter;
        let _ = interpreter.each(reads, self.thread, most, |part| {
            let frame = match part {
                Item::Frame(frame) => frame,
                Item::Entry(place) => {
                    item(Part::Entry(place));
                    return Some(());
                }
            };
            // As in the hash.
            interpreter.identity(reads, frame)?;
            interpreter.names(reads, frame.code, &mut names)?;
            let number = names.number();
            are_told &= is_told(state, number, &names);
            let line = interpreter.line(reads, frame).unwrap_or(0);
            let line = u64::from(line).min((1 << LINE_BITS) - 1);
            item(Part::Frame(IS_PYTHON | number << LINE_BITS | line));
            Some(())
        });
        are_told
    }
}

/// A part of a chain of frames: a word for a frame, or see [`Item::Entry`].
pub(super) enum Part {
    Frame(u64),
    Entry(Option<usize>),
}

/// Tells the names of a code object unless they were. To be called while the tracer is at work.
fn is_told(state: &ThreadState, number: u64, names: &Names) -> bool {
    let key = mixed(session::process_key(), number);
    if TOLD.has(key) {
        return true;
    }
    let code = told::Code {
        number,
        function: Text::new(names.function()),
        file: Text::new(names.file()),
    };
    let mut is_told = false;
    state.record(|producer| is_told = tell(producer, &code));
    if is_told {
        TOLD.add(key);
    }
    is_told
}

impl ThreadState {
    /// Whether this is the process's first thread.
    fn is_first(&self) -> bool {
        match self.is_first.get() {
            Some(is_first) => is_first,
            None => {
                let tid = quiet::tid();
                let is_first = tid != 0 && tid == quiet::pid();
                self.is_first.set(Some(is_first));
                is_first
            }
        }
    }
}
