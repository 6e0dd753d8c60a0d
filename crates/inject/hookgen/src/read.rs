//! From rows of the tables to the parts of the model.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::Blocks;

use crate::ctype::CType;
use crate::error::Error;
use crate::layout::Struct;
use crate::model::{Alias, Callback, Enumeration, Function, Macro, Opaque, Param, StreamParam};
use crate::table::{self, TableRow};

const ENUMS: &str = "enums.tsv";
const STRUCTS: &str = "structs.tsv";

/// The types of the struct table.
#[derive(Default)]
pub(crate) struct Types {
    pub(crate) aliases: BTreeMap<String, Alias>,
    pub(crate) callbacks: BTreeMap<String, Callback>,
    pub(crate) opaques: BTreeMap<String, Opaque>,
    pub(crate) structs: BTreeMap<String, Struct>,
}

pub(crate) fn functions(table: &'static str, text: &str) -> Result<Vec<Function>, Error> {
    let columns = [
        "name",
        "header",
        "return_type",
        "params",
        "category",
        "submits_task",
        "stream_param",
        "blocks_host",
        "lib_2026",
        "deprecated",
    ];
    table::parse(table, text, columns)?
        .iter()
        .map(function)
        .collect()
}

fn function(row: &TableRow<'_, 10>) -> Result<Function, Error> {
    let [
        name,
        header,
        ret,
        params,
        category,
        submits,
        stream,
        blocks,
        library,
        deprecated,
    ] = row.cells;
    let (params, is_variadic) = parameters(params).map_err(|problem| row.error(problem))?;
    let stream = stream_param(stream).map_err(|problem| row.error(problem))?;
    if let Some(StreamParam::In(index) | StreamParam::Out(index)) = stream
        && index >= params.len()
    {
        return Err(row.error(format!("{name} has no parameter {index}")));
    }
    Ok(Function {
        name: name.to_owned(),
        header: header.to_owned(),
        ret: CType::parse(ret).map_err(|problem| row.error(problem))?,
        params,
        is_variadic,
        category: category.to_owned(),
        submits: yes_or_no(submits).map_err(|problem| row.error(problem))?,
        stream,
        blocks: match blocks {
            "n" => Blocks::No,
            "y" => Blocks::Yes,
            "c" => Blocks::Sometimes,
            _ => return Err(row.error(format!("`{blocks}` in blocks_host"))),
        },
        library: library.to_owned(),
        is_deprecated: yes_or_no(deprecated).map_err(|problem| row.error(problem))?,
    })
}

fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "y" => Ok(true),
        "n" => Ok(false),
        _ => Err(format!("`{text}` is neither y nor n")),
    }
}

