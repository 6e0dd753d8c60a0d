//! Mixtures of experts: the choice of experts, and the order of tokens by their experts.

use crate::parameters::{Input, Integers, Optional, Output, Wanted};
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

/// The largest shares of each row, with their experts, and a number for each choice that goes down the columns.
fn chosen(
    call: &mut Call,
    (x, finished): (Operand, Option<Operand>),
    count: i64,
    outputs: [Operand; 3],
) -> Outcome {
    let Some((experts, rows)) = x
        .shape()
        .split_last()
        .map(|(last, rest)| (*last, rest.iter().product::<usize>()))
    else {
        return refuse("the input has no rows");
    };
    let count = count.max(0) as usize;
    let fits = outputs.iter().all(|it| it.elements() == rows * count) && count <= experts;
    require(fits, "an output has not the chosen number of experts")?;
    require(
        finished.as_ref().is_none_or(|it| it.elements() == rows),
        "there is not a truth value for each row",
    )?;
    let operations = 8 * x.elements() as u64;
    let inputs = [x].into_iter().chain(finished).collect();
    call.dense(
        inputs,
        outputs.into(),
        operations,
        move |values: &[Vec<f64>]| {
            let mut results = vec![Vec::new(), Vec::new(), Vec::new()];
            for (number, row) in values[0].chunks(experts).enumerate() {
                let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = row.iter().map(|it| (it - top).exp()).sum();
                let mut order: Vec<usize> = (0..experts).collect();
                order.sort_by(|a, b| row[*b].total_cmp(&row[*a]));
                let is_finished = values.get(1).is_some_and(|it| it[number] != 0.0);
                for (column, at) in order.into_iter().take(count).enumerate() {
                    results[0].push((row[at] - top).exp() / sum);
                    results[1].push(if is_finished { experts } else { at } as f64);
                    results[2].push((column * rows + number) as f64);
                }
            }
            results
        },
    )
}

/// The place of each choice in the order of the experts.
fn places(experts: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..experts.len()).collect();
    order.sort_by(|a, b| experts[*a].total_cmp(&experts[*b]));
    let mut places = vec![0; experts.len()];
    for (place, at) in order.into_iter().enumerate() {
        places[at] = place;
    }
    places
}

/// Rows and their length.
fn matrix(x: &Operand) -> Outcome<[usize; 2]> {
    match *x.shape() {
        [rows, columns] => Ok([rows, columns]),
        _ => refuse("the tokens are no matrix"),
    }
}

/// Tokens in the order of their experts: one row for each choice.
fn permuted(
    call: &mut Call,
    [tokens, experts]: [Operand; 2],
    [out, order]: [Operand; 2],
) -> Outcome {
    let ([count, length], [kept, same]) = (matrix(&tokens)?, matrix(&out)?);
    let choices = experts.elements();
    let fits = length == same && order.elements() == choices && kept <= choices;
    require(
        fits && choices.is_multiple_of(count.max(1)),
        "the shapes do not fit",
    )?;
    let each = choices / count.max(1);
    call.dense(
        vec![tokens, experts],
        vec![out, order],
        0,
        move |values: &[Vec<f64>]| {
            let places = places(&values[1]);
            let mut rows = vec![0.0; kept * length];
            for (choice, place) in places.iter().enumerate() {
                if *place < kept {
                    let token = &values[0][choice / each * length..][..length];
                    rows[place * length..][..length].copy_from_slice(token);
                }
            }
            vec![rows, places.into_iter().map(|it| it as f64).collect()]
        },
    )
}

/// The sums of the rows of each token, by the shares of its experts.
fn restored(
    call: &mut Call,
    [rows, order]: [Operand; 2],
    shares: Option<Operand>,
    out: Operand,
) -> Outcome {
    let ([kept, length], [count, same]) = (matrix(&rows)?, matrix(&out)?);
    let choices = order.elements();
    let fits = length == same
        && choices.is_multiple_of(count.max(1))
        && shares.as_ref().is_none_or(|it| it.elements() == choices);
    require(fits, "the shapes do not fit")?;
    let each = (choices / count.max(1)).max(1);
    let operations = 2 * (choices * length) as u64;
    let inputs = [rows, order].into_iter().chain(shares).collect();
    call.dense(
        inputs,
        vec![out],
        operations,
        move |values: &[Vec<f64>]| {
            let mut sums = vec![0.0; count * length];
            for (choice, place) in values[1].iter().map(|it| *it as usize).enumerate() {
                let share = values.get(2).map_or(1.0, |it| it[choice]);
                // Choices beyond the rows that were kept have none.
                if place < kept {
                    let row = &values[0][place * length..][..length];
                    let sums = &mut sums[choice / each * length..][..length];
                    sums.iter_mut()
                        .zip(row)
                        .for_each(|(sum, it)| *sum += share * it);
                }
            }
            vec![sums]
        },
    )
}

/// The gradients of the rows and of the shares.
fn restored_back(
    call: &mut Call,
    [rows, grad, order]: [Operand; 3],
    shares: Option<Operand>,
    [of_rows, of_shares]: [Option<Operand>; 2],
) -> Outcome {
    let ([kept, length], [count, same]) = (matrix(&rows)?, matrix(&grad)?);
    let choices = order.elements();
    let fits = length == same && choices.is_multiple_of(count.max(1));
    require(fits, "the shapes do not fit")?;
    let each = (choices / count.max(1)).max(1);
    let of_shares = of_shares.filter(|_| shares.is_some());
    let operations = 4 * (choices * length) as u64;
    let inputs = [rows, grad, order].into_iter().chain(shares).collect();
    super::norms::partly(
        call,
        inputs,
        vec![of_rows, of_shares],
        operations,
        move |values: &[Vec<f64>]| {
            let (mut rows, mut shares) = (vec![0.0; kept * length], vec![0.0; choices]);
            for (choice, place) in values[2].iter().map(|it| *it as usize).enumerate() {
                if place < kept {
                    let grad = &values[1][choice / each * length..][..length];
                    let row = &values[0][place * length..][..length];
                    let share = values.get(3).map_or(1.0, |it| it[choice]);
                    shares[choice] = grad.iter().zip(row).map(|(a, b)| a * b).sum();
                    let out = &mut rows[place * length..][..length];
                    out.iter_mut()
                        .zip(grad)
                        .for_each(|(out, it)| *out = share * it);
                }
            }
            vec![rows, shares]
        },
    )
}

const PADDED: &str = "softacl has no padded mode";

operators! {
    aclnnMoeGatingTopKSoftmax |call, x: Input, finished: Optional, count: i64, out: Output, experts: Output, numbers: Output| {
        chosen(call, (x, finished), count, [out, experts, numbers])
    };
    aclnnMoeTokenPermute |call, tokens: Input, experts: Input, _kept: i64, padded: bool, out: Output, order: Output| {
        require(!padded, PADDED)?;
        permuted(call, [tokens, experts], [out, order])
    };
    aclnnMoeTokenUnpermute |call, rows: Input, order: Input, shares: Optional, padded: bool, _shape: Integers, out: Output| {
        require(!padded, PADDED)?;
        restored(call, [rows, order], shares, out)
    };
    aclnnMoeTokenUnpermuteGrad |call, rows: Input, grad: Input, order: Input, shares: Optional, padded: bool, _shape: Integers, of_rows: Output, of_shares: Wanted| {
        require(!padded, PADDED)?;
        restored_back(call, [rows, grad, order], shares, [Some(of_rows), of_shares])
    };
}
