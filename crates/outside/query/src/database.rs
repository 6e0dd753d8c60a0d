//! Tables, and queries over them.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::error::DataFusionError;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::object_store::ObjectStore;
use datafusion::prelude::{SQLOptions, SessionConfig, SessionContext, col, lit};
use datafusion::sql::parser::Statement;
use tokio::runtime::Runtime;

use crate::QueryError;
use crate::answer::QueryResult;

/// Limits of a query on the machine.
#[derive(Clone, Copy, Debug)]
pub struct QueryLimits {
    pub threads: NonZeroUsize,
    /// Bytes of memory for intermediate results. Larger results use files in the folder for temporary
    /// files.
    pub memory: usize,
}

/// Tables that queries can name.
pub struct Database {
    runtime: Runtime,
    session: SessionContext,
}

impl Database {
    /// One without tables.
    ///
    /// # Errors
    ///
    /// When the system gives no threads.
    pub fn new(limits: QueryLimits) -> Result<Self, QueryError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(limits.threads.get())
            .enable_all()
            .build()
            .map_err(|error| QueryError(error.to_string()))?;
        let environment = RuntimeEnvBuilder::new()
            .with_memory_limit(limits.memory, 1.0)
            .build_arc()
            .map_err(QueryError::of)?;
        let config = SessionConfig::new()
            .with_target_partitions(limits.threads.get())
            .with_information_schema(true);
        let session = SessionContext::new_with_config_rt(config, environment);
        Ok(Self { runtime, session })
    }

    /// Reads tables with addresses that begin with this URL from `store`.
    ///
    /// # Errors
    ///
    /// When it is no URL of a store.
    pub fn with_store(&self, url: &str, store: Arc<dyn ObjectStore>) -> Result<(), QueryError> {
        let url = ObjectStoreUrl::parse(url).map_err(QueryError::of)?;
        self.session.register_object_store(url.as_ref(), store);
        Ok(())
    }

    /// Adds a table: all Parquet files below a folder. Its subfolders are the values of the partition
    /// columns, which are texts. With `only`, rows are those with one of these values in the first such
    /// column.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read, or its files are no Parquet files of the same columns.
    pub fn add(
        &self,
        name: &str,
        folder: &Path,
        partitions: &[&str],
        only: &[String],
    ) -> Result<(), QueryError> {
        self.runtime
            .block_on(self.register(name, folder, partitions, only))
            .map_err(QueryError::of)
    }

    async fn register(
        &self,
        name: &str,
        folder: &Path,
        partitions: &[&str],
        only: &[String],
    ) -> Result<(), DataFusionError> {
        let columns = partitions
            .iter()
            .map(|it| ((*it).to_owned(), DataType::Utf8));
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
            .with_file_extension(".parquet")
            .with_table_partition_cols(columns.collect());
        // A folder's address ends with a slash.
        let folder = ListingTableUrl::parse(format!("{}/", folder.display()))?;
        let config = ListingTableConfig::new(folder).with_listing_options(options);
        let config = config.infer_schema(&self.session.state()).await?;
        let table = Arc::new(ListingTable::try_new(config)?);
        if only.is_empty() {
            self.session.register_table(name, table)?;
            return Ok(());
        }
        let partition = partitions.first().copied().unwrap_or_default();
        let wanted = only.iter().map(|it| lit(it.as_str())).collect();
        let rows = self.session.read_table(table)?;
        let rows = rows.filter(col(partition).in_list(wanted, false))?;
        self.session.register_table(name, rows.into_view())?;
        Ok(())
    }

    /// Plans a query. Statements that do anything but read the tables are refused.
    ///
    /// # Errors
    ///
    /// When the text is no SQL, names missing tables or columns, or would do more than read.
    pub fn query(&self, sql: &str) -> Result<QueryResult<'_>, QueryError> {
        let only_reads = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false);
        let planned = self.runtime.block_on(async {
            let rows = self.session.sql_with_options(sql, only_reads).await?;
            let context = Arc::new(rows.task_ctx());
            let plan = rows.create_physical_plan().await?;
            Ok((plan, context))
        });
        let (plan, context) = planned.map_err(QueryError::of)?;
        Ok(QueryResult {
            runtime: &self.runtime,
            plan,
            context,
        })
    }
}

/// The names of the tables that a query reads, each once. Those that it defines itself are not among them.
///
/// # Errors
///
/// When the text is no SQL.
pub fn tables_of(sql: &str) -> Result<Vec<String>, QueryError> {
    let session = SessionContext::new();
    let state = session.state();
    let dialect = state.config_options().sql_parser.dialect;
    let statement: Statement = state
        .sql_to_statement(sql, &dialect)
        .map_err(QueryError::of)?;
    let tables = state
        .resolve_table_references(&statement)
        .map_err(QueryError::of)?;
    let mut names: Vec<String> = tables.iter().map(|it| it.table().to_owned()).collect();
    names.sort();
    names.dedup();
    Ok(names)
}
