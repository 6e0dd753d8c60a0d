//! An interpreter: queries to it, and the frames in its memory.

use super::layout::{self, Layout};
use super::memory_readers::{KernelReader, WordReader};
use super::names::Names;
use super::{lines, text};
use crate::loader::object::Object;
use crate::stacks::walk::Frames;

/// Frames that are looked at before any is believed.
const MOST_LOOKED_AT: usize = 2000;

/// An interpreter, once it was found.
pub(super) struct Interpreter {
    /// Its object: first address and length.
    pub(super) range: (usize, usize),
    /// Its object never goes away.
    pub(super) is_from_start: bool,
    pub(super) functions: Functions,
    pub(super) types: Types,
    /// The function that runs Python code: first address and length.
    pub(super) eval: (usize, usize),
    pub(super) layout: Layout,
}

/// Addresses of functions that need no lock.
#[derive(Clone, Copy)]
pub(super) struct Functions {
    /// `PyGILState_GetThisThreadState`
    pub(super) thread: usize,
    /// `PyInterpreterState_Head`
    pub(super) newest: usize,
    /// `PyInterpreterState_Main`
    pub(super) main: usize,
    /// `Py_IsFinalizing`
    pub(super) ends: usize,
    /// `_PyThreadState_UncheckedGet`, 0 if missing.
    pub(super) holder: usize,
}

/// Addresses of types.
#[derive(Clone, Copy, Default)]
pub(super) struct Types {
    pub(super) code: usize,
    pub(super) text: usize,
    pub(super) bytes: usize,
}

