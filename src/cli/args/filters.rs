//! The options that select recorded calls.

use clap::Args;

use ascend_trace_format::filter::{FILTER_BYTES, Filters, Subject};
use ascend_trace_tables::FUNCTIONS;

use crate::error::{Failure, TOOL_FAILED};

/// Options that select calls. The others are made as usual, and are counted.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FilterArgs {
    /// Record these calls only: `call=NAME`, `stream=N`, `device=N`, `thread=NAME` or `rank=N`, each with several values
    /// separated by commas. `*` in a name means any characters, `0-3` several numbers. With several kinds, a call must match
    /// each of them
    #[arg(long, value_name = "KIND=VALUE,..", value_parser = values)]
    only: Vec<FilterValues>,

    /// Record all calls but these. It has the values of --only, and comes first
    #[arg(long, value_name = "KIND=VALUE,..", value_parser = values)]
    skip: Vec<FilterValues>,
}

/// Bytes of a thread's name that the kernel keeps.
const THREAD_NAME_BYTES: usize = 15;

/// The values of one option.
#[derive(Clone, Debug)]
struct FilterValues {
    subject: Subject,
    values: Vec<String>,
}

impl FilterArgs {
    pub(crate) fn wanted(&self) -> Result<Filters, Failure> {
        let lines = |word: &'static str, all: &[FilterValues]| {
            let each = all.iter().flat_map(move |it| {
                let subject = it.subject.word();
                let line = move |value: &String| format!("{word} {subject}={value}");
                it.values.iter().map(line)
            });
            each.collect::<Vec<_>>()
        };
        let (only, skip) = (lines("only", &self.only), lines("skip", &self.skip));
        let all = only.iter().chain(&skip).map(String::as_str);
        Filters::of_lines(all).ok_or_else(|| {
            let text = format!(
                "--only and --skip have more than {FILTER_BYTES} bytes together: use fewer names, with `*` in them"
            );
            Failure::new(TOOL_FAILED, text)
        })
    }
}

/// The value of `--only` and `--skip`.
fn values(text: &str) -> Result<FilterValues, String> {
    let kinds = Subject::ALL.map(Subject::word).join(", ");
    let wrong = || format!("`{text}` is not KIND=VALUE, where KIND is one of {kinds}");
    let (word, values) = text.split_once('=').ok_or_else(wrong)?;
    let subject = Subject::of_word(word).ok_or_else(wrong)?;
    let values: Vec<String> = values.split(',').map(str::to_owned).collect();
    for value in &values {
        check(subject, value)?;
    }
    Ok(FilterValues { subject, values })
}

fn check(subject: Subject, value: &str) -> Result<(), String> {
    let line = format!("only {}={value}", subject.word());
    if Filters::of_lines([line.as_str()]).is_none() {
        return Err(match subject.is_named() {
            true => format!(
                "`{value}` is no name: a name has no control characters, and `*` means any characters"
            ),
            false => {
                format!("`{value}` is no number, such as 3, and no range of numbers, such as 0-3")
            }
        });
    }
    let bytes = value.bytes().filter(|it| *it != b'*').count();
    if subject == Subject::Thread && bytes > THREAD_NAME_BYTES {
        return Err(format!(
            "`{value}` has more than the {THREAD_NAME_BYTES} bytes of a thread's name: use the first ones, and `*`"
        ));
    }
    if subject == Subject::Call && !may_match(&line, value) {
        return Err(format!(
            "no AscendCL function has the name `{value}`: try `*` in it, as in `aclrtMemcpy*`"
        ));
    }
    Ok(())
}

/// Whether a function of the tables has the name. Functions of operators may be in no table.
fn may_match(line: &str, value: &str) -> bool {
    let rule = Filters::of_lines([line]).unwrap_or_default();
    value.starts_with("aclnn")
        || FUNCTIONS
            .iter()
            .any(|function| rule.admits_name(Subject::Call, function.name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_values_have_one_kind() {
        let filters = FilterArgs {
            only: vec![
                values("call=aclrt*,aclnnAdd").unwrap(),
                values("rank=0-3").unwrap(),
            ],
            skip: vec![values("stream=7,8").unwrap()],
        };
        let lines: Vec<_> = filters
            .wanted()
            .unwrap()
            .rules()
            .map(|it| it.to_string())
            .collect();
        let expected = [
            "only call=aclrt*",
            "only call=aclnnAdd",
            "only rank=0-3",
            "skip stream=7",
            "skip stream=8",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn values_that_match_nothing_are_refused() {
        for (text, expected) in [
            ("aclrtMalloc", "is not KIND=VALUE"),
            ("kernel=a", "one of call, stream, device, thread, rank"),
            ("stream=a", "no number"),
            ("stream=", "no number"),
            ("rank=3-1", "no number"),
            ("call=", "no name"),
            ("call=aclrtMaloc", "no AscendCL function"),
            ("call=aclrtMalloc,", "no name"),
        ] {
            let error = values(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        for text in ["call=aclnnNew*", "thread=läufer*", "thread=加载"] {
            assert!(values(text).is_ok(), "{text}");
        }
        for (text, expected) in [
            ("thread=a\nb", "no name"),
            ("thread=pt_autograd_threads", "more than the 15 bytes"),
        ] {
            let error = values(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn too_many_values_are_refused() {
        let many = vec![values("thread=0123456789").unwrap(); 60];
        let filters = FilterArgs {
            only: many,
            skip: Vec::new(),
        };
        let error = filters.wanted().unwrap_err();
        assert_eq!(error.status, TOOL_FAILED);
    }
}
