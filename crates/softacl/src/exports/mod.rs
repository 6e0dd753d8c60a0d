//! The exported C functions: pointer and code translation only.
#![expect(non_snake_case, reason = "the names are AscendCL's")]

mod callback;
mod context;
mod device;
mod event;
mod graph;
mod init;
mod memory;
mod stream;

/// Declares exported functions whose bodies yield an `Outcome`. Each is run by `ffi::call`.
macro_rules! acl {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        // SAFETY: the name is AscendCL's; nothing else in this library defines it.
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $name($($arg: $type),*) -> $crate::code::Code {
            $crate::ffi::call(stringify!($name), || $body)
        }
    )*};
}
pub(crate) use acl;
