//! Where in the program calls were made: the stacks of a recording, and their frames in words.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use crate::rows::{CodeRow, ObjectRow, StackRow};

/// Number of a stack in a recording.
pub type StackId = NonZeroU32;

/// A function that was being called, or one that the compiler has put into it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The function with its known arguments; `function+0x12` where only symbols are known.
    pub function: Option<String>,
    /// Source file and line.
    pub file: Option<String>,
    pub line: Option<u32>,
    /// File name of its object; empty for code that was made at run time.
    pub object: String,
    /// Address after the call, as the object's file has it.
    pub address: u64,
}

impl Frame {
    /// `file:line (function)`, or as much of it as is known.
    pub fn text(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => Some(format!("{}:{line}", short(file))),
            (Some(file), None) => Some(short(file).to_owned()),
            (None, _) => None,
        };
        match (place, &self.function) {
            (Some(place), Some(function)) => format!("{place} ({function})"),
            (Some(place), None) => place,
            (None, Some(function)) if self.object.is_empty() => function.clone(),
            (None, Some(function)) => format!("{function} ({})", self.object),
            (None, None) if self.object.is_empty() => format!("{:#x}", self.address),
            (None, None) if self.object == PYTHON => PYTHON.to_owned(),
            (None, None) => format!("{}+{:#x}", self.object, self.address),
        }
    }

    /// Whether it belongs to a library that programs use: CANN, PyTorch, packages installed for Python.
    fn is_library(&self) -> bool {
        match &self.file {
            Some(file) if self.object == PYTHON => {
                PYTHON_LIBRARIES.iter().any(|it| file.contains(it))
            }
            _ => LIBRARIES.iter().any(|it| self.object.starts_with(it)),
        }
    }
}

/// Object files with frames that are skipped for the frame that represents a call: begins of their
/// names.
pub const LIBRARIES: &[&str] = &[
    "libacl",
    "libascend",
    "libc.so",
    "libc10",
    "libhccl",
    "libge_",
    "libnnopbase",
    "libop_",
    "libopapi",
    "libprofapi",
    "libpthread",
    "libpython",
    "libruntime",
    "libshm",
    "libstdc++",
    "libtorch",
    "ld-linux",
];

/// The same for files of Python: parts of their paths. The last one is this tool's, which is in a folder of its cache.
pub const PYTHON_LIBRARIES: &[&str] = &[
    "/site-packages/",
    "/dist-packages/",
    "/lib/python3.",
    "<frozen ",
    "/python/ascend_trace_ranges.py",
];

/// A file's name with the folder that it is in: enough to find it by.
fn short(path: &str) -> &str {
    let mut slashes = path.rmatch_indices('/').map(|(at, _)| at + 1);
    slashes.nth(1).map_or(path, |at| &path[at..])
}

/// The frames of a stack, innermost first, with functions that the compiler has put into others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSite {
    pub frames: Vec<Frame>,
    /// Which of them the call is shown by.
    pub shown: usize,
}

impl CallSite {
    fn new(frames: Vec<Frame>) -> Self {
        let shown = shown(&frames);
        Self { frames, shown }
    }

    /// The frame that the call is shown by.
    pub fn frame(&self) -> Option<&Frame> {
        self.frames.get(self.shown)
    }

    /// The function of the program that called the one of the shown frame. A short function around a call says little of where
    /// it was made.
    pub fn caller(&self) -> Option<&Frame> {
        let shown = self.frame()?;
        let outer = self.frames.get(self.shown + 1..)?;
        let is_python = shown.object == PYTHON;
        outer
            .iter()
            .find(|it| !it.is_library() && (it.object == PYTHON) == is_python)
    }

    /// One line for the call: `file:line (function)`.
    pub fn text(&self) -> String {
        self.frame().map(Frame::text).unwrap_or_default()
    }

    /// A line for each frame, innermost first.
    pub fn lines(&self) -> Vec<String> {
        self.frames.iter().map(Frame::text).collect()
    }
}

