//! Colours, and their replacements on terminals without colours.

mod background;
mod palette;

use std::borrow::Cow;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use crate::item::Category;

pub use background::TerminalBackground;
use palette::{
    ACCENT, ARROW, BAD, BAR, BAR_LIGHT, CALL, CHOSEN, COLLECTIVE, COPY, COPY_IN, COPY_OUT, DIM,
    FAINT, FILL, GOOD, GRAPH, HOST_FUNC, IDLE, INK, KERNELS, LAUNCH, OTHER, PATH, RANGE_INK,
    RANGES, RECORD, STALL, ToneScale, nearest_indexed,
};

/// How many colours the terminal has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorMode {
    /// None: only attributes and shapes.
    None,
    /// The sixteen named ones.
    #[default]
    Ansi,
    /// The palette of 256.
    Indexed,
    /// 24 bits.
    Truecolor,
}

impl ColorMode {
    /// The mode that the environment asks for. `NO_COLOR` counts when it is not empty.
    pub fn detect(no_color: Option<&str>, colorterm: Option<&str>, term: Option<&str>) -> Self {
        let term = term.unwrap_or_default();
        if no_color.is_some_and(|it| !it.is_empty()) || term == "dumb" {
            return Self::None;
        }
        if matches!(colorterm, Some("truecolor" | "24bit")) || term.ends_with("-direct") {
            return Self::Truecolor;
        }
        match term.contains("256") {
            true => Self::Indexed,
            false => Self::Ansi,
        }
    }
}

/// Turns meanings into styles.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Theme {
    mode: ColorMode,
    ground: TerminalBackground,
    ascii: bool,
}

impl Theme {
    pub(crate) fn new(mode: ColorMode) -> Self {
        Self {
            mode,
            ground: TerminalBackground::Dark,
            ascii: false,
        }
    }

    /// For a terminal with this ground.
    pub(crate) fn on(self, ground: TerminalBackground) -> Self {
        Self { ground, ..self }
    }

    /// The background of the terminal.
    pub(crate) fn ground(self) -> TerminalBackground {
        self.ground
    }

    pub(crate) fn has_colors(self) -> bool {
        self.mode != ColorMode::None
    }

    /// For terminals that show nothing but ASCII.
    pub(crate) fn with_ascii(self, ascii: bool) -> Self {
        Self { ascii, ..self }
    }

    pub(crate) fn is_ascii(self) -> bool {
        self.ascii
    }

    /// Names of keys as they can be shown: where there are no arrows, other keys look like them.
    pub(crate) fn keys(self, names: &'static str) -> Cow<'static, str> {
        if !self.ascii || names.is_ascii() {
            return names.into();
        }
        let names = names.replace("←→↑↓", "arrows").replace("↑↓", "up down");
        let words = [("←", "left"), ("→", "right"), ("↑", "up"), ("↓", "down")];
        let names = words
            .iter()
            .fold(names, |names, (arrow, word)| names.replace(arrow, word));
        names.into()
    }

    fn color(self, tone: ToneScale) -> Color {
        let (r, g, b) = tone.rgb;
        match self.mode {
            ColorMode::None => Color::Reset,
            ColorMode::Ansi => tone.ansi,
            ColorMode::Indexed => Color::Indexed(nearest_indexed(r, g, b)),
            ColorMode::Truecolor => Color::Rgb(r, g, b),
        }
    }

    fn tone(self, category: Category, name: &str) -> ToneScale {
        match category {
            Category::Copy => copy(name),
            _ if is_collective(name) && category.is_work() => COLLECTIVE,
            Category::Kernel => KERNELS[hash(name) % KERNELS.len()],
            Category::Fill => FILL,
            Category::HostFunc => HOST_FUNC,
            Category::Graph => GRAPH,
            Category::Record => RECORD,
            Category::Wait | Category::Sync => STALL,
            Category::Other => OTHER,
            Category::Launch => LAUNCH,
            Category::Call => CALL,
        }
    }

    fn ink(self, tone: ToneScale) -> Style {
        let tone = match self.ground {
            TerminalBackground::Dark => tone,
            TerminalBackground::Light => tone.on_light(),
        };
        match self.mode {
            ColorMode::None => Style::new(),
            _ => Style::new().fg(self.color(tone)),
        }
    }

    /// The colour with the highest contrast to the background, and the text colour on it.
    fn extremes(self) -> (ToneScale, ToneScale) {
        match self.ground {
            TerminalBackground::Dark => (CHOSEN, INK),
            TerminalBackground::Light => (INK, CHOSEN),
        }
    }

    /// A range that the program named.
    pub(crate) fn range(self, name: &str) -> Style {
        match self.mode {
            ColorMode::None => Style::new().add_modifier(Modifier::UNDERLINED),
            _ => Style::new()
                .fg(self.color(RANGE_INK))
                .bg(self.color(RANGES[hash(name) % RANGES.len()])),
        }
    }

    /// The sign of such a range that is too short for more.
    pub(crate) fn range_shape(self, name: &str) -> Style {
        self.ink(RANGES[hash(name) % RANGES.len()])
    }

    /// A shape in the colour of a category. Slices of one name always have the same colour.
    pub(crate) fn shape(self, category: Category, name: &str) -> Style {
        self.ink(self.tone(category, name))
    }

    /// The pattern of a slice: it distinguishes kinds without colours.
    pub(crate) fn pattern(self, category: Category) -> &'static str {
        match (self.mode, category) {
            (ColorMode::None, Category::Copy) => ">",
            (ColorMode::None, Category::Fill) => "0",
            (ColorMode::None, Category::HostFunc) => "h",
            (ColorMode::None, Category::Graph) => "g",
            (ColorMode::None, Category::Other) => "o",
            (ColorMode::None, Category::Launch) => "'",
            (ColorMode::None, Category::Call) => "-",
            _ => " ",
        }
    }

