//! Operators without a wrapper: the parameters of their first functions, by which readers name the words of their calls.

use ascend_trace_format::api::ArgKind;
use ascend_trace_format::fnv;

use crate::args::ArgumentRules;
use crate::ctype::CType;
use crate::error::Error;
use crate::hook_spec::HookSpec;
use crate::model::{ApiModel, Param};
use crate::read;
use crate::table;
use crate::types::{Types, ValueClass};

const TABLE: &str = "operators.tsv";

/// Floating-point arguments that both architectures pass in registers. Further ones are among the words of the stack.
pub const MOST_FLOATS: usize = 8;

/// Words of a first function that a stub records, without the two at the end.
const MOST_WORDS: usize = 44;

/// Bits of a hash that make room for the numbers of parameters: four for those in floating-point registers, six for the
/// others.
const COUNT_BITS: u64 = 0x3ff;

/// Bits of these that are the number of floating-point parameters.
const FLOAT_BITS: u32 = 4;

const _: () = assert!(MOST_FLOATS < 1 << FLOAT_BITS && MOST_WORDS < 1 << 6);

/// Ending of the name of a parameter that is read and written.
const READ_AND_WRITTEN: &str = "Ref";

/// An operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// The name of its second function.
    pub name: String,
    /// Those of the first function, without the last two: the size of the workspace, and the executor.
    pub parameters: Vec<OperatorParameter>,
}

/// A parameter of the first function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorParameter {
    pub name: String,
    pub kind: ArgKind,
    /// Bytes of the value.
    pub width: u8,
    /// A tensor, or a list of tensors, that the operator writes.
    pub is_written: bool,
    /// The enumeration of `ArgKind::Enum`, else empty.
    pub enumeration: String,
}

impl Operator {
    /// Number of floating-point parameters.
    pub fn floats(&self) -> usize {
        let floats = self.parameters.iter().map(|it| it.kind);
        floats.filter(|kind| *kind == ArgKind::Float).count()
    }

    fn check(&self) -> Result<(), String> {
        let floats = self.floats();
        if floats > MOST_FLOATS {
            return Err(format!(
                "{} has {floats} floating-point parameters",
                self.name
            ));
        }
        if self.parameters.len() - floats > MOST_WORDS {
            return Err(format!("{} has too many parameters", self.name));
        }
        let mut names: Vec<&str> = self.parameters.iter().map(|it| &*it.name).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("{} has `{}` twice", self.name, pair[0])),
            None => Ok(()),
        }
    }
}

/// The operators of the table that comes with this crate, in name order.
pub fn operators() -> Result<Vec<Operator>, Error> {
    let (model, spec) = (ApiModel::embedded()?, HookSpec::embedded()?);
    parse(&model, &spec, include_str!("../data/operators.tsv"))
}

fn parse(model: &ApiModel, spec: &HookSpec, text: &str) -> Result<Vec<Operator>, Error> {
    let types = Types::new(model, &spec.types)?;
    let rules = ArgumentRules {
        types: &types,
        spec,
    };
    let mut operators: Vec<Operator> = Vec::new();
    for row in table::parse(TABLE, text, ["name", "params"])? {
        let [name, params] = row.cells;
        let (params, _) = read::parameters(params).map_err(|problem| row.error(problem))?;
        let parameters = params.into_iter().map(|it| parameter(&rules, it));
        let operator = Operator {
            name: name.to_owned(),
            parameters: parameters
                .collect::<Result<_, _>>()
                .map_err(|problem| row.error(format!("{name}: {problem}")))?,
        };
        operator.check().map_err(|problem| row.error(problem))?;
        if model.function(name).is_some() {
            return Err(row.error(format!("{name} is in another table")));
        }
        if operators
            .last()
            .is_some_and(|last| last.name >= operator.name)
        {
            return Err(row.error(format!("{name} is not in order")));
        }
        operators.push(operator);
    }
    Ok(operators)
}

fn parameter(rules: &ArgumentRules<'_>, param: Param) -> Result<OperatorParameter, String> {
    let Param { ctype, name } = param;
    let class = rules.types.class(&ctype);
    let class = class.map_err(|unusable| unusable.to_string())?;
    let kind = rules.kind(&ctype, &class);
    let kind = match kind.map_err(|error| error.to_string())? {
        // Texts are not copied by stubs.
        ArgKind::String => ArgKind::Pointer,
        kind => kind,
    };
    let is_tensor = kind == ArgKind::Handle && ctype.base.starts_with("aclTensor");
    let enumeration = match class {
        ValueClass::Enumeration(ref name) => name.clone(),
        _ => String::new(),
    };
    Ok(OperatorParameter {
        is_written: is_tensor && may_write(&ctype, &name),
        kind,
        width: Types::width(&class),
        enumeration,
        name,
    })
}

/// Some releases declare a tensor that is read and written as constant.
fn may_write(ctype: &CType, name: &str) -> bool {
    !ctype.is_const || name.ends_with(READ_AND_WRITTEN)
}

/// The source of `operators.rs`, for readers of records.
pub fn emit_operators(operators: &[Operator]) -> String {
    let rows: String = operators.iter().map(row).collect();
    format!(
        "// Generated by hookgen.\n\n\
         /// Operators without a wrapper, in name order.\n\
         pub static OPERATORS: &[Operator] = &[\n{rows}];\n"
    )
}

