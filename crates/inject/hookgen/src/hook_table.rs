//! The hook table: the functions of the chosen groups with everything known about them.

use std::collections::{BTreeMap, BTreeSet};

use ascend_trace_format::api::{
    ArgKind, ArgPart, Blocks, FactSet, NamingCall, RetKind, Role, TaskKind,
};

use crate::args::{ArgumentRules, HookArg};
use crate::error::Error;
use crate::hook_spec::{FunctionSpec, HookSpec};
use crate::layout::Struct;
use crate::model::{ApiModel, Function, StreamParam};
use crate::parts::PartRules;
use crate::roles;
use crate::types::{Types, UnusableType, ValueClass};

/// The fixed arguments that a function with a variable number of them may have: those that both
/// architectures pass in registers.
const VARIADIC_WORDS: usize = 6;

/// The name of the enumeration that holds every error code.
pub const ERROR_ENUMERATION: &str = "aclError";

/// One function that gets a wrapper. Its id is its index in [`HookTable::hooks`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    pub name: String,
    pub header: String,
    pub library: String,
    /// The wrapper shares the code that records with others.
    pub is_shared: bool,
    pub category: String,
    pub role: Role,
    pub task: Option<TaskKind>,
    pub timed: bool,
    pub blocks: Blocks,
    pub stream: Option<u8>,
    pub event: Option<u8>,
    pub bytes: Option<u8>,
    pub label: Option<u8>,
    pub names: Option<NamingCall>,
    /// What further arguments are, in the order of the parts.
    pub parts: Vec<(ArgPart, u8)>,
    pub facts: FactSet,
    pub ret: RetKind,
    /// The type returned, in the wrapper; `()` for none.
    pub rust_ret: String,
    pub args: Vec<HookArg>,
    /// Further arguments may follow, of which nothing is known.
    pub is_variadic: bool,
}

/// One function that gets none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unhooked {
    pub name: String,
    pub reason: String,
}

/// An enumeration as a trace shows it: one name for each value.
pub type NamedValues = Vec<(i64, String)>;

/// The hook table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookTable {
    /// In name order.
    pub hooks: Vec<Hook>,
    /// In name order.
    pub unhooked: Vec<Unhooked>,
    /// The enumerations that arguments have, and that of the error codes.
    pub enumerations: BTreeMap<String, NamedValues>,
    /// The structs that functions take by value, each after those it holds.
    pub(crate) structs: Vec<WrapperStruct>,
}

/// A struct as a wrapper takes it by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrapperStruct {
    pub(crate) name: String,
    pub(crate) size: usize,
    pub(crate) align: usize,
    /// Names and types in Rust.
    pub(crate) fields: Vec<(String, String)>,
}

impl HookTable {
    /// The table of the tables and the `hooks.toml` that come with this crate.
    pub fn embedded() -> Result<Self, Error> {
        Self::build(&ApiModel::embedded()?, &HookSpec::embedded()?)
    }

    /// Joins the model with what `hooks.toml` says.
    pub fn build(model: &ApiModel, spec: &HookSpec) -> Result<Self, Error> {
        Self::build_with(model, spec, &BTreeSet::new())
    }

    /// As [`HookTable::build`]. Functions of `foreign` are not ours to mend: one that does not fit is
    /// left unhooked.
    pub(crate) fn build_with(
        model: &ApiModel,
        spec: &HookSpec,
        foreign: &BTreeSet<String>,
    ) -> Result<Self, Error> {
        check_names(model, spec)?;
        let types = Types::new(model, &spec.types)?;
        let mut rules = PartRules::new(&spec.parts)?;
        let builder = HookTableBuilder {
            model,
            spec,
            types: &types,
        };
        let libraries = spec.libraries()?;
        let mut hooks = Vec::new();
        let mut unhooked = Vec::new();
        for function in model
            .functions
            .iter()
            .filter(|f| libraries.contains(&f.library.as_str()))
        {
            let hook = match builder.signature(function) {
                Ok(signature) => builder.hook(function, signature).map(Ok),
                Err(reason) => Ok(Err(reason)),
            };
            let hook = match hook {
                Err(error) if foreign.contains(&function.name) => Err(error.to_string()),
                other => other?,
            };
            match hook {
                Ok(mut hook) => {
                    rules.apply(&mut hook)?;
                    hooks.push(hook);
                }
                Err(reason) => unhooked.push(Unhooked {
                    name: function.name.clone(),
                    reason,
                }),
            }
        }
        rules.check()?;
        let enumerations = builder.enumerations(&hooks);
        let structs = builder
            .structs(&hooks)
            .map_err(|u| Error::hook("structs", u.to_string()))?;
        Ok(Self {
            hooks,
            unhooked,
            enumerations,
            structs,
        })
    }

