//! Meanings of the shapes and colours on screen: exactly of the visible ones.

use ratatui::style::Style;
use ratatui::text::Span;

use crate::item::Category;

use super::critical::{PATH, TIE};
use super::drawn_content::{DrawnContent, SliceKind};
use super::facts::SpanGroup;
use super::track::{CAPTURING, DOTS, FAILED, IDLE, LAUNCHED, RETURNING, STALL, UNCERTAIN, UNKNOWN};
use super::{Scene, open_calls};

/// Alternative symbols (at least one is visible), the shown symbol, its style and its meaning.
type LegendShape = (&'static [&'static str], &'static str, Style, &'static str);

/// The kinds and shapes that are on screen, each with its meaning.
pub(super) fn of(scene: &Scene<'_>, drawn: &DrawnContent) -> Vec<SpanGroup> {
    let theme = scene.app.theme;
    let kinds = SliceKind::ALL
        .into_iter()
        .filter(|it| drawn.kinds().contains(it));
    let kinds = kinds.map(|kind| {
        let (category, look) = kind.sample();
        (theme.sample(category, look), kind.word())
    });
    let shapes = shapes(scene).into_iter();
    let shapes = shapes.filter(|(symbols, ..)| drawn.has_symbol(symbols));
    let shapes = shapes.map(|(_, symbol, style, word)| (Span::styled(symbol, style), word));
    let failed = drawn.failed.then(|| Span::styled(FAILED, theme.failed()));
    let failed = failed.map(|span| (span, "failed"));
    let worst = drawn.worst.then(|| Span::styled(STALL, theme.worst()));
    let worst = worst.map(|span| (span, "longest stalls"));
    let entries = kinds.chain(shapes).chain(worst).chain(failed);
    entries
        .map(|(sample, word)| vec![sample, Span::raw(format!(" {word}"))])
        .collect()
}

fn shapes(scene: &Scene<'_>) -> [LegendShape; 12] {
    let theme = scene.app.theme;
    let (record, call) = (Category::Record, Category::Call);
    let kernel = theme.block(Category::Kernel, "");
    [
        (&["◆"], "◆", theme.shape(record, ""), "event record"),
        (&["◇", STALL], STALL, theme.stall(), "wait, sync"),
        (&[RETURNING], RETURNING, theme.stall(), "return"),
        (&[IDLE], IDLE, theme.idle(), "idle"),
        (MANY, "⣀⣤⣶", theme.shape(call, ""), "many slices"),
        (&[UNCERTAIN], UNCERTAIN, kernel, "may not have run"),
        (&[LAUNCHED], LAUNCHED, theme.dim(), "no device time"),
        (
            &[open_calls::OPEN],
            open_calls::OPEN,
            theme.dim(),
            "not returned",
        ),
        (&[CAPTURING], CAPTURING, theme.accent(), "capture"),
        (&[UNKNOWN], UNKNOWN, theme.faint(), "not read"),
        (&[PATH], PATH, theme.path(), "critical path"),
        (&[TIE], TIE, theme.path(), "critical path, or another"),
    ]
}

/// The dots of cells with many slices.
const MANY: &[&str] = DOTS.split_first().unwrap().1;
