//! Pictures that a user of the view asks for.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, bail};

use ascend_trace_viewer::{Picture, PictureFormat};

/// Writes a picture to a new file.
pub(super) fn write(path: &Path, picture: &Picture) -> anyhow::Result<()> {
    let shown = path.display();
    let Some(format) = PictureFormat::of_name(path) else {
        bail!("{shown}: the name of a picture ends in .svg or .png");
    };
    let bytes = picture.encode(format)?;
    let mut file = match File::create_new(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{shown} exists: give another name")
        }
        Err(error) => return Err(error).with_context(|| format!("cannot write {shown}")),
    };
    file.write_all(&bytes)
        // The rest of the attempt is of no use.
        .inspect_err(|_| drop(fs::remove_file(path)))
        .with_context(|| format!("cannot write {shown}"))
}
