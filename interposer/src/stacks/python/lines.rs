//! The line of an instruction, by the table that a code object has for that.

/// How tables of lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// 3.8 and 3.9: pairs of steps from one line to the next (`co_lnotab`).
    Pairs,
    /// 3.10: pairs of lengths and of steps (`co_linetable`).
    Ranges,
    /// From 3.11 on: entries with columns.
    Locations,
}

/// Bytes of a unit of instructions.
const UNIT: u32 = 2;

/// The line of the instruction at an offset, when the code's first line is `first`. `None` for instructions that
/// are of no line.
pub(super) fn line(
    table: Table,
    bytes: impl Iterator<Item = u8>,
    first: u32,
    offset: u32,
) -> Option<u32> {
    let line = match table {
        Table::Pairs => in_pairs(bytes, first, offset),
        Table::Ranges => in_ranges(bytes, first, offset),
        Table::Locations => in_locations(bytes, first, offset),
    };
    line.filter(|line| *line > 0).map(i32::cast_unsigned)
}

fn in_pairs(mut bytes: impl Iterator<Item = u8>, first: u32, offset: u32) -> Option<i32> {
    let (mut line, mut begin) = (first.cast_signed(), 0u32);
    while let (Some(length), Some(step)) = (bytes.next(), bytes.next()) {
        begin = begin.saturating_add(length.into());
        if begin > offset {
            break;
        }
        line = line.wrapping_add(i32::from(step.cast_signed()));
    }
    Some(line)
}

fn in_ranges(mut bytes: impl Iterator<Item = u8>, first: u32, offset: u32) -> Option<i32> {
    const NO_LINE: i8 = -128;
    let (mut line, mut end) = (first.cast_signed(), 0u32);
    while let (Some(length), Some(step)) = (bytes.next(), bytes.next()) {
        end = end.saturating_add(length.into());
        let step = step.cast_signed();
        if step != NO_LINE {
            line = line.wrapping_add(i32::from(step));
        }
        if offset < end {
            return (step != NO_LINE).then_some(line);
        }
    }
    None
}

fn in_locations(bytes: impl Iterator<Item = u8>, first: u32, offset: u32) -> Option<i32> {
    /// Kinds of entries. Those below have their columns and no step.
    const ONE_LINE: u8 = 10;
    const NO_COLUMNS: u8 = 13;
    const LONG: u8 = 14;
    const NONE: u8 = 15;
    let mut bytes = bytes.peekable();
    let (mut line, mut end) = (first.cast_signed(), 0u32);
    while let Some(head) = bytes.next() {
        let kind = head >> 3 & 15;
        let length = (u32::from(head & 7) + 1) * UNIT;
        let step = match kind {
            ONE_LINE..NO_COLUMNS => i32::from(kind - ONE_LINE),
            NO_COLUMNS | LONG => signed(&mut bytes)?,
            _ => 0,
        };
        line = line.wrapping_add(step);
        end = end.saturating_add(length);
        if offset < end {
            return (kind != NONE).then_some(line);
        }
        // The head of the next entry is the next byte with the upper bit.
        while bytes.next_if(|byte| byte & 0x80 == 0).is_some() {}
    }
    None
}

