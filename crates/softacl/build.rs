//! Gives the library the name that programs link against, and keeps it loaded: its engine thread
//! runs until the process ends, so the code must never be unmapped by `dlclose`.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libascendcl.so");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
