//! Runs commands of `ascend-trace`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// Commands at a time. Others wait.
const AT_ONCE: usize = 2;
/// Time limit of a request.
const PATIENCE: Duration = Duration::from_secs(300);
/// Time between two looks at the size of files.
const LOOK: Duration = Duration::from_millis(50);

/// The command, with a limit to how many run at a time.
#[derive(Clone)]
pub(crate) struct Commands {
    program: PathBuf,
    places: Arc<Semaphore>,
}

/// The output of a command that has ended.
pub(crate) struct CommandOutput {
    pub(crate) text: String,
    /// Messages on standard error.
    pub(crate) notes: String,
    pub(crate) has_result: bool,
}

impl Commands {
    pub(crate) fn new(program: &Path) -> Self {
        Self {
            program: program.to_owned(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Runs the command while its files in a folder have no more bytes than a limit.
    pub(crate) async fn run_within(
        &self,
        words: Vec<OsString>,
        (folder, most): (&Path, u64),
    ) -> Result<CommandOutput, String> {
        tokio::select! {
            output = self.run(words) => output,
            () = grown(folder, most) => Err(
                "there is too much in this range: give a shorter one".to_owned()
            ),
        }
    }

    /// Runs the command with these words. It is killed if the request is cancelled.
    pub(crate) async fn run(&self, words: Vec<OsString>) -> Result<CommandOutput, String> {
        let place = self.places.acquire().await;
        let mut command = Command::new(&self.program);
        command.args(words).stdin(Stdio::null()).kill_on_drop(true);
        let Ok(output) = timeout(PATIENCE, command.output()).await else {
            let limit = PATIENCE.as_secs();
            return Err(format!(
                "it takes longer than {limit} s: ask about a part of the recording, with `range`"
            ));
        };
        let output = output.map_err(|error| {
            let program = self.program.display();
            format!("cannot run {program}: {error}")
        })?;
        drop(place);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (text, notes) = (text(output.stdout), text(output.stderr));
        Ok(CommandOutput {
            has_result: output.status.success() || !text.trim().is_empty(),
            text,
            notes,
        })
    }
}

/// Waits until the files in a folder have more bytes than a limit.
async fn grown(folder: &Path, most: u64) {
    loop {
        sleep(LOOK).await;
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let sizes = entries.filter_map(|it| it.metadata().ok());
        if sizes.map(|it| it.len()).sum::<u64>() > most {
            return;
        }
    }
}
