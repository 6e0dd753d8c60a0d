//! `doctor --measure`: what timing tasks by events does to a device, found out by a program that is run there.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, bail};
use ascend_trace_recording::units::duration;

use crate::launch::Environment;
use crate::text_table::TableRows;
use crate::unpack;

/// Measured values in nanoseconds, by the names that the program gives them.
struct MeasuredTimes {
    chip: String,
    numbers: BTreeMap<String, i64>,
}

/// Rows of the table with two ways: what, without events, with one before and one after each task.
const TWO_WAYS: [(&str, &str, &str); 4] = [
    ("submitting a task", "submit_1_bare", "submit_1_timed"),
    ("then synchronising", "wait_1_bare", "wait_1_timed"),
    (
        "submitting one of 8 tasks",
        "submit_8_bare",
        "submit_8_timed",
    ),
    ("then synchronising", "wait_8_bare", "wait_8_timed"),
];

/// Rows with one number.
const ONE_WAY: [(&str, &str); 3] = [
    ("an event record, on the device", "record"),
    ("asking whether an event is done", "query"),
    ("reading the time between two", "elapsed"),
];

/// Runs the program on a device and returns its results, as a text.
pub(super) fn on_device(device: u32, environment: &Environment) -> anyhow::Result<String> {
    let program = unpack::demo()?;
    let mut command = Command::new(&program);
    environment.apply(&mut command);
    let output = command
        .args(["measure", &device.to_string()])
        .output()
        .with_context(|| format!("cannot run {}", program.display()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let message = message.trim();
        bail!(
            "nothing could be measured on device {device}: {}",
            if message.is_empty() {
                output.status.to_string()
            } else {
                message.to_owned()
            }
        );
    }
    let measured = MeasuredTimes::read(&String::from_utf8_lossy(&output.stdout));
    Ok(measured.text(device))
}

impl MeasuredTimes {
    fn read(lines: &str) -> Self {
        let mut measured = Self {
            chip: "unknown".to_owned(),
            numbers: BTreeMap::new(),
        };
        for (name, value) in lines.lines().filter_map(|line| line.split_once(' ')) {
            match value.parse() {
                Ok(number) => drop(measured.numbers.insert(name.to_owned(), number)),
                Err(_) if name == "chip" => value.clone_into(&mut measured.chip),
                Err(_) => {}
            }
        }
        measured
    }

    fn number(&self, name: &str) -> String {
        let known = self.numbers.get(name);
        known.map_or_else(|| "-".to_owned(), |number| duration(*number))
    }

    fn text(&self, device: u32) -> String {
        let mut text = format!(
            "Measured on device {device} ({}), medians of 200\n",
            self.chip
        );
        let more = |bare: &str, timed: &str| {
            let pair = self.numbers.get(timed).zip(self.numbers.get(bare));
            pair.map_or_else(String::new, |(timed, bare)| duration(timed - bare))
        };
        let two = TWO_WAYS.map(|(what, bare, timed)| (what, bare, Some(timed)));
        let one = ONE_WAY.map(|(what, name)| (what, name, None));
        let table = TableRows::of(two.into_iter().chain(one))
            .left("what", |it| it.0)
            .right("untimed", |it| self.number(it.1))
            .right("timed", |it| {
                it.2.map_or_else(String::new, |it| self.number(it))
            })
            .right("more", |(_, bare, timed)| {
                timed.map_or_else(String::new, |timed| more(bare, timed))
            })
            .table();
        text.push_str(&table.render(2));
        text.push_str(&format!(
            "  event records took {} to {} each; the tool subtracts this from the times of tasks\n",
            self.number("record_least"),
            self.number("record_most"),
        ));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_the_program_becomes_a_table() {
        let output =
            "chip Ascend910B1\nwait_1_bare 2000\nwait_1_timed 33000\nrecord 1500\nnonsense\n";
        let text = MeasuredTimes::read(output).text(3);
        assert!(
            text.starts_with("Measured on device 3 (Ascend910B1)"),
            "{text}"
        );
        let line = text.lines().find(|line| line.contains("then")).unwrap();
        assert!(line.contains(&duration(31_000)), "{text}");
        assert!(text.contains(&duration(1_500)), "{text}");
    }
}
