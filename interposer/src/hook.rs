//! The one shape that all wrappers have.

/// The body of a wrapper: the real function is called exactly once, with the program's arguments,
/// independent of the recording. Where the id is marked as `shared`, wrappers share the recording code:
/// a call costs a few nanoseconds more, and the wrapper is half as large.
macro_rules! hook {
    (shared $id:literal, $($signature:tt)*) => {
        $crate::hook::body!($id, enter_shared, leave_shared, $($signature)*)
    };
    (hosted($function:ident, $data:ident) $id:literal, $($signature:tt)*) => {
        $crate::hook::body!([$function, $data] $id, enter, leave, $($signature)*)
    };
    ($id:literal, $($signature:tt)*) => {
        $crate::hook::body!($id, enter, leave, $($signature)*)
    };
}

macro_rules! body {
    (
        $([$function:ident, $data:ident])? $id:literal, $enter:ident, $leave:ident,
        fn($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)?
    ) => {{
        type Real = unsafe extern "C-unwind" fn($($type),*) $(-> $ret)?;
        let Some(address) = $crate::real::address($id) else {
            $crate::real::missing($id);
        };
        // SAFETY: the address is that of the function of this name, and `Real` its signature.
        let real = unsafe { core::mem::transmute::<usize, Real>(address) };
        let words: [u64; $crate::hook::count!($($arg)*)] =
            [$($crate::word::Word::to_word($arg)),*];
        // Here, where all that the real function does is further down the stack.
        let here = $crate::thread::stack();
        if const { $crate::traits::is_below($id) } && $crate::below::is_told($id, here) {
            // SAFETY: the arguments are the program's own.
            return unsafe { real($($arg),*) };
        }
        if const { $crate::traits::is_simple($id) } {
            return match $crate::simple::Simple::$enter($id, here, &words) {
                None => {
                    let _unseen = const { $crate::traits::is_above($id) }
                        .then(|| $crate::below::Unseen::begin(here));
                    // SAFETY: the arguments are the program's own.
                    unsafe { real($($arg),*) }
                }
                Some(call) => {
                    // SAFETY: as above.
                    let result = unsafe { real($($arg),*) };
                    call.$leave::<$id, _>(words, $crate::word::Word::to_word(result));
                    result
                }
            };
        }
        let mut words = words;
        match $crate::span::Span::enter($id, here, &words) {
            None => {
                let _unseen = const { $crate::traits::is_above($id) }
                    .then(|| $crate::below::Unseen::begin(here));
                // SAFETY: the arguments are the program's own.
                unsafe { real($($arg),*) }
            }
            Some(span) => {
                // The program's function is called by one of the tool, which notes when it ran.
                $(let mut span = span; let ($function, $data) = span.host(&words, $function, $data);)?
                // SAFETY: as above. A function that the tool gives calls the program's with its argument.
                let result = unsafe { real($($arg),*) };
                span.leave(&mut words, $crate::word::Word::to_word(result));
                result
            }
        }
    }};
}

/// How many arguments there are.
macro_rules! count {
    () => { 0 };
    ($first:ident $($rest:ident)*) => { 1 + $crate::hook::count!($($rest)*) };
}

pub(crate) use {body, count, hook};
