//! The rows that a query found.

use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::StreamExt;
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::QueryError;
use crate::value::Value;

/// Between two reports of progress.
const PAUSE: Duration = Duration::from_millis(100);

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub is_number: bool,
}

/// How far a query is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryProgress {
    /// Rows of tables that have been read.
    pub rows: u64,
}

/// The result of a query, which is computed while its rows are read.
pub struct QueryResult<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) plan: Arc<dyn ExecutionPlan>,
    pub(crate) context: Arc<TaskContext>,
}

impl QueryResult<'_> {
    /// The columns, in order.
    pub fn columns(&self) -> Vec<Column> {
        let schema = self.plan.schema();
        let column = |field: &Arc<datafusion::arrow::datatypes::Field>| Column {
            name: field.name().clone(),
            is_number: Value::is_number(field.data_type()),
        };
        schema.fields().iter().map(column).collect()
    }

    /// Computes the rows and passes each on. Until the first row, `progress` is called several times a
    /// second, and ends the query by an error.
    ///
    /// # Errors
    ///
    /// When a table cannot be read, when memory or the disk for intermediate results is full, and with what `row`
    /// and `progress` return.
    pub fn rows<E: From<QueryError>>(
        self,
        mut row: impl FnMut(&[Value]) -> Result<(), E>,
        mut progress: impl FnMut(QueryProgress) -> Result<(), E>,
    ) -> Result<(), E> {
        let plan = Arc::clone(&self.plan);
        let opened = self
            .runtime
            .block_on(async { execute_stream(self.plan, self.context) });
        let mut stream = opened.map_err(QueryError::of)?;
        loop {
            let next = self
                .runtime
                .block_on(async { timeout(PAUSE, stream.next()).await });
            match next {
                Err(_) => progress(QueryProgress {
                    rows: scanned(&*plan),
                })?,
                Ok(None) => return Ok(()),
                Ok(Some(batch)) => hand_on(&batch.map_err(QueryError::of)?, &mut row)?,
            }
        }
    }
}

fn hand_on<E>(
    batch: &RecordBatch,
    row: &mut impl FnMut(&[Value]) -> Result<(), E>,
) -> Result<(), E> {
    let mut cells = Vec::with_capacity(batch.num_columns());
    for number in 0..batch.num_rows() {
        cells.clear();
        cells.extend(
            batch
                .columns()
                .iter()
                .map(|column| Value::of(column, number)),
        );
        row(&cells)?;
    }
    Ok(())
}

/// Rows that the leaves of a plan have produced. The leaves read tables.
fn scanned(plan: &dyn ExecutionPlan) -> u64 {
    let parts = plan.children();
    if parts.is_empty() {
        let rows = plan.metrics().and_then(|it| it.output_rows());
        return rows.unwrap_or(0) as u64;
    }
    parts.into_iter().map(|part| scanned(&**part)).sum()
}
