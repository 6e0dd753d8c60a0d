//! The terminal: the only part with side effects on it. Whatever happens, it is given back as it
//! was found.

use std::env;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Stdout, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::{SigId, flag, low_level};

use crate::event::InputEvent;
use crate::terminal_reply::{FilteredEvent, QUESTION, ReplyFilter};
use crate::theme::{ColorMode, TerminalBackground};

/// Whether the terminal is in the view's hands now.
static ACTIVE: AtomicBool = AtomicBool::new(false);

/// The colours that the environment asks for.
pub(crate) fn color_mode() -> ColorMode {
    let variable = |name| env::var(name).ok();
    ColorMode::detect(
        variable("NO_COLOR").as_deref(),
        variable("COLORTERM").as_deref(),
        variable("TERM").as_deref(),
    )
}

/// The background that the environment names.
pub(crate) fn ground() -> Option<TerminalBackground> {
    TerminalBackground::of_variable(&env::var("COLORFGBG").ok()?)
}

/// The terminal's name, if it cannot show a screen.
pub(crate) fn dumb() -> Option<String> {
    let name = env::var("TERM").ok()?;
    (name == "dumb").then_some(name)
}

/// Has colours written even where `NO_COLOR` is set, which crossterm heeds by itself.
pub(crate) fn force_colors() {
    crossterm::style::force_color_output(true);
}

/// Whether the locale says that the terminal shows nothing but ASCII for sure. Where no locale is
/// set, as in most containers, the terminal at the other end nearly always has UTF-8.
pub(crate) fn is_ascii() -> bool {
    let variables = ["LC_ALL", "LC_CTYPE", "LANG"].map(|name| env::var(name).ok());
    is_ascii_locale(variables.iter().map(Option::as_deref))
}

/// The first of the variables that is set decides.
fn is_ascii_locale<'a>(variables: impl IntoIterator<Item = Option<&'a str>>) -> bool {
    let mut set = variables.into_iter().flatten().filter(|it| !it.is_empty());
    set.next().is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        !locale.contains("utf-8") && !locale.contains("utf8")
    })
}

/// Columns and rows of the terminal.
pub(crate) fn size() -> io::Result<(u16, u16)> {
    crossterm::terminal::size()
}

/// The terminal in raw mode on its alternate screen, as long as this lives.
pub(crate) struct TerminalGuard {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    signals: SignalFlags,
    keyboard: OwnedFd,
    /// There may be more events that have been read already.
    more: bool,
    /// How often crossterm has been asked in vain since the last input.
    looks: usize,
    replies: ReplyFilter,
}

/// Input from the terminal.
#[derive(Debug)]
pub(crate) enum TerminalInput {
    Event(crossterm::event::Event),
    Nothing,
    /// A signal came: one that ends or stops the view, or the size has changed.
    Signal,
    /// The terminal hung up.
    HungUp,
}

/// How long crossterm may look for an event. It would not look at all in no time, and never waits for
/// less than a millisecond.
const LOOK: Duration = Duration::from_micros(200);

/// Pauses before crossterm is polled again after an input without a successor. It has a time limit, and
/// ignores bytes that it has read already if this thread loses its processor for that long. Without
/// these polls, the last keys of a burst would wait for the next key.
const AGAIN: [Duration; 3] = [
    Duration::from_millis(20),
    Duration::from_millis(200),
    Duration::from_secs(2),
];

/// How long the rest of an escape sequence is waited for.
const REST: Duration = Duration::from_millis(5);

enum InputReadiness {
    Ready,
    Quiet,
    Signal,
    Gone,
}

