//! From the types of generated bindings back to C, as the tables spell it.

use syn::{GenericArgument, PathArguments, ReturnType, Type, TypeBareFn, TypePath};

/// The C type of a type in bindings, or the reason why it has none.
pub(crate) fn c_type(rust: &Type) -> Result<String, String> {
    match rust {
        Type::Ptr(pointer) => {
            let target = c_type(&pointer.elem)?;
            let is_const = pointer.const_token.is_some();
            Ok(match (is_const, target.ends_with('*')) {
                (true, true) => format!("{target}const *"),
                (true, false) => format!("const {target} *"),
                (false, _) => format!("{target} *"),
            })
        }
        Type::Path(path) => named(path),
        Type::BareFn(function) => function_pointer(function),
        Type::Tuple(tuple) if tuple.elems.is_empty() => Ok("void".to_owned()),
        _ => Err("a type that C has not".to_owned()),
    }
}

/// The C type of a function's result.
pub(crate) fn returned(output: &ReturnType) -> Result<String, String> {
    match output {
        ReturnType::Default => Ok("void".to_owned()),
        ReturnType::Type(_, rust) => c_type(rust),
    }
}

/// The function behind an optional pointer to one.
pub(crate) fn optional_function(rust: &Type) -> Option<&TypeBareFn> {
    let Type::Path(path) = rust else { return None };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(Type::BareFn(function)) => Some(function),
        _ => None,
    }
}

fn named(path: &TypePath) -> Result<String, String> {
    if let Some(function) = optional_function(&Type::Path(path.clone())) {
        return function_pointer(function);
    }
    let mut words = path
        .path
        .segments
        .iter()
        .rev()
        .map(|it| it.ident.to_string());
    let last = words.next().unwrap_or_default();
    // An enumeration is a module with a type of this name.
    let name = match last.as_str() {
        "Type" => words.next().unwrap_or_default(),
        _ => last,
    };
    let known = match name.as_str() {
        "c_void" => "void",
        "c_char" => "char",
        "c_schar" => "signed char",
        "c_uchar" => "unsigned char",
        "c_short" => "short",
        "c_ushort" => "unsigned short",
        "c_int" => "int",
        "c_uint" => "unsigned int",
        "c_long" => "long",
        "c_ulong" => "unsigned long",
        "c_longlong" => "long long",
        "c_ulonglong" => "unsigned long long",
        "i8" => "int8_t",
        "u8" => "uint8_t",
        "i16" => "int16_t",
        "u16" => "uint16_t",
        "i32" => "int32_t",
        "u32" => "uint32_t",
        "i64" => "int64_t",
        "u64" => "uint64_t",
        "usize" => "size_t",
        "isize" => "ssize_t",
        "f32" => "float",
        "f64" => "double",
        "bool" => "bool",
        "i128" | "u128" | "__BindgenLongDouble" => return Err("a number of 128 bits".to_owned()),
        "__va_list_tag" | "va_list" | "__builtin_va_list" | "__gnuc_va_list" => {
            return Err("a list of variable arguments".to_owned());
        }
        other => return Ok(other.to_owned()),
    };
    Ok(known.to_owned())
}

fn function_pointer(function: &TypeBareFn) -> Result<String, String> {
    let returned = returned(&function.output)?;
    let parameters: Result<Vec<String>, String> =
        function.inputs.iter().map(|it| c_type(&it.ty)).collect();
    let mut parameters = parameters?;
    if function.variadic.is_some() {
        parameters.push("...".to_owned());
    }
    Ok(format!("{returned} (*)({})", parameters.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn c(text: &str) -> String {
        let rust: Type = syn::parse_str(text).unwrap();
        c_type(&rust).unwrap_or_else(|problem| format!("no: {problem}"))
    }

    #[test]
    fn pointers_and_const_come_out_as_they_went_in() {
        assert_eq!(c("*mut ::std::os::raw::c_void"), "void *");
        assert_eq!(c("*const aclTensor"), "const aclTensor *");
        assert_eq!(c("*mut *const aclTensor"), "const aclTensor * *");
        assert_eq!(c("*const *mut aclTensor"), "aclTensor *const *");
        assert_eq!(c("*const *const aclTensor"), "const aclTensor *const *");
        assert_eq!(c("aclrtMemcpyKind::Type"), "aclrtMemcpyKind");
        let function = "::std::option::Option<unsafe extern \"C\" fn(arg1: *mut ::std::os::raw::c_void, arg2: usize) -> u32>";
        assert_eq!(c(function), "uint32_t (*)(void *, size_t)");
        assert_eq!(c("u128"), "no: a number of 128 bits");
    }
}
