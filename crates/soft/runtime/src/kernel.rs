//! Kernels: functions of host shared objects, run once per block by the engine.
//!
//! The interface is described in docs/SOFTACL.md. Arguments are copied at launch; the targets of the
//! program's arrays are device memory, which a kernel reads and writes directly.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use crate::code::{
    Fault, Outcome, RT_FILE_OPEN, RT_KERNEL_LOOKUP, RT_NOT_SUPPORTED, RT_OUT_OF_MEMORY, check,
    fault,
};
use crate::handles::{HandleKind, Registry};
use crate::per_process::PerProcess;
use crate::process;
use crate::sync::{Mutex, lock};

static ARGUMENTS: PerProcess<Registry<Mutex<Builder>>> =
    PerProcess::new(|| Registry::new(HandleKind::Arguments));
static FUNCTIONS: PerProcess<Registry<Function>> =
    PerProcess::new(|| Registry::new(HandleKind::Function));
static BINARIES: PerProcess<Registry<Binary>> =
    PerProcess::new(|| Registry::new(HandleKind::Binary));

/// Block number, number of blocks, arguments.
type KernelFunction = extern "C" fn(u32, u32, *const u8);

/// A loaded shared object, or code of a card's that no host can run.
pub(crate) struct Binary {
    handle: usize,
    object: Option<usize>,
    functions: Mutex<Vec<usize>>,
}

pub(crate) struct Function {
    handle: usize,
    pub(crate) name: String,
    entry: KernelFunction,
    /// Device time of one launch.
    duration_ns: u64,
    /// Argument lists that were begun for it; they end with it.
    builders: Mutex<Vec<usize>>,
}

/// One launch.
pub(crate) struct Launch {
    function: Arc<Function>,
    blocks: u32,
    arguments: Arguments,
}

/// Words, so that the first argument is aligned like the rest.
pub(crate) enum Arguments {
    Copied(Box<[u64]>),
    /// Already where the device can read them.
    OnDevice(usize),
}

impl Launch {
    pub(crate) fn duration_ns(&self) -> u64 {
        self.function.duration_ns
    }

    pub(crate) fn name(&self) -> &str {
        &self.function.name
    }

    pub(crate) fn function(&self) -> usize {
        self.function.handle
    }

    pub(crate) const fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Place of the arguments, their known size, and whether they are a copy.
    pub(crate) fn arguments(&self) -> (usize, usize, bool) {
        match &self.arguments {
            Arguments::Copied(words) => (words.as_ptr() as usize, words.len() * 8, true),
            Arguments::OnDevice(address) => (*address, 0, false),
        }
    }

    pub(crate) fn run(&self) {
        let arguments = self.arguments().0 as *const u8;
        for block in 0..self.blocks {
            (self.function.entry)(block, self.blocks, arguments);
        }
    }
}

pub(crate) fn load(path: &str) -> Outcome<usize> {
    const FOREIGN: Fault = Fault {
        code: RT_NOT_SUPPORTED,
        why: "the file is no shared object of this host",
    };
    if !std::path::Path::new(path).is_file() {
        return fault(RT_FILE_OPEN, "the file cannot be opened");
    }
    let name = CString::new(path).map_err(|_| FOREIGN)?;
    // SAFETY: a C string; loading runs the object's constructors, which the program asked for.
    let object = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if object.is_null() {
        return Err(FOREIGN);
    }
    keep(Some(object as usize)).ok_or(FOREIGN)
}

/// Code for a card: it can be launched, and does nothing.
pub(crate) fn register() -> Outcome<usize> {
    const NO_ROOM: Fault = Fault {
        code: RT_OUT_OF_MEMORY,
        why: "there are too many binaries",
    };
    keep(None).ok_or(NO_ROOM)
}

fn keep(object: Option<usize>) -> Option<usize> {
    let made = BINARIES.get().insert_with(|handle| Binary {
        handle,
        object,
        functions: Mutex::default(),
    });
    made.map(|binary| binary.handle)
}

pub(crate) fn binary(handle: usize) -> Outcome<Arc<Binary>> {
    BINARIES
        .get()
        .named(handle, "the binary is NULL", "this is no binary")
}

/// The functions are dead from here on. The object stays mapped: launches may still be queued.
pub(crate) fn unload(handle: usize) -> Outcome {
    let binary = binary(handle)?;
    for handle in lock(&binary.functions).drain(..) {
        let Some(function) = FUNCTIONS.get().remove(handle) else {
            continue;
        };
        for arguments in lock(&function.builders).drain(..) {
            ARGUMENTS.get().remove(arguments);
        }
    }
    BINARIES.get().remove(handle);
    Ok(())
}

