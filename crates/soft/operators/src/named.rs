//! Operators that are called by name: PyTorch calls them for tensors in a device's own formats and for some operators,
//! MindSpore for some, ONNX Runtime for all.

mod batch_norms;
mod boxes;
mod dropout;
mod elements;
mod gradients;
mod images;
mod layers;
mod losses;
mod moves;
mod optimizers;
mod others;
mod products;
mod reductions;
mod rows;
mod scatters;
mod sequences;
mod updates;

use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::formula::Formula;
use softacl_base::operand::Operand;
use softacl_base::phases::contained;
use softacl_base::runtime::NamedOperators;
use softacl_base::status::refuse;

type OperatorFn = fn(&mut Call, &Arguments<'_>) -> Outcome;

/// The name of an operator, and the description of its work.
type NamedOperator = (&'static str, OperatorFn);

/// The operators, by kind.
const GROUPS: &[&[NamedOperator]] = &[
    batch_norms::OPERATORS,
    boxes::OPERATORS,
    dropout::OPERATORS,
    elements::OPERATORS,
    elements::WITH_ATTRIBUTES,
    gradients::OPERATORS,
    gradients::WITH_ATTRIBUTES,
    images::OPERATORS,
    layers::OPERATORS,
    losses::OPERATORS,
    moves::OPERATORS,
    optimizers::OPERATORS,
    others::OPERATORS,
    products::OPERATORS,
    reductions::OPERATORS,
    rows::OPERATORS,
    scatters::OPERATORS,
    sequences::OPERATORS,
    updates::OPERATORS,
];

/// Computes each element of the output from those of the first `N` inputs, which broadcast.
fn each<const N: usize>(call: &mut Call, all: &Arguments<'_>, formula: Formula<N>) -> Outcome {
    each_of(call, all, std::array::from_fn(|it| it), formula)
}

/// The same of inputs in another order.
fn each_of<const N: usize>(
    call: &mut Call,
    all: &Arguments<'_>,
    order: [usize; N],
    formula: Formula<N>,
) -> Outcome {
    let mut inputs = Vec::with_capacity(N);
    for index in order {
        inputs.push(all.operand(call, index)?);
    }
    let out = call.output(all.output())?;
    let Ok(inputs) = <[Operand; N]>::try_from(inputs) else {
        return refuse("an input is missing");
    };
    call.each(formula, inputs.each_ref(), &out)
}

/// The first two outputs.
fn two_outputs(call: &mut Call, all: &Arguments<'_>) -> Outcome<[Operand; 2]> {
    let second = all.outputs.get(1).copied().unwrap_or(0);
    Ok([call.output(all.output())?, call.output(second)?])
}

/// The operators of [`GROUPS`].
pub(crate) struct ByName;

impl NamedOperators for ByName {
    fn known(&self, name: &str) -> Option<&'static str> {
        find(name).map(|(name, _)| *name)
    }

    /// An operator is one task, as on a device.
    fn describe(&self, name: &str, call: &mut Call, arguments: &Arguments<'_>) -> Outcome {
        let Some((_, describe)) = find(name) else {
            return refuse("there is no operator of this name");
        };
        let begin = call.mark();
        contained(|| describe(call, arguments))?;
        call.join(begin);
        Ok(())
    }
}

fn find(name: &str) -> Option<&'static NamedOperator> {
    let mut all = GROUPS.iter().copied().flatten();
    all.find(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../docs/SOFTACL.md"
    ));

    #[test]
    fn each_name_has_one_operator() {
        let all = GROUPS.iter().copied().flatten();
        let mut names: Vec<&str> = all.map(|(name, _)| *name).collect();
        assert!(names.iter().all(|name| ByName.known(name) == Some(*name)));
        assert_eq!(ByName.known("aclnnAdd"), None);
        let documented = |name: &&str| DOCUMENT.contains(&format!("`{name}`"));
        let missing: Vec<_> = names.iter().filter(|it| !documented(it)).collect();
        assert!(missing.is_empty(), "docs/SOFTACL.md has no {missing:?}");
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