impl Types {
    /// The first object that has a type counts: a program may have a copy of what its libraries have.
    pub(super) fn add(&mut self, object: &Object<'_>) {
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

/// Parts of a chain of frames, innermost first.
pub(super) enum FrameChainItem {
    Frame(RawFrame),
    /// The frames since the last of these run in one native function. This address is in its frame, if
    /// it is known.
    Entry(Option<usize>),
}

#[derive(Clone, Copy)]
pub(super) struct RawFrame {
    pub(super) code: usize,
    /// Bytes from the begin of its instructions.
    pub(super) offset: u32,
}

/// Calls a function of the interpreter that has no parameters and returns an address.
///
/// # Safety
/// `function` must be such a function, in an object that stays.
#[inline]
pub(super) unsafe fn ask(function: usize) -> usize {
    // SAFETY: as the caller says.
    unsafe { core::mem::transmute::<usize, extern "C" fn() -> usize>(function)() }
}

impl Interpreter {
    pub(super) fn of(object: &Object<'_>, is_from_start: bool, types: Types) -> Option<Self> {
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

    /// Whether one of these frames belongs to the interpreter: then its object is loaded.
    pub(super) fn is_on(&self, native: &Frames) -> bool {
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
    pub(super) fn thread(&self) -> Option<usize> {
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

    /// Whether a thread's state is the one with the interpreter's lock. Then the interpreter cannot
    /// end.
    #[inline]
    pub(super) fn is_held_by(&self, thread: usize) -> bool {
        let holder = self.functions.holder;
        // SAFETY: as in `thread`.
        holder != 0 && unsafe { ask(holder) } == thread
    }

    /// Calls `item` with the parts of a thread's chain, up to `most` frames. `None` where something
    /// makes no sense.
    #[inline]
    pub(super) fn each<R: WordReader>(
        &self,
        reads: &R,
        thread: usize,
        most: usize,
        mut item: impl FnMut(FrameChainItem) -> Option<()>,
    ) -> Option<()> {
        let layout = &self.layout;
        // SAFETY: only returns the thread's pointer.
        let own = unsafe { libc::pthread_self() } as usize;
        if reads.thread_word(thread.checked_add(layout.thread_id)?)? != own {
            return None;
        }
        let mut native = match layout.native {
            Some(native) => reads.thread_word(thread.checked_add(native.of_thread)?)?,
            None => 0,
        };
        let mut frame = match layout.native {
            Some(inner) => reads.thread_word(native.checked_add(inner.frame)?)?,
            None => reads.thread_word(thread.checked_add(layout.frame)?)?,
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
                item(FrameChainItem::Entry(Some(frame)))?;
                frame = word(layout.previous)?;
                continue;
            }
            let raw = RawFrame {
                code: word(layout.code)?,
                offset: self.offset(reads, frame)?,
            };
            if reads.object_word(raw.code.checked_add(layout::TYPE)?)? != self.types.code {
                return None;
            }
            item(FrameChainItem::Frame(raw))?;
            left -= 1;
            match (layout.native, layout.is_entry) {
                (Some(inner), Some(is_entry)) if byte(is_entry)? != 0 => {
                    item(FrameChainItem::Entry(Some(native)))?;
                    native = reads.thread_word(native.checked_add(inner.previous)?)?;
                }
                (None, _) if layout.is_object => item(FrameChainItem::Entry(None))?,
                _ => {}
            }
            frame = word(layout.previous)?;
        }
        Some(())
    }

    /// A word of a frame.
    #[inline(always)]
    pub(super) fn of_frame<R: WordReader>(
        &self,
        reads: &R,
        frame: usize,
        offset: usize,
    ) -> Option<usize> {
        let address = frame.checked_add(offset)?;
        match self.layout.is_object {
            true => reads.object_word(address),
            false => reads.thread_word(address),
        }
    }

    /// How far into its code a frame is.
    #[inline]
    pub(super) fn offset<R: WordReader>(&self, reads: &R, frame: usize) -> Option<u32> {
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
            .object_word(code.checked_add(layout::SIZE)?)?
            .checked_mul(2)?;
        (offset < length).then_some(offset as u32)
    }

    /// A word that distinguishes a frame from others, also from one of earlier code at the same
    /// address.
    #[inline]
    pub(super) fn identity<R: WordReader>(&self, reads: &R, frame: RawFrame) -> Option<u64> {
        let layout = &self.layout;
        let of_code = |offset: usize| reads.object_word(frame.code.checked_add(offset)?);
        let table = of_code(layout.lines)?;
        let length = reads.object_word(table.checked_add(layout::SIZE)?)?;
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
            match reads.object_word(text.checked_add(layout::HASH)?)? {
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
    pub(super) fn line<R: WordReader>(&self, reads: &R, frame: RawFrame) -> Option<u32> {
        let layout = &self.layout;
        let of_code = |offset: usize| reads.object_word(frame.code.checked_add(offset)?);
        let table = of_code(layout.lines)?;
        let first = of_code(layout.first_line & !7)? >> (8 * (layout.first_line & 7));
        let length = reads.object_word(table.checked_add(layout::SIZE)?)?;
        let begin = table.checked_add(layout::BYTES)?;
        let bytes = (0..length).map_while(|at| {
            let place = begin.checked_add(at)?;
            let word = reads.object_word(place & !7)?;
            Some((word >> (8 * (place & 7))) as u8)
        });
        lines::line(layout.table, bytes, first as u32, frame.offset)
    }

    /// The file and the function of a code object, with their lengths.
    pub(super) fn names<R: WordReader>(
        &self,
        reads: &R,
        code: usize,
        names: &mut Names,
    ) -> Option<()> {
        let layout = &self.layout;
        let text = |offset: usize, into: &mut [u8]| {
            let place = reads.object_word(code.checked_add(offset)?)?;
            if reads.object_word(place.checked_add(layout::TYPE)?)? != self.types.text {
                return None;
            }
            text::read(reads, layout, place, into)
        };
        names.file_length = text(layout.file, &mut names.file)?;
        names.function_length = text(layout.name, &mut names.function)?;
        Some(())
    }

    /// Whether a thread's frames make sense all through, by reads that cannot fault.
    pub(super) fn is_sound(&self, thread: usize) -> bool {
        let reads = KernelReader::new();
        let place = thread.checked_add(self.layout.interpreter);
        // SAFETY: as in `thread`.
        let main = unsafe { ask(self.functions.main) };
        if place.and_then(|place| reads.object_word(place)) != Some(main) {
            return false;
        }
        let mut count = 0;
        let mut names = Names::new();
        let all = self.each(&reads, thread, MOST_LOOKED_AT, |item| {
            if let FrameChainItem::Frame(frame) = item {
                let table = reads.object_word(frame.code.checked_add(self.layout.lines)?)?;
                let is_table =
                    reads.object_word(table.checked_add(layout::TYPE)?)? == self.types.bytes;
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
    pub(super) fn add(&mut self, word: usize) {
        let product = (word as u64 ^ word as u64 >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = self.0.rotate_left(9).wrapping_add(product);
    }

    /// Adds how many bytes there are, and the first, middle and last ones.
    #[inline]
    pub(super) fn add_ends<R: WordReader>(
        &mut self,
        reads: &R,
        begin: usize,
        length: usize,
    ) -> Option<()> {
        const WORD: usize = 8;
        self.add(length);
        let whole = length / WORD;
        for index in [0, whole / 2, whole.wrapping_sub(1)] {
            if index < whole {
                self.add(reads.object_word(begin.checked_add(index * WORD)?)?);
            }
        }
        let rest = length % WORD;
        if rest > 0 {
            let word = reads.object_word(begin.checked_add(whole * WORD)?)?;
            self.add(word & ((1 << (8 * rest)) - 1));
        }
        Some(())
    }
}
