//! What alignment needs of a recording, from its tables in a dataset.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Field, Row};
use ascend_trace_analysis::align::{Comm, Lane, Obstacle, Participant, Recorded, Round};

/// A row, by the names of its columns.
struct RowCells<'r>(BTreeMap<&'r str, &'r Field>);

impl<'r> RowCells<'r> {
    fn of(row: &'r Row) -> Self {
        let cells = row.get_column_iter();
        Self(cells.map(|(name, field)| (name.as_str(), field)).collect())
    }

    fn number(&self, name: &str) -> Option<i64> {
        match self.0.get(name)? {
            Field::Long(value) => Some(*value),
            _ => None,
        }
    }

    fn unsigned(&self, name: &str) -> Option<u64> {
        match self.0.get(name)? {
            Field::ULong(value) => Some(*value),
            Field::Long(value) => u64::try_from(*value).ok(),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> &'r str {
        match self.0.get(name) {
            Some(Field::Str(text)) => text,
            _ => "",
        }
    }

    /// A number that counts things.
    fn count(&self, name: &str) -> Option<u32> {
        u32::try_from(self.number(name)?).ok()
    }
}

/// A recording that is put together from its rows.
#[derive(Debug, Default)]
pub struct CollectedRecording {
    recorded: Recorded,
    participants: BTreeMap<u32, Participant>,
}

impl CollectedRecording {
    /// Takes the rows of a file of the table `processes`. `rank` is that of the folder.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn processes(&mut self, file: File, rank: Option<u64>) -> io::Result<()> {
        each(file, |row| {
            let recorded = &mut self.recorded;
            row.text("host_name").clone_into(&mut recorded.host);
            row.text("boot_id").clone_into(&mut recorded.boot);
            let number = |name| row.number(name).unwrap_or(0);
            recorded.start_ns = number("start_ns");
            recorded.start_realtime_ns = number("start_realtime_ns");
            recorded.span = (number("recorded_begin_ns"), number("recorded_end_ns"));
            let process = row.count("process").unwrap_or(0);
            let participant = self.participants.entry(process).or_default();
            participant.process = process;
            participant.rank = rank;
            let lost = row.unsigned("lost_calls").filter(|it| *it > 0);
            participant.obstacle = lost.map(Obstacle::Lost);
        })
    }

    /// Takes the rows of a file of the table `collectives`. Those of `processes` come first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn collectives(&mut self, file: File) -> io::Result<()> {
        each(file, |row| {
            let process = row.count("process").unwrap_or(0);
            let Some(participant) = self.participants.get_mut(&process) else {
                return;
            };
            // A process makes no more than that; another number is a mistake of the file.
            let place = row.count("communicator").filter(|it| *it < 65_536);
            if let Some(place) = place {
                collective(participant, place as usize, row);
            }
        })
    }

    pub fn finish(self) -> Recorded {
        Recorded {
            participants: self.participants.into_values().collect(),
            ..self.recorded
        }
    }
}

fn collective(participant: &mut Participant, place: usize, row: &RowCells<'_>) {
    let comms = &mut participant.comms;
    if comms.len() <= place {
        comms.resize(place + 1, Comm::default());
    }
    let comm = &mut comms[place];
    comm.rank = row.unsigned("communicator_rank").unwrap_or(u64::MAX);
    comm.size = row.unsigned("communicator_size").unwrap_or(0);
    row.text("communicator_identity")
        .clone_into(&mut comm.identity);
    let number = |name| row.number(name).unwrap_or(0);
    comm.made = (number("made_begin_ns"), number("made_end_ns"));
    let Some(count) = row.count("number") else {
        return;
    };
    let peers = row.unsigned("from_rank").zip(row.unsigned("to_rank"));
    let name = row.text("name");
    let is_own = |lane: &Lane| lane.function == name && lane.peers == peers;
    let place = comm.lanes.iter().position(is_own).unwrap_or_else(|| {
        comm.lanes.push(Lane::new(name.to_owned(), peers));
        comm.lanes.len() - 1
    });
    let round = Round {
        number: count,
        shape: row.unsigned("shape").unwrap_or(0),
        bytes: row.unsigned("bytes"),
        begin: number("begin_ns"),
        end: number("end_ns"),
        error: number("err_ns"),
        ..Round::default()
    };
    comm.lanes[place].push(round.with_needs(row.text("needs")));
}

fn each(file: File, mut take: impl FnMut(&RowCells<'_>)) -> io::Result<()> {
    let reader = SerializedFileReader::new(file).map_err(io::Error::other)?;
    let rows = reader.get_row_iter(None).map_err(io::Error::other)?;
    for row in rows {
        take(&RowCells::of(&row.map_err(io::Error::other)?));
    }
    Ok(())
}
