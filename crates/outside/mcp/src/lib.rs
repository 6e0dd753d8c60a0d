//! A server of the Model Context Protocol on standard input and output: an assistant asks about the recordings of one folder.
//!
//! Each tool runs a command of `ascend-trace` as another process. So results have the numbers that a person sees, a large
//! recording takes no memory afterwards, and a cancelled request ends at once.

mod command;
mod folder;
mod recordings;
mod requests;
mod server;
mod source;
mod timeline;
mod tool_result;

use std::path::Path;

use anyhow::Context;
use rmcp::ServiceExt;
use rmcp::transport::stdio;

use command::Commands;
use folder::Folder;
use server::TraceServer;

/// Serves the recordings in a folder until the client closes standard input. `program` is the command `ascend-trace`.
///
/// # Errors
/// If there is no such folder, or the client does not speak the protocol.
pub fn serve(folder: &Path, program: &Path) -> anyhow::Result<()> {
    let folder = Folder::open(folder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start the threads of the server")?;
    runtime.block_on(async {
        let server = TraceServer::new(folder, Commands::new(program));
        let running = server
            .serve(stdio())
            .await
            .context("the client did not begin a session of the Model Context Protocol")?;
        running.waiting().await.context("the session failed")?;
        Ok(())
    })
}