    /// The hook with this name.
    pub fn hook(&self, name: &str) -> Option<&Hook> {
        let index = self
            .hooks
            .binary_search_by(|hook| hook.name.as_str().cmp(name))
            .ok()?;
        self.hooks.get(index)
    }
}

/// The types of a function in its wrapper.
struct Signature {
    params: Vec<String>,
    ret: String,
}

struct HookTableBuilder<'a> {
    model: &'a ApiModel,
    spec: &'a HookSpec,
    types: &'a Types<'a>,
}

impl HookTableBuilder<'_> {
    /// The function's types in Rust, or why it cannot have a wrapper.
    fn signature(&self, function: &Function) -> Result<Signature, String> {
        let rust = |ctype| {
            self.types
                .rust_of(ctype)
                .map_err(|unusable| unusable.to_string())
        };
        let params: Vec<String> = function
            .params
            .iter()
            .map(|p| rust(&p.ctype))
            .collect::<Result<_, _>>()?;
        let in_registers = |rust: &String| !rust.starts_with('f') && !self.is_struct(rust);
        if function.is_variadic
            && (params.len() > VARIADIC_WORDS || !params.iter().all(in_registers))
        {
            let reason = "takes a variable number of arguments after some that are no plain words";
            return Err(reason.to_owned());
        }
        Ok(Signature {
            params,
            ret: rust(&function.ret)?,
        })
    }

    fn is_struct(&self, rust: &str) -> bool {
        self.model.structs.contains_key(rust)
    }

    fn hook(&self, function: &Function, signature: Signature) -> Result<Hook, Error> {
        let default = FunctionSpec::default();
        let function_spec = self.spec.function(&function.name).unwrap_or(&default);
        let error = |problem: String| Error::hook(&function.name, problem);
        let arguments = ArgumentRules {
            types: self.types,
            spec: self.spec,
        };
        let args = (function.params.iter().zip(signature.params))
            .map(|(param, rust)| arguments.derive(function, param, rust))
            .collect::<Result<Vec<_>, _>>()?;
        let task = function_spec.task().map_err(error)?;
        let role = function_spec.role().map_err(error)?;
        let is_task = function.submits && function_spec.plain.is_none();
        let role = role.unwrap_or(if is_task { Role::Task } else { Role::Plain });
        let task = if role == Role::Task {
            match task {
                Some(task) => Some(task),
                None => Some(self.spec.task_of(&function.library)?),
            }
        } else {
            task
        };
        let ret = match function_spec.ret().map_err(error)? {
            Some(ret) => ret,
            None => self
                .ret(function)
                .map_err(|unusable| error(unusable.to_string()))?,
        };
        let bytes = function_spec
            .bytes
            .as_deref()
            .map(|name| index_of(&args, name))
            .transpose();
        let hook = Hook {
            name: function.name.clone(),
            header: function.header.clone(),
            library: function.library.clone(),
            is_shared: self.spec.shares(&function.library),
            category: function.category.clone(),
            role,
            task,
            timed: function_spec.timed.unwrap_or(task.is_some()),
            blocks: function.blocks,
            stream: stream(function, &args),
            event: only(&args, ArgKind::Event),
            bytes: bytes.map_err(error)?,
            label: self.label(function_spec, task, &args).map_err(error)?,
            names: naming(function_spec, &args).map_err(error)?,
            parts: Vec::new(),
            facts: FactSet::default(),
            ret,
            rust_ret: signature.ret,
            args,
            is_variadic: function.is_variadic,
        };
        roles::check(function, &hook, function_spec).map_err(error)?;
        Ok(hook)
    }

    /// The argument that names a task: from the specification, else the first one with such a type.
    fn label(
        &self,
        function_spec: &FunctionSpec,
        task: Option<TaskKind>,
        args: &[HookArg],
    ) -> Result<Option<u8>, String> {
        if let Some(name) = &function_spec.label {
            return index_of(args, name).map(Some);
        }
        let says = |arg: &HookArg| {
            let spelled = format!("{} {}", arg.ctype, arg.name);
            !arg.out && self.spec.labels.contains(&spelled)
        };
        let index = args.iter().position(says).filter(|_| task.is_some());
        Ok(index.and_then(|index| u8::try_from(index).ok()))
    }

    fn ret(&self, function: &Function) -> Result<RetKind, UnusableType> {
        if self.spec.errors.contains(&function.ret.text()) {
            return Ok(RetKind::Error);
        }
        Ok(match self.types.class(&function.ret)? {
            ValueClass::Void => RetKind::Void,
            ValueClass::Integer { width: 8, .. } => RetKind::Wide,
            ValueClass::Integer { .. } | ValueClass::Enumeration(_) => RetKind::Int,
            ValueClass::Float { .. } => RetKind::Float,
            ValueClass::Handle(_) | ValueClass::Function | ValueClass::Address => RetKind::Pointer,
            ValueClass::Struct(name) => return Err(UnusableType::Opaque(name)),
        })
    }

    /// The enumerations that arguments have, and all error codes as one more.
    fn enumerations(&self, hooks: &[Hook]) -> BTreeMap<String, NamedValues> {
        let used: BTreeSet<&str> = (hooks.iter().flat_map(|hook| &hook.args))
            .map(|arg| arg.enumeration.as_str())
            .filter(|name| !name.is_empty())
            .collect();
        let mut found: BTreeMap<String, NamedValues> = used
            .into_iter()
            .filter_map(|name| self.model.enumerations.get(name))
            .map(|e| {
                (
                    e.name.clone(),
                    one_name_each(e.constants.iter().map(|(n, v)| (*v, n))),
                )
            })
            .collect();
        // Codes of the runtime first: where two share a value, the general name is the one to show.
        let mut codes: Vec<_> = self
            .model
            .macros
            .iter()
            .filter(|m| m.group == ERROR_ENUMERATION)
            .collect();
        codes.sort_by_key(|code| !code.header.contains("error_codes"));
        // The codes of the collective libraries are small numbers, different from all others.
        let collective = self.model.enumerations.get("HcclResult");
        let collective = collective.into_iter().flat_map(|e| &e.constants);
        let collective = collective.filter(|(_, value)| *value != 0);
        let codes = codes
            .iter()
            .filter_map(|m| Some((i64::try_from(m.value).ok()?, &m.name)))
            .chain(collective.map(|(name, value)| (*value, name)));
        found.insert(ERROR_ENUMERATION.to_owned(), one_name_each(codes));
        found
    }

    fn structs(&self, hooks: &[Hook]) -> Result<Vec<WrapperStruct>, UnusableType> {
        let mut done = BTreeSet::new();
        let mut structs = Vec::new();
        for arg in hooks.iter().flat_map(|hook| &hook.args) {
            if self.model.structs.contains_key(&arg.rust) {
                for item in self.types.held_structs(&arg.rust, &mut done)? {
                    structs.push(self.wrapper_struct(item)?);
                }
            }
        }
        Ok(structs)
    }

    fn wrapper_struct(&self, item: &Struct) -> Result<WrapperStruct, UnusableType> {
        let mut fields = Vec::new();
        for (member, ctype) in item.members.iter().zip(item.member_types()) {
            let element = crate::CType {
                arrays: Vec::new(),
                ..ctype.clone()
            };
            let mut rust = self.types.rust_of(&element)?;
            for length in ctype.arrays.iter().rev() {
                rust = format!("[{rust}; {}]", length.unwrap_or(0));
            }
            fields.push((member.name.clone(), rust));
        }
        Ok(WrapperStruct {
            name: item.name.clone(),
            size: item.size,
            align: item.align,
            fields,
        })
    }
}

