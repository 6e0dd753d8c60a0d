//! The two exported functions of an operator, as rows of a table: the parameters of the first phase that stand before
//! `workspaceSize`, and what describes the work.

/// Defines the two exported functions of each row. Its parameters are taken in their order. A row with two names and `=> out`
/// defines two operators: the first has the output as its last parameter, the second writes to its first parameter.
#[macro_export]
macro_rules! operators {
    ($(
        $($name:ident)+ |$call:ident $(, $argument:ident: $type:ty)* $(=> $out:ident)?| $kernel:expr;
    )*) => {
        $($crate::operators!(@row [$($name)+] $call [$($argument: $type,)*] [$($out)?] $kernel);)*
    };
    (@row [$name:ident $in_place:ident] $call:ident [$x:ident: $read:ty, $($argument:ident: $type:ty,)*] [$out:ident] $kernel:expr) => {
        $crate::operators!(@row [$name] $call [$x: $read, $($argument: $type,)* $out: $crate::parameters::Output,] [] $kernel);
        $crate::operators!(@row [$in_place] $call [$x: $crate::parameters::InPlace, $($argument: $type,)*] [] {
            let $out = $x.clone();
            $kernel
        });
    };
    (@row [$name:ident] $call:ident [$($argument:ident: $type:ty,)*] [] $kernel:expr) => {
        const _: () = {
            #[cfg(test)]
            // SAFETY: the section has nothing else, and is only read.
            #[unsafe(link_section = "softacl_rows")]
            #[used]
            static ROW: $crate::phases::OperatorRow = $crate::phases::OperatorRow {
                name: stringify!($name),
                parameters: &[$(stringify!($type)),*],
            };

            // SAFETY: the name is AscendCL's; nothing else in this library defines it.
            #[unsafe(export_name = concat!(stringify!($name), "GetWorkspaceSize"))]
            extern "C" fn first(
                $($argument: <$type as $crate::parameters::Parameter>::Passed,)*
                workspace: $crate::ffi::Out<u64>,
                made: $crate::ffi::Out<usize>,
            ) -> $crate::code::Code {
                $crate::phases::first(
                    [concat!(stringify!($name), "GetWorkspaceSize"), stringify!($name)],
                    &workspace,
                    &made,
                    &mut |$call| {
                        $($call.tensors += usize::from(<$type as $crate::parameters::Parameter>::is_tensor($argument));)*
                        let handles = [$(<$type as $crate::parameters::Parameter>::handle($argument)),*];
                        $crate::complex::described(stringify!($name), $call, &handles, &mut |$call| {
                            $(let $argument = <$type as $crate::parameters::Parameter>::take($argument, $call)?;)*
                            $kernel
                        })
                    },
                )
            }

            // SAFETY: the name is AscendCL's; nothing else in this library defines it.
            #[unsafe(export_name = stringify!($name))]
            extern "C" fn second(
                workspace: usize,
                workspace_size: u64,
                executor: usize,
                stream: usize,
            ) -> $crate::code::Code {
                let submission = $crate::runtime::Submission { workspace, workspace_size, executor, stream };
                $crate::phases::second(stringify!($name), submission)
            }
        };
    };
}
