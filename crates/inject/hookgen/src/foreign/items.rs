//! Generated bindings as declarations: functions, and the types that they name.

use std::collections::BTreeMap;

use syn::{Expr, ForeignItem, ForeignItemFn, Item, Lit, Type, UnOp, UseTree};

use super::rust_type::{c_type, optional_function, returned};

/// A function as its header declares it, with types as the tables spell them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeclaredFunction {
    pub(crate) ret: String,
    /// Types and names.
    pub(crate) params: Vec<(String, String)>,
    pub(crate) is_variadic: bool,
}

/// A type that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NamedType {
    Enumeration(Vec<(String, i64)>),
    Alias(String),
    Callback,
    /// Declared without members.
    Opaque,
    /// A structure or union with its members.
    Defined,
}

#[derive(Debug, Default)]
pub(crate) struct Declarations {
    /// Or why a function cannot be typed.
    pub(crate) functions: BTreeMap<String, Result<DeclaredFunction, String>>,
    pub(crate) types: BTreeMap<String, NamedType>,
}

impl Declarations {
    pub(crate) fn has_function(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    /// Adds the new declarations of a file of bindings.
    pub(crate) fn take(&mut self, file: &syn::File) {
        for item in &file.items {
            match item {
                Item::ForeignMod(block) => block.items.iter().for_each(|item| {
                    if let ForeignItem::Fn(function) = item {
                        self.take_function(function);
                    }
                }),
                Item::Type(item) => self.take_alias(&item.ident.to_string(), &item.ty),
                Item::Mod(module) => {
                    if let Some(constants) = constants(module) {
                        let named = NamedType::Enumeration(constants);
                        self.add_type(&module.ident.to_string(), named);
                    }
                }
                Item::Struct(item) => {
                    let is_opaque = item.fields.iter().any(|field| {
                        let name = field.ident.as_ref().map(ToString::to_string);
                        name.as_deref() == Some("_unused")
                    });
                    let named = if is_opaque {
                        NamedType::Opaque
                    } else {
                        NamedType::Defined
                    };
                    self.add_type(&item.ident.to_string(), named);
                }
                Item::Union(item) => self.add_type(&item.ident.to_string(), NamedType::Defined),
                Item::Use(item) => self.take_renamed(&item.tree),
                _ => {}
            }
        }
    }

    fn add_type(&mut self, name: &str, named: NamedType) {
        self.types.entry(name.to_owned()).or_insert(named);
    }

    fn take_function(&mut self, function: &ForeignItemFn) {
        let name = function.sig.ident.to_string();
        let declared = match linked_as_another(function) {
            true => Err("is C++ only".to_owned()),
            false => declared(function),
        };
        self.functions.entry(name).or_insert(declared);
    }

    fn take_alias(&mut self, name: &str, target: &Type) {
        if optional_function(target).is_some() {
            self.add_type(name, NamedType::Callback);
        } else if let Ok(target) = c_type(target) {
            self.add_type(name, NamedType::Alias(target));
        }
    }

    /// `pub use self::tag::Type as name`: an enumeration that has a tag and another name.
    fn take_renamed(&mut self, tree: &UseTree) {
        let mut last = String::new();
        let mut tree = tree;
        while let UseTree::Path(path) = tree {
            last = path.ident.to_string();
            tree = &path.tree;
        }
        if let UseTree::Rename(rename) = tree {
            let target = match rename.ident.to_string() {
                word if word == "Type" => last,
                word => word,
            };
            self.add_type(&rename.rename.to_string(), NamedType::Alias(target));
        }
    }
}

/// Whether the library knows the function by another name than programs do.
fn linked_as_another(function: &ForeignItemFn) -> bool {
    function
        .attrs
        .iter()
        .any(|it| it.path().is_ident("link_name"))
}

fn declared(function: &ForeignItemFn) -> Result<DeclaredFunction, String> {
    let mut params = Vec::new();
    for input in &function.sig.inputs {
        let syn::FnArg::Typed(input) = input else {
            return Err("is C++ only".to_owned());
        };
        let name = match &*input.pat {
            syn::Pat::Ident(name) => plain(&name.ident.to_string()),
            _ => String::new(),
        };
        let ctype = c_type(&input.ty).map_err(|problem| format!("takes {problem}"))?;
        params.push((ctype, name));
    }
    Ok(DeclaredFunction {
        ret: returned(&function.sig.output).map_err(|problem| format!("returns {problem}"))?,
        params,
        is_variadic: function.sig.variadic.is_some(),
    })
}

/// A name without the mark of one that is a word of Rust.
fn plain(name: &str) -> String {
    match name.strip_suffix('_') {
        Some(word) if syn::parse_str::<syn::Ident>(word).is_err() => word.to_owned(),
        _ => name.to_owned(),
    }
}

/// The constants of a module that represents an enumeration.
fn constants(module: &syn::ItemMod) -> Option<Vec<(String, i64)>> {
    let (_, items) = module.content.as_ref()?;
    let is_type = |item: &Item| matches!(item, Item::Type(item) if item.ident == "Type");
    items.iter().any(is_type).then(|| {
        let constants = items.iter().filter_map(|item| match item {
            Item::Const(item) => Some((item.ident.to_string(), number(&item.expr)?)),
            _ => None,
        });
        constants.collect()
    })
}

fn number(value: &Expr) -> Option<i64> {
    match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
            number(&unary.expr)?.checked_neg()
        }
        _ => None,
    }
}