/// Every name in `hooks.toml` must exist, else it says nothing while it seems to.
fn check_names(model: &ApiModel, spec: &HookSpec) -> Result<(), Error> {
    for (name, function_spec) in &spec.functions {
        let function = model
            .function(name)
            .ok_or_else(|| Error::hook(name, "no table has this function"))?;
        for arg in function_spec.args.keys().chain(&function_spec.bytes) {
            if !function.params.iter().any(|param| param.name == *arg) {
                return Err(Error::hook(name, format!("it has no argument `{arg}`")));
            }
        }
    }
    Ok(())
}

/// The object that a call names.
fn naming(function_spec: &FunctionSpec, args: &[HookArg]) -> Result<Option<NamingCall>, String> {
    let Some(names) = &function_spec.names else {
        return Ok(None);
    };
    let key = match names.key.as_str() {
        "return" => None,
        name => Some(index_of(args, name)?),
    };
    let text = index_of(args, &names.text)?;
    let is_text = |arg: &HookArg| arg.kind == ArgKind::String && !arg.out;
    if !args.get(usize::from(text)).is_some_and(is_text) {
        return Err(format!(
            "`{}` is no string that could be a name",
            names.text
        ));
    }
    Ok(Some(NamingCall { key, text }))
}

fn index_of(args: &[HookArg], name: &str) -> Result<u8, String> {
    let index = args.iter().position(|arg| arg.name == name);
    index
        .and_then(|index| u8::try_from(index).ok())
        .ok_or_else(|| format!("it has no argument `{name}`"))
}