/// A signed number: its lowest bit is its sign. Six bits of each byte count, and one says that there are more.
fn signed(bytes: &mut impl Iterator<Item = u8>) -> Option<i32> {
    let mut value = 0u32;
    for shift in (0..u32::BITS).step_by(6) {
        let byte = bytes.next()?;
        value |= u32::from(byte & 63) << shift;
        if byte & 64 == 0 {
            break;
        }
    }
    let size = (value >> 1).cast_signed();
    Some(match value & 1 {
        0 => size,
        _ => -size,
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Prints the codes of some modules: first line, table, and lines at offsets, as the interpreter has them.
    const SCRIPT: &str = r#"
import sys, types, argparse, difflib, inspect, textwrap
version = sys.version_info
kind = "pairs" if version < (3, 10) else "ranges" if version < (3, 11) else "locations"
def codes(code):
    yield code
    for it in code.co_consts:
        if isinstance(it, types.CodeType):
            yield from codes(it)
def lines(code):
    if version >= (3, 10):
        for begin, end, line in code.co_lines():
            for at in range(begin, end, 2):
                yield at, line
    else:
        import dis
        line, starts = code.co_firstlineno, dict(dis.findlinestarts(code))
        for at in range(0, len(code.co_code), 2):
            line = starts.get(at, line)
            yield at, line
odd = "def f():\n" + "\n" * 400 + "    a = (1,\n" + "\n" * 300 + "      b)\n    try:\n        g()\n    finally:\n        h()\n" + "    x = " + "(" * 80 + "1" + ")" * 80 + "\n"
sources = [(it.__file__, open(it.__file__).read()) for it in (argparse, difflib, inspect, textwrap)]
for name, source in sources + [("odd", odd)]:
    for code in codes(compile(source, name, "exec")):
        table = code.co_lnotab if version < (3, 10) else code.co_linetable
        expected = ",".join("%d:%d" % (at, line or 0) for at, line in lines(code))
        print(kind, code.co_firstlineno, table.hex() or "-", expected or "-")
"#;

    /// The interpreters that there are: `python3`, and those that `ASCEND_TRACE_PYTHONS` names.
    #[expect(clippy::disallowed_methods, reason = "no program is traced here")]
    fn pythons() -> Vec<String> {
        let further = std::env::var("ASCEND_TRACE_PYTHONS").unwrap_or_default();
        let further = further.split(':').filter(|it| !it.is_empty());
        core::iter::once("python3")
            .chain(further)
            .map(ToOwned::to_owned)
            .collect()
    }

    fn bytes(hexadecimal: &str) -> Vec<u8> {
        let digits = hexadecimal.as_bytes().chunks_exact(2);
        let byte = |it: &[u8]| u8::from_str_radix(std::str::from_utf8(it).unwrap(), 16);
        digits.map(|it| byte(it).unwrap()).collect()
    }

    #[test]
    #[expect(
        clippy::disallowed_macros,
        clippy::print_stderr,
        reason = "skipped tests say why"
    )]
    fn lines_are_those_that_interpreters_have() {
        for python in pythons() {
            let Ok(output) = Command::new(&python).args(["-c", SCRIPT]).output() else {
                eprintln!("skipped: there is no python3");
                continue;
            };
            assert!(output.status.success(), "{python}: {output:?}");
            let text = String::from_utf8(output.stdout).unwrap();
            let mut count = 0;
            for code in text.lines() {
                let [kind, first, table, expected] =
                    code.split(' ').collect::<Vec<_>>().try_into().unwrap();
                let kind = match kind {
                    "pairs" => Table::Pairs,
                    "ranges" => Table::Ranges,
                    _ => Table::Locations,
                };
                let (first, table) = (first.parse().unwrap(), bytes(table.trim_start_matches('-')));
                for pair in expected.split(',').filter(|it| *it != "-") {
                    let (offset, expected) = pair.split_once(':').unwrap();
                    let offset = offset.parse().unwrap();
                    let found = line(kind, table.iter().copied(), first, offset).unwrap_or(0);
                    assert_eq!(found.to_string(), expected, "{python}: {code} at {offset}");
                    count += 1;
                }
            }
            assert!(count > 10_000, "{python}: {count}");
        }
    }

    #[test]
    fn any_table_ends() {
        let mut state = 1u64;
        for length in 0..2000 {
            let noise: Vec<u8> = (0..length % 40)
                .map(|_| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                    (state >> 33) as u8
                })
                .collect();
            for table in [Table::Pairs, Table::Ranges, Table::Locations] {
                for offset in [0, 8, u32::MAX] {
                    line(table, noise.iter().copied(), u32::MAX, offset);
                }
            }
        }
    }
}
