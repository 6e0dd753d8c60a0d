//! `soft`: the place of the software runtime, for compilers and scripts, and the functions that a
//! program misses in it.

use std::path::Path;

use super::args::SoftArgs;
use super::info;
use crate::output::print;
use crate::unpack::{self, OPERATORS};

pub(crate) fn run(args: &SoftArgs) -> anyhow::Result<()> {
    if let Some(file) = &args.missing {
        let missing = info::missing_operators(file)?;
        let lines = missing.into_iter().map(|name| name + "\n");
        return print(&lines.collect::<String>());
    }
    let soft = unpack::soft()?;
    let answer = if args.include_dir {
        soft.include.display().to_string()
    } else if args.lib_dir {
        soft.lib.display().to_string()
    } else {
        let root = soft.lib.parent().unwrap_or(&soft.lib);
        environment(root, &soft.include, &soft.lib)
    };
    print(&format!("{answer}\n"))
}

/// For `eval "$(ascend-trace soft --env)"`. The paths hold nothing that a shell would expand.
fn environment(root: &Path, include: &Path, lib: &Path) -> String {
    let (root, include, lib) = (root.display(), include.display(), lib.display());
    format!(
        "export ASCEND_HOME_PATH='{root}'\n\
         export ASCEND_OPP_PATH='{root}/{OPERATORS}'\n\
         export LD_LIBRARY_PATH='{lib}'\"${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\"\n\
         export LIBRARY_PATH='{lib}'\"${{LIBRARY_PATH:+:$LIBRARY_PATH}}\"\n\
         export CPATH='{include}'\"${{CPATH:+:$CPATH}}\""
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_the_environment() {
        let script = environment(
            Path::new("/r"),
            Path::new("/r/include"),
            Path::new("/r/lib64"),
        );
        let script =
            format!("LD_LIBRARY_PATH=/old; unset CPATH\n{script}\necho $LD_LIBRARY_PATH $CPATH");
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "/r/lib64:/old /r/include\n"
        );
    }
}