/// The innermost frame of Python outside of libraries; else the innermost frame outside of libraries;
/// else the innermost of all.
fn shown(frames: &[Frame]) -> usize {
    let is_python = |it: &Frame| it.object == PYTHON;
    let programs = frames
        .iter()
        .position(|it| is_python(it) && !it.is_library());
    let python = || frames.iter().position(is_python);
    let own = || frames.iter().position(|it| !it.is_library());
    programs.or_else(python).or_else(own).unwrap_or(0)
}

/// Object name of a frame of Python.
pub const PYTHON: &str = "python";

/// A source of symbols for addresses.
pub trait Symbols: Debug + Send + Sync {
    /// The functions at an address of an object's file, the innermost first: the last one is that of the
    /// symbol, those before it are in it by inlining. The address is one of the call itself.
    fn of_object(&self, object: &ObjectRow, address: u64) -> Vec<Frame>;

    /// The function at an address of a process, in code that was made at run time.
    fn of_process(&self, pid: u32, address: u64) -> Option<Frame>;
}

/// Knows nothing.
#[derive(Debug)]
struct NoSymbols;

impl Symbols for NoSymbols {
    fn of_object(&self, _: &ObjectRow, _: u64) -> Vec<Frame> {
        Vec::new()
    }

    fn of_process(&self, _: u32, _: u64) -> Option<Frame> {
        None
    }
}

/// All stacks of a recording.
#[derive(Clone, Debug)]
pub(crate) struct Stacks {
    stacks: BTreeMap<u32, (u32, Arc<str>)>,
    objects: BTreeMap<(u32, u32), ObjectRow>,
    /// Code of Python.
    codes: BTreeMap<(u32, u32), CodeRow>,
    symbols: Arc<dyn Symbols>,
    /// Only sites that were found ahead are returned: a query reads no files.
    is_ahead: bool,
    /// Sites of earlier queries.
    sites: Arc<Mutex<BTreeMap<StackId, Arc<CallSite>>>>,
}

impl Default for Stacks {
    fn default() -> Self {
        Self {
            stacks: BTreeMap::new(),
            objects: BTreeMap::new(),
            codes: BTreeMap::new(),
            symbols: Arc::new(NoSymbols),
            is_ahead: false,
            sites: Arc::default(),
        }
    }
}

impl Stacks {
    pub(crate) fn add_stack(&mut self, row: StackRow) {
        self.stacks
            .insert(row.stack, (row.process, row.frames.into()));
    }

    pub(crate) fn add_object(&mut self, row: ObjectRow) {
        // Frames of it may have been shown without it.
        self.sites = Arc::default();
        self.objects.insert((row.process, row.object), row);
    }

    pub(crate) fn add_code(&mut self, row: CodeRow) {
        self.sites = Arc::default();
        self.codes.insert((row.process, row.code), row);
    }

    pub(crate) fn set_symbols(&mut self, symbols: Arc<dyn Symbols>, is_ahead: bool) {
        self.symbols = symbols;
        self.is_ahead = is_ahead;
        self.sites = Arc::default();
    }

    /// Finds the sites of all stacks that have none yet.
    pub(crate) fn find_ahead(&self, pid: impl Fn(u32) -> Option<u32>) {
        for stack in self
            .stacks
            .keys()
            .filter_map(|number| StackId::new(*number))
        {
            if self.known(stack).is_none() {
                self.find(stack, &pid);
            }
        }
    }

    fn known(&self, stack: StackId) -> Option<Arc<CallSite>> {
        let sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        sites.get(&stack).cloned()
    }

