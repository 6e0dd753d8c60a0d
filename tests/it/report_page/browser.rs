//! A browser without a screen.

use std::path::Path;
use std::process::Command;

use crate::support::run;

/// Chromium.
pub(super) struct Browser {
    profile: tempfile::TempDir,
}

/// A page in the browser.
pub(super) struct Shown {
    pub(super) dom: String,
    messages: Vec<String>,
}

impl Browser {
    /// Chromium, if it is installed; says that a test is skipped if not.
    #[expect(clippy::print_stderr, reason = "skipped tests say why")]
    pub(super) fn find() -> Option<Self> {
        let is_there = Command::new("chromium").arg("--version").output().is_ok();
        if !is_there {
            eprintln!("skipped: there is no chromium");
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        Some(Self { profile })
    }

    /// Loads a page that a script uses as a person would. The script is not the page's own, so the policy is not in force.
    #[track_caller]
    pub(super) fn use_page(&self, page: &Path, script: &str) -> Shown {
        let html = std::fs::read_to_string(page).unwrap();
        let (before, rest) = html.split_once("<meta http-equiv").unwrap();
        let (_, after) = rest.split_once('>').unwrap();
        let used = page.with_extension("used.html");
        let after = after.replace("</body>", &format!("<script>{script}</script></body>"));
        std::fs::write(&used, before.to_owned() + &after).unwrap();
        self.open(&used)
    }

    /// Loads a page and runs its script.
    #[track_caller]
    pub(super) fn open(&self, page: &Path) -> Shown {
        let mut command = Command::new("chromium");
        // Root has no sandbox; and nothing else of the browser may use the network.
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ]);
        command.args(["--disable-background-networking", "--no-first-run"]);
        command.arg(format!("--user-data-dir={}", self.profile.path().display()));
        // Messages of the page go to stderr.
        command.args(["--enable-logging=stderr", "--dump-dom"]);
        command.arg(format!("file://{}", page.display()));
        let outcome = run(&mut command).expect(0);
        let err = outcome.err();
        let messages = err.lines().filter(|line| line.contains("CONSOLE"));
        Shown {
            dom: outcome.out(),
            messages: messages.map(str::to_owned).collect(),
        }
    }
}

impl Shown {
    /// The value of an attribute, of the first element that has it.
    #[track_caller]
    pub(super) fn attribute(&self, name: &str) -> &str {
        let (_, rest) = self.dom.split_once(&format!("{name}=\"")).unwrap();
        rest.split_once('"').unwrap().0
    }

    /// The script came to its end without an error, and the page asked for nothing. The browser reports each request
    /// that the policy of the page forbids.
    #[track_caller]
    pub(super) fn is_fine(&self) {
        let begin: String = self.dom.chars().take(300).collect();
        assert!(self.dom.contains(r#"data-ready="true""#), "{begin}");
        assert!(self.dom.contains(r#"data-errors="0""#), "{begin}");
        assert!(self.dom.contains(r#"data-requests="0""#), "{begin}");
        assert_eq!(self.messages, Vec::<String>::new());
    }
}
