//! A program as the kernel wants it: file, words and variables, all made before the fork.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString, c_char};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;

/// The strings, and the lists of pointers to them.
pub(crate) struct ExecImage {
    file: CString,
    words: PointerList,
    variables: PointerList,
}

struct PointerList {
    /// The targets of the pointers; nothing changes them.
    _strings: Vec<CString>,
    pointers: Vec<*const c_char>,
}

// SAFETY: the pointers lead to strings that the list owns, which do not move with it and never change.
unsafe impl Send for PointerList {}
// SAFETY: as above.
unsafe impl Sync for PointerList {}

impl ExecImage {
    /// The words of the command with its variables: those of this process, with the command's changes.
    pub(crate) fn new(command: &Command, file: &Path) -> io::Result<Self> {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let mut variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => variables.insert(name.to_owned(), value.to_owned()),
                None => variables.remove(name),
            };
        }
        let variables = variables.into_iter().map(|(name, value)| {
            let mut text = name;
            text.push("=");
            text.push(value);
            text
        });
        Ok(Self {
            file: text(file.as_os_str())?,
            words: PointerList::new(words.map(OsStr::to_owned))?,
            variables: PointerList::new(variables)?,
        })
    }

    /// Becomes the program; returns only the reason why that is not possible. Between fork and exec.
    pub(crate) fn exec(&self) -> io::Error {
        let (words, variables) = (&self.words.pointers, &self.variables.pointers);
        // SAFETY: all three have the required form: a string, and lists of strings that end with null.
        unsafe { libc::execve(self.file.as_ptr(), words.as_ptr(), variables.as_ptr()) };
        io::Error::last_os_error()
    }
}

impl PointerList {
    fn new(words: impl Iterator<Item = OsString>) -> io::Result<Self> {
        let strings = words.map(|word| CString::new(word.into_vec()).map_err(io::Error::from));
        let strings: Vec<CString> = strings.collect::<io::Result<_>>()?;
        let pointers = strings.iter().map(|string| string.as_ptr());
        Ok(Self {
            pointers: pointers.chain([std::ptr::null()]).collect(),
            _strings: strings,
        })
    }
}

fn text(text: &OsStr) -> io::Result<CString> {
    Ok(CString::new(text.as_bytes())?)
}
