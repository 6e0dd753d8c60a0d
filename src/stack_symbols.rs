//! Symbols for the addresses in a recording's stacks, as far as this machine has the files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use ascend_trace_recording::Recording;
use ascend_trace_recording::rows::ObjectRow;
use ascend_trace_recording::stacks::{Frame, PYTHON, Symbols};
use ascend_trace_symbols::{ObjectProblem, SourceFunction, Symbolizer};

use crate::output::print_message;

/// What Python's names of code begin with.
const PYTHON_PREFIX: &str = "py::";

/// Files that were read once serve all recordings that this command opens.
#[derive(Debug, Default)]
struct SharedSymbolizer(Symbolizer);

/// The files of this machine.
pub(crate) fn of_this_machine() -> Arc<dyn Symbols> {
    let files: Arc<dyn Symbols> = files();
    files
}

fn files() -> Arc<SharedSymbolizer> {
    static FILES: OnceLock<Arc<SharedSymbolizer>> = OnceLock::new();
    Arc::clone(FILES.get_or_init(Arc::default))
}

/// Reports files of stacks that this machine does not have, or only in another version.
pub(crate) fn say_missing(recording: &Recording) {
    let files = files();
    let objects = recording.entities().objects();
    let mut reported = std::collections::BTreeSet::new();
    for object in objects.filter(|it| it.path.starts_with('/')) {
        let Some(trouble) = files.0.trouble(Path::new(&object.path), &object.build_id) else {
            continue;
        };
        if reported.insert(&object.path) {
            print_message(format!("{}: {}", object.path, reason(&trouble)));
        }
    }
}

fn reason(trouble: &ObjectProblem) -> String {
    match trouble {
        ObjectProblem::Absent => {
            "the file is absent, so its call sites are shown as addresses".to_owned()
        }
        ObjectProblem::Other => {
            "the file has another build id, so its call sites are shown as addresses".to_owned()
        }
        ObjectProblem::Unreadable(why) => {
            format!("the file cannot be read ({why}), so its call sites are shown as addresses")
        }
    }
}

impl Symbols for SharedSymbolizer {
    fn of_object(&self, object: &ObjectRow, address: u64) -> Vec<Frame> {
        let found = self
            .0
            .of_object(Path::new(&object.path), &object.build_id, address);
        found.into_iter().map(frame).collect()
    }

    fn of_process(&self, pid: u32, address: u64) -> Option<Frame> {
        let map = PathBuf::from(format!("/tmp/perf-{pid}.map"));
        Some(of_map(&self.0.of_map(&map, address)?))
    }
}

fn frame(found: SourceFunction) -> Frame {
    Frame {
        function: found.function,
        file: found.file,
        line: found.line,
        ..Frame::default()
    }
}

/// A name of code that was made at run time. Those of Python are `py::FUNCTION:FILE`.
fn of_map(name: &str) -> Frame {
    let python = name.strip_prefix(PYTHON_PREFIX);
    match python.and_then(|name| name.rsplit_once(':')) {
        Some((function, file)) => Frame {
            function: Some(function.to_owned()),
            file: Some(file.to_owned()),
            object: PYTHON.to_owned(),
            ..Frame::default()
        },
        None => Frame {
            function: Some(name.to_owned()),
            ..Frame::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_python_have_function_and_file() {
        let frame = of_map("py::Net.forward:/srv/model/net.py");
        assert_eq!(frame.text(), "model/net.py (Net.forward)");
        assert_eq!(of_map("trampoline").text(), "trampoline");
    }
}