/// The stream that the call uses: from the table, if the type of the argument agrees.
fn stream(function: &Function, args: &[HookArg]) -> Option<u8> {
    let (index, out) = match function.stream? {
        StreamParam::In(index) => (index, false),
        StreamParam::Out(index) => (index, true),
    };
    let arg = args.get(index)?;
    let index = u8::try_from(index).ok()?;
    (arg.kind == ArgKind::Stream && arg.out == out).then_some(index)
}

/// The only argument of a kind.
fn only(args: &[HookArg], kind: ArgKind) -> Option<u8> {
    let mut found = (0..)
        .zip(args)
        .filter(|(_, arg)| arg.kind == kind)
        .map(|(index, _)| index);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// One name for each value, in the order of values. Of several names the last one stays: the tables
/// list an old spelling before the one that replaced it.
fn one_name_each<'a>(constants: impl Iterator<Item = (i64, &'a String)>) -> NamedValues {
    let unique: BTreeMap<i64, String> = constants
        .map(|(value, name)| (value, name.clone()))
        .collect();
    unique.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newer_of_two_names_of_a_value_is_shown() {
        let names = ["OLD".to_owned(), "NEW".to_owned(), "ZERO".to_owned()];
        let shown = one_name_each([(2, &names[0]), (2, &names[1]), (0, &names[2])].into_iter());
        assert_eq!(shown, [(0, "ZERO".to_owned()), (2, "NEW".to_owned())]);
    }

    #[test]
    fn success_has_its_usual_name() {
        let table = HookTable::embedded().unwrap();
        let codes = &table.enumerations[ERROR_ENUMERATION];
        let name = |value| {
            codes
                .iter()
                .find(|(v, _)| *v == value)
                .map(|(_, name)| name.as_str())
        };
        assert_eq!(name(0), Some("ACL_SUCCESS"));
        assert_eq!(name(107_000), Some("ACL_ERROR_RT_PARAM_INVALID"));
        assert_eq!(name(507_899), Some("ACL_ERROR_RT_DRV_INTERNAL_ERROR"));
    }
}
