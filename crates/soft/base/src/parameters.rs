//! Parameters of first phases: the type that the program passes, and the value that the computation gets.

use crate::call::Call;
use crate::code::Outcome;
use crate::ffi::Text;
use crate::objects;
use crate::operand::Operand;

pub trait Parameter {
    type Passed: Copy;
    type TakenValue;

    fn take(passed: Self::Passed, call: &mut Call) -> Outcome<Self::TakenValue>;

    /// Whether a tensor is passed, or NULL in the place of one.
    fn is_tensor(_passed: Self::Passed) -> bool {
        false
    }

    /// The handle of an object, if one is passed.
    fn handle(_passed: Self::Passed) -> Option<usize> {
        None
    }
}

/// Handles of tensors that the computation takes by itself.
pub type In = usize;
pub type Written = usize;
pub type Scalar = usize;

/// Declares parameters that are passed as handles: of one tensor, or of others.
macro_rules! handles {
    ($is_tensor:literal: $($(#[$about:meta])* $name:ident: $taken:ty = $take:expr;)*) => {$(
        $(#[$about])*
        pub struct $name;

        impl Parameter for $name {
            type Passed = usize;
            type TakenValue = $taken;

            fn take(passed: usize, call: &mut Call) -> Outcome<$taken> {
                let take: fn(&mut Call, usize) -> Outcome<$taken> = $take;
                take(call, passed)
            }

            fn is_tensor(_passed: usize) -> bool {
                $is_tensor
            }

            fn handle(passed: usize) -> Option<usize> {
                Some(passed)
            }
        }
    )*};
}

handles! { true:
    /// A tensor that is read.
    Input: Operand = Call::input;
    /// A tensor that is written.
    Output: Operand = Call::output;
    /// A tensor that is read and written.
    InPlace: Operand = Call::in_place;
    /// A tensor that may be missing.
    Optional: Option<Operand> = Call::optional;
    /// An output that may be missing.
    Wanted: Option<Operand> = Call::wanted;
}

handles! { false:
    /// The tensors of a list.
    Inputs: Vec<Operand> = Call::inputs;
    Outputs: Vec<Operand> = Call::outputs;
    /// The numbers of an array; empty without one.
    Integers: Vec<i64> = |_, array| objects::integers(array);
}

/// Declares parameters that the computation gets as they are passed.
macro_rules! plain {
    ($($type:ty)*) => {$(
        impl Parameter for $type {
            type Passed = Self;
            type TakenValue = Self;

            fn take(passed: Self, _: &mut Call) -> Outcome<Self> {
                Ok(passed)
            }
        }
    )*};
}

plain! { bool i8 i32 i64 u64 f32 f64 Text }

/// A handle that the computation takes by itself, or does not need.
impl Parameter for usize {
    type Passed = Self;
    type TakenValue = Self;

    fn take(passed: Self, _: &mut Call) -> Outcome<Self> {
        Ok(passed)
    }

    fn is_tensor(passed: Self) -> bool {
        passed == 0 || objects::tensor(passed).is_ok()
    }

    fn handle(passed: Self) -> Option<usize> {
        Some(passed)
    }
}
