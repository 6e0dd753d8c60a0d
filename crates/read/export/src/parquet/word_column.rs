//! A column of a few texts that occur often: each row has the number of its text in a dictionary.
//!
//! The library's writer takes an owned byte array for each row, which is a text's address, length and count of owners.

use ::bytes::Bytes;
use ::parquet::basic::{Compression, Encoding};
use ::parquet::column::page::{CompressedPage, Page, PageWriter};
use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::data_type::ByteArray;
use ::parquet::errors::Result;
use ::parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder};
use ::parquet::file::statistics::Statistics;
use ::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::ColumnDescPtr;

use super::hybrid::{bits_for, encode, run};
use rustc_hash::FxHashMap;

/// Stands for a row without a text.
const NONE: u32 = u32::MAX;

/// Longer texts are not written as the least or greatest of a column.
const LONGEST: usize = 64;

/// The rows of one group.
#[derive(Debug)]
pub(super) struct WordColumn {
    rows: Vec<u32>,
    numbers: FxHashMap<Box<str>, u32>,
    /// The texts in the order of their numbers, each after its length.
    dictionary: Vec<u8>,
    nulls: usize,
}

impl WordColumn {
    pub(super) fn new() -> Self {
        Self {
            rows: Vec::new(),
            numbers: FxHashMap::default(),
            dictionary: Vec::new(),
            nulls: 0,
        }
    }

    pub(super) fn push_none(&mut self) {
        self.rows.push(NONE);
        self.nulls += 1;
    }

    #[inline]
    pub(super) fn push(&mut self, text: &str) {
        let number = number(&mut self.numbers, &mut self.dictionary, text);
        self.rows.push(number);
    }

    pub(super) fn bytes(&self) -> usize {
        self.dictionary.len()
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.numbers.clear();
        self.dictionary.clear();
        self.nulls = 0;
    }

    /// The encoded column, and its statistics for the file. Drops the rows.
    pub(super) fn encode(&mut self, column: ColumnDescPtr) -> Result<(Bytes, ColumnCloseResult)> {
        let rows = self.rows.len();
        let mut sink = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut sink);
        let mut dictionary = None;
        if !self.numbers.is_empty() {
            let page = Page::DictionaryPage {
                buf: Bytes::from(std::mem::take(&mut self.dictionary)),
                num_values: self.numbers.len() as u32,
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            dictionary = Some(write(&mut pages, page)? as i64);
        }
        let encoding = match dictionary {
            Some(_) => Encoding::RLE_DICTIONARY,
            None => Encoding::PLAIN,
        };
        let page = Page::DataPage {
            buf: Bytes::from(self.data()),
            num_values: rows as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let data = write(&mut pages, page)? as i64;
        let bytes = sink.into_inner()?;
        let length = bytes.len() as i64;
        let metadata = ColumnChunkMetaData::builder(column)
            .set_compression(Compression::UNCOMPRESSED)
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, encoding])
            .set_num_values(rows as i64)
            .set_total_compressed_size(length)
            .set_total_uncompressed_size(length)
            .set_dictionary_page_offset(dictionary)
            .set_data_page_offset(data)
            .set_statistics(self.statistics())
            .build()?;
        // The only page, for files that have an index of pages.
        let mut page = OffsetIndexBuilder::new();
        page.append_row_count(rows as i64);
        page.append_offset_and_size(data, (length - data) as i32);
        self.clear();
        let close = ColumnCloseResult {
            bytes_written: length as u64,
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: Some(page.build()),
        };
        Ok((Bytes::from(bytes), close))
    }

    /// A data page: which rows have a text, then the numbers of the texts.
    fn data(&self) -> Vec<u8> {
        let mut levels = Vec::new();
        let mut kept = Vec::new();
        let numbers = match self.nulls {
            0 => {
                run(&mut levels, 1, self.rows.len(), 1);
                &self.rows
            }
            _ => {
                let set = self.rows.iter().map(|number| u32::from(*number != NONE));
                encode(&mut levels, &set.collect::<Vec<_>>(), 1);
                kept.extend(self.rows.iter().filter(|number| **number != NONE));
                &kept
            }
        };
        let mut bytes = (levels.len() as u32).to_le_bytes().to_vec();
        bytes.extend_from_slice(&levels);
        if !numbers.is_empty() {
            let bits = bits_for(self.numbers.len() as u32 - 1);
            bytes.push(bits as u8);
            encode(&mut bytes, numbers, bits);
        }
        bytes
    }

    fn statistics(&self) -> Statistics {
        let end = |text: Option<&Box<str>>| {
            let text = text.filter(|text| text.len() <= LONGEST)?;
            Some(ByteArray::from(text.as_bytes().to_vec()))
        };
        let (min, max) = (self.numbers.keys().min(), self.numbers.keys().max());
        Statistics::byte_array(end(min), end(max), None, Some(self.nulls as u64), false)
    }
}

fn number(numbers: &mut FxHashMap<Box<str>, u32>, dictionary: &mut Vec<u8>, text: &str) -> u32 {
    if let Some(number) = numbers.get(text) {
        return *number;
    }
    let number = numbers.len() as u32;
    numbers.insert(text.into(), number);
    dictionary.extend_from_slice(&(text.len() as u32).to_le_bytes());
    dictionary.extend_from_slice(text.as_bytes());
    number
}

/// Writes a page, and returns its offset.
fn write(pages: &mut SerializedPageWriter<'_, Vec<u8>>, page: Page) -> Result<u64> {
    let length = page.buffer().len();
    Ok(pages.write_page(CompressedPage::new(page, length))?.offset)
}
