//! Adds declarations of headers to those of the tables.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::Blocks;

use super::items::{Declarations, DeclaredFunction, NamedType};
use super::scan::{Scan, is_acl};
use super::submits::{first_phase, is_first_phase, stream, submits};
use super::{HeaderReport, SkippedDeclaration};
use crate::ctype::CType;
use crate::hook_spec::HookSpec;
use crate::model::{Alias, ApiModel, Callback, Enumeration, Function, Opaque, Param, StreamParam};
use crate::types::Types;

/// Where such functions came from, in the table's column of categories.
const CATEGORY: &str = "installed";

pub(crate) fn join(
    model: &mut ApiModel,
    spec: &mut HookSpec,
    declarations: &Declarations,
    scan: &Scan,
) -> HeaderReport {
    let mut found = HeaderReport::default();
    add_constants(model, declarations, &mut found);
    let places = LibraryMap::of(model);
    for (name, declared) in declarations
        .functions
        .iter()
        .filter(|(name, _)| is_acl(name))
    {
        let header = scan.header_of(name);
        let odd = |reason: &str| SkippedDeclaration {
            name: name.clone(),
            header: header.to_owned(),
            reason: reason.to_owned(),
        };
        let declared = match declared {
            Ok(declared) => declared,
            Err(reason) => {
                found.odd.push(odd(reason));
                continue;
            }
        };
        add_types(model, declarations, declared, header);
        let function = match function(name, header, declared, declarations, &places) {
            Ok(function) => function,
            Err(reason) => {
                found.odd.push(odd(&reason));
                continue;
            }
        };
        match model
            .functions
            .binary_search_by(|it| it.name.as_str().cmp(name))
        {
            Ok(index) => {
                let Some(known) = model.functions.get(index) else {
                    continue;
                };
                if passes_alike(model, spec, known, &function) {
                    found.same += 1;
                } else if let Some(known) = model.functions.get_mut(index) {
                    *known = Function {
                        library: known.library.clone(),
                        ..function
                    };
                    spec.functions.remove(name);
                    found.changed.push(name.clone());
                }
            }
            Err(index) => {
                model.functions.insert(index, function);
                found.added.push(name.clone());
            }
        }
    }
    found
}

/// Which library has the functions of which headers, as far as the tables know.
struct LibraryMap {
    headers: BTreeMap<String, String>,
    folders: BTreeMap<String, String>,
    functions: Vec<(String, String)>,
    /// The library of operators that are called in two phases.
    operators: Option<String>,
}

impl LibraryMap {
    fn of(model: &ApiModel) -> Self {
        let most = |key: &dyn Fn(&Function) -> String| {
            let mut counts: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
            for function in &model.functions {
                let libraries = counts.entry(key(function)).or_default();
                *libraries.entry(function.library.clone()).or_default() += 1;
            }
            let first = |libraries: BTreeMap<String, usize>| {
                let most = libraries.into_iter().max_by_key(|(_, count)| *count);
                most.map(|(library, _)| library).unwrap_or_default()
            };
            counts
                .into_iter()
                .map(|(key, libraries)| (key, first(libraries)))
                .collect()
        };
        let has_first_phase = |it: &&Function| model.function(&first_phase(&it.name)).is_some();
        let operator = model.functions.iter().find(has_first_phase);
        Self {
            operators: operator.map(|it| it.library.clone()),
            headers: most(&|function| function.header.clone()),
            folders: most(&|function| folder(&function.header).to_owned()),
            functions: model
                .functions
                .iter()
                .map(|it| (it.name.clone(), it.library.clone()))
                .collect(),
        }
    }

    /// The library of a function: that of its header's others, else of its folder's, where that has
    /// but one kind of functions, else that of operators if it is one, else that of the function with
    /// the most similar name.
    fn library(&self, name: &str, header: &str, is_operator: bool) -> String {
        let by_folder = || match folder(header) {
            "acl" | "" => None,
            folder => self.folders.get(folder),
        };
        let shared = |other: &str| {
            let pairs = name.bytes().zip(other.bytes());
            pairs.take_while(|(a, b)| a == b).count()
        };
        let by_name = || {
            let nearest = self.functions.iter().max_by_key(|(other, _)| shared(other));
            nearest.map(|(_, library)| library)
        };
        let in_phases = self.operators.as_ref().filter(|_| is_operator);
        let found = self.headers.get(header).or_else(by_folder);
        let found = found.or(in_phases).or_else(by_name);
        found.cloned().unwrap_or_default()
    }
}