    /// A part of a slice that is drawn as a block: of the same colour as its inside.
    pub(crate) fn block(self, category: Category, name: &str) -> Style {
        match self.mode {
            ColorMode::None => Style::new(),
            _ => Style::new().fg(self.color(self.tone(category, name))),
        }
    }

    /// A piece of a slice with such a look.
    pub(crate) fn sample(self, category: Category, look: &str) -> Span<'static> {
        match self.mode {
            ColorMode::None => Span::styled(self.pattern(category), self.filled(category, look)),
            _ => Span::styled("█", self.block(category, look)),
        }
    }

    /// The inside of a slice: text on its colour.
    pub(crate) fn filled(self, category: Category, name: &str) -> Style {
        match self.mode {
            ColorMode::None => Style::new().add_modifier(Modifier::REVERSED),
            _ => Style::new()
                .fg(self.color(INK))
                .bg(self.color(self.tone(category, name))),
        }
    }

    /// A shape that belongs to one slice on the ground of another.
    pub(crate) fn between(self, left: (Category, &str), right: (Category, &str)) -> Style {
        match self.mode {
            ColorMode::None => Style::new().add_modifier(Modifier::REVERSED),
            _ => Style::new()
                .fg(self.color(self.tone(left.0, left.1)))
                .bg(self.color(self.tone(right.0, right.1))),
        }
    }

    /// The inside of the selected slice.
    pub(crate) fn chosen(self) -> Style {
        match self.mode {
            ColorMode::None => Style::new()
                .add_modifier(Modifier::REVERSED | Modifier::BOLD | Modifier::UNDERLINED),
            _ => {
                let (ground, text) = self.extremes();
                Style::new()
                    .fg(self.color(text))
                    .bg(self.color(ground))
                    .add_modifier(Modifier::BOLD)
            }
        }
    }

    /// A shape that is selected.
    pub(crate) fn chosen_shape(self) -> Style {
        let style = match self.mode {
            ColorMode::None => Style::new(),
            _ => Style::new().fg(self.color(self.extremes().0)),
        };
        style.add_modifier(Modifier::BOLD)
    }

    /// An arrow of the selection, or another one.
    pub(crate) fn arrow(self, chosen: bool) -> Style {
        match chosen {
            true => self.chosen_shape(),
            false => self.ink(ARROW),
        }
    }

    /// The style at the other end of an arrow of the selection.
    pub(crate) fn linked(self) -> Style {
        self.chosen_shape()
    }

    /// The longest stalls.
    pub(crate) fn worst(self) -> Style {
        match self.mode {
            ColorMode::None => self.strong(),
            _ => self.ink(BAD),
        }
    }

    /// The critical path.
    pub(crate) fn path(self) -> Style {
        self.ink(PATH).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn stall(self) -> Style {
        self.ink(STALL)
    }

    /// An idle stretch of a stream: time that was lost, though less loudly than in a wait.
    pub(crate) fn idle(self) -> Style {
        match self.mode {
            ColorMode::None | ColorMode::Ansi => self.faint(),
            _ => self.ink(IDLE),
        }
    }

    /// Less important text.
    pub(crate) fn dim(self) -> Style {
        match self.mode {
            // Of the sixteen colours none is sure to be seen dimly on every ground.
            ColorMode::None | ColorMode::Ansi => Style::new().add_modifier(Modifier::DIM),
            _ => self.ink(DIM),
        }
    }

    /// Lines and grounds.
    pub(crate) fn faint(self) -> Style {
        match self.mode {
            ColorMode::None | ColorMode::Ansi => Style::new().add_modifier(Modifier::DIM),
            _ => self.ink(FAINT),
        }
    }

    /// Names, in the terminal's own colour.
    pub(crate) fn plain(self) -> Style {
        Style::new()
    }

    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn accent(self) -> Style {
        self.ink(ACCENT).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn good(self) -> Style {
        self.ink(GOOD).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn bad(self) -> Style {
        match self.mode {
            ColorMode::None => Style::new().add_modifier(Modifier::REVERSED),
            _ => self.ink(BAD).add_modifier(Modifier::BOLD),
        }
    }

    /// The inside of what failed.
    pub(crate) fn failed(self) -> Style {
        match self.mode {
            ColorMode::None => Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD),
            _ => Style::new()
                .fg(self.color(INK))
                .bg(self.color(BAD))
                .add_modifier(Modifier::BOLD),
        }
    }

    /// The style of the tip over the lanes.
    pub(crate) fn tip(self) -> Style {
        self.bar().add_modifier(Modifier::BOLD)
    }

    /// The ground of the title and status lines.
    pub(crate) fn bar(self) -> Style {
        match self.mode {
            ColorMode::None | ColorMode::Ansi => Style::new().add_modifier(Modifier::REVERSED),
            _ => {
                let bar = match self.ground {
                    TerminalBackground::Dark => BAR,
                    TerminalBackground::Light => BAR_LIGHT,
                };
                let text = self.color(self.extremes().0);
                Style::new().fg(text).bg(self.color(bar))
            }
        }
    }

    /// Text of a given style on the ground of [`Self::bar`].
    pub(crate) fn on_bar(self, style: Style) -> Style {
        match self.mode {
            ColorMode::None | ColorMode::Ansi => self.bar().add_modifier(style.add_modifier),
            _ => self.bar().patch(style),
        }
    }
}

/// Whether an operation of this name exchanges data between ranks.
pub(crate) fn is_collective(name: &str) -> bool {
    ["Hccl", "Lccl"].iter().any(|it| name.starts_with(it))
}

/// Copies have a colour for each direction.
fn copy(direction: &str) -> ToneScale {
    match direction {
        "H→D" => COPY_IN,
        "D→H" => COPY_OUT,
        _ => COPY,
    }
}

/// FNV-1a: the same on every host, so that colours never change between runs.
fn hash(name: &str) -> usize {
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    (hash ^ hash >> 15) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_decides_the_colours() {
        let detect = ColorMode::detect;
        assert_eq!(
            detect(None, Some("truecolor"), Some("xterm")),
            ColorMode::Truecolor
        );
        assert_eq!(
            detect(None, None, Some("tmux-256color")),
            ColorMode::Indexed
        );
        assert_eq!(detect(None, None, Some("linux")), ColorMode::Ansi);
        assert_eq!(detect(None, None, None), ColorMode::Ansi);
        assert_eq!(detect(Some("1"), Some("truecolor"), None), ColorMode::None);
        assert_eq!(detect(Some(""), Some("24bit"), None), ColorMode::Truecolor);
        assert_eq!(
            detect(None, Some("truecolor"), Some("dumb")),
            ColorMode::None
        );
    }

    #[test]
    fn without_colour_no_style_names_one() {
        let theme = Theme::new(ColorMode::None);
        let styles = Category::ALL.map(|it| theme.filled(it, "x")).into_iter();
        let others = [
            theme.chosen(),
            theme.bar(),
            theme.stall(),
            theme.bad(),
            theme.dim(),
        ];
        for style in styles.chain(others) {
            assert!(matches!(style.fg, None | Some(Color::Reset)), "{style:?}");
            assert!(matches!(style.bg, None | Some(Color::Reset)), "{style:?}");
        }
    }
}
