//! The colours, for terminals of every depth and ground.

use ratatui::style::Color;

/// A colour in all its strengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToneScale {
    pub(super) rgb: (u8, u8, u8),
    pub(super) ansi: Color,
}

const fn tone(r: u8, g: u8, b: u8, ansi: Color) -> ToneScale {
    let rgb = (r, g, b);
    ToneScale { rgb, ansi }
}

// After the palette of Okabe and Ito, which people with any colour vision can distinguish.
pub(super) const KERNELS: [ToneScale; 5] = [
    tone(96, 184, 236, Color::Cyan),
    tone(132, 162, 245, Color::LightBlue),
    tone(88, 205, 205, Color::LightCyan),
    tone(166, 156, 240, Color::LightMagenta),
    tone(120, 196, 250, Color::Blue),
];
pub(super) const COPY: ToneScale = tone(125, 178, 120, Color::Green);
pub(super) const COPY_IN: ToneScale = tone(40, 165, 95, Color::Green);
pub(super) const COPY_OUT: ToneScale = tone(175, 210, 60, Color::LightGreen);
pub(super) const COLLECTIVE: ToneScale = tone(214, 100, 170, Color::LightMagenta);
pub(super) const RANGES: [ToneScale; 4] = [
    tone(70, 84, 110, Color::Blue),
    tone(84, 74, 110, Color::Magenta),
    tone(62, 94, 96, Color::Cyan),
    tone(100, 86, 62, Color::Yellow),
];
pub(super) const RANGE_INK: ToneScale = tone(226, 230, 236, Color::White);
pub(super) const FILL: ToneScale = tone(218, 190, 140, Color::Yellow);
pub(super) const HOST_FUNC: ToneScale = tone(190, 130, 105, Color::LightRed);
pub(super) const GRAPH: ToneScale = tone(178, 112, 220, Color::Magenta);
pub(super) const RECORD: ToneScale = tone(240, 220, 90, Color::Yellow);
pub(super) const STALL: ToneScale = tone(226, 162, 40, Color::Yellow);
pub(super) const IDLE: ToneScale = tone(120, 126, 134, Color::DarkGray);
pub(super) const OTHER: ToneScale = tone(170, 170, 170, Color::Gray);
pub(super) const LAUNCH: ToneScale = tone(130, 160, 190, Color::Blue);
pub(super) const CALL: ToneScale = tone(150, 150, 150, Color::Gray);
pub(super) const INK: ToneScale = tone(16, 20, 26, Color::Black);
pub(super) const DIM: ToneScale = tone(125, 130, 138, Color::DarkGray);
pub(super) const FAINT: ToneScale = tone(78, 84, 94, Color::DarkGray);
pub(super) const ARROW: ToneScale = tone(200, 180, 90, Color::Yellow);
pub(super) const CHOSEN: ToneScale = tone(255, 255, 255, Color::White);
pub(super) const PATH: ToneScale = tone(255, 105, 200, Color::LightMagenta);
pub(super) const GOOD: ToneScale = tone(100, 200, 120, Color::Green);
pub(super) const BAD: ToneScale = tone(240, 90, 90, Color::Red);
pub(super) const ACCENT: ToneScale = tone(110, 190, 240, Color::Cyan);
pub(super) const BAR_LIGHT: ToneScale = tone(222, 226, 232, Color::Reset);
pub(super) const BAR: ToneScale = tone(38, 44, 54, Color::Reset);

/// The nearest colour of the 6×6×6 cube or the grey ramp.
pub(super) fn nearest_indexed(r: u8, g: u8, b: u8) -> u8 {
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

impl ToneScale {
    /// The same as text on a light ground.
    pub(super) fn on_light(self) -> Self {
        let darker = |part: u8| (u16::from(part) * 11 / 20) as u8;
        let (r, g, b) = self.rgb;
        Self {
            rgb: (darker(r), darker(g), darker(b)),
            ansi: match self.ansi {
                Color::White | Color::Gray => Color::Black,
                // Yellow cannot be read there, and red is for what failed.
                Color::LightRed | Color::LightYellow | Color::Yellow => Color::Magenta,
                Color::LightGreen => Color::Green,
                Color::LightBlue | Color::LightCyan | Color::Cyan => Color::Blue,
                Color::LightMagenta => Color::Magenta,
                other => other,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_palette_of_256_holds_the_nearest_colours() {
        assert_eq!(nearest_indexed(255, 0, 0), 196);
        assert_eq!(nearest_indexed(128, 128, 128), 244);
        assert_eq!(nearest_indexed(0, 0, 0), 16);
    }
}
