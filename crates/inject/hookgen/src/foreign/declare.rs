//! Asking the compiler's parser what headers declare.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::items::Declarations;
use super::scan::{Header, Scan};
use super::{ForeignError, SkippedDeclaration};

/// Functions that are asked about.
const FUNCTIONS: &str = "(acl[a-zA-Z]|Acl|Hccl|Lccl|mstx).*";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    C,
    Cxx,
}

/// The version of libclang, if it is installed.
pub fn libclang() -> Result<String, ForeignError> {
    // It is loaded while the program runs; where it is missing that panics.
    match catch_unwind(|| bindgen::clang_version().full) {
        Ok(version) => Ok(version),
        Err(reason) => {
            let text = reason.downcast_ref::<String>().cloned();
            let text = text.or_else(|| reason.downcast_ref::<&str>().map(ToString::to_string));
            Err(ForeignError::NoLibclang(text.unwrap_or_default()))
        }
    }
}

/// The declarations of all headers: read as C, and the rest as C++. Names that neither declares are
/// reported.
pub(crate) fn all(folder: &Path, scan: &Scan) -> (Declarations, Vec<SkippedDeclaration>) {
    let mut declarations = Declarations::default();
    let mut failed = Vec::new();
    let headers: Vec<&Header> = scan.headers.iter().collect();
    read(
        folder,
        Language::C,
        &headers,
        &mut declarations,
        &mut failed,
    );
    let left: Vec<&str> = scan
        .names()
        .filter(|name| !declarations.has_function(name))
        .collect();
    let mut odd = Vec::new();
    let mut unreadable = Vec::new();
    let headers = scan.headers_with(&left);
    read(
        folder,
        Language::Cxx,
        &headers,
        &mut declarations,
        &mut unreadable,
    );
    for (header, reason) in &unreadable {
        let name = header.name.clone();
        odd.push(SkippedDeclaration {
            header: name.clone(),
            name,
            reason: format!("cannot be read: {reason}"),
        });
    }
    let is_unreadable = |name: &str| unreadable.iter().any(|(header, _)| header.name == name);
    for name in left {
        let header = scan.header_of(name);
        if !declarations.has_function(name) && !is_unreadable(header) {
            odd.push(SkippedDeclaration {
                name: name.to_owned(),
                header: header.to_owned(),
                reason: "is declared as no function that a library exports: static, inline, \
                         in a namespace, or left out by a condition"
                    .to_owned(),
            });
        }
    }
    (declarations, odd)
}

/// Reads the headers together, and those that cannot be read so in ever smaller groups.
fn read<'a>(
    folder: &Path,
    language: Language,
    headers: &[&'a Header],
    declarations: &mut Declarations,
    failed: &mut Vec<(&'a Header, String)>,
) {
    if headers.is_empty() {
        return;
    }
    match (parse(folder, language, headers), headers) {
        (Ok(file), _) => declarations.take(&file),
        (Err(reason), [header]) => failed.push((*header, reason)),
        (Err(_), _) => {
            let (first, second) = headers.split_at(headers.len() / 2);
            for part in [first, second] {
                read(folder, language, part, declarations, failed);
            }
        }
    }
}

fn parse(folder: &Path, language: Language, headers: &[&Header]) -> Result<syn::File, String> {
    let includes: String = headers
        .iter()
        .map(|header| format!("#include \"{}\"\n", header.name))
        .collect();
    let (name, options) = match language {
        Language::C => ("ascend_trace.h", ["-xc", "-std=gnu11"]),
        Language::Cxx => ("ascend_trace.hpp", ["-xc++", "-std=gnu++17"]),
    };
    let builder = bindgen::Builder::default()
        .header_contents(name, &includes)
        .clang_args(options)
        .clang_arg(format!("-I{}", folder.display()))
        .allowlist_function(FUNCTIONS)
        .default_enum_style(bindgen::EnumVariation::ModuleConsts)
        .layout_tests(false)
        .derive_debug(false)
        .derive_copy(false)
        .generate_comments(false)
        .formatter(bindgen::Formatter::None);
    // Some input makes it panic.
    let bindings = catch_unwind(AssertUnwindSafe(|| builder.generate()))
        .map_err(|_| "the parser has given up".to_owned())?
        .map_err(|error| first_line(&error.to_string()))?;
    syn::parse_file(&bindings.to_string()).map_err(|error| error.to_string())
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| line.contains("error"));
    line.or(text.lines().next()).unwrap_or_default().to_owned()
}