    /// The objects of frames.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &ObjectRow> {
        self.objects.values()
    }

    /// Whether there are frames of Python at all.
    pub(crate) fn has_codes(&self) -> bool {
        !self.codes.is_empty()
    }

    /// Whether frames of Python are in a stack, as they were recorded.
    pub(crate) fn has_python(&self, stack: StackId) -> bool {
        let frames = self.stacks.get(&stack.get()).map(|(_, frames)| frames);
        frames.is_some_and(|it| it.contains('p'))
    }

    /// The site of a stack. A process has its pid by its number.
    pub(crate) fn site(
        &self,
        stack: StackId,
        pid: impl Fn(u32) -> Option<u32>,
    ) -> Option<Arc<CallSite>> {
        match self.known(stack) {
            None if !self.is_ahead => self.find(stack, &pid),
            known => known,
        }
    }

    fn find(&self, stack: StackId, pid: &impl Fn(u32) -> Option<u32>) -> Option<Arc<CallSite>> {
        let (process, frames) = self.stacks.get(&stack.get())?;
        let pid = pid(*process);
        let words: Vec<FrameWord> = frames.split(' ').filter_map(FrameWord::parse).collect();
        let has_python = words
            .iter()
            .any(|it| matches!(it, FrameWord::Python { .. }));
        let frames = words.iter().flat_map(|word| {
            let (is_recorded, frames) = match *word {
                FrameWord::Python { code, line } => (true, vec![self.python(*process, code, line)]),
                FrameWord::Native { object, address } => {
                    (false, self.frames(*process, pid, object, address))
                }
            };
            frames.into_iter().map(move |frame| (is_recorded, frame))
        });
        // A map for `perf` has the frames of Python twice.
        let frames = frames
            .filter(|(is_recorded, frame)| *is_recorded || !has_python || frame.object != PYTHON);
        let frames = frames.map(|(_, frame)| frame).collect();
        let site = Arc::new(CallSite::new(frames));
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        sites.insert(stack, Arc::clone(&site));
        Some(site)
    }

    fn python(&self, process: u32, code: u32, line: u32) -> Frame {
        let code = self.codes.get(&(process, code));
        Frame {
            function: code.map(|it| it.function.clone()),
            file: code.map(|it| it.file.clone()),
            line: Some(line).filter(|line| *line != 0),
            object: PYTHON.to_owned(),
            address: 0,
        }
    }

    fn frames(&self, process: u32, pid: Option<u32>, object: u32, address: u64) -> Vec<Frame> {
        // The call is before where it returns to.
        let call = address.saturating_sub(1);
        let Some(object) = self.objects.get(&(process, object)) else {
            let found = pid.and_then(|pid| self.symbols.of_process(pid, call));
            return vec![found.unwrap_or_else(|| Frame {
                address,
                ..Frame::default()
            })];
        };
        let in_file = |address: u64| address.wrapping_sub(object.base);
        let mut found = self.symbols.of_object(object, in_file(call));
        if found.is_empty() {
            found.push(Frame::default());
        }
        let name = object.path.rsplit('/').next().unwrap_or_default();
        for frame in &mut found {
            frame.object = name.to_owned();
            frame.address = in_file(address);
        }
        found
    }
}

/// A frame as the file has it.
#[derive(Clone, Copy)]
enum FrameWord {
    /// The number of its object, and its address.
    Native { object: u32, address: u64 },
    /// The number of its code, and its line.
    Python { code: u32, line: u32 },
}

