//! `mcp`: a server of the Model Context Protocol for the recordings of a folder (docs/MCP.md).

use super::args::McpArgs;

#[cfg(feature = "mcp")]
pub(crate) fn run(args: &McpArgs) -> anyhow::Result<u8> {
    use anyhow::Context;

    let own = std::env::current_exe().context("cannot find the command ascend-trace")?;
    ascend_trace_mcp::serve(&args.folder, &own)?;
    Ok(0)
}

#[cfg(not(feature = "mcp"))]
pub(crate) fn run(args: &McpArgs) -> anyhow::Result<u8> {
    anyhow::bail!(
        "cannot serve {}: this build has no server for assistants: build it with --features mcp, or use a package",
        args.folder.display()
    )
}
