//! The one shape that all wrappers have.

/// The body of a wrapper: the real function is called exactly once, with the program's arguments,
/// independent of the recording. A simple function has the fast path in front, unless its id is marked as `shared`: a
/// call of such a function costs more, and its wrapper is half as large.
macro_rules! hook {
    (shared $id:literal, $($signature:tt)*) => {
        $crate::hook::body!($id, $crate::thread::entry_place::entry($id), $($signature)*)
    };
    (hosted($function:ident, $data:ident) $id:literal, $($signature:tt)*) => {
        $crate::hook::body!([$function, $data] $id, $crate::thread::entry_place::entry($id), $($signature)*)
    };
    ($id:literal, fn($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)?) => {{
        if const { $crate::function_facts::is_simple($id) && !$crate::function_facts::is_below($id) } {
            type Real = unsafe extern "C-unwind" fn($($type),*) $(-> $ret)?;
            /// Apart, so that the fast path needs neither its room on the stack nor its registers.
            #[cold]
            #[inline(never)]
            unsafe extern "C-unwind" fn slowly(here: usize, $($arg: $type),*) $(-> $ret)? {
                $crate::hook::body!($id, here, fn($($arg: $type),*) $(-> $ret)?)
            }
            let mark = $crate::thread::fast::Mark::new();
            let words: [u64; $crate::hook::count!($($arg)*)] =
                [$($crate::word::Word::to_word($arg)),*];
            if let Some(address) = $crate::real::usual_address($id)
                && let Some(call) = $crate::fast::FastCall::enter::<$id>(&mark, &words)
            {
                // SAFETY: the address is that of the function of this name, and `Real` its signature.
                let real = unsafe { core::mem::transmute::<usize, Real>(address) };
                // SAFETY: the arguments are the program's own.
                let result = unsafe { real($($arg),*) };
                call.leave::<$id, _>(words, $crate::word::Word::to_word(result));
                return result;
            }
            if const { !$crate::function_facts::follows($id) }
                && $crate::session::passes(const { $crate::function_facts::may_be_left_out($id) })
                && let Some(address) = $crate::real::usual_address($id)
            {
                // SAFETY: as above.
                let real = unsafe { core::mem::transmute::<usize, Real>(address) };
                // SAFETY: as above.
                return unsafe { real($($arg),*) };
            }
            let here = $crate::thread::entry_place::entry($id);
            // SAFETY: as above.
            let result = unsafe { slowly(here, $($arg),*) };
            // The frame stays until then, so a stack shows by its name which function was called.
            mark.keep();
            return result;
        }
        $crate::hook::body!($id, $crate::thread::entry_place::entry($id), fn($($arg: $type),*) $(-> $ret)?)
    }};
}

macro_rules! body {
    (
        $([$function:ident, $data:ident])? $id:literal, $here:expr,
        fn($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)?
    ) => {{
        type Real = unsafe extern "C-unwind" fn($($type),*) $(-> $ret)?;
        let Some(address) = $crate::real::address($id) else {
            $crate::real::missing($id);
        };
        // SAFETY: the address is that of the function of this name, and `Real` its signature.
        let real = unsafe { core::mem::transmute::<usize, Real>(address) };
        if const { !$crate::function_facts::follows($id) }
            && $crate::session::passes(const { $crate::function_facts::may_be_left_out($id) })
            && (const { !$crate::function_facts::submits($id) } || $crate::thread::may_pass())
        {
            // SAFETY: the arguments are the program's own.
            return unsafe { real($($arg),*) };
        }
        let words: [u64; $crate::hook::count!($($arg)*)] =
            [$($crate::word::Word::to_word($arg)),*];
        let here = $here;
        if const { $crate::function_facts::is_below($id) } && $crate::runtime_layer::is_reported($id, here) {
            // SAFETY: the arguments are the program's own.
            return unsafe { real($($arg),*) };
        }
        if const { $crate::function_facts::is_simple($id) } {
            return match $crate::simple::Simple::enter_shared($id, here, &words) {
                None => {
                    let _suppressed = const { $crate::function_facts::is_above($id) }
                        .then(|| $crate::runtime_layer::SuppressNested::begin(here));
                    // SAFETY: the arguments are the program's own.
                    unsafe { real($($arg),*) }
                }
                Some(call) => {
                    // SAFETY: as above.
                    let result = unsafe { real($($arg),*) };
                    call.leave::<$id, _>(words, $crate::word::Word::to_word(result));
                    result
                }
            };
        }
        let mut words = words;
        match $crate::span::Span::enter($id, here, &words) {
            None => {
                let _suppressed = const { $crate::function_facts::is_above($id) }
                    .then(|| $crate::runtime_layer::SuppressNested::begin(here));
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