fn folder(header: &str) -> &str {
    header.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn function(
    name: &str,
    header: &str,
    declared: &DeclaredFunction,
    declarations: &Declarations,
    places: &LibraryMap,
) -> Result<Function, String> {
    let params: Result<Vec<Param>, String> = declared
        .params
        .iter()
        .enumerate()
        .map(|(index, (ctype, name))| {
            let name = match name.as_str() {
                "" => format!("arg{}", index + 1),
                name => name.to_owned(),
            };
            Ok(Param {
                ctype: CType::parse(ctype)?,
                name,
            })
        })
        .collect();
    let is_operator = is_first_phase(name) || declarations.has_function(&first_phase(name));
    let stream = stream(declared).map(|(index, is_out)| match is_out {
        true => StreamParam::Out(index),
        false => StreamParam::In(index),
    });
    Ok(Function {
        name: name.to_owned(),
        header: header.to_owned(),
        ret: CType::parse(&declared.ret)?,
        params: params?,
        is_variadic: declared.is_variadic,
        category: CATEGORY.to_owned(),
        submits: submits(name, declared, |name| declarations.has_function(name)),
        stream,
        blocks: Blocks::No,
        library: places.library(name, header, is_operator),
        is_deprecated: false,
    })
}

/// Whether a call passes the same words in the same places.
fn passes_alike(model: &ApiModel, spec: &HookSpec, known: &Function, new: &Function) -> bool {
    let Ok(types) = Types::new(model, &spec.types) else {
        return false;
    };
    let word = |ctype: &CType| {
        // Signed or not, the register is the same one.
        types
            .rust_of(ctype)
            .map(|rust| rust.replace('i', "u").replace("usuze", "u64"))
            .unwrap_or_else(|_| ctype.base_name().to_owned())
    };
    let words = |function: &Function| -> Vec<String> {
        let params = function.params.iter().map(|param| word(&param.ctype));
        params.chain([word(&function.ret)]).collect()
    };
    known.is_variadic == new.is_variadic && words(known) == words(new)
}

/// Constants that known enumerations have in the headers and not in the tables.
fn add_constants(model: &mut ApiModel, declarations: &Declarations, found: &mut HeaderReport) {
    for (name, named) in &declarations.types {
        let (NamedType::Enumeration(constants), Some(known)) =
            (named, model.enumerations.get_mut(name))
        else {
            continue;
        };
        for (constant, value) in constants {
            if !known.constants.iter().any(|(name, _)| name == constant) {
                known.constants.push((constant.clone(), *value));
                found.constants.push(constant.clone());
            }
        }
    }
}

/// The types that a function names and the model does not have, and those that they are made of.
fn add_types(
    model: &mut ApiModel,
    declarations: &Declarations,
    declared: &DeclaredFunction,
    header: &str,
) {
    let texts = declared.params.iter().map(|(ctype, _)| ctype);
    let mut open: Vec<String> = texts
        .chain([&declared.ret])
        .filter_map(|it| base(it))
        .collect();
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        if model.named(&name).is_some() || !seen.insert(name.clone()) {
            continue;
        }
        let header = header.to_owned();
        match declarations.types.get(&name) {
            Some(NamedType::Enumeration(constants)) => {
                let enumeration = Enumeration {
                    name: name.clone(),
                    header,
                    constants: constants.clone(),
                    successor: None,
                };
                model.enumerations.insert(name, enumeration);
            }
            Some(NamedType::Alias(target)) => {
                let Ok(ctype) = CType::parse(target) else {
                    continue;
                };
                open.extend(base(target));
                model.aliases.insert(
                    name.clone(),
                    Alias {
                        name,
                        header,
                        ctype,
                    },
                );
            }
            Some(NamedType::Callback) => {
                let Ok(ret) = CType::parse("void") else {
                    continue;
                };
                let params = Vec::new();
                let callback = Callback {
                    name: name.clone(),
                    header,
                    ret,
                    params,
                };
                model.callbacks.insert(name, callback);
            }
            Some(NamedType::Opaque) => {
                model.opaques.insert(name.clone(), Opaque { name, header });
            }
            // By address it needs no more than that; by value it is refused.
            Some(NamedType::Defined) | None => {}
        }
    }
}

/// The name that a type is made of.
fn base(ctype: &str) -> Option<String> {
    Some(CType::parse(ctype).ok()?.base_name().to_owned())
}
