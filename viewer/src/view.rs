//! Drawing: from the state to cells. Nothing here changes the state.

mod arrows;
mod ascii;
mod call_site;
pub(crate) mod cells;
mod collectives;
mod critical;
mod describe;
mod detail;
mod drawn_content;
mod facts;
mod flame;
mod folded;
mod graphs;
mod help;
mod legend;
mod line;
mod links;
mod list;
mod log;
mod marks;
mod memory;
mod meters;
mod minimap;
mod nodes;
mod open_calls;
mod range_details;
mod ranges;
mod recording_totals;
mod route;
mod ruler;
mod stall_details;
mod status;
mod task_parts;
mod timeline;
mod tooltip;
mod track;
mod trail;
mod wait_release;

pub(crate) use flame::node_at;
pub(crate) use list::{column_at, first_entry};
use ratatui::buffer::Buffer;

use crate::app::{App, InputMode, ViewData};
use crate::layout::MIN_SIZE;

use links::SelectionLinks;

/// The content to draw.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) app: &'a App,
    pub(crate) world: ViewData<'a>,
    /// Links of the selection.
    pub(crate) links: &'a SelectionLinks,
}

/// Draws everything. The cost follows the size of the screen.
pub(crate) fn view(app: &App, world: ViewData<'_>, buffer: &mut Buffer) {
    if let Some(message) = too_small(app.size) {
        return sorry(&message, buffer);
    }
    let links = SelectionLinks::of(app, world.trace);
    let scene = Scene {
        app,
        world,
        links: &links,
    };
    let layout = app.layout();
    status::title(&scene, &layout, buffer);
    minimap::draw(&scene, &layout, buffer);
    ruler::draw(&scene, &layout, buffer);
    let drawn = timeline::draw(&scene, &layout, buffer);
    let hidden = arrows::draw(&scene, &layout, &drawn, buffer);
    marks::draw(&scene, &layout, buffer);
    log::draw(&scene, &layout, buffer);
    match (&app.panels.list, &app.panels.flame) {
        (Some(list), _) => list::draw(&scene, list, &layout, buffer),
        (None, Some(flame)) => flame::draw(&scene, flame, layout.detail, buffer),
        (None, None) => detail::draw(&scene, &layout, &drawn, buffer),
    }
    timeline::off_screen(&scene, &layout, buffer);
    status::status(&scene, &layout, buffer);
    if !app.is_still {
        status::hint(&scene, &layout, hidden, buffer);
        tooltip::draw(&scene, &layout, buffer);
    }
    if let InputMode::Help(first) = app.mode {
        help::draw(&scene, first, buffer);
    }
    if app.theme.is_ascii() {
        ascii::reduce(buffer);
    }
}

/// The details as text, all of them.
pub(crate) fn details(app: &App, world: ViewData<'_>) -> String {
    /// No line is that long.
    const ROOM: usize = 1_000;
    let links = SelectionLinks::default();
    let scene = Scene {
        app,
        world,
        links: &links,
    };
    let lines = detail::lines(&scene, &drawn_content::DrawnContent::default(), ROOM);
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// What to say when the terminal is too small.
pub(crate) fn too_small((width, height): (u16, u16)) -> Option<String> {
    let (least_width, least_height) = MIN_SIZE;
    (width < least_width || height < least_height).then(|| {
        format!("terminal too small: {width}x{height}, needs at least {least_width}x{least_height}")
    })
}

/// A message alone, in as many lines as it needs.
pub(crate) fn sorry(message: &str, buffer: &mut Buffer) {
    let area = buffer.area;
    let width = usize::from(area.width);
    let mut lines = vec![String::new()];
    for word in message.split(' ') {
        let Some(line) = lines.last_mut() else {
            return;
        };
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + 1 + word.len() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
        buffer.set_stringn(area.x, y, line, width, ratatui::style::Style::new());
    }
}