fn row(operator: &Operator) -> String {
    let parameters: String = operator.parameters.iter().map(member).collect();
    format!(
        "    Operator {{ name: {:?}, parameters: &[\n{parameters}    ] }},\n",
        operator.name
    )
}

fn member(parameter: &OperatorParameter) -> String {
    format!(
        "        Parameter {{ name: {:?}, kind: ArgKind::{:?}, width: {}, is_written: {}, enumeration: {:?} }},\n",
        parameter.name,
        parameter.kind,
        parameter.width,
        parameter.is_written,
        parameter.enumeration
    )
}

/// The source of `operator_words.rs`, for stubs: the number of words and of floating-point registers that each operator takes.
pub fn emit_operator_words(operators: &[Operator]) -> String {
    let mut words: Vec<u64> = operators.iter().map(word).collect();
    words.sort_unstable();
    let rows: String = words
        .iter()
        .map(|it| format!("    {it:#018x},\n"))
        .collect();
    format!(
        "// Generated by hookgen.\n\n\
         /// Bits of a word that are numbers of parameters.\n\
         pub(crate) const COUNT_BITS: u64 = {COUNT_BITS:#x};\n\n\
         /// Those that are the number of floating-point parameters.\n\
         pub(crate) const FLOAT_BITS: u32 = {FLOAT_BITS};\n\n\
         /// Floating-point parameters that an operator has at most.\n\
         pub(crate) const MOST_FLOATS: usize = {MOST_FLOATS};\n\n\
         /// The hash of each operator's name with its numbers of parameters, in order.\n\
         pub(crate) static OPERATORS: &[u64] = &[\n{rows}];\n"
    )
}

fn word(operator: &Operator) -> u64 {
    let floats = operator.floats();
    let others = operator.parameters.len() - floats;
    fnv::hash(operator.name.as_bytes()) & !COUNT_BITS
        | (others as u64) << FLOAT_BITS
        | floats as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Operator>, String> {
        let (model, spec) = (ApiModel::embedded().unwrap(), HookSpec::embedded().unwrap());
        let text = format!("name\tparams\n{text}");
        parse(&model, &spec, &text).map_err(|error| error.to_string())
    }

    fn refused(text: &str) -> String {
        read(text).err().unwrap()
    }

    #[test]
    fn parameters_have_kinds_and_widths() {
        let text = "aclnnOwn\tconst aclTensor * selfRef; const aclTensor * other; aclTensor * out; \
                    const aclIntArray * dims; int8_t mode; bool flag; double eps; float p; aclDataType dtype; const char * text\n";
        let operators = read(text).unwrap();
        let of = |it: &OperatorParameter| (it.kind, it.width, it.is_written);
        let found: Vec<_> = operators[0].parameters.iter().map(of).collect();
        let handle = |is_written| (ArgKind::Handle, 8, is_written);
        let expected = [
            handle(true),
            handle(false),
            handle(true),
            handle(false),
            (ArgKind::Int, 1, false),
            (ArgKind::Uint, 1, false),
            (ArgKind::Float, 8, false),
            (ArgKind::Float, 4, false),
            (ArgKind::Enum, 4, false),
            (ArgKind::Pointer, 8, false),
        ];
        assert_eq!(found, expected);
        assert_eq!(operators[0].floats(), 2);
        assert_eq!(operators[0].parameters[8].enumeration, "aclDataType");
    }

    #[test]
    fn rows_that_readers_cannot_use_are_refused() {
        let doubles: Vec<_> = (0..9).map(|at| format!("double a{at}")).collect();
        let texts = [
            (
                format!("aclnnOwn\t{}\n", doubles.join("; ")),
                "9 floating-point",
            ),
            ("aclnnOwn\tint64_t a; int64_t a\n".to_owned(), "`a` twice"),
            ("aclnnOwn\taclThing a\n".to_owned(), "aclThing by value"),
            ("aclnnAdd\tint64_t a\n".to_owned(), "another table"),
            (
                "aclnnB\tint64_t a\naclnnA\tint64_t a\n".to_owned(),
                "not in order",
            ),
        ];
        for (text, problem) in texts {
            let error = refused(&text);
            assert!(error.contains(problem), "{error}");
        }
    }

    #[test]
    fn hashes_of_operators_are_separate() {
        let all = operators().unwrap();
        let masked = |it: &Operator| fnv::hash(it.name.as_bytes()) & !COUNT_BITS;
        let mut hashes: Vec<u64> = all.iter().map(masked).collect();
        hashes.sort_unstable();
        assert!(hashes.windows(2).all(|pair| pair[0] != pair[1]));
        let of = |name: &str| all.iter().find(|it| it.name == name).map(word).unwrap();
        assert_eq!(of("aclnnLayerNorm") & COUNT_BITS, 7 << 4 | 1);
        assert_eq!(of("aclnnTril") & COUNT_BITS, 3 << 4);
        let text = emit_operator_words(&all);
        assert_eq!(text.matches("    0x").count(), all.len());
    }
}
