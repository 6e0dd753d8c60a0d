//! Colours, and what takes their place where there are none.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

use crate::item::Category;

/// How many colours the terminal has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorMode {
    /// None: attributes and shapes tell everything.
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
    /// What the environment says. `NO_COLOR` counts when it is not empty.
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

/// A colour in all its strengths.
#[derive(Clone, Copy, Debug)]
struct Tone {
    rgb: (u8, u8, u8),
    ansi: Color,
}

const fn tone(r: u8, g: u8, b: u8, ansi: Color) -> Tone {
    let rgb = (r, g, b);
    Tone { rgb, ansi }
}

// After the palette of Okabe and Ito, which people with any colour vision can tell apart.
const KERNELS: [Tone; 5] = [
    tone(96, 184, 236, Color::Cyan),
    tone(132, 162, 245, Color::LightBlue),
    tone(88, 205, 205, Color::LightCyan),
    tone(166, 156, 240, Color::LightMagenta),
    tone(120, 196, 250, Color::Blue),
];
const COPY: Tone = tone(70, 190, 140, Color::Green);
const COPY_IN: Tone = tone(60, 175, 120, Color::Green);
const COPY_OUT: Tone = tone(150, 200, 80, Color::LightGreen);
const COLLECTIVE: Tone = tone(214, 100, 170, Color::LightMagenta);
const RANGES: [Tone; 4] = [
    tone(70, 84, 110, Color::Blue),
    tone(84, 74, 110, Color::Magenta),
    tone(62, 94, 96, Color::Cyan),
    tone(100, 86, 62, Color::Yellow),
];
const RANGE_INK: Tone = tone(226, 230, 236, Color::White);
const FILL: Tone = tone(150, 205, 120, Color::LightGreen);
const HOST_FUNC: Tone = tone(214, 140, 184, Color::Magenta);
const GRAPH: Tone = tone(236, 170, 70, Color::LightYellow);
const RECORD: Tone = tone(240, 220, 90, Color::Yellow);
const STALL: Tone = tone(232, 110, 60, Color::LightRed);
const IDLE: Tone = tone(168, 96, 66, Color::DarkGray);
const OTHER: Tone = tone(170, 170, 170, Color::Gray);
const LAUNCH: Tone = tone(130, 160, 190, Color::Blue);
const CALL: Tone = tone(150, 150, 150, Color::Gray);
const INK: Tone = tone(16, 20, 26, Color::Black);
const DIM: Tone = tone(125, 130, 138, Color::DarkGray);
const FAINT: Tone = tone(78, 84, 94, Color::DarkGray);
const ARROW: Tone = tone(200, 180, 90, Color::Yellow);
const CHOSEN: Tone = tone(255, 255, 255, Color::White);
const GOOD: Tone = tone(100, 200, 120, Color::Green);
const BAD: Tone = tone(240, 90, 90, Color::Red);
const ACCENT: Tone = tone(110, 190, 240, Color::Cyan);
const BAR: Tone = tone(38, 44, 54, Color::Reset);

/// Turns meanings into styles.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Theme {
    mode: ColorMode,
    ascii: bool,
}

impl Theme {
    pub(crate) fn new(mode: ColorMode) -> Self {
        Self { mode, ascii: false }
    }

    /// For terminals that show nothing but ASCII.
    pub(crate) fn with_ascii(self, ascii: bool) -> Self {
        Self { ascii, ..self }
    }

    pub(crate) fn is_ascii(self) -> bool {
        self.ascii
    }

    fn color(self, tone: Tone) -> Color {
        let (r, g, b) = tone.rgb;
        match self.mode {
            ColorMode::None => Color::Reset,
            ColorMode::Ansi => tone.ansi,
            ColorMode::Indexed => Color::Indexed(nearest_indexed(r, g, b)),
            ColorMode::Truecolor => Color::Rgb(r, g, b),
        }
    }

    fn tone(self, category: Category, name: &str) -> Tone {
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

    fn ink(self, tone: Tone) -> Style {
        match self.mode {
            ColorMode::None => Style::new(),
            _ => Style::new().fg(self.color(tone)),
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

    /// What fills a slice: where there are no colours, kinds are told apart by it.
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

    /// A piece of a slice with such a look.
    pub(crate) fn sample(self, category: Category, look: &str) -> Span<'static> {
        match self.mode {
            ColorMode::None => Span::styled(self.pattern(category), self.filled(category, look)),
            _ => Span::styled("█", self.shape(category, look)),
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
            _ => Style::new()
                .fg(self.color(INK))
                .bg(self.color(CHOSEN))
                .add_modifier(Modifier::BOLD),
        }
    }

    /// A shape that is selected.
    pub(crate) fn chosen_shape(self) -> Style {
        self.ink(CHOSEN).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn arrow(self, chosen: bool) -> Style {
        match chosen {
            true => self.ink(CHOSEN).add_modifier(Modifier::BOLD),
            false => self.ink(ARROW),
        }
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
            ColorMode::None => Style::new().add_modifier(Modifier::DIM),
            _ => self.ink(DIM),
        }
    }

    /// Lines and grounds.
    pub(crate) fn faint(self) -> Style {
        match self.mode {
            ColorMode::None => Style::new().add_modifier(Modifier::DIM),
            _ => self.ink(FAINT),
        }
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

    /// The ground of the title and status lines.
    pub(crate) fn bar(self) -> Style {
        match self.mode {
            ColorMode::None | ColorMode::Ansi => Style::new().add_modifier(Modifier::REVERSED),
            _ => Style::new().fg(self.color(CHOSEN)).bg(self.color(BAR)),
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
fn copy(direction: &str) -> Tone {
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

/// The nearest colour of the 6×6×6 cube or the grey ramp.
fn nearest_indexed(r: u8, g: u8, b: u8) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let level = |value: u8| {
        let nearest = LEVELS.iter().enumerate();
        nearest
            .min_by_key(|(_, it)| it.abs_diff(value))
            .map_or(0, |(index, _)| index)
    };
    let cube = [level(r), level(g), level(b)];
    let distance = |rgb: [u8; 3]| -> u32 {
        let pairs = rgb.iter().zip([r, g, b]);
        pairs
            .map(|(one, other)| u32::from(one.abs_diff(other)).pow(2))
            .sum()
    };
    let grey = (0..24_u8)
        .min_by_key(|step| distance([8 + step * 10; 3]))
        .unwrap_or(0);
    match distance([8 + grey * 10; 3]) < distance(cube.map(|index| LEVELS[index])) {
        true => 232 + grey,
        false => (16 + 36 * cube[0] + 6 * cube[1] + cube[2]) as u8,
    }
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

    #[test]
    fn the_palette_of_256_holds_the_nearest_colours() {
        assert_eq!(nearest_indexed(255, 0, 0), 196);
        assert_eq!(nearest_indexed(128, 128, 128), 244);
        assert_eq!(nearest_indexed(0, 0, 0), 16);
    }
}
