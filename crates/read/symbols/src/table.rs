//! Symbol tables: the function that contains an address.

use object::{Object, ObjectSymbol, SymbolKind};

use crate::file::Elf;

/// Functions by address.
#[derive(Debug, Default)]
pub(crate) struct SymbolTable {
    symbols: Vec<Symbol>,
}

#[derive(Debug)]
struct Symbol {
    begin: u64,
    size: u64,
    name: Box<str>,
}

impl SymbolTable {
    pub(crate) fn read(elf: &Elf<'_>) -> Self {
        let mut table = Self::default();
        table.add(elf);
        table
    }

    /// Takes in the functions of a file.
    pub(crate) fn add(&mut self, elf: &Elf<'_>) {
        let symbols = elf.symbols().chain(elf.dynamic_symbols());
        let functions = symbols.filter(|it| it.kind() == SymbolKind::Text && it.is_definition());
        self.symbols.extend(functions.filter_map(|it| {
            Some(Symbol {
                begin: it.address(),
                size: it.size(),
                name: it.name().ok()?.into(),
            })
        }));
        // Of several names the longest extent counts.
        self.symbols.sort_by_key(|it| (it.begin, it.size));
        self.symbols.dedup_by(|next, kept| {
            let is_same = next.begin == kept.begin;
            if is_same {
                std::mem::swap(next, kept);
            }
            is_same
        });
    }

    /// `function+0x12` for an address.
    pub(crate) fn name(&self, address: u64) -> Option<String> {
        let after = self.symbols.partition_point(|it| it.begin <= address);
        let symbol = self.symbols.get(after.checked_sub(1)?)?;
        let offset = address - symbol.begin;
        // Functions of assembly may have no size.
        let is_in = offset < symbol.size || symbol.size == 0;
        is_in.then(|| format!("{}+{offset:#x}", readable(&symbol.name)))
    }
}

/// A symbol as its source has it.
pub(crate) fn readable(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    let Ok(parsed) = cpp_demangle::Symbol::new(symbol) else {
        return symbol.to_owned();
    };
    // Parameters, and the return type of a function template, make lines long and say little.
    let options = cpp_demangle::DemangleOptions::new()
        .no_params()
        .no_return_type();
    parsed
        .demangle_with_options(&options)
        .unwrap_or_else(|_| symbol.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_in_the_source() {
        for (symbol, expected) in [
            ("main", "main"),
            ("_ZN5model4stepEi", "model::step"),
            ("_ZN5train3runIiEEvT_", "train::run<int>"),
            (
                "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
                "core::fmt::Write::write_fmt",
            ),
            ("_Zbroken", "_Zbroken"),
        ] {
            assert_eq!(readable(symbol), expected);
        }
    }

    #[test]
    fn an_address_belongs_to_the_last_function_before_it() {
        let symbol = |begin, size, name: &str| Symbol {
            begin,
            size,
            name: name.into(),
        };
        let table = SymbolTable {
            symbols: vec![symbol(16, 8, "first"), symbol(32, 0, "second")],
        };
        assert_eq!(table.name(8), None);
        assert_eq!(table.name(18).as_deref(), Some("first+0x2"));
        assert_eq!(table.name(24), None);
        assert_eq!(table.name(0x120).as_deref(), Some("second+0x100"));
    }
}
