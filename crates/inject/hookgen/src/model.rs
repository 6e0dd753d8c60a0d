//! The AscendCL interface as data: the contents of the tables, checked and indexed.

use std::collections::BTreeMap;

use ascend_trace_format::api::Blocks;

use crate::ctype::CType;
use crate::error::Error;
use crate::layout::Struct;
use crate::read;

/// One parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    pub ctype: CType,
    pub name: String,
}

/// The stream column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamParam {
    /// The parameter that names the stream the call works on.
    In(usize),
    /// The parameter through which a stream is handed out.
    Out(usize),
}

/// One function of the interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub header: String,
    pub ret: CType,
    pub params: Vec<Param>,
    pub is_variadic: bool,
    pub category: String,
    /// Whether it submits a task to a stream.
    pub submits: bool,
    pub stream: Option<StreamParam>,
    pub blocks: Blocks,
    /// The library that exports it in current releases.
    pub library: String,
    pub is_deprecated: bool,
}

/// One enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    pub name: String,
    pub header: String,
    pub constants: Vec<(String, i64)>,
    /// The enumeration that took over every constant of this one, if one did.
    pub successor: Option<String>,
}

/// One named constant outside every enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macro {
    pub name: String,
    pub header: String,
    /// Its group, such as `event_flag`; empty when the table has none.
    pub group: String,
    pub value: i128,
    /// Whether the table writes it in hexadecimal.
    pub is_hex: bool,
}

/// Another name for a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    pub name: String,
    pub header: String,
    pub ctype: CType,
}

/// The type of a callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    pub name: String,
    pub header: String,
    pub ret: CType,
    pub params: Vec<Param>,
}

/// A type that is only ever used through a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opaque {
    pub name: String,
    pub header: String,
}

/// What kind of thing a type name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedType<'a> {
    Enumeration(&'a Enumeration),
    Alias(&'a Alias),
    Callback(&'a Callback),
    Opaque(&'a Opaque),
    Struct(&'a Struct),
}

/// The text of the four tables.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a> {
    /// Functions; several tables of the same shape.
    pub functions: &'a [(&'static str, &'a str)],
    pub enums: &'a str,
    pub structs: &'a str,
}

/// The whole interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiModel {
    /// In name order.
    pub functions: Vec<Function>,
    pub enumerations: BTreeMap<String, Enumeration>,
    /// In table order.
    pub macros: Vec<Macro>,
    pub aliases: BTreeMap<String, Alias>,
    pub callbacks: BTreeMap<String, Callback>,
    pub opaques: BTreeMap<String, Opaque>,
    pub structs: BTreeMap<String, Struct>,
}

impl ApiModel {
    /// The model of the tables that come with this crate.
    pub fn embedded() -> Result<Self, Error> {
        Self::parse(Tables {
            functions: &[
                ("api.tsv", include_str!("../data/api.tsv")),
                ("api_aclnn.tsv", include_str!("../data/api_aclnn.tsv")),
                ("api_extra.tsv", include_str!("../data/api_extra.tsv")),
                ("api_rt.tsv", include_str!("../data/api_rt.tsv")),
            ],
            enums: include_str!("../data/enums.tsv"),
            structs: include_str!("../data/structs.tsv"),
        })
    }

    /// Reads tables of the shape of the embedded ones.
    pub fn parse(tables: Tables<'_>) -> Result<Self, Error> {
        let (enumerations, macros) = read::constants(tables.enums)?;
        let types = read::types(tables.structs)?;
        let mut functions = Vec::new();
        for (name, text) in tables.functions {
            functions.extend(read::functions(name, text)?);
        }
        functions.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = functions
            .windows(2)
            .find(|pair| pair[0].name == pair[1].name)
        {
            return Err(Error::hook(
                &pair[0].name,
                "the tables have the function twice",
            ));
        }
        Ok(Self {
            functions,
            enumerations,
            macros,
            aliases: types.aliases,
            callbacks: types.callbacks,
            opaques: types.opaques,
            structs: types.structs,
        })
    }

    /// The function with this name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        let index = self
            .functions
            .binary_search_by(|f| f.name.as_str().cmp(name))
            .ok()?;
        self.functions.get(index)
    }

    /// The entry of a type name in the tables.
    pub fn named(&self, name: &str) -> Option<NamedType<'_>> {
        (self.enumerations.get(name).map(NamedType::Enumeration))
            .or_else(|| self.aliases.get(name).map(NamedType::Alias))
            .or_else(|| self.callbacks.get(name).map(NamedType::Callback))
            .or_else(|| self.structs.get(name).map(NamedType::Struct))
            .or_else(|| self.opaques.get(name).map(NamedType::Opaque))
    }
}

impl NamedType<'_> {
    /// The header that the table gives.
    pub fn header(&self) -> &str {
        match self {
            Self::Enumeration(named) => &named.header,
            Self::Alias(named) => &named.header,
            Self::Callback(named) => &named.header,
            Self::Opaque(named) => &named.header,
            Self::Struct(named) => &named.header,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_tables_are_read_whole() {
        let model = ApiModel::embedded().unwrap();
        let rows = [
            include_str!("../data/api.tsv"),
            include_str!("../data/api_aclnn.tsv"),
            include_str!("../data/api_extra.tsv"),
            include_str!("../data/api_rt.tsv"),
        ];
        let expected: usize = rows.iter().map(|text| text.lines().count() - 1).sum();
        assert_eq!(model.functions.len(), expected);
        let record = model.function("aclrtRecordEvent").unwrap();
        assert_eq!(record.params[1].name, "stream");
        assert_eq!(
            (record.submits, record.stream),
            (true, Some(StreamParam::In(1)))
        );
        assert!(model.function("aclrtNope").is_none());
    }

    #[test]
    fn a_newer_enumeration_succeeds_one_with_the_same_constants() {
        let model = ApiModel::embedded().unwrap();
        let successor = |name: &str| model.enumerations[name].successor.clone();
        assert_eq!(
            successor("aclrtDevResModelType").as_deref(),
            Some("aclrtDevResLimitType")
        );
        assert_eq!(
            successor("aclCANNPackageName_").as_deref(),
            Some("aclCANNPackageName")
        );
        assert_eq!(successor("aclrtMemcpyKind"), None);
    }

    #[test]
    fn a_constant_of_two_releases_is_kept_once() {
        let model = ApiModel::embedded().unwrap();
        let matching: Vec<_> = model
            .macros
            .iter()
            .filter(|m| m.name == "ACL_ERROR_RT_PARAM_INVALID")
            .collect();
        assert_eq!(matching.len(), 1);
        assert_eq!(matching[0].value, 107_000);
    }
}
