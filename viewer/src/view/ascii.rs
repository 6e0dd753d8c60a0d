//! The same picture for terminals that have only ASCII.

use ratatui::buffer::Buffer;

/// The ASCII replacement of a symbol.
fn plain(symbol: &str) -> &'static str {
    match symbol {
        "─" | "━" | "╌" | "┈" => "-",
        "╍" | "═" => "=",
        "│" | "┃" | "┊" | "╷" | "▏" | "▎" | "▍" | "‖" => "|",
        "┌" | "┐" | "└" | "┘" | "├" | "┤" | "┬" | "┴" | "┼" => "+",
        "┏" | "┓" | "┗" | "┛" | "┣" | "┫" | "┳" | "┻" | "╋" => "+",
        "╭" | "╮" | "╰" | "╯" => "+",
        "▼" | "↓" => "v",
        "▲" | "↑" => "^",
        "⇒" | "►" | "▶" | "▹" | "▸" | "→" => ">",
        "◄" | "←" => "<",
        "◆" | "●" => "*",
        "◇" => "o",
        "▚" => "/",
        "❖" | "▒" => "%",
        "▪" | "·" | "⡀" | "⣀" | "▁" | "▂" => ".",
        "░" | "⣄" | "⣤" | "▃" | "▄" => ":",
        "⣦" | "⣶" | "▅" | "▆" => "+",
        "⣷" | "⣿" | "▇" | "█" | "▉" | "▊" | "▋" | "▌" | "■" => "#",
        "…" | "±" | "≈" => "~",
        "≥" => ">",
        "µ" | "μ" => "u",
        "×" => "x",
        "“" | "”" => "\"",
        _ => "?",
    }
}

/// Puts ASCII in the place of everything else.
pub(crate) fn reduce(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let symbol = plain(cell.symbol());
            cell.set_symbol(symbol);
        }
    }
}
