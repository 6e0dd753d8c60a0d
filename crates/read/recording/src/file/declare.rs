//! Code generated from the declaration of a row: the row, its columns with their text in
//! `docs/FORMAT.md`, and the conversion between them.

/// A column of a table, as `docs/FORMAT.md` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnText {
    /// `number`, `signed`, `optional` or `text`.
    pub kind: &'static str,
    pub what: &'static str,
}

/// Declares a row with one column for each field, in this order:
///
/// ```text
/// /// What the row is.
/// NameRow = b"KIND", class of bytes {
///     /// What the column holds, and its unit.
///     field: type,
/// }
/// ```
///
/// Rows of class `entity` are kept in the index of a long file, where `figure` rows are only summed up. About
/// so many bytes a row takes in memory, with what leads to it, but without its texts. With `remembering`
/// before the fields, a type follows that knows what earlier rows of the chunk told. A field may be
/// `as process`, the number of a process; `as since(other)`, a difference to a field before it; or `as later`, which
/// files of earlier writers do not have: such fields come last.
macro_rules! row {
    (
        $(#[$meta:meta])* $row:ident = $kind:literal, $class:ident of $memory:literal
        $(remembering $remember:ty)? {
            $($(#[doc = $doc:literal])* $field:ident: $type:ty $(as $how:ident $(($base:ident))?)?,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $row { $($(#[doc = $doc])* pub $field: $type,)+ }

        const _: () = {
            use $crate::file::declare::{ColumnText, row};
            use $crate::file::column::{Columns, Cursors};
            use $crate::file::table::{RowObserver, Table, ColumnValue};

            #[expect(non_camel_case_types, reason = "a column has its field's name")]
            enum ColumnAt { $($field),+ }

            impl Table for $row {
                const KIND: $crate::file::chunk::ChunkKind = *$kind;
                const COLUMNS: &'static [ColumnText] = &[$(ColumnText {
                    kind: row!(@kind $type $(, $how)?),
                    what: concat!($($doc),*),
                }),+];
                const LEAST: usize = Self::COLUMNS.len() $(- row!(@later $($how)?))+;
                const IS_ENTITY: bool = row!(@class $class);
                const MEMORY: u64 = $memory;
                type Memory = row!(@memory $($remember)?);

                fn put(&self, columns: &mut Columns, _: &mut Self::Memory) {
                    $(row!(@put columns, ColumnAt::$field as usize, self, $field $(, $how $(($base))?)?);)+
                }

                fn take(cursors: &mut Cursors<'_>, memory: &mut Self::Memory) -> Option<Self> {
                    $(let $field = row!(@take cursors, ColumnAt::$field as usize, $type $(, $how $(($base))?)?)?;)+
                    let row = Self { $($field),+ };
                    memory.note(&row, cursors);
                    Some(row)
                }
            }
        };
    };

    (@later later) => { 1 };
    (@later $($other:ident)?) => { 0 };
    (@class entity) => { true };
    (@class figure) => { false };
    (@memory) => { () };
    (@memory $memory:ty) => { $memory };
    (@kind $type:ty, since) => { "signed" };
    (@kind $type:ty $(, process)? $(, later)?) => { <$type as ColumnValue>::KIND };
    (@put $columns:ident, $at:expr, $row:ident, $field:ident, since($base:ident)) => {
        $columns.put_signed($at, $row.$field.wrapping_sub($row.$base))
    };
    (@put $columns:ident, $at:expr, $row:ident, $field:ident $(, process)? $(, later)?) => {
        $row.$field.put($columns, $at)
    };
    (@take $cursors:ident, $at:expr, $type:ty, since($base:ident)) => {
        $cursors.take_signed($at).map(|it| $base.wrapping_add(it))
    };
    (@take $cursors:ident, $at:expr, $type:ty, process) => { $cursors.take_process($at) };
    (@take $cursors:ident, $at:expr, $type:ty, later) => {
        match $cursors.has($at) {
            true => <$type as ColumnValue>::take($cursors, $at),
            false => Some(<$type>::default()),
        }
    };
    (@take $cursors:ident, $at:expr, $type:ty) => { <$type as ColumnValue>::take($cursors, $at) };
}

/// Declares the columns of a row that is put into them by hand: their numbers by name, and their text.
macro_rules! columns {
    ($($(#[doc = $doc:literal])* $column:ident: $kind:literal,)+) => {
        #[allow(
            non_camel_case_types,
            clippy::upper_case_acronyms,
            reason = "named as the constants are"
        )]
        enum ColumnAt { $($column),+ }

        $($(#[doc = $doc])* pub(in crate::file) const $column: usize = ColumnAt::$column as usize;)+

        pub(in crate::file) const ALL: &[$crate::file::declare::ColumnText] = &[
            $($crate::file::declare::ColumnText { kind: $kind, what: concat!($($doc),*) }),+
        ];
    };
}

pub(crate) use columns;
pub(crate) use row;
