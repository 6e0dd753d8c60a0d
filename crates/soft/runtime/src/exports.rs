//! The exported C functions. They only translate pointers and error codes.

mod allocator;
pub(crate) mod base;
mod callback;
mod compile_options;
mod context;
pub(crate) mod details;
mod device;
pub(crate) mod device_info;
mod event;
mod graph;
mod graph_classes;
mod graph_engine;
mod graph_operators;
mod hal;
mod hccl;
mod init;
mod kernel;
mod label;
mod memory;
pub(crate) mod memory_async;
mod memory_info;
mod mspti;
mod notify;
mod observers;
pub(crate) mod op;
mod overflow;
mod random;
mod reports;
mod secure_memory;
pub(crate) mod stream;
mod stream_attr;
pub(crate) mod tensor_desc;
mod tools;
mod versions;
mod virtual_time;
mod vmm;

/// Marks this library: the symbol distinguishes it from the vendor's under any file name.
// SAFETY: nothing else in this library or AscendCL has this name.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn softacl_runtime() {}

/// Declares exported functions with bodies that yield an `Outcome`. `boundary::call` runs each of them.
/// Names with the same effect share a body: `fn [one, other](…)`. Names after a semicolon belong to the layer below (`rt`).
macro_rules! acl {
    (@each [$($name:ident),+ $(; $($below:ident),+)?] $arguments:tt $body:block) => {
        $($crate::exports::acl!(@each $name $arguments $body);)+
        $($($crate::exports::acl!(@each $below $arguments { $crate::rt::below(|| $body) });)+)?
    };
    (@each $name:ident ($($arg:ident: $type:ty),* $(,)?) $body:block) => {
        // SAFETY: the name is AscendCL's; nothing else in this library defines it.
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $name($($arg: $type),*) -> $crate::code::Code {
            $crate::boundary::call(stringify!($name), || $body)
        }
    };
    ($(fn $names:tt $arguments:tt $body:block)*) => {
        $($crate::exports::acl!(@each $names $arguments $body);)*
    };
}
pub(crate) use acl;
