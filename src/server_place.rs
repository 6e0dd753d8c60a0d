//! Where programs find the server of recordings of their host: a link with a fixed name, in the private folder of the user, that
//! leads to the session.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use ascend_trace_ring::maker;

use crate::armed_process::shared_folder;
use crate::running_recording::has_open;

/// Prefix of the name of a link.
const PREFIX: &str = "server-";
/// The name of a server that no option names.
pub(crate) const USUAL_NAME: &str = "node";
/// Bytes of the name of a server.
const LONGEST_NAME: usize = 64;

/// The place of a server by its name. The same for the server and for programs, on one host and for one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerPlace {
    name: String,
    link: PathBuf,
}

/// The link of a server that runs. Dropping it removes the link.
#[derive(Debug)]
pub(crate) struct PublishedSession {
    link: PathBuf,
    session: PathBuf,
}

impl ServerPlace {
    /// The place for a server with this name.
    ///
    /// # Errors
    /// No folder for shared memory can be used.
    pub(crate) fn new(name: &str) -> anyhow::Result<Self> {
        let folder = shared_folder();
        let folder = folder.context("no place for a server: give /dev/shm or /tmp room")?;
        Ok(Self::within(&folder, name))
    }

    fn within(folder: &Path, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            link: folder.join(format!("{PREFIX}{name}")),
        }
    }

    /// The option of `env` for this server; empty for the usual name.
    pub(crate) fn option(&self) -> String {
        match self.name.as_str() {
            USUAL_NAME => String::new(),
            name => format!(" --name {name}"),
        }
    }

    /// The folder of the link, and of the pages of programs.
    pub(crate) fn folder(&self) -> &Path {
        self.link.parent().unwrap_or(&self.link)
    }

    /// The path in the environment of programs.
    pub(crate) fn link(&self) -> &Path {
        &self.link
    }

    /// The pid of the server that runs.
    pub(crate) fn server(&self) -> Option<u32> {
        let session = fs::read_link(&self.link).ok()?;
        maker(&session).filter(|pid| has_open(*pid, &session))
    }

    /// # Errors
    /// Such a server runs.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if let Some(pid) = self.server() {
            let name = &self.name;
            bail!(
                "a server named {name} is running (process {pid}): end it with `ascend-trace ctl {pid} stop`, or give \
                 another --name"
            );
        }
        Ok(())
    }

    /// Lets programs find a session here. A link that an ended server has left is replaced.
    ///
    /// # Errors
    /// The link cannot be made, or another server was quicker.
    pub(crate) fn publish(&self, session: &Path) -> anyhow::Result<PublishedSession> {
        let cannot = || format!("cannot make {}", self.link.display());
        if self.server().is_none() && self.link.symlink_metadata().is_ok() {
            fs::remove_file(&self.link).with_context(cannot)?;
        }
        match symlink(session, &self.link) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.check()?;
                Err(error).with_context(cannot)?;
            }
            made => made.with_context(cannot)?,
        }
        Ok(PublishedSession {
            link: self.link.clone(),
            session: session.to_owned(),
        })
    }
}

impl Drop for PublishedSession {
    fn drop(&mut self) {
        // A later server may have the name.
        if fs::read_link(&self.link).is_ok_and(|it| it == self.session) {
            let _ = fs::remove_file(&self.link);
        }
    }
}

/// A name of a server, for the command line.
pub(crate) fn server_name(text: &str) -> Result<String, String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    match !text.is_empty() && text.len() <= LONGEST_NAME && text.bytes().all(fits) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "a name has 1 to {LONGEST_NAME} letters, digits, and signs of `-_.`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_an_ended_server_is_replaced_and_an_own_one_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let place = ServerPlace::within(folder.path(), "node");
        let first = place.publish(Path::new("/x/session-1-1")).unwrap();
        assert_eq!(place.server(), None);
        place.check().unwrap();
        let second = place.publish(Path::new("/x/session-1-2")).unwrap();
        let target = || fs::read_link(place.link()).ok();
        drop(first);
        assert_eq!(target(), Some("/x/session-1-2".into()));
        drop(second);
        assert_eq!(target(), None);
    }

    #[test]
    fn names_are_those_of_files() {
        assert_eq!(server_name("rank-0_a.b").as_deref(), Ok("rank-0_a.b"));
        let long = "x".repeat(LONGEST_NAME + 1);
        for refused in ["", "a/b", "a b", "ü", &long] {
            assert!(server_name(refused).is_err(), "{refused}");
        }
    }
}
