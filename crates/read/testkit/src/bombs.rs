//! Small trace files that ask for much memory: each expands a few bytes to the most that the format can
//! express. Written byte by byte, like all of [`bytes`](crate::bytes).

use crate::bytes::{Column, TraceBytes};

/// A file that was made to exhaust its reader's memory.
#[derive(Clone, Debug)]
pub struct Bomb {
    /// The multiplied part.
    pub name: &'static str,
    pub bytes: Vec<u8>,
}

const TABLES: &str = r#"{"functions":[{"name":"aclrtSetDevice","category":"device","role":"none","task":"","blocks":"no","ret":"error","stream":null,"event":null,"bytes":null,"label":null,"args":[{"name":"name","kind":"string","out":false,"enumeration":""}]}]}"#;

/// Columns of a call with nothing to it.
fn call(rows: u32) -> Vec<Column> {
    let same = || Column::numbers(&[0]).same();
    let mut columns: Vec<Column> = (0..22).map(|_| same()).collect();
    columns[0] = Column::repeated(1, rows);
    columns[2] = Column::signed(&[100]).same();
    columns[3] = Column::signed(&[50]).same();
    for empty in [10, 12, 13, 15, 17, 18, 19, 20, 21] {
        columns[empty] = Column::default();
    }
    columns
}

fn file() -> TraceBytes {
    TraceBytes::new(1)
        .chunk(b"SESS", b"{}")
        .chunk(b"TABL", &crate::bytes::packed(TABLES.as_bytes()))
}

/// Chunks of a small file.
const FEW: u64 = 4;

/// The files, by their multiplied part.
pub fn all() -> Vec<Bomb> {
    let mut bombs = vec![
        texts(),
        arguments(),
        calls(),
        copies(),
        tables(),
        constants(),
        enumerations(),
    ];
    bombs.extend(entities());
    bombs
}

/// Files with calls that name more things than such a file can have, or keep each other in memory.
pub fn crowds() -> Vec<Bomb> {
    vec![
        threads_of_calls(FEW),
        streams_of_tasks(FEW),
        tasks_that_never_end(FEW),
        streams_that_are_made(FEW),
    ]
}

/// As [`crowds`], of some megabytes each.
pub fn large() -> Vec<Bomb> {
    vec![
        threads_of_calls(20),
        streams_of_tasks(20),
        tasks_that_never_end(100),
        streams_that_are_made(20),
    ]
}

/// One text of the greatest length, to which each of many calls refers 255 times.
fn texts() -> Bomb {
    let rows = 120_000;
    let mut columns = call(rows);
    columns[16] = Column::numbers(&[255]).same();
    columns[17] = Column::numbers(&[2]).same();
    let first = {
        let mut columns = call(1);
        columns[16] = Column::numbers(&[1]);
        columns[17] = Column::numbers(&[1]);
        columns[18] = Column::texts(&[&"x".repeat(4096)]);
        columns
    };
    // The text has to be in the chunk of the calls that refer to it: its first call brings it.
    columns[16] = Column::numbers(&[1]).then(&Column::repeated(255, rows - 1));
    columns[17] = Column::numbers(&[1]).then(&Column::repeated(2, 255 * (rows / 8)));
    columns[18] = first[18].clone();
    Bomb {
        name: "references to a text",
        bytes: file().packed_table(b"CALL", rows, &columns).into_bytes(),
    }
}

/// 255 arguments for each of many calls.
fn arguments() -> Bomb {
    let rows = 120_000;
    let mut columns = call(rows);
    columns[14] = Column::numbers(&[255]).same();
    columns[20] = Column::numbers(&[0]).same();
    Bomb {
        name: "arguments",
        bytes: file().packed_table(b"CALL", rows, &columns).into_bytes(),
    }
}

/// As many calls in one chunk as its length allows.
fn calls() -> Bomb {
    let rows = 6_000_000;
    Bomb {
        name: "calls in a chunk",
        bytes: file().packed_table(b"CALL", rows, &call(rows)).into_bytes(),
    }
}

/// Many chunks with as many calls as a chunk may have.
fn copies() -> Bomb {
    let mut bytes = file();
    for _ in 0..40 {
        bytes = bytes.packed_table(b"CALL", 120_000, &call(120_000));
    }
    Bomb {
        name: "calls in many chunks",
        bytes: bytes.into_bytes(),
    }
}

/// Chunks of calls with something that is another one in each call.
fn each(name: &'static str, chunks: u64, change: impl Fn(&mut Vec<Column>, &[u64])) -> Bomb {
    const ROWS: u32 = 120_000;
    let mut bytes = file();
    for chunk in 0..chunks {
        // So large that they all take three bytes, and pack well.
        let first = (1 << 14) + chunk * u64::from(ROWS);
        let in_turn = first..first + u64::from(ROWS);
        // Data that does not pack well makes a large file of the same rows.
        let scattered = |number: u64| (number * 0x9_e377) % (1 << 22) + (1 << 14);
        let numbers: Vec<u64> = match chunks > FEW {
            true => in_turn.map(scattered).collect(),
            false => in_turn.collect(),
        };
        let mut columns = call(ROWS);
        change(&mut columns, &numbers);
        bytes = bytes.packed_table(b"CALL", ROWS, &columns);
    }
    Bomb {
        name,
        bytes: bytes.into_bytes(),
    }
}

