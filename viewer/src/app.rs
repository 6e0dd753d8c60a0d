//! The state of the view. It changes only in [`crate::update`].

mod camera;
mod command_choices;
mod document;
mod open_panels;
mod position;
mod selection_facts;
mod stalls;
mod switch_part;
mod trace_update;

use std::sync::Arc;
use std::time::Duration;

use ascend_trace_analysis::Window;
use ascend_trace_recording::Trace;

use crate::blame::StallContext;
use crate::config::Config;
use crate::job::JobQueue;
use crate::lanes::ViewRow;
use crate::layout::{LayoutInputs, ScreenLayout};
use crate::overview::RecordingOverview;
use crate::pointer::MouseState;
use crate::prompt::TextPrompt;
use crate::source::{ProgramLog, RecordingState};
use crate::theme::Theme;

pub(crate) use camera::Camera;
pub(crate) use command_choices::all as command_choices;
pub(crate) use document::Document;
pub(crate) use open_panels::OpenPanels;
pub(crate) use selection_facts::{refresh_inside, refresh_rank};
pub(crate) use switch_part::SelectionSnapshot;

pub(crate) use crate::selection::{OpenCall, Selection, is_gap};
pub(crate) use crate::view_position::{DependencyWalk, FOLLOWED_NS, FollowMode, ViewPosition};

/// The recording that the view shows, apart from the view's state.
#[derive(Clone, Copy)]
pub(crate) struct ViewData<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) log: Option<&'a dyn ProgramLog>,
    /// The name that is proposed for an export, if the source can make one.
    pub(crate) export_name: Option<&'a str>,
    /// Facts about the whole recording; the trace holds its loaded part.
    pub(crate) overview: &'a RecordingOverview,
}

/// Who gets the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum InputMode {
    #[default]
    Timeline,
    /// A text is being typed.
    Prompt(TextPrompt),
    /// The first line of the help.
    Help(u16),
}

/// The state of the view.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) document: Document,
    pub(crate) camera: Camera,
    pub(crate) panels: OpenPanels,
    pub(crate) title: String,
    pub(crate) theme: Theme,
    pub(crate) size: (u16, u16),
    pub(crate) config: Config,
    pub(crate) mode: InputMode,
    /// The repeat count of the next action, while the user types it.
    pub(crate) times: Option<u32>,
    /// Time since the view began.
    pub(crate) clock: Duration,
    pub(crate) pointer: MouseState,
    /// Slow work, which the source does.
    pub(crate) jobs: JobQueue,
    /// An urgent message for the user.
    pub(crate) message: Option<String>,
    /// A picture is drawn instead of a screen: without the line of keys.
    pub(crate) is_still: bool,
}

impl App {
    pub(crate) fn new(title: String, theme: Theme, live: bool, size: (u16, u16)) -> Self {
        Self {
            document: Document::default(),
            camera: Camera::new(live),
            panels: OpenPanels::default(),
            title,
            theme,
            size,
            config: Config::default(),
            mode: InputMode::default(),
            times: None,
            clock: Duration::ZERO,
            pointer: MouseState::default(),
            jobs: JobQueue::default(),
            message: None,
            is_still: false,
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.document.progress.recording == RecordingState::Running
            && self.document.failure.is_none()
    }

    pub(crate) fn layout(&self) -> ScreenLayout {
        ScreenLayout::new(
            self.size,
            LayoutInputs {
                log: self.panels.log_open,
                large_detail: self.panels.large_detail,
                list: self.panels.list.is_some() || self.panels.flame.is_some(),
                pinned: self.pinned(),
                is_still: self.is_still,
            },
        )
    }

    /// How many rows are pinned.
    fn pinned(&self) -> usize {
        let pinned = &self.camera.arrangement.pinned;
        let is_pinned = |row: &&ViewRow| row.track().is_some_and(|key| pinned.contains(&key));
        self.camera.rows.iter().take_while(is_pinned).count()
    }

    /// The loaded part, in the form that analyses take.
    pub(crate) fn window<'t>(&self, trace: &'t Trace) -> Window<'t> {
        Window::with(
            trace,
            Arc::clone(&self.document.dependencies),
            Arc::clone(&self.document.stalls),
        )
    }

    /// What stalls are explained by.
    pub(crate) fn known(&self) -> StallContext<'_> {
        StallContext {
            dependencies: &self.document.dependencies,
            stalls: &self.document.stalls,
        }
    }
}
