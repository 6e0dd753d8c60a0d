//! The environment of the program: variables for the loader and the interposer.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use ascend_trace_format::armed::ARMED_VARIABLE;
use ascend_trace_format::engine::VARIABLE as ENGINE;
use ascend_trace_format::session::SESSION_VARIABLE;

const PRELOAD: &str = "LD_PRELOAD";
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";
const PYTHON_PATH: &str = "PYTHONPATH";
const SOFT_OPTIONS: &str = "SOFTACL";
/// Variables that qemu sets for the program that it runs, and not for itself.
const EMULATED: &str = "QEMU_SET_ENV";

/// Variables that are set in addition to the tool's environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Environment {
    variables: Vec<(&'static str, OsString)>,
    /// The tool's environment is not read.
    is_alone: bool,
}

impl Environment {
    /// Variables that another process adds to its environment, instead of the tool's.
    pub(crate) fn alone() -> Self {
        Self {
            is_alone: true,
            ..Self::default()
        }
    }

    /// The present value of a variable to which one is added.
    fn existing(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name).filter(|_| !self.is_alone)
    }

    /// Loads the interposer before the user's preloaded libraries, and passes the session to it.
    pub(crate) fn trace(&mut self, interposer: &OsStr, session: &Path) {
        let existing = self.existing(PRELOAD);
        self.set(PRELOAD, joined(interposer, existing.as_deref(), ":"));
        self.record_into(session);
    }

    /// Passes a session that the program joins at its start.
    fn record_into(&mut self, session: &Path) {
        self.set(SESSION_VARIABLE, session.into());
        // That of a server, or of a program that waits for recorders, around this command.
        if self.existing(ARMED_VARIABLE).is_some() {
            self.set(ARMED_VARIABLE, OsString::new());
        }
    }

    /// Loads the interposer, which waits for recorders as with [`Self::arm`], and asks for the session at this link itself.
    pub(crate) fn serve(&mut self, interposer: &OsStr, folder: &Path, link: &Path) {
        let existing = self.existing(PRELOAD);
        self.set(PRELOAD, joined(interposer, existing.as_deref(), ":"));
        self.set(ARMED_VARIABLE, folder.into());
        self.set(SESSION_VARIABLE, link.into());
    }

    /// Loads the interposer, which waits for recorders and makes a page in this folder.
    pub(crate) fn arm(&mut self, interposer: &OsStr, folder: &Path) {
        let existing = self.existing(PRELOAD);
        self.set(PRELOAD, joined(interposer, existing.as_deref(), ":"));
        self.set(ARMED_VARIABLE, folder.into());
        // That of a recording around this command.
        if std::env::var_os(SESSION_VARIABLE).is_some() {
            self.set(SESSION_VARIABLE, OsString::new());
        }
    }

    /// As [`Self::trace`], for a library of another architecture: the program is an emulator, and the
    /// library is for what runs in it. The emulator's own loader would complain about it.
    pub(crate) fn trace_emulated(&mut self, interposer: &OsStr, session: &Path) {
        let mut preload = OsString::from(format!("{PRELOAD}="));
        preload.push(interposer);
        let existing = self.existing(EMULATED);
        self.set(EMULATED, joined(&preload, existing.as_deref(), ","));
        self.record_into(session);
    }

    /// Has the interposer patch functions by means of this library, or of none.
    pub(crate) fn patch(&mut self, engine: Option<&Path>) {
        match engine {
            Some(engine) => self.set(ENGINE, engine.into()),
            // That of a recording around this one.
            None if std::env::var_os(ENGINE).is_some() => self.set(ENGINE, OsString::new()),
            None => {}
        }
    }

    /// Puts the software runtime before an installed one.
    pub(crate) fn soften(&mut self, libraries: &Path, options: &str) {
        let existing = self.existing(LIBRARY_PATH);
        self.set(
            LIBRARY_PATH,
            joined(libraries.as_os_str(), existing.as_deref(), ":"),
        );
        if !options.is_empty() {
            self.set(SOFT_OPTIONS, soft_options(options));
        }
    }

    /// Has interpreters of Python load the hook in this folder before anything of the user's.
    pub(crate) fn set_range_hook(&mut self, hook: &Path) {
        let existing = self.existing(PYTHON_PATH);
        let list = joined(hook.as_os_str(), existing.as_deref(), ":");
        self.set(PYTHON_PATH, list);
    }

    /// The value that the program will see.
    #[cfg(test)]
    fn get(&self, name: &str) -> Option<OsString> {
        let own = self.variables.iter().find(|(known, _)| *known == name);
        own.map(|(_, value)| value.clone())
            .or_else(|| std::env::var_os(name))
    }

    pub(crate) fn apply(&self, command: &mut Command) {
        command.envs(self.variables());
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, &OsStr)> {
        let variables = self.variables.iter();
        variables.map(|(name, value)| (*name, value.as_os_str()))
    }

    /// Applies all but the preloading: for programs that look at the program's libraries.
    pub(crate) fn apply_untraced(&self, command: &mut Command) {
        let others = self
            .variables
            .iter()
            .filter(|(name, _)| *name == LIBRARY_PATH);
        command.envs(others.map(|(name, value)| (name, value)));
    }

    fn set(&mut self, name: &'static str, value: OsString) {
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value));
    }
}

/// Options of the software runtime: those of the variable, then those of the command line, which win
/// because they come later.
pub(crate) fn soft_options(options: &str) -> OsString {
    match std::env::var_os(SOFT_OPTIONS) {
        Some(given) => joined(&given, Some(OsStr::new(options)), ","),
        None => options.into(),
    }
}

/// Both with the separator between them; an empty part would mean the working directory.
fn joined(first: &OsStr, second: Option<&OsStr>, separator: &str) -> OsString {
    let mut text = first.to_owned();
    if let Some(second) = second.filter(|second| !second.is_empty()) {
        if !text.is_empty() {
            text.push(separator);
        }
        text.push(second);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_prepended_without_empty_parts() {
        let join = |first: &str, second: Option<&str>| {
            joined(OsStr::new(first), second.map(OsStr::new), ":")
        };
        assert_eq!(join("/ours.so", Some("/theirs.so")), "/ours.so:/theirs.so");
        assert_eq!(join("/ours.so", Some("")), "/ours.so");
        assert_eq!(join("/ours.so", None), "/ours.so");
        assert_eq!(join("", Some("devices=1")), "devices=1");
    }

    #[test]
    fn a_library_for_an_emulated_program_is_not_loaded_into_the_emulator() {
        let mut environment = Environment::default();
        environment.trace_emulated(OsStr::new("/x/ours.so"), Path::new("/dev/shm/session"));
        let arguments = environment.get(EMULATED).unwrap();
        assert!(
            arguments
                .to_string_lossy()
                .starts_with("LD_PRELOAD=/x/ours.so")
        );
        assert_eq!(environment.get(PRELOAD), std::env::var_os(PRELOAD));
    }

    #[test]
    fn the_tools_settings_come_before_inherited_variables() {
        let mut environment = Environment::default();
        environment.trace(OsStr::new("/x/ours.so"), Path::new("/dev/shm/session"));
        let preload = environment.get(PRELOAD).unwrap();
        assert!(preload.to_string_lossy().starts_with("/x/ours.so"));
        assert_eq!(
            environment.get(SESSION_VARIABLE).unwrap(),
            "/dev/shm/session"
        );
        assert_eq!(environment.get("PATH"), std::env::var_os("PATH"));
    }
}
