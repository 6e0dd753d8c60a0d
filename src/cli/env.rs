//! `env`: the environment of programs that a server records.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::args::EnvArgs;
use super::record::check_soft;
use crate::error::{Failure, OrStatus, TOOL_FAILED};
use crate::launch::{Environment, LaunchPlan, find_program, preflight};
use crate::output::{print, print_message};
use crate::quote::quoted;
use crate::recorder::serve::{ServedEnvironment, environment};
use crate::server_place::ServerPlace;

/// Lists of paths, to which a shell adds its earlier value.
const LISTS: [&str; 3] = ["LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH"];

pub(crate) fn run(args: EnvArgs) -> Result<u8, Failure> {
    args.program.soft.as_deref().map_or(Ok(()), check_soft)?;
    let place = ServerPlace::new(&args.name).or_status(TOOL_FAILED)?;
    let wanted = ServedEnvironment {
        soft: args.program.soft.as_deref(),
        reports: args.program.reports(),
        python: args.program.python,
        // A shell adds its earlier lists itself.
        is_alone: args.app.is_empty(),
    };
    let environment = environment(&wanted, &place).or_status(TOOL_FAILED)?;
    let Some(name) = args.app.first() else {
        warn(&place, &args.name);
        print(&text(&environment, args.plain)).or_status(TOOL_FAILED)?;
        return Ok(0);
    };
    refuse_assignment(name)?;
    let program = find_program::find(name, std::env::var_os("PATH").as_deref())?;
    preflight::check(&program)?;
    warn(&place, &args.name);
    let plan = LaunchPlan {
        words: args.app,
        program,
        environment,
        output_aside: false,
    };
    Err(plan.become_program())
}

/// The system has a program with the name of this command.
fn refuse_assignment(word: &OsStr) -> Result<(), Failure> {
    if !word.as_bytes().contains(&b'=') {
        return Ok(());
    }
    let word = quoted(word);
    let text = format!(
        "{word} is not a program: `ascend-trace env APP` starts APP for a server. `ascend-trace -- env {word} APP` records \
         the system's env and its program"
    );
    Err(Failure::new(TOOL_FAILED, text))
}

fn warn(place: &ServerPlace, name: &str) {
    if place.server().is_none() {
        print_message(format!(
            "no server named {name} is running here: programs are recorded from the start of `ascend-trace serve` on"
        ));
    }
}

/// Commands for a shell, or plain assignments.
fn text(environment: &Environment, is_plain: bool) -> String {
    let line = |(name, value): (&str, &OsStr)| match (is_plain, LISTS.contains(&name)) {
        (true, _) => format!("{name}={}\n", value.display()),
        // A list that has it already stays: the lines may be evaluated twice.
        (false, true) => {
            let value = quoted(value);
            format!(
                "case \":${name}:\" in *:{value}:*) ;; *) export {name}={value}\"${{{name}:+:${name}}}\" ;; esac\n"
            )
        }
        (false, false) => format!("export {name}={}\n", quoted(value)),
    };
    environment.variables().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn of_server() -> Environment {
        let mut environment = Environment::alone();
        let folder = Path::new("/s");
        environment.serve(
            OsStr::new("/c/lib one.so"),
            folder,
            &folder.join("server-node"),
        );
        environment
    }

    #[test]
    fn a_shell_takes_the_environment_and_keeps_its_lists() {
        let script = text(&of_server(), false).replace("LD_PRELOAD", "PRELOADED");
        let script =
            format!("PRELOADED=/old\n{script}{script}echo \"$PRELOADED $ASCEND_TRACE_SESSION\"");
        let output = Command::new("/bin/sh").args(["-c", &script]).output();
        assert_eq!(
            String::from_utf8_lossy(&output.unwrap().stdout),
            "/c/lib one.so:/old /s/server-node\n"
        );
    }

    #[test]
    fn plain_lines_have_no_signs_of_a_shell() {
        assert_eq!(
            text(&of_server(), true),
            "LD_PRELOAD=/c/lib one.so\nASCEND_TRACE_ARMED=/s\nASCEND_TRACE_SESSION=/s/server-node\n"
        );
    }

    #[test]
    fn an_assignment_is_for_the_env_of_the_system() {
        let refused = refuse_assignment(OsStr::new("A=1")).unwrap_err();
        assert!(refused.to_string().contains("-- env A=1"), "{refused}");
        assert!(refuse_assignment(OsStr::new("./app")).is_ok());
    }
}
