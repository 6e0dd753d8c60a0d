//! The colours of cells: those of a terminal become plain ones.

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

use crate::theme::TerminalBackground;

/// Red, green and blue.
pub(super) type Rgb = [u8; 3];

/// The colours of a terminal where a cell names none.
#[derive(Clone, Copy, Debug)]
pub(super) struct DefaultColors {
    pub(super) ground: Rgb,
    ink: Rgb,
    /// Dim text.
    dim: Rgb,
}

impl DefaultColors {
    pub(super) fn of(ground: TerminalBackground) -> Self {
        match ground {
            TerminalBackground::Dark => Self {
                ground: [0x14, 0x18, 0x1f],
                ink: [0xd7, 0xdb, 0xe2],
                dim: [0x8a, 0x90, 0x9a],
            },
            TerminalBackground::Light => Self {
                ground: [0xff, 0xff, 0xff],
                ink: [0x1c, 0x20, 0x26],
                dim: [0x77, 0x7d, 0x86],
            },
        }
    }
}

/// The colours of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CellColors {
    pub(super) ink: Rgb,
    /// `None` where the ground of the picture shows.
    pub(super) ground: Option<Rgb>,
}

impl CellColors {
    pub(super) fn of(cell: &Cell, defaults: DefaultColors) -> Self {
        let plain = match cell.modifier.contains(Modifier::DIM) {
            true => defaults.dim,
            false => defaults.ink,
        };
        let ink = rgb(cell.fg).unwrap_or(plain);
        let ground = rgb(cell.bg);
        match cell.modifier.contains(Modifier::REVERSED) {
            true => Self {
                ink: ground.unwrap_or(defaults.ground),
                ground: Some(ink),
            },
            false => Self { ink, ground },
        }
    }
}

/// `None` for a colour that the terminal decides.
fn rgb(color: Color) -> Option<Rgb> {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    match color {
        Color::Rgb(r, g, b) => Some([r, g, b]),
        Color::Indexed(grey @ 232..) => Some([8 + 10 * (grey - 232); 3]),
        Color::Indexed(cube @ 16..) => {
            let place = usize::from(cube - 16);
            Some([place / 36, place / 6 % 6, place % 6].map(|level| LEVELS[level]))
        }
        _ => None,
    }
}
