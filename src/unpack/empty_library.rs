//! A shared library with nothing in it, for its name alone.

/// Sizes in a file for 64 bits.
const HEADER: u64 = 64;
const SEGMENT: u64 = 56;
const SEGMENTS: u64 = 3;
const ENTRY: u64 = 16;
const SYMBOL: u64 = 24;

/// What `e_machine` is where this tool runs.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") {
    183
} else {
    62
};

const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
/// Without it the loader would make all stacks executable.
const STACK: u32 = 0x6474_e551;
const READ_WRITE: u32 = 6;

/// The content of the file: headers, a table of symbols with the one that every table has, a table of names and one of
/// hashes for it, and the list that says where those are.
pub(super) fn library() -> Vec<u8> {
    let symbols = HEADER + SEGMENTS * SEGMENT;
    let hashes = symbols + SYMBOL;
    let names = hashes + 16;
    let list = names + 8;
    let entries: [[u64; 2]; 6] = [
        [4, hashes],  // DT_HASH
        [5, names],   // DT_STRTAB
        [6, symbols], // DT_SYMTAB
        [10, 1],      // DT_STRSZ
        [11, SYMBOL], // DT_SYMENT
        [0, 0],
    ];
    let length = ENTRY * entries.len() as u64;
    let mut file = header();
    segment(&mut file, LOAD, [0, list + length], 0x1_0000);
    segment(&mut file, DYNAMIC, [list, length], 8);
    segment(&mut file, STACK, [0, 0], 16);
    file.resize(hashes as usize, 0);
    // One bucket and one symbol: no chain.
    numbers(&mut file, &[1, 1, 0, 0]);
    file.resize(list as usize, 0);
    for number in entries.into_iter().flatten() {
        file.extend(number.to_le_bytes());
    }
    file
}

fn header() -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    for half in [3, MACHINE] {
        file.extend(half.to_le_bytes());
    }
    numbers(&mut file, &[1]);
    // No entry point, the segments behind this header, no sections.
    for number in [0, HEADER, 0] {
        file.extend(number.to_le_bytes());
    }
    numbers(&mut file, &[0]);
    for half in [HEADER as u16, SEGMENT as u16, SEGMENTS as u16, 0, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    file
}

/// Addresses are places in the file.
fn segment(file: &mut Vec<u8>, kind: u32, [place, length]: [u64; 2], align: u64) {
    numbers(file, &[kind, READ_WRITE]);
    for number in [place, place, place, length, length, align] {
        file.extend(number.to_le_bytes());
    }
}

fn numbers(file: &mut Vec<u8>, numbers: &[u32]) {
    numbers
        .iter()
        .for_each(|number| file.extend(number.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    /// Loaded before a program's libraries it exists and prints nothing.
    #[test]
    fn the_loader_takes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libmspti.so");
        std::fs::write(&path, super::library()).unwrap();
        let mut cat = Command::new("cat");
        let output = cat
            .arg("/proc/self/maps")
            .env("LD_PRELOAD", &path)
            .output()
            .unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{output:?}"
        );
        assert!(String::from_utf8_lossy(&output.stdout).contains("libmspti.so"));
    }
}