/// A separate thread makes each call.
fn threads_of_calls(chunks: u64) -> Bomb {
    each("threads of calls", chunks, |columns, numbers| {
        columns[0] = Column::numbers(numbers).split();
    })
}

/// A kernel for each call.
fn kernels(columns: &mut [Column]) {
    columns[11] = Column::numbers(&[4]).same();
    columns[12] = Column::numbers(&[0]).same();
    columns[13] = Column::signed(&[1]).same();
}

/// Each task runs on a separate stream.
fn streams_of_tasks(chunks: u64) -> Bomb {
    each("streams of tasks", chunks, |columns, numbers| {
        columns[7] = Column::numbers(numbers).split();
        kernels(columns);
    })
}

/// Tasks without times, spread over some streams.
fn tasks_that_never_end(chunks: u64) -> Bomb {
    each("tasks that never end", chunks, |columns, numbers| {
        let streams: Vec<u64> = numbers.iter().map(|it| 1 + it % 100).collect();
        columns[7] = Column::numbers(&streams);
        kernels(columns);
    })
}

/// Calls that are kept for as long as there may be something on their streams.
fn streams_that_are_made(chunks: u64) -> Bomb {
    let bomb = each("streams that are made", chunks, |columns, numbers| {
        columns[7] = Column::numbers(numbers).split();
    });
    let tables = TABLES.replace("\"none\"", "\"create-stream\"");
    let leading = file().into_bytes().len();
    let own = TraceBytes::new(1)
        .chunk(b"SESS", b"{}")
        .chunk(b"TABL", &crate::bytes::packed(tables.as_bytes()));
    Bomb {
        bytes: own.raw(&bomb.bytes[leading..]).into_bytes(),
        ..bomb
    }
}

/// Functions without a name.
fn tables() -> Bomb {
    let one = r#"{"name":"","category":"","role":"","task":"","blocks":"","ret":"","stream":0,"event":0,"bytes":0,"args":[]},"#;
    let mut text = format!("{{\"functions\":[{}", one.repeat(14_000));
    text.pop();
    text.push_str("]}");
    Bomb {
        name: "functions",
        bytes: file().packed_chunk(b"TABL", text.as_bytes()).into_bytes(),
    }
}

/// Constants of an enumeration.
fn constants() -> Bomb {
    let all: Vec<String> = (0..90_000).map(|it| format!("\"{it}\":\"\"")).collect();
    let text = format!("{{\"enumerations\":{{\"e\":{{{}}}}}}}", all.join(","));
    Bomb {
        name: "constants",
        bytes: file().packed_chunk(b"TABL", text.as_bytes()).into_bytes(),
    }
}

/// Enumerations with one constant each.
fn enumerations() -> Bomb {
    let all: Vec<String> = (0..35_000)
        .map(|it| format!("\"{it}\":{{\"1\":\"a\"}}"))
        .collect();
    let text = format!("{{\"enumerations\":{{{}}}}}", all.join(","));
    Bomb {
        name: "enumerations",
        bytes: file().packed_chunk(b"TABL", text.as_bytes()).into_bytes(),
    }
}

/// Processes, threads, contexts, streams, events, ranges, names, libraries, costs and losses.
fn entities() -> impl Iterator<Item = Bomb> {
    let rows = 120_000_u32;
    let kinds: [(&'static str, &[u8; 4], usize, &[usize]); 10] = [
        ("processes", b"PROC", 7, &[4, 5, 6]),
        ("threads", b"THRD", 4, &[3]),
        ("contexts", b"CTXT", 5, &[]),
        ("streams", b"STRM", 10, &[]),
        ("events", b"EVNT", 6, &[]),
        ("ranges", b"RNGE", 6, &[5]),
        ("names", b"NAME", 4, &[3]),
        ("libraries", b"COVR", 6, &[0, 1, 5]),
        ("costs", b"COST", 8, &[]),
        ("losses", b"LOSS", 4, &[]),
    ];
    kinds.into_iter().map(move |(name, kind, count, texts)| {
        // Different things, distinguished by any column.
        let numbers: Vec<u64> = (0..u64::from(rows)).collect();
        let columns: Vec<Column> = (0..count)
            .map(|column| match column {
                0 | 1 if !texts.contains(&column) => Column::numbers(&numbers),
                _ => Column::repeated(0, rows),
            })
            .collect();
        Bomb {
            name,
            bytes: file().packed_table(kind, rows, &columns).into_bytes(),
        }
    })
}
