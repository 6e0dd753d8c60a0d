//! Options of the commands that start a program.

use clap::Args;

use crate::unpack::ClientReports;

/// The runtime of the program, and its further reports.
#[derive(Debug, Args)]
pub(crate) struct ProgramArgs {
    /// Run APP on the bundled software runtime instead of an installed CANN. Options are
    /// KEY=VALUE, separated by commas
    #[arg(
        long,
        value_name = "KEY=VALUE,..",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    pub(crate) soft: Option<String>,

    /// Load no `libmspti.so`: torch_npu then reports no ranges (steps, data loading)
    #[arg(long)]
    no_mstx: bool,

    /// Record the blocks of PyTorch's caching allocator: `stats --memory` then has allocated next to reserved memory
    /// (`ascend-trace help pytorch`)
    #[arg(long)]
    pools: bool,

    /// Record what PyTorch or MindSpore does in Python programs: steps, phases, modules, loading of data and
    /// `record_function`. This puts a hook into the program's own interpreter (`ascend-trace help pytorch`)
    #[arg(long)]
    pub(crate) python: bool,
}

impl ProgramArgs {
    pub(crate) fn reports(&self) -> ClientReports {
        ClientReports {
            marks: !self.no_mstx,
            blocks: self.pools,
        }
    }
}
