//! `hooks.toml`: facts about functions that the tables do not have.

use std::collections::BTreeMap;

use ascend_trace_format::api::{ArgKind, RetKind, Role, TaskKind};
use serde::Deserialize;

use crate::error::Error;

const FILE: &str = "hooks.toml";

/// Everything `hooks.toml` says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookSpec {
    /// The groups to hook.
    pub groups: Vec<String>,
    /// The libraries of each group.
    pub group: BTreeMap<String, Vec<String>>,
    /// The kind of the tasks that functions of a group submit, where it is not said for each.
    #[serde(default)]
    tasks: BTreeMap<String, String>,
    /// Groups of wrappers that share the code that records.
    #[serde(default)]
    shared: Vec<String>,
    /// Types and names of arguments that name a task.
    #[serde(default)]
    pub(crate) labels: Vec<String>,
    #[serde(default)]
    pub(crate) verbs: Vec<String>,
    #[serde(default)]
    pub(crate) errors: Vec<String>,
    #[serde(default)]
    pub(crate) types: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) handles: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) arguments: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) functions: BTreeMap<String, FunctionSpec>,
    #[serde(default)]
    pub(crate) parts: Vec<PartsSpec>,
}

/// Meanings of arguments of some functions, and facts about these functions.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PartsSpec {
    /// Roles, kinds of tasks, and names, in which a `*` matches anything.
    pub(crate) of: Vec<String>,
    #[serde(default)]
    pub(crate) is: Vec<String>,
    /// By part: names of arguments, of which the first counts that a function has.
    #[serde(flatten)]
    pub(crate) args: BTreeMap<String, Vec<String>>,
}

/// Facts about one function.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionSpec {
    role: Option<String>,
    task: Option<String>,
    ret: Option<String>,
    pub(crate) timed: Option<bool>,
    pub(crate) bytes: Option<String>,
    /// The argument that names the task.
    pub(crate) label: Option<String>,
    pub(crate) names: Option<NamingSpec>,
    /// Why a function that blocks or submits a task is nothing but recorded.
    pub plain: Option<String>,
    /// Why a function that submits a task takes no stream.
    pub streamless: Option<String>,
    #[serde(default)]
    pub(crate) args: BTreeMap<String, String>,
}

/// The object that a call names, and the argument with the name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamingSpec {
    /// An argument, or `return`.
    pub(crate) key: String,
    pub(crate) text: String,
}

/// Facts about one argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArgSpec<'a> {
    pub(crate) out: Option<bool>,
    pub(crate) kind: Option<ArgKind>,
    /// The argument that holds the length of an array.
    pub(crate) count: Option<&'a str>,
}

impl HookSpec {
    /// The file that comes with this crate.
    pub fn embedded() -> Result<Self, Error> {
        Self::parse(include_str!("../hooks.toml"))
    }

    /// Reads a file of the same shape.
    pub fn parse(text: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|source| Error::Toml {
            file: FILE,
            source: Box::new(source),
        })
    }

    /// The libraries with hooked functions.
    pub(crate) fn libraries(&self) -> Result<Vec<&str>, Error> {
        let mut libraries = Vec::new();
        for group in &self.groups {
            let members = self
                .group
                .get(group)
                .ok_or_else(|| Error::hook(group, "no such group"))?;
            libraries.extend(members.iter().map(String::as_str));
        }
        Ok(libraries)
    }

    /// Is a library one of a group's?
    fn holds(&self, group: &str, library: &str) -> bool {
        let libraries = self.group.get(group);
        libraries.is_some_and(|list| list.iter().any(|name| name == library))
    }

    /// Do the wrappers of a library's functions share the code that records?
    pub(crate) fn shares(&self, library: &str) -> bool {
        self.shared.iter().any(|group| self.holds(group, library))
    }

    /// The kind of the tasks that functions of a library submit.
    pub(crate) fn task_of(&self, library: &str) -> Result<TaskKind, Error> {
        let mut groups = self.tasks.keys();
        let Some(group) = groups.find(|group| self.holds(group, library)) else {
            return Ok(TaskKind::Other);
        };
        let name = self.tasks.get(group).map_or("", String::as_str);
        TaskKind::from_name(name)
            .ok_or_else(|| Error::hook(group, format!("`{name}` is not a kind of task")))
    }

    /// Facts about a function.
    pub fn function(&self, name: &str) -> Option<&FunctionSpec> {
        self.functions.get(name)
    }

    /// The kind of a handle's type, if it has a separate one.
    pub(crate) fn handle(&self, name: &str) -> Result<Option<ArgKind>, Error> {
        self.handles
            .get(name)
            .map(|kind| kind_from_name(kind))
            .transpose()
            .map_err(|problem| Error::hook(name, problem))
    }

    /// Facts about an argument: for this function, else for its type and name.
    pub(crate) fn argument(
        &self,
        function: &str,
        ctype: &str,
        name: &str,
    ) -> Result<ArgSpec<'_>, Error> {
        let special = self
            .functions
            .get(function)
            .and_then(|spec| spec.args.get(name));
        let Some(text) = special.or_else(|| self.arguments.get(&format!("{ctype} {name}"))) else {
            return Ok(ArgSpec::default());
        };
        ArgSpec::parse(text).map_err(|problem| Error::hook(function, format!("{name}: {problem}")))
    }
}

impl FunctionSpec {
    pub(crate) fn role(&self) -> Result<Option<Role>, String> {
        let Some(name) = &self.role else {
            return Ok(None);
        };
        Role::from_name(name)
            .map(Some)
            .ok_or_else(|| format!("`{name}` is not a role"))
    }

    pub(crate) fn task(&self) -> Result<Option<TaskKind>, String> {
        let Some(name) = &self.task else {
            return Ok(None);
        };
        TaskKind::from_name(name)
            .map(Some)
            .ok_or_else(|| format!("`{name}` is not a kind of task"))
    }

    pub(crate) fn ret(&self) -> Result<Option<RetKind>, String> {
        let Some(name) = &self.ret else {
            return Ok(None);
        };
        RetKind::from_name(name)
            .map(Some)
            .ok_or_else(|| format!("`{name}` is not a kind of result"))
    }
}

impl<'a> ArgSpec<'a> {
    /// `in`, `out`, a kind, or a direction and a kind. A kind may name the argument that holds the
    /// length: `integers:size`; a scalar names that of its type: `scalar:dataType`.
    fn parse(text: &'a str) -> Result<Self, String> {
        let mut spec = Self::default();
        for word in text.split_whitespace() {
            match word {
                "in" => spec.out = Some(false),
                "out" => spec.out = Some(true),
                word => {
                    let (kind, count) = match word.split_once(':') {
                        Some((kind, count)) => (kind, Some(count)),
                        None => (word, None),
                    };
                    spec.kind = Some(kind_from_name(kind)?);
                    spec.count = count;
                }
            }
        }
        Ok(spec)
    }
}

fn kind_from_name(name: &str) -> Result<ArgKind, String> {
    ArgKind::from_name(name).ok_or_else(|| format!("`{name}` is not a kind of argument"))
}
