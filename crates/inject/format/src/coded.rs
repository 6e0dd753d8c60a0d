//! Enumerations with a code for each variant.

/// Declares a field-less enum with a stable code for each variant: that in records and files. A variant
/// may have a name for tables, JSON and reports; the default is its Rust name. Codes are `u8`, unless
/// another type follows the enum's name.
#[macro_export]
macro_rules! coded_enum {
    ($(#[$meta:meta])* $name:ident { $($variants:tt)* }) => {
        $crate::coded_enum! { $(#[$meta])* $name: u8 { $($variants)* } }
    };
    ($(#[$meta:meta])* $name:ident: $code_type:ident {
        $($(#[$vmeta:meta])* $variant:ident = $code:tt $($text:literal)?),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr($code_type)]
        pub enum $name { $($(#[$vmeta])* $variant = $code),+ }

        impl $name {
            /// Every variant, in code order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The variant with this code, if there is one.
            pub const fn from_code(code: $code_type) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }

            /// The code of this variant in records and files.
            pub const fn code(self) -> $code_type { self as $code_type }

            /// The name of this variant in tables and JSON.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $crate::coded_enum!(@name $variant $($text)?)),+ }
            }

            /// The variant with this name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.name() == name)
            }
        }

        impl $crate::record::layout::FixedField for $name {
            const BYTES: usize = size_of::<$code_type>();

            #[inline(always)]
            fn to_word(self) -> u64 {
                self.code().into()
            }

            fn from_word(word: u64) -> Option<Self> {
                Self::from_code(word as $code_type)
            }
        }
    };
    (@name $variant:ident $text:literal) => { $text };
    (@name $variant:ident) => { stringify!($variant) };
}