pub(crate) fn find(binary_handle: usize, name: &str) -> Outcome<usize> {
    const MISSING: Fault = Fault {
        code: RT_KERNEL_LOOKUP,
        why: "the binary has no such function",
    };
    let binary = binary(binary_handle)?;
    let object = binary.object.ok_or(MISSING)?;
    let symbol = lookup(object, name).ok_or(MISSING)?;
    // SAFETY: the interface says that a kernel's symbol is a function of this type.
    let entry = unsafe { std::mem::transmute::<*mut c_void, KernelFunction>(symbol) };
    let cost = lookup(object, &format!("{name}_softacl_ns"));
    // SAFETY: the interface says that this symbol is a 64-bit number.
    let cost = cost.map_or(0, |cost| unsafe { cost.cast::<u64>().read_unaligned() });
    let duration_ns = process::options().launch_ns.saturating_add(cost);
    let name = name.to_owned();
    let made = FUNCTIONS.get().insert_with(|handle| {
        let builders = Mutex::default();
        Function {
            handle,
            name,
            entry,
            duration_ns,
            builders,
        }
    });
    let handle = made.ok_or(MISSING)?.handle;
    lock(&binary.functions).push(handle);
    Ok(handle)
}

fn lookup(object: usize, name: &str) -> Option<*mut c_void> {
    let name = CString::new(name).ok()?;
    // SAFETY: the object was opened by `load` and is never closed.
    let symbol = unsafe { libc::dlsym(object as *mut c_void, name.as_ptr()) };
    (!symbol.is_null()).then_some(symbol)
}

pub(crate) fn function(handle: usize) -> Outcome<Arc<Function>> {
    FUNCTIONS
        .get()
        .named(handle, "the function is NULL", "this is no function")
}

/// A launch that passed its checks.
pub(crate) fn prepare(handle: usize, blocks: u32, arguments: Arguments) -> Outcome<Launch> {
    let function = function(handle)?;
    check(blocks > 0, "there are no blocks")?;
    Ok(Launch {
        function,
        blocks,
        arguments,
    })
}

/// Copies argument bytes and writes the addresses of data that follow in the same buffer.
pub(crate) fn copied(bytes: &[u8], addresses: &[(u32, u32)]) -> Outcome<Arguments> {
    let mut words = vec![0_u64; bytes.len().div_ceil(8)].into_boxed_slice();
    for (index, chunk) in bytes.chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        words[index] = u64::from_ne_bytes(word);
    }
    let base = words.as_ptr() as u64;
    for &(at, data) in addresses {
        let inside = (at as usize) + 8 <= bytes.len() && (data as usize) < bytes.len();
        check(
            inside && at % 8 == 0,
            "a placeholder lies outside the arguments",
        )?;
        words[at as usize / 8] = base + u64::from(data);
    }
    Ok(Arguments::Copied(words))
}

/// Starts arguments for a function; they live as long as it does.
pub(crate) fn start_arguments(function_handle: usize) -> Outcome<usize> {
    let function = function(function_handle)?;
    let made = ARGUMENTS.get().insert_with(|handle| {
        Mutex::new(Builder {
            handle,
            ..Builder::default()
        })
    });
    const NONE_LEFT: Fault = Fault {
        code: RT_OUT_OF_MEMORY,
        why: "no arguments are left",
    };
    let handle = lock(&*made.ok_or(NONE_LEFT)?).handle;
    lock(&function.builders).push(handle);
    Ok(handle)
}

pub(crate) fn with_arguments<T>(
    handle: usize,
    work: impl FnOnce(&mut Builder) -> Outcome<T>,
) -> Outcome<T> {
    let builder =
        ARGUMENTS
            .get()
            .named(handle, "the arguments are NULL", "these are no arguments")?;
    work(&mut lock(&builder))
}

/// Arguments that are put together call by call.
#[derive(Default)]
pub(crate) struct Builder {
    handle: usize,
    bytes: Vec<u8>,
    /// Where each parameter lies, and how long it is.
    parameters: Vec<(usize, usize)>,
    finished: bool,
}

impl Builder {
    fn room(&mut self, size: usize) -> usize {
        let at = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(at + size, 0);
        at
    }

    /// Appends a parameter, aligned to 8 bytes; returns its number.
    pub(crate) fn append(&mut self, parameter: &[u8]) -> Outcome<usize> {
        check(
            !self.finished && !parameter.is_empty(),
            "the arguments are finished, or it is empty",
        )?;
        let at = self.room(parameter.len());
        self.bytes[at..].copy_from_slice(parameter);
        self.parameters.push((at, parameter.len()));
        Ok(self.parameters.len())
    }

    pub(crate) fn update(&mut self, number: usize, parameter: &[u8]) -> Outcome {
        let place = number
            .checked_sub(1)
            .and_then(|index| self.parameters.get(index))
            .copied();
        let Some((at, size)) = place.filter(|&(_, size)| size == parameter.len()) else {
            return check(false, "this is no parameter of that size");
        };
        self.bytes[at..at + size].copy_from_slice(parameter);
        Ok(())
    }

    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }

    pub(crate) fn arguments(&self) -> Outcome<Arguments> {
        check(self.finished, "the arguments are not finished")?;
        copied(&self.bytes, &[])
    }
}