fn stream_param(text: &str) -> Result<Option<StreamParam>, String> {
    if text == "-" {
        return Ok(None);
    }
    let (digits, is_out) = match text.strip_suffix("(out)") {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let index = digits
        .parse()
        .map_err(|_| format!("`{text}` in stream_param"))?;
    Ok(Some(if is_out {
        StreamParam::Out(index)
    } else {
        StreamParam::In(index)
    }))
}

/// The parameters of a list such as `void * data; size_t size`, and whether more may follow.
pub(crate) fn parameters(text: &str) -> Result<(Vec<Param>, bool), String> {
    let mut params = Vec::new();
    let mut is_variadic = false;
    for part in text
        .split(';')
        .map(str::trim)
        .filter(|part| !matches!(*part, "" | "void"))
    {
        if part == "..." {
            is_variadic = true;
            continue;
        }
        let (ctype, name) = CType::parse_declaration(part)?;
        params.push(Param { ctype, name });
    }
    Ok((params, is_variadic))
}

pub(crate) fn types(text: &str) -> Result<Types, Error> {
    let columns = [
        "kind",
        "name",
        "header",
        "shape",
        "fields (byte offset: type name) or parameters",
    ];
    let mut types = Types::default();
    for row in table::parse(STRUCTS, text, columns)? {
        add_type(&mut types, &row).map_err(|problem| row.error(problem))?;
    }
    Ok(types)
}

fn add_type(types: &mut Types, row: &TableRow<'_, 5>) -> Result<(), String> {
    let [kind, name, header, shape, fields] = row.cells;
    let (key, header) = (name.to_owned(), header.to_owned());
    match kind {
        "alias" => {
            let ctype = CType::parse(shape)?;
            types.aliases.insert(
                key,
                Alias {
                    name: name.to_owned(),
                    header,
                    ctype,
                },
            );
        }
        "callback" => {
            let ret = shape.strip_prefix("returns ").ok_or("no return type")?;
            let ret = CType::parse(ret)?;
            let (params, _) = parameters(fields)?;
            types.callbacks.insert(
                key,
                Callback {
                    name: name.to_owned(),
                    header,
                    ret,
                    params,
                },
            );
        }
        "opaque" => {
            types.opaques.insert(
                key,
                Opaque {
                    name: name.to_owned(),
                    header,
                },
            );
        }
        "struct" => {
            types
                .structs
                .insert(key, Struct::parse(name, &header, shape, fields)?);
        }
        _ => return Err(format!("unknown kind `{kind}`")),
    }
    Ok(())
}

/// Enumerations and the constants outside them. Rows of the second kind have a name such as
/// `macro:event_flag` or `const:aclError` in the enumeration column.
pub(crate) fn constants(text: &str) -> Result<(BTreeMap<String, Enumeration>, Vec<Macro>), Error> {
    let mut enumerations: BTreeMap<String, Enumeration> = BTreeMap::new();
    let mut current: BTreeSet<String> = BTreeSet::new();
    let mut macros: Vec<(Macro, bool)> = Vec::new();
    for row in table::parse(
        ENUMS,
        text,
        ["enum", "constant", "value", "header", "seen_in"],
    )? {
        let [owner, name, value, header, seen_in] = row.cells;
        let is_current = seen_in.contains("2026");
        let value_of = |text| number(text).ok_or_else(|| row.error(format!("value `{text}`")));
        if let Some(group) = macro_group(owner) {
            let (group, name) = (group.to_owned(), name.to_owned());
            let (value, is_hex) = (value_of(value)?, value.starts_with("0x"));
            let header = header.to_owned();
            macros.push((
                Macro {
                    name,
                    header,
                    group,
                    value,
                    is_hex,
                },
                is_current,
            ));
            continue;
        }
        let value =
            i64::try_from(value_of(value)?).map_err(|error| row.error(error.to_string()))?;
        if is_current {
            current.insert(owner.to_owned());
        }
        enumerations
            .entry(owner.to_owned())
            .or_insert_with(|| Enumeration {
                name: owner.to_owned(),
                header: header.to_owned(),
                constants: Vec::new(),
                successor: None,
            })
            .constants
            .push((name.to_owned(), value));
    }
    find_successors(&mut enumerations, &current)?;
    Ok((enumerations, unique_macros(macros)?))
}

/// `macro:event_flag` is a macro of the group `event_flag`, plain `macro` one of no group.
fn macro_group(owner: &str) -> Option<&str> {
    let group = match owner.split_once(':') {
        Some(("macro" | "const", group)) => group,
        None if owner == "macro" => "",
        _ => return None,
    };
    let group = group.split('(').next().unwrap_or(group);
    Some(if group == "const" { "" } else { group })
}

fn number(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// An enumeration that only older releases have gives way to a current one with its constants:
/// C allows a constant in one enumeration only.
fn find_successors(
    enumerations: &mut BTreeMap<String, Enumeration>,
    current: &BTreeSet<String>,
) -> Result<(), Error> {
    let owners: BTreeMap<(String, i64), String> = enumerations
        .values()
        .filter(|enumeration| current.contains(&enumeration.name))
        .flat_map(|e| {
            e.constants
                .iter()
                .map(|constant| (constant.clone(), e.name.clone()))
        })
        .collect();
    for enumeration in enumerations.values_mut() {
        if current.contains(&enumeration.name) {
            continue;
        }
        let mut found = enumeration
            .constants
            .iter()
            .map(|constant| owners.get(constant));
        let Some(Some(first)) = found.next() else {
            continue;
        };
        if !found.all(|owner| owner == Some(first)) {
            let problem = format!("{} shares some constants with {first}", enumeration.name);
            return Err(Error::Table {
                table: ENUMS,
                line: 0,
                problem,
            });
        }
        enumeration.successor = Some(first.clone());
    }
    Ok(())
}

/// A macro that several releases or headers have is kept once, as the newest has it.
fn unique_macros(macros: Vec<(Macro, bool)>) -> Result<Vec<Macro>, Error> {
    let mut unique: Vec<(Macro, bool)> = Vec::new();
    let mut indices: BTreeMap<String, usize> = BTreeMap::new();
    for (new, is_current) in macros {
        match indices
            .get(&new.name)
            .and_then(|index| unique.get_mut(*index))
        {
            None => {
                indices.insert(new.name.clone(), unique.len());
                unique.push((new, is_current));
            }
            Some((old, _)) if old.value != new.value => {
                let problem = format!(
                    "{} has the values {} and {}",
                    new.name, old.value, new.value
                );
                return Err(Error::Table {
                    table: ENUMS,
                    line: 0,
                    problem,
                });
            }
            Some(old) if is_current && !old.1 => *old = (new, true),
            Some(_) => {}
        }
    }
    Ok(unique.into_iter().map(|(kept, _)| kept).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variadic_list_is_noticed() {
        let (params, is_variadic) = parameters("const char * fmt; ...").unwrap();
        assert_eq!((params.len(), is_variadic), (1, true));
        assert_eq!(parameters("void").unwrap(), (vec![], false));
    }

    #[test]
    fn values_of_a_macro_that_disagree_are_refused() {
        let table =
            "enum\tconstant\tvalue\theader\tseen_in\nmacro\tA\t1\th\t2025\nmacro\tA\t2\th\t2026\n";
        let error = constants(table).err().unwrap().to_string();
        assert!(error.contains("A has the values 1 and 2"), "{error}");
    }

    #[test]
    fn hexadecimal_and_negative_values_are_read() {
        assert_eq!(number("0xfffffffffffffffe"), Some(0xffff_ffff_ffff_fffe));
        assert_eq!(number("-1"), Some(-1));
        assert_eq!(number("one"), None);
    }
}
