//! The programs of a server: each is found by its page, and asked for the session if it has not joined it.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use ascend_trace_format::armed::{JoinOutcome, PAGE_PREFIX};
use ascend_trace_ring::{ArmedProcess, last_session};
use ascend_trace_tables::TABLE_HASH;

use crate::armed_process;
use crate::output::print_message;

/// After this number of looks, pages of killed processes are removed.
const LOOKS_FOR_STALE: u32 = 50;

/// After this number of looks at a program that has left the recording, it is asked again. A program takes its own request
/// before it has joined.
const LOOKS_UNTIL_ASKED: u32 = 50;

/// A program that this recorder is attached to.
struct ServedProgram {
    page: ArmedProcess,
    /// Looks in a row at which it was in no recording, and had no request.
    left: u32,
}

/// The pages of the programs that have the environment of a server.
pub(super) struct ServedPrograms {
    folder: PathBuf,
    /// The link to the session, as programs know it.
    link: PathBuf,
    /// Programs that this recorder is attached to, by their pages.
    attached: HashMap<PathBuf, ServedProgram>,
    /// Pages from before this server. If such a program is in a session, it is that of a lost server.
    earlier: Vec<PathBuf>,
    /// Pages of programs that cannot be attached to. Each is reported once.
    refused: Vec<PathBuf>,
    looks: u32,
}

impl ServedPrograms {
    /// To be made before the link leads to the session.
    pub(super) fn new(folder: &Path, link: &Path) -> Self {
        let mut programs = Self {
            folder: folder.to_owned(),
            link: link.to_owned(),
            attached: HashMap::new(),
            earlier: Vec::new(),
            refused: Vec::new(),
            looks: 0,
        };
        armed_process::remove_stale(folder);
        armed_process::remove_stale_links(folder);
        programs.earlier = programs.pages();
        programs
    }

    /// Attaches to new programs, and lets go of those that have ended.
    pub(super) fn look(&mut self) {
        if self.looks.is_multiple_of(LOOKS_FOR_STALE) {
            armed_process::remove_stale(&self.folder);
        }
        self.looks = self.looks.wrapping_add(1);
        let pages = self.pages();
        self.attached.retain(|page, _| pages.contains(page));
        self.refused.retain(|page| pages.contains(page));
        for page in pages {
            if !self.attached.contains_key(&page) && !self.refused.contains(&page) {
                self.attach(page);
            }
        }
        let mut refused = Vec::new();
        for (page, program) in &mut self.attached {
            let process = &mut program.page;
            match process.outcome() {
                Some(JoinOutcome::Joined) | None => {}
                Some(outcome) => {
                    refused.push((page.clone(), outcome));
                    continue;
                }
            }
            let is_out = process.is_listed() && process.has_left() && !process.is_asked();
            program.left = if is_out { program.left + 1 } else { 0 };
            if program.left >= LOOKS_UNTIL_ASKED {
                program.left = 0;
                let _ = process.request(&self.link);
            }
        }
        for (page, outcome) in refused {
            self.attached.remove(&page);
            self.refuse(page, reason(outcome));
        }
    }

    fn refuse(&mut self, page: PathBuf, reason: impl Display) {
        let name = page.display();
        print_message(format!(
            "the process with the page {name} is not recorded: {reason}"
        ));
        self.refused.push(page);
    }

    /// The pages of programs with the link in their environment.
    fn pages(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let is_page = |path: &PathBuf| {
            let name = path.file_name().and_then(|it| it.to_str());
            name.is_some_and(|it| it.starts_with(PAGE_PREFIX))
        };
        let pages = entries.map(|entry| entry.path()).filter(is_page);
        pages
            .filter(|page| {
                self.attached.contains_key(page) || last_session(page).as_ref() == Some(&self.link)
            })
            .collect()
    }

    fn attach(&mut self, page: PathBuf) {
        match ArmedProcess::open(&page, TABLE_HASH) {
            Ok(mut process) => {
                // It has started before the server, or has lost an earlier one.
                if let Some(place) = self.earlier.iter().position(|it| *it == page) {
                    self.earlier.swap_remove(place);
                    let _ = process.request(&self.link);
                }
                let program = ServedProgram {
                    page: process,
                    left: 0,
                };
                self.attached.insert(page, program);
            }
            // It has ended meanwhile.
            Err(_) if !page.exists() => {}
            Err(error) => self.refuse(page, error),
        }
    }
}

/// Why a process has not joined.
fn reason(outcome: JoinOutcome) -> &'static str {
    match outcome {
        JoinOutcome::Crowded => {
            "its threads still use the memory of too many earlier recordings; start it again"
        }
        JoinOutcome::OtherVersion => {
            "it has a library of another version, or an earlier recording had other filters"
        }
        _ => "it cannot open the memory of the recording",
    }
}
