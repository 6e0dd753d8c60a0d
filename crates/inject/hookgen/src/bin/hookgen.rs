//! Writes the generated files into a folder.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use ascend_trace_hookgen::{ApiModel, Error, HeaderPlan, write_all, write_headers};

const USAGE: &str = "usage: hookgen headers FOLDER | hookgen hooks FOLDER";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["headers", folder] => headers(Path::new(folder)).map_err(|error| error.to_string()),
        ["hooks", folder] => write_all(Path::new(folder)).map_err(|error| error.to_string()),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // If stderr is closed, no report is possible.
            let _ = writeln!(std::io::stderr(), "hookgen: {message}");
            ExitCode::FAILURE
        }
    }
}

fn headers(folder: &Path) -> Result<(), Error> {
    write_headers(&ApiModel::embedded()?, &HeaderPlan::embedded()?, folder)
}
