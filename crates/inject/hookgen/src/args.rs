//! Meanings of a function's arguments: rules first, then `hooks.toml`.

use ascend_trace_format::api::ArgKind;

use crate::ctype::CType;
use crate::error::Error;
use crate::hook_spec::HookSpec;
use crate::model::{Function, Param};
use crate::types::{Types, ValueClass};

/// The enumeration of the data types of messages.
const TYPES_OF_MESSAGES: &str = "HcclDataType";

/// One argument of a hooked function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookArg {
    pub name: String,
    /// The C type as written in the declaration.
    pub ctype: String,
    /// The type it has in the wrapper.
    pub rust: String,
    pub kind: ArgKind,
    pub out: bool,
    pub width: u8,
    /// The enumeration of `ArgKind::Enum`, or of the data types of `ArgKind::Messages`; else empty.
    pub enumeration: String,
    /// Position of the argument that holds the length of `ArgKind::Integers` or `ArgKind::Messages`, or the type of `ArgKind::Scalar`.
    pub count: Option<u8>,
}

pub(crate) struct ArgumentRules<'a> {
    pub(crate) types: &'a Types<'a>,
    pub(crate) spec: &'a HookSpec,
}

impl ArgumentRules<'_> {
    /// The argument for one parameter. `rust` is its type in the wrapper.
    pub(crate) fn derive(
        &self,
        function: &Function,
        param: &Param,
        rust: String,
    ) -> Result<HookArg, Error> {
        let (ctype, name) = (&param.ctype, &param.name);
        let argument_spec = self.spec.argument(&function.name, &spelled(ctype), name)?;
        let error = |problem: &str| Error::hook(&function.name, format!("{name}: {problem}"));
        let out = match argument_spec.out {
            Some(out) => out,
            None => self.answers(&function.name) && self.holds_answer(ctype),
        };
        let (value, class) = if out {
            self.types
                .pointee(ctype)
                .ok_or_else(|| error("no value can be read behind it"))?
        } else {
            let class = self
                .types
                .class(ctype)
                .map_err(|unusable| error(&unusable.to_string()))?;
            (ctype.clone(), class)
        };
        if out && matches!(class, ValueClass::Void | ValueClass::Struct(_)) {
            return Err(error("it does not point to a single value"));
        }
        let kind = match argument_spec.kind {
            Some(kind) => kind,
            None => self.kind(&value, &class)?,
        };
        if !is_possible(kind, &class) {
            return Err(error(&format!(
                "`{}` does not suit {}",
                kind.name(),
                ctype.text()
            )));
        }
        let enumeration = match (&class, kind) {
            (ValueClass::Enumeration(name), ArgKind::Enum) => name.clone(),
            (_, ArgKind::Messages) => TYPES_OF_MESSAGES.to_owned(),
            _ => String::new(),
        };
        let count = argument_spec
            .count
            .and_then(|count| self.info_position(function, count, kind));
        if kind == ArgKind::Scalar && count.is_none() {
            return Err(error("no argument names its type"));
        }
        if kind == ArgKind::Messages && count.is_none() {
            return Err(error("no argument is its length"));
        }
        if kind == ArgKind::Integers && (count.is_none() || !self.is_numbers(ctype)) {
            return Err(error("it is no array of 64-bit integers with a length"));
        }
        let width = Types::width(&class);
        Ok(HookArg {
            name: name.clone(),
            ctype: ctype.text(),
            rust,
            kind,
            out,
            width,
            enumeration,
            count,
        })
    }

    /// The position of the argument of this name, if it can be a length, or the type of a scalar.
    fn info_position(&self, function: &Function, name: &str, kind: ArgKind) -> Option<u8> {
        let named = |param: &Param| param.name == name;
        let position = function.params.iter().position(named)?;
        let class = self
            .types
            .class(&function.params.get(position)?.ctype)
            .ok()?;
        let position = u8::try_from(position).ok()?;
        let info_position = match kind {
            ArgKind::Scalar => matches!(class, ValueClass::Enumeration(_)),
            _ => matches!(class, ValueClass::Integer { .. }),
        };
        info_position.then_some(position)
    }

    /// Whether it leads to 64-bit integers.
    fn is_numbers(&self, ctype: &CType) -> bool {
        let signed = ValueClass::Integer {
            signed: true,
            width: 8,
        };
        let target = self.types.pointee(ctype);
        target.is_some_and(|(_, class)| class == signed)
    }

    /// Whether it points to the root information of a communicator, to be read.
    fn is_root_info(&self, ctype: &CType) -> bool {
        ctype.is_const && ctype.base == "HcclRootInfo" && ctype.pointers.len() == 1
    }

    /// Whether a function of this name returns values through its pointers.
    fn answers(&self, function: &str) -> bool {
        self.spec
            .verbs
            .iter()
            .any(|verb| function.contains(verb.as_str()))
    }

    /// Whether a pointer leads to one value that a call may write, rather than to bytes.
    pub(crate) fn holds_answer(&self, ctype: &CType) -> bool {
        self.types.pointee(ctype).is_some_and(|(target, class)| {
            !target.is_read_only()
                && !matches!(class, ValueClass::Void | ValueClass::Struct(_))
                && Types::width(&class) >= 4
        })
    }

    pub(crate) fn kind(&self, ctype: &CType, class: &ValueClass) -> Result<ArgKind, Error> {
        Ok(match class {
            ValueClass::Integer { .. } if ctype.base == "size_t" => ArgKind::Size,
            ValueClass::Integer { signed: true, .. } => ArgKind::Int,
            ValueClass::Integer { signed: false, .. } => ArgKind::Uint,
            ValueClass::Float { .. } => ArgKind::Float,
            ValueClass::Enumeration(_) => ArgKind::Enum,
            ValueClass::Handle(name) => self.spec.handle(name)?.unwrap_or(ArgKind::Handle),
            ValueClass::Function => ArgKind::Function,
            ValueClass::Address if is_string(ctype) => ArgKind::String,
            ValueClass::Address if self.is_root_info(ctype) => ArgKind::RootInfo,
            ValueClass::Address if self.types.points_to_opaque(ctype) => ArgKind::Handle,
            ValueClass::Void | ValueClass::Address | ValueClass::Struct(_) => ArgKind::Pointer,
        })
    }
}

