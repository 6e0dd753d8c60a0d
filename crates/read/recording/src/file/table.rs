//! Columns of each kind of row, and the types that a separate column can have.

use crate::rows::Row;

use super::chunk::ChunkKind;
use super::column::{Columns, Cursors};
use super::declare::ColumnText;

/// A row type that is stored in columns.
pub(crate) trait Table: Into<Row> {
    const KIND: ChunkKind;
    const COLUMNS: &'static [ColumnText];
    /// Columns that the first writers had: later ones may be missing.
    const LEAST: usize = Self::COLUMNS.len();
    /// The index of a long file says where its chunks are; others are only summed up there.
    const IS_ENTITY: bool;
    /// About how many bytes a row takes in memory, with what leads to it, but without its texts.
    const MEMORY: u64;
    /// Predictions from earlier rows of the same chunk.
    type Memory: Default;

    fn put(&self, columns: &mut Columns, memory: &mut Self::Memory);
    /// `None` when the columns end too early or have impossible values.
    fn take(cursors: &mut Cursors<'_>, memory: &mut Self::Memory) -> Option<Self>;
}

/// Whether chunks of this kind hold rows.
pub(super) fn is_table(kind: ChunkKind) -> bool {
    crate::rows::TABLES.iter().any(|table| table.kind == kind)
}

/// State about the rows of a chunk while it is read.
pub(crate) trait RowObserver<R>: Default {
    /// A row has been read. Its memory may depend on earlier ones.
    fn note(&mut self, row: &R, cursors: &mut Cursors<'_>);
}

impl<R> RowObserver<R> for () {
    fn note(&mut self, _: &R, _: &mut Cursors<'_>) {}
}

/// A value that has a column.
pub(crate) trait ColumnValue: Sized {
    /// What docs/FORMAT.md calls it.
    const KIND: &'static str;

    fn put(&self, columns: &mut Columns, at: usize);
    fn take(cursors: &mut Cursors<'_>, at: usize) -> Option<Self>;
}

macro_rules! values {
    ($($kind:literal $($type:ty)+, $put:ident as $as:ident, $take:ident;)+) => {
        $($(impl ColumnValue for $type {
            const KIND: &'static str = $kind;

            #[inline]
            fn put(&self, columns: &mut Columns, at: usize) {
                columns.$put(at, $as(*self));
            }

            #[inline]
            fn take(cursors: &mut Cursors<'_>, at: usize) -> Option<Self> {
                Self::try_from(cursors.$take(at)?).ok()
            }
        })+)+
    };
}

fn unsigned(value: impl Into<u64>) -> u64 {
    value.into()
}

fn signed(value: impl Into<i64>) -> i64 {
    value.into()
}

values! {
    "number" u8 u16 u32 u64, put as unsigned, take;
    "signed" i32 i64, put_signed as signed, take_signed;
}

impl ColumnValue for bool {
    const KIND: &'static str = "number";

    fn put(&self, columns: &mut Columns, at: usize) {
        columns.put(at, (*self).into());
    }

    fn take(cursors: &mut Cursors<'_>, at: usize) -> Option<Self> {
        Some(cursors.take(at)? != 0)
    }
}

impl ColumnValue for Option<u32> {
    const KIND: &'static str = "optional";

    fn put(&self, columns: &mut Columns, at: usize) {
        columns.put_option(at, *self);
    }

    fn take(cursors: &mut Cursors<'_>, at: usize) -> Option<Self> {
        cursors.take_option(at)
    }
}

impl ColumnValue for Option<i32> {
    const KIND: &'static str = "optional";

    fn put(&self, columns: &mut Columns, at: usize) {
        columns.put_option(at, self.map(i32::cast_unsigned));
    }

    fn take(cursors: &mut Cursors<'_>, at: usize) -> Option<Self> {
        Some(cursors.take_option(at)?.map(u32::cast_signed))
    }
}

impl ColumnValue for String {
    const KIND: &'static str = "text";

    fn put(&self, columns: &mut Columns, at: usize) {
        columns.put_text(at, self);
    }

    fn take(cursors: &mut Cursors<'_>, at: usize) -> Option<Self> {
        cursors.take_text(at)
    }
}

/// Hands out the rows of a table as far as they make sense.
pub(super) fn each<T: Table>(payload: &[u8], mut sink: impl FnMut(T)) {
    let Some(mut cursors) = cursors::<T>(payload) else {
        return;
    };
    let mut memory = T::Memory::default();
    for _ in 0..cursors.rows() {
        match T::take(&mut cursors, &mut memory) {
            Some(row) => sink(row),
            None => return,
        }
    }
}

/// A reader of the rows of a table, of a file of any age.
pub(super) fn cursors<T: Table>(payload: &[u8]) -> Option<Cursors<'_>> {
    Cursors::of_any_age(payload, T::COLUMNS.len(), T::LEAST)
}
