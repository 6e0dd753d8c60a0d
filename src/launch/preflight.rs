//! Refuses programs that could not be traced, and says why, before anything is started.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::elf::{self, ProgramFile};
use crate::error::{Failure, NOT_EXECUTABLE, OrStatus, TOOL_FAILED};

const SET_USER: u32 = 0o4000;
const SET_GROUP: u32 = 0o2000;

/// Checks the program file; scripts and other files that the kernel can start pass.
pub(crate) fn check(path: &Path) -> Result<ProgramFile, Failure> {
    let shown = path.display();
    // A program may be executable without being readable; then it is simply tried.
    let program = match elf::inspect(path) {
        Ok(program) => program,
        Err(_) if std::fs::File::open(path).is_err() => ProgramFile::Other,
        Err(error) => return Err(error).or_status(NOT_EXECUTABLE),
    };
    match &program {
        ProgramFile::Static => {
            let text = format!(
                "{shown}: is statically linked, so no library can be loaded into it: \
                 link it dynamically, or trace a program that it starts"
            );
            Err(Failure::new(TOOL_FAILED, text))
        }
        ProgramFile::Foreign { machine } => {
            let own = std::env::consts::ARCH;
            let text = format!("{shown}: is built for {machine}, this machine is {own}");
            Err(Failure::new(NOT_EXECUTABLE, text))
        }
        ProgramFile::Dynamic(dynamic) if let Some(library) = dynamic.other_library() => {
            let text = format!(
                "{shown}: is linked to {library}, and the tracer's library needs glibc: build it for glibc, \
                 or trace a program that starts it"
            );
            Err(Failure::new(TOOL_FAILED, text))
        }
        ProgramFile::Dynamic(_) if gains_privileges(path) => {
            let text = format!(
                "{shown}: gains privileges when it starts (setuid, setgid or file capabilities), \
                 so the loader would ignore the tracer: run a copy without them"
            );
            Err(Failure::new(TOOL_FAILED, text))
        }
        _ => Ok(program),
    }
}

fn gains_privileges(path: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let by_mode =
        std::fs::metadata(path).is_ok_and(|metadata| changes_identity(&metadata, user, group));
    by_mode || (user != 0 && has_capabilities(path))
}

fn changes_identity(metadata: &Metadata, user: u32, group: u32) -> bool {
    (metadata.mode() & SET_USER != 0 && metadata.uid() != user)
        || (metadata.mode() & SET_GROUP != 0 && metadata.gid() != group)
}

fn has_capabilities(path: &Path) -> bool {
    let mut value = [0u8; 64];
    rustix::fs::getxattr(path, "security.capability", &mut value[..]).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_a_change_of_identity_counts() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("tool");
        std::fs::write(&path, "x").unwrap();
        let user = rustix::process::geteuid().as_raw();
        let group = rustix::process::getegid().as_raw();
        let changes = |mode, user, group| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            changes_identity(&std::fs::metadata(&path).unwrap(), user, group)
        };
        assert!(!changes(0o755, user + 1, group));
        assert!(changes(0o4755, user + 1, group));
        assert!(!changes(0o4755, user, group));
        assert!(changes(0o2755, user, group + 1));
    }

    #[test]
    fn an_ordinary_program_and_a_script_pass() {
        assert!(matches!(
            check(Path::new("/bin/sh")),
            Ok(ProgramFile::Dynamic(_))
        ));
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("script");
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        assert_eq!(check(&path).unwrap(), ProgramFile::Other);
    }
}