/// Waits until a terminal has input, or a signal comes, for ever if there is no `time`.
fn readiness(
    terminal: &OwnedFd,
    signals: &UnixStream,
    time: Option<Duration>,
) -> io::Result<InputReadiness> {
    let mut polled = [
        PollFd::new(terminal, PollFlags::IN),
        PollFd::new(signals, PollFlags::IN),
    ];
    let time = time.map(Timespec::try_from).transpose();
    let time = time.map_err(io::Error::other)?;
    match rustix::event::poll(&mut polled, time.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(InputReadiness::Signal),
        Err(error) => return Err(error.into()),
    }
    let found = polled[0].revents();
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    let signalled = !polled[1].revents().is_empty();
    Ok(
        match (found.intersects(gone), found.contains(PollFlags::IN)) {
            (true, _) => InputReadiness::Gone,
            (false, true) => InputReadiness::Ready,
            (false, false) if signalled => InputReadiness::Signal,
            (false, false) => InputReadiness::Quiet,
        },
    )
}

/// The terminal that keys come from: the same as crossterm's.
fn keyboard() -> io::Result<OwnedFd> {
    let stdin = io::stdin();
    match stdin.is_terminal() {
        true => stdin.as_fd().try_clone_to_owned(),
        false => File::open("/dev/tty").map(OwnedFd::from),
    }
}

/// Flags that signals raise.
struct SignalFlags {
    /// The number of the signal that asks the view to end.
    end: Arc<AtomicUsize>,
    suspend: Arc<AtomicBool>,
    /// Readable after a signal, for any thread that received it.
    woken: UnixStream,
    registered: Vec<SigId>,
}

