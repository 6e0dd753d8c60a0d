//! A C type as seen by a caller: its width, and the values that cross the call.

use std::collections::{BTreeMap, BTreeSet};

use crate::ctype::CType;
use crate::error::Error;
use crate::layout::{MemberKind, Struct};
use crate::model::{ApiModel, NamedType};

/// Class of a type's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ValueClass {
    Void,
    Integer {
        signed: bool,
        width: u8,
    },
    Float {
        width: u8,
    },
    /// Named as its newest name.
    Enumeration(String),
    /// A typedef of a pointer.
    Handle(String),
    /// The address of a function.
    Function,
    /// Any other address.
    Address,
    Struct(String),
}

/// Why a type cannot cross a call of a wrapper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnusableType {
    Unknown(String),
    Opaque(String),
    HasUnion(String),
}

impl std::fmt::Display for UnusableType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "takes {name} by value, which no table describes"),
            Self::Opaque(name) => write!(f, "takes {name} by value, and its layout is not known"),
            Self::HasUnion(name) => write!(f, "takes {name} by value, which holds a union"),
        }
    }
}

/// The types of the model and those that `hooks.toml` adds.
pub(crate) struct Types<'a> {
    model: &'a ApiModel,
    extra: BTreeMap<&'a str, CType>,
}

impl<'a> Types<'a> {
    pub(crate) fn new(
        model: &'a ApiModel,
        extra: &'a BTreeMap<String, String>,
    ) -> Result<Self, Error> {
        let extra = extra
            .iter()
            .map(|(name, text)| {
                let ctype = CType::parse(text).map_err(|problem| Error::hook(name, problem))?;
                Ok((name.as_str(), ctype))
            })
            .collect::<Result<_, Error>>()?;
        Ok(Self { model, extra })
    }

    /// The class of this type's values; arrays count as the pointers that parameters make of them.
    pub(crate) fn class(&self, ctype: &CType) -> Result<ValueClass, UnusableType> {
        if ctype.function.is_some() {
            return Ok(ValueClass::Function);
        }
        if ctype.is_address() {
            return Ok(ValueClass::Address);
        }
        if let Some(class) = builtin(&ctype.base) {
            return Ok(class);
        }
        self.named(ctype.base_name())
    }

    fn named(&self, name: &str) -> Result<ValueClass, UnusableType> {
        if let Some(target) = self.extra.get(name) {
            return self.alias(name, target);
        }
        match self.model.named(name) {
            Some(NamedType::Enumeration(named)) => Ok(ValueClass::Enumeration(
                named.successor.as_ref().unwrap_or(&named.name).clone(),
            )),
            Some(NamedType::Alias(named)) => self.alias(name, &named.ctype),
            Some(NamedType::Callback(_)) => Ok(ValueClass::Function),
            Some(NamedType::Struct(named)) => Ok(ValueClass::Struct(named.name.clone())),
            Some(NamedType::Opaque(_)) => Err(UnusableType::Opaque(name.to_owned())),
            None => Err(UnusableType::Unknown(name.to_owned())),
        }
    }

    fn alias(&self, name: &str, target: &CType) -> Result<ValueClass, UnusableType> {
        Ok(match self.class(target)? {
            ValueClass::Address => ValueClass::Handle(name.to_owned()),
            class => class,
        })
    }

    /// The type of one pointed to by `ctype`, if it has one.
    pub(crate) fn pointee(&self, ctype: &CType) -> Option<(CType, ValueClass)> {
        let target = ctype.pointee()?;
        let class = self.class(&target).ok()?;
        Some((target, class))
    }

    /// Whether `ctype` points to something that only the runtime looks into.
    pub(crate) fn points_to_opaque(&self, ctype: &CType) -> bool {
        let target = ctype.pointee().filter(|target| !target.is_address());
        target
            .is_some_and(|t| matches!(self.model.named(t.base_name()), Some(NamedType::Opaque(_))))
    }

    /// The Rust name of the class.
    pub(crate) fn rust(&self, class: &ValueClass) -> Result<String, UnusableType> {
        Ok(match class {
            ValueClass::Void => "()".to_owned(),
            ValueClass::Integer { signed, width } => {
                format!(
                    "{}{}",
                    if *signed { "i" } else { "u" },
                    u32::from(*width) * 8
                )
            }
            ValueClass::Float { width } => format!("f{}", u32::from(*width) * 8),
            ValueClass::Enumeration(name) => self.rust_enumeration(name).to_owned(),
            ValueClass::Handle(_) | ValueClass::Function | ValueClass::Address => {
                "*mut c_void".to_owned()
            }
            ValueClass::Struct(name) => {
                self.held_structs(name, &mut BTreeSet::new())?;
                name.clone()
            }
        })
    }

    /// The name of a parameter's type in Rust: that of its class, but for two that keep their own.
    pub(crate) fn rust_of(&self, ctype: &CType) -> Result<String, UnusableType> {
        if !ctype.is_address() {
            match ctype.base.as_str() {
                "size_t" => return Ok("usize".to_owned()),
                "bool" | "_Bool" => return Ok("bool".to_owned()),
                _ => {}
            }
        }
        self.rust(&self.class(ctype)?)
    }

