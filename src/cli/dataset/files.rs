//! Files of a recording while they are written: readers of a dataset see none that is not finished.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::Context;

use ascend_trace_export::{ExportSink, table_rows};

use super::dataset_store::{DatasetStore, DraftFile};
use super::manifest::TableFile;
use super::partition_path::PartitionPath;

/// Message for a dataset that takes no files.
pub(super) fn cannot_write(store: &(impl Display + ?Sized)) -> String {
    format!("cannot write the dataset {store}")
}

/// The files of one recording while they are written. Those that do not get their names are removed.
pub(super) struct UnfinishedFiles<'a> {
    store: &'a dyn DatasetStore,
    place: PartitionPath<'a>,
    /// The table and the rank of each.
    tables: Vec<(String, String)>,
    /// The names in the dataset.
    drafts: Vec<(String, DraftFile)>,
}

impl<'a> UnfinishedFiles<'a> {
    pub(super) fn new(store: &'a dyn DatasetStore, place: PartitionPath<'a>) -> Self {
        Self {
            store,
            place,
            tables: Vec::new(),
            drafts: Vec::new(),
        }
    }

    /// The written parts, once they are safe on the disk.
    pub(super) fn parts(&self) -> anyhow::Result<Vec<TableFile>> {
        let files = self.tables.iter().zip(&self.drafts);
        let part = |((table, rank), (_, draft)): (&(String, String), &(String, DraftFile))| {
            let written = draft.sync().and_then(|()| {
                let file = draft.reader()?;
                let bytes = file.metadata()?.len();
                Ok((bytes, table_rows(file)?))
            });
            let (bytes, rows) = written.with_context(|| cannot_write(self.store))?;
            Ok(TableFile {
                table: table.clone(),
                rank: rank.clone(),
                rows,
                bytes,
            })
        };
        files.map(part).collect()
    }

    /// Gives the files the names by which readers find them.
    pub(super) fn name(&self) -> io::Result<()> {
        self.store.publish(&self.drafts)
    }
}

impl Drop for UnfinishedFiles<'_> {
    fn drop(&mut self) {
        for (_, draft) in &self.drafts {
            draft.discard();
        }
    }
}

impl<'w> ExportSink<'w> for UnfinishedFiles<'_> {
    /// Takes names such as `rank=3/tasks.parquet`.
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + 'w>> {
        let (rank, table) = name.split_once('/').unwrap_or(("rank=none", name));
        let rank = rank.trim_start_matches("rank=");
        let table = table.trim_end_matches(".parquet");
        let name = self.place.file(table, rank);
        let draft = self.store.draft(&name)?;
        let writer = draft.writer()?;
        self.tables.push((table.to_owned(), rank.to_owned()));
        self.drafts.push((name, draft));
        Ok(writer)
    }
}