impl FrameWord {
    fn parse(text: &str) -> Option<Self> {
        let (first, second) = text.split_once(':')?;
        Some(match first.strip_prefix('p') {
            Some(code) => Self::Python {
                code: code.parse().ok()?,
                line: second.parse().ok()?,
            },
            None => Self::Native {
                object: first.parse().ok()?,
                address: u64::from_str_radix(second, 16).ok()?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct KnownSymbols;

    impl Symbols for KnownSymbols {
        fn of_object(&self, object: &ObjectRow, address: u64) -> Vec<Frame> {
            let line = |line, name: &str| Frame {
                function: Some(name.to_owned()),
                file: Some("/src/model/train.cpp".to_owned()),
                line: Some(line),
                ..Frame::default()
            };
            match (&*object.path, address) {
                ("/bin/train", 0x0f) => vec![line(7, "inner"), line(20, "step")],
                _ => Vec::new(),
            }
        }

        fn of_process(&self, pid: u32, _: u64) -> Option<Frame> {
            (pid == 42).then(|| Frame {
                function: Some("forward".to_owned()),
                file: Some("net.py".to_owned()),
                object: PYTHON.to_owned(),
                ..Frame::default()
            })
        }
    }

    fn stacks(frames: &str) -> Stacks {
        let mut stacks = Stacks::default();
        for (object, path) in [(1, "/bin/train"), (2, "/cann/libascendcl.so.1")] {
            stacks.add_object(ObjectRow {
                process: 3,
                object,
                base: 0x1000,
                build_id: String::new(),
                path: path.to_owned(),
            });
        }
        stacks.add_stack(StackRow {
            process: 3,
            stack: 5,
            frames: frames.to_owned(),
        });
        stacks
    }

    fn site(stacks: &Stacks, pid: u32) -> Arc<CallSite> {
        let stack = StackId::new(5).unwrap();
        stacks.site(stack, |_| Some(pid)).unwrap()
    }

    #[test]
    fn a_call_is_shown_by_the_innermost_frame_that_is_no_librarys() {
        let mut stacks = stacks("2:1234 1:1010 9:77");
        stacks.set_symbols(Arc::new(KnownSymbols), false);
        let site = site(&stacks, 1);
        assert_eq!(site.text(), "model/train.cpp:7 (inner)");
        let lines = [
            "libascendcl.so.1+0x234",
            "model/train.cpp:7 (inner)",
            "model/train.cpp:20 (step)",
            "0x77",
        ];
        assert_eq!(site.lines(), lines);
    }

    #[test]
    fn symbols_found_ahead_need_no_files() {
        let mut stacks = stacks("1:1010");
        stacks.set_symbols(Arc::new(KnownSymbols), true);
        let stack = StackId::new(5).unwrap();
        assert_eq!(stacks.site(stack, |_| None), None);
        stacks.find_ahead(|_| None);
        assert_eq!(site(&stacks, 1).text(), "model/train.cpp:7 (inner)");
    }

    #[test]
    fn frames_of_python_come_before_others() {
        let mut stacks = stacks("1:1010 0:77");
        stacks.set_symbols(Arc::new(KnownSymbols), false);
        assert_eq!(site(&stacks, 42).text(), "net.py (forward)");
    }

    #[test]
    fn recorded_frames_of_python_need_no_files_and_replace_those_of_a_map() {
        let mut stacks = stacks("1:1010 p7:42 0:77 p8:0 p9:3");
        for (code, function) in [(7, "Net.forward"), (8, "<module>")] {
            stacks.add_code(CodeRow {
                process: 3,
                code,
                function: function.to_owned(),
                file: "/srv/model/net.py".to_owned(),
            });
        }
        let without = site(&stacks, 1);
        assert_eq!(without.text(), "model/net.py:42 (Net.forward)");
        let lines = [
            "train+0x10",
            "model/net.py:42 (Net.forward)",
            "0x77",
            "model/net.py (<module>)",
            "python",
        ];
        assert_eq!(without.lines(), lines);
        stacks.set_symbols(Arc::new(KnownSymbols), false);
        let with = site(&stacks, 42);
        assert_eq!(with.text(), "model/net.py:42 (Net.forward)");
        assert!(!with.lines().contains(&"net.py (forward)".to_owned()));
    }

    #[test]
    fn code_that_is_installed_is_passed_over_for_the_programs() {
        let frame = |file: &str| Frame {
            file: Some(file.to_owned()),
            line: Some(1),
            object: PYTHON.to_owned(),
            ..Frame::default()
        };
        let torch = frame("/v/lib/python3.11/site-packages/torch/nn/modules/linear.py");
        let standard = frame("/usr/lib/python3.11/threading.py");
        let tool = frame("/home/me/.cache/ascend-trace/1/python/ascend_trace_ranges.py");
        let program = frame("/srv/train.py");
        let native = Frame::default();
        let site = |frames: &[&Frame]| {
            CallSite::new(frames.iter().map(|it| (*it).clone()).collect()).text()
        };
        assert_eq!(
            site(&[&native, &torch, &tool, &program, &standard]),
            "srv/train.py:1"
        );
        assert_eq!(site(&[&native, &torch, &standard]), "modules/linear.py:1");
    }

    #[test]
    fn without_symbols_there_are_addresses() {
        let stacks = stacks("2:1234 x 1:zz 1:1010");
        let site = site(&stacks, 1);
        assert_eq!(site.lines(), ["libascendcl.so.1+0x234", "train+0x10"]);
        assert_eq!(site.text(), "train+0x10");
        let none = StackId::new(6).unwrap();
        assert_eq!(stacks.site(none, |_| None), None);
    }
}