    fn rust_enumeration(&self, name: &str) -> &'static str {
        let fits = self.model.enumerations.get(name).is_none_or(|enumeration| {
            enumeration
                .constants
                .iter()
                .all(|(_, value)| i32::try_from(*value).is_ok())
        });
        if fits { "i32" } else { "u32" }
    }

    /// Bytes of a value of the class, as far as a record keeps it.
    pub(crate) fn width(class: &ValueClass) -> u8 {
        match class {
            ValueClass::Integer { width, .. } | ValueClass::Float { width } => *width,
            ValueClass::Enumeration(_) => 4,
            ValueClass::Void
            | ValueClass::Handle(_)
            | ValueClass::Function
            | ValueClass::Address => 8,
            ValueClass::Struct(_) => 8,
        }
    }

    /// A struct and those it holds by value, the innermost first, into `done`'s complement.
    pub(crate) fn held_structs(
        &self,
        name: &str,
        done: &mut BTreeSet<String>,
    ) -> Result<Vec<&'a Struct>, UnusableType> {
        let Some(item) = self.model.structs.get(name) else {
            return Err(UnusableType::Unknown(name.to_owned()));
        };
        if item.has_union() {
            return Err(UnusableType::HasUnion(name.to_owned()));
        }
        let mut found = Vec::new();
        if !done.insert(name.to_owned()) {
            return Ok(found);
        }
        for member in &item.members {
            let MemberKind::Plain(ctype) = &member.kind else {
                continue;
            };
            let element = CType {
                arrays: Vec::new(),
                ..ctype.clone()
            };
            if let ValueClass::Struct(inner) = self.class(&element)? {
                found.extend(self.held_structs(&inner, done)?);
            }
        }
        found.push(item);
        Ok(found)
    }
}

/// The types that C has by itself. `long` is 64 bits wide on every Linux that CANN runs on.
fn builtin(base: &str) -> Option<ValueClass> {
    let integer = |signed, width| ValueClass::Integer { signed, width };
    Some(match base {
        "void" => ValueClass::Void,
        "bool" | "_Bool" | "uint8_t" | "unsigned char" => integer(false, 1),
        // `char` is signed on x86_64 only; as bytes of a call both are the same.
        "char" | "signed char" | "int8_t" => integer(true, 1),
        "short" | "int16_t" => integer(true, 2),
        "unsigned short" | "uint16_t" => integer(false, 2),
        "int" | "int32_t" => integer(true, 4),
        "unsigned int" | "uint32_t" => integer(false, 4),
        "long" | "long long" | "int64_t" => integer(true, 8),
        "unsigned long" | "unsigned long long" | "uint64_t" | "size_t" => integer(false, 8),
        "float" => ValueClass::Float { width: 4 },
        "double" => ValueClass::Float { width: 8 },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_types<T>(check: impl FnOnce(&Types<'_>) -> T) -> T {
        let model = ApiModel::embedded().unwrap();
        let extra = BTreeMap::from([("HcclComm".to_owned(), "void *".to_owned())]);
        check(&Types::new(&model, &extra).unwrap())
    }

    fn rust(text: &str) -> Result<String, String> {
        let ctype = CType::parse(text).unwrap();
        with_types(|types| {
            types
                .rust_of(&ctype)
                .map_err(|unusable| unusable.to_string())
        })
    }

    #[test]
    fn types_cross_the_call_with_their_own_width() {
        for (c, expected) in [
            ("int32_t", "i32"),
            ("const uint64_t", "u64"),
            ("size_t", "usize"),
            ("bool", "bool"),
            ("float", "f32"),
            ("aclFloat16", "u16"),
            ("aclError", "i32"),
            ("aclrtMemcpyKind", "i32"),
            ("aclrtStream", "*mut c_void"),
            ("aclrtCallback", "*mut c_void"),
            ("HcclComm", "*mut c_void"),
            ("const char *", "*mut c_void"),
            ("size_t *", "*mut c_void"),
            ("const aclTensorDesc *const[]", "*mut c_void"),
            ("aclrtIpcEventHandle", "aclrtIpcEventHandle"),
        ] {
            assert_eq!(rust(c).as_deref(), Ok(expected), "{c}");
        }
    }

    #[test]
    fn values_of_unknown_layout_are_refused() {
        let refused = |text| rust(text).err().unwrap();
        assert_eq!(
            refused("HcclThing"),
            "takes HcclThing by value, which no table describes"
        );
        assert_eq!(
            refused("aclDataBuffer"),
            "takes aclDataBuffer by value, and its layout is not known"
        );
        assert_eq!(
            refused("aclrtErrorInfo"),
            "takes aclrtErrorInfo by value, which holds a union"
        );
    }

    #[test]
    fn a_handle_keeps_its_name_and_an_old_enumeration_gets_its_new_one() {
        with_types(|types| {
            let class = |text| types.class(&CType::parse(text).unwrap());
            assert_eq!(
                class("aclrtStream"),
                Ok(ValueClass::Handle("aclrtStream".to_owned()))
            );
            let limit = ValueClass::Enumeration("aclrtDevResLimitType".to_owned());
            assert_eq!(class("aclrtDevResModelType"), Ok(limit));
        });
    }
}
