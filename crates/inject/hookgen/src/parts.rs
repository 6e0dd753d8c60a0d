//! The rules by which arguments of functions get their parts: which names they have in the tables is
//! said in `hooks.toml` and nowhere else.

use std::collections::BTreeMap;

use ascend_trace_format::api::{ArgPart, Fact, FactSet, Role, TaskKind};

use crate::error::Error;
use crate::hook_spec::PartsSpec;
use crate::hook_table::Hook;

/// Which functions a rule is for.
#[derive(Debug)]
enum RuleTarget<'s> {
    Role(Role),
    Task(TaskKind),
    /// Functions by name: the parts between the `*`.
    Names(Vec<&'s str>),
}

/// Uses of a rule, to report rules without any use.
#[derive(Debug)]
struct UsedOnce<T> {
    value: T,
    is_used: bool,
}

impl<T> UsedOnce<T> {
    fn new(value: T) -> Self {
        Self {
            value,
            is_used: false,
        }
    }
}

#[derive(Debug)]
struct PartRule<'s> {
    targets: Vec<(&'s str, UsedOnce<RuleTarget<'s>>)>,
    facts: Vec<Fact>,
    parts: BTreeMap<ArgPart, Vec<UsedOnce<&'s str>>>,
}

#[derive(Debug)]
pub(crate) struct PartRules<'s>(Vec<PartRule<'s>>);

impl<'s> PartRules<'s> {
    pub(crate) fn new(specs: &'s [PartsSpec]) -> Result<Self, Error> {
        specs
            .iter()
            .map(PartRule::new)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Gives a function the parts and facts of all rules that are for it.
    pub(crate) fn apply(&mut self, hook: &mut Hook) -> Result<(), Error> {
        let mut facts: Vec<Fact> = hook.facts.iter().collect();
        for rule in &mut self.0 {
            if !rule.is_for(hook) {
                continue;
            }
            facts.extend(&rule.facts);
            for (part, names) in &mut rule.parts {
                let Some(index) = index_of(hook, names) else {
                    continue;
                };
                if hook.parts.iter().any(|(known, _)| known == part) {
                    let problem = format!("two arguments are its `{}`", part.name());
                    return Err(Error::hook(&hook.name, problem));
                }
                hook.parts.push((*part, index));
            }
        }
        hook.parts.sort_unstable();
        hook.facts = FactSet::from_iter(facts);
        Ok(())
    }

    /// Refuses rules that are for no function, and names that no function has.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for rule in &self.0 {
            for (text, target) in &rule.targets {
                if !target.is_used {
                    return Err(Error::hook(
                        text,
                        "parts are said for it, and no function is",
                    ));
                }
            }
            for (part, names) in &rule.parts {
                if let Some(name) = names.iter().find(|name| !name.is_used) {
                    let problem =
                        format!("no function has such an argument as its `{}`", part.name());
                    return Err(Error::hook(name.value, problem));
                }
            }
        }
        Ok(())
    }
}

impl<'s> PartRule<'s> {
    fn new(spec: &'s PartsSpec) -> Result<Self, Error> {
        let of = spec.of.iter().map(String::as_str);
        let targets = of.map(|text| (text, UsedOnce::new(target(text))));
        let facts = spec
            .is
            .iter()
            .map(|name| Fact::from_name(name).ok_or_else(|| Error::hook(name, "no such fact")));
        let parts = spec.args.iter().map(|(name, args)| {
            let part = ArgPart::from_name(name).ok_or_else(|| Error::hook(name, "no such part"))?;
            let args = args.iter().map(|arg| UsedOnce::new(arg.as_str())).collect();
            Ok((part, args))
        });
        Ok(Self {
            targets: targets.collect(),
            facts: facts.collect::<Result<_, _>>()?,
            parts: parts.collect::<Result<_, Error>>()?,
        })
    }

    fn is_for(&mut self, hook: &Hook) -> bool {
        let mut found = false;
        for (_, target) in &mut self.targets {
            let is_it = match &target.value {
                RuleTarget::Role(role) => hook.role == *role,
                RuleTarget::Task(kind) => hook.task == Some(*kind),
                RuleTarget::Names(between) => matches(&hook.name, between),
            };
            target.is_used |= is_it;
            found |= is_it;
        }
        found
    }
}

fn target(text: &str) -> RuleTarget<'_> {
    match (Role::from_name(text), TaskKind::from_name(text)) {
        (Some(role), _) => RuleTarget::Role(role),
        (None, Some(kind)) => RuleTarget::Task(kind),
        (None, None) => RuleTarget::Names(text.split('*').collect()),
    }
}

/// Whether a name consists of these texts, with anything between them.
fn matches(name: &str, between: &[&str]) -> bool {
    let [first, middle @ .., last] = between else {
        return between == [name];
    };
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    for text in middle {
        let Some(at) = rest.find(text) else {
            return false;
        };
        rest = &rest[at + text.len()..];
    }
    rest.ends_with(last)
}

/// The argument with the first of these names that the function has.
fn index_of(hook: &Hook, names: &mut [UsedOnce<&str>]) -> Option<u8> {
    for name in names {
        let index = hook.args.iter().position(|arg| arg.name == name.value);
        if let Some(index) = index {
            name.is_used = true;
            return u8::try_from(index).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_anything() {
        let is = |name, text: &str| matches(name, &text.split('*').collect::<Vec<_>>());
        assert!(is("aclrtMalloc", "aclrtMalloc") && !is("aclrtMallocHost", "aclrtMalloc"));
        assert!(is("aclrtMallocHost", "aclrtMalloc*") && is("aclrtMalloc", "aclrtMalloc*"));
        assert!(is("aclnnAddGetWorkspaceSize", "aclnn*GetWorkspaceSize"));
        assert!(!is("aclnnAdd", "aclnn*GetWorkspaceSize") && !is("rtMalloc", "acl*"));
        assert!(is("aclOneTwo", "acl*One*Two") && !is("aclTwoOne", "acl*One*Two"));
    }
}