impl TerminalGuard {
    /// Takes the terminal over.
    pub(crate) fn new(is_live: bool) -> io::Result<Self> {
        if !io::stdout().is_terminal() {
            return Err(io::Error::other("standard output is not a terminal"));
        }
        give_back_on_panic();
        let keyboard = keyboard()?;
        let signals = SignalFlags::new(is_live)?;
        take()?;
        match Terminal::new(CrosstermBackend::new(io::stdout())) {
            Ok(terminal) => Ok(Self {
                terminal,
                signals,
                keyboard,
                more: false,
                looks: AGAIN.len(),
                replies: ReplyFilter::default(),
            }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Asks the terminal for its background, unless it prints unknown sequences. Nothing waits for the
    /// reply.
    pub(crate) fn ask_ground(&mut self) -> io::Result<()> {
        if env::var("TERM").is_ok_and(|name| name != "linux") {
            self.replies.query();
            let mut out = io::stdout();
            out.write_all(QUESTION)?;
            out.flush()?;
        }
        Ok(())
    }

    /// Gives a text to the terminal's clipboard, over ssh as well (OSC 52).
    pub(crate) fn copy(&mut self, text: &str) -> io::Result<()> {
        execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text))
    }

    /// Separates the user's events from the terminal's replies.
    pub(crate) fn pick_reply(&mut self, event: InputEvent) -> FilteredEvent {
        self.replies.filter(event)
    }

    /// Shows what `paint` draws.
    pub(crate) fn draw(&mut self, paint: impl FnOnce(&mut Buffer)) -> io::Result<()> {
        self.terminal.draw(|frame| paint(frame.buffer_mut()))?;
        Ok(())
    }

    /// Draws every cell again the next time. Sends no query to the terminal: some never reply.
    pub(crate) fn forget(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// The signal that asked for the end, if one came.
    pub(crate) fn end_signal(&self) -> Option<i32> {
        match self.signals.end.load(Ordering::Relaxed) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }

    /// Whether another process asked the view to stop for a while.
    pub(crate) fn suspend_signal(&self) -> bool {
        self.signals.suspend.swap(false, Ordering::Relaxed)
    }

    /// Gives the terminal back, stops this process, and takes the terminal again afterwards.
    pub(crate) fn suspend(&mut self) -> io::Result<()> {
        give_back();
        low_level::emulate_default_handler(SIGTSTP)?;
        take()?;
        self.forget()
    }

    /// Waits for an event of the terminal, not longer than `time` if there is one. A signal ends the wait.
    ///
    /// crossterm reads for ever from a terminal that hung up, so this function waits itself and asks
    /// only while the terminal is connected.
    pub(crate) fn wait(&mut self, time: Option<Duration>) -> io::Result<TerminalInput> {
        let time = match (self.more, AGAIN.get(self.looks)) {
            (true, _) => Some(Duration::ZERO),
            (false, Some(again)) => Some(time.map_or(*again, |time| time.min(*again))),
            (false, None) => time,
        };
        let ready = match readiness(&self.keyboard, &self.signals.woken, time)? {
            InputReadiness::Gone => return Ok(TerminalInput::HungUp),
            InputReadiness::Quiet | InputReadiness::Signal => false,
            InputReadiness::Ready => true,
        };
        let signalled = self.signals.has_signal();
        // Also when it is quiet: then the size may have changed.
        self.more = crossterm::event::poll(LOOK)?;
        self.looks = match (self.more || ready, time) {
            (true, _) => 0,
            (false, Some(Duration::ZERO)) => self.looks,
            (false, _) => self.looks.saturating_add(1),
        };
        if self.more {
            return crossterm::event::read().map(TerminalInput::Event);
        }
        if ready {
            // A part of an escape sequence: the rest is on its way.
            std::thread::sleep(REST.min(time.unwrap_or(REST)));
        }
        Ok(if signalled {
            TerminalInput::Signal
        } else {
            TerminalInput::Nothing
        })
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        give_back();
        for id in self.signals.registered.drain(..) {
            low_level::unregister(id);
        }
    }
}

impl SignalFlags {
    /// With `is_live`, `SIGQUIT` is for the recorder that shows the view: it asks for a report.
    fn new(is_live: bool) -> io::Result<Self> {
        let (woken, wake) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        let mut signals = Self {
            end: Arc::default(),
            suspend: Arc::default(),
            woken,
            registered: Vec::new(),
        };
        let ends = [SIGTERM, SIGHUP, SIGINT, SIGQUIT];
        let ends = ends.into_iter().filter(|it| !is_live || *it != SIGQUIT);
        for signal in ends {
            let number = usize::try_from(signal).unwrap_or_default();
            let id = flag::register_usize(signal, Arc::clone(&signals.end), number)?;
            signals.registered.push(id);
        }
        let id = flag::register(SIGTSTP, Arc::clone(&signals.suspend))?;
        signals.registered.push(id);
        // After the flags, which are looked at when the wait is over.
        for signal in [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGWINCH] {
            let id = low_level::pipe::register(signal, wake.try_clone()?)?;
            signals.registered.push(id);
        }
        Ok(signals)
    }

    /// Whether a signal has arrived since the last call.
    fn has_signal(&mut self) -> bool {
        let mut bytes = [0; 64];
        let mut heard = false;
        while let Ok(1..) = self.woken.read(&mut bytes) {
            heard = true;
        }
        heard
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    ACTIVE.store(true, Ordering::SeqCst);
    let taken = execute!(
        io::stdout(),
        EnterAlternateScreen,
        EnableMouseCapture,
        EnableBracketedPaste,
        cursor::Hide
    );
    if taken.is_err() {
        give_back();
    }
    taken
}

/// Undoes [`take`], once. Errors have nowhere to go any more.
fn give_back() {
    if !ACTIVE.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = execute!(
        out,
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
    let _ = out.flush();
}

/// Lets a panic's message appear on a terminal that can show it.
fn give_back_on_panic() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::is_ascii_locale;

    #[test]
    fn the_first_set_locale_decides_the_character_set() {
        assert!(!is_ascii_locale([None, None, None]));
        assert!(!is_ascii_locale([None, Some(""), Some("zh_CN.UTF-8")]));
        assert!(!is_ascii_locale([Some("C.utf8"), None, Some("C")]));
        assert!(is_ascii_locale([Some("C"), None, Some("en_US.UTF-8")]));
        assert!(is_ascii_locale([None, None, Some("zh_CN.GB18030")]));
    }
}