/// The spelling of the type in `hooks.toml`: as in the tables, without the outer `const`.
fn spelled(ctype: &CType) -> String {
    let mut plain = ctype.clone();
    match plain.pointers.last_mut() {
        Some(is_const) => *is_const = false,
        None => plain.is_const = false,
    }
    let text = plain.text();
    match text.find('*') {
        Some(first) => format!("{} {}", text[..first].trim_end(), &text[first..]),
        None => text,
    }
}

fn is_string(ctype: &CType) -> bool {
    ctype.base == "char" && ctype.is_const && ctype.pointers.len() == 1 && ctype.arrays.is_empty()
}

/// Whether a value of this class can be of this kind.
fn is_possible(kind: ArgKind, class: &ValueClass) -> bool {
    match class {
        ValueClass::Integer { .. } => matches!(
            kind,
            ArgKind::Int | ArgKind::Uint | ArgKind::Size | ArgKind::Device | ArgKind::Timeout
        ),
        ValueClass::Float { .. } => kind == ArgKind::Float,
        ValueClass::Enumeration(_) => kind == ArgKind::Enum,
        ValueClass::Void | ValueClass::Struct(_) => kind == ArgKind::Pointer,
        ValueClass::Handle(_) | ValueClass::Function | ValueClass::Address => matches!(
            kind,
            ArgKind::Pointer
                | ArgKind::Stream
                | ArgKind::Event
                | ArgKind::Context
                | ArgKind::String
                | ArgKind::Integers
                | ArgKind::Scalar
                | ArgKind::RootInfo
                | ArgKind::Heap
                | ArgKind::Regions
                | ArgKind::RegionRefs
                | ArgKind::Messages
                | ArgKind::Function
                | ArgKind::Handle
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ApiModel;

    #[test]
    fn every_pointer_to_a_value_is_decided() {
        let model = ApiModel::embedded().unwrap();
        let spec = HookSpec::embedded().unwrap();
        let types = Types::new(&model, &spec.types).unwrap();
        let arguments = ArgumentRules {
            types: &types,
            spec: &spec,
        };
        let libraries = spec.libraries().unwrap();
        let hooked = model
            .functions
            .iter()
            .filter(|f| libraries.contains(&f.library.as_str()));
        let mut undecided = Vec::new();
        for function in hooked.filter(|function| !arguments.answers(&function.name)) {
            for Param { ctype, name } in &function.params {
                let argument_spec = spec
                    .argument(&function.name, &spelled(ctype), name)
                    .unwrap();
                if arguments.holds_answer(ctype) && argument_spec.out.is_none() {
                    undecided.push(format!("{}: {} {name}", function.name, ctype.text()));
                }
            }
        }
        assert!(
            undecided.is_empty(),
            "say under args whether these are `in` or `out`:\n{}",
            undecided.join("\n")
        );
    }

    #[test]
    fn a_type_is_spelled_as_the_tables_do() {
        let spelled = |text| spelled(&CType::parse(text).unwrap());
        assert_eq!(spelled("const int32_t"), "int32_t");
        assert_eq!(spelled("int32_t *const"), "int32_t *");
        assert_eq!(spelled("const void **"), "const void **");
        assert_eq!(spelled("void ** "), "void **");
    }
}
