//! Attention as one operator: scores, softmax and sums of values, with gradients.

use crate::parameters::{In, IntegerArray, OptionalOutput, OptionalTensor, Text, Written};
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

/// Order of the dimensions of a layout: batch, head, place and width.
#[derive(Clone, Copy)]
struct AttentionLayout {
    heads: usize,
    order: [LayoutDimension; 4],
    rank: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LayoutDimension {
    Batch,
    Place,
    Head,
    Width,
    /// Heads and their widths in one.
    HeadsOfWidths,
}

impl AttentionLayout {
    fn named(name: &str, heads: i64) -> Outcome<Self> {
        use LayoutDimension::{Batch, Head, HeadsOfWidths, Place, Width};
        let (order, rank) = match name {
            "BSH" => ([Batch, Place, HeadsOfWidths, Width], 3),
            "SBH" => ([Place, Batch, HeadsOfWidths, Width], 3),
            "BNSD" => ([Batch, Head, Place, Width], 4),
            "BSND" => ([Batch, Place, Head, Width], 4),
            _ => return refuse("the operator does not support this layout"),
        };
        let heads = heads.max(1) as usize;
        Ok(Self { heads, order, rank })
    }

    /// The tensor as batch, head, place and width; `of` says which tensor's width a head has.
    fn view(&self, x: &Operand, width: Option<usize>) -> Outcome<Operand> {
        require(
            x.rank() == self.rank,
            "the tensor has not the layout's dimensions",
        )?;
        let mut view = x.view.clone();
        if self.rank == 3 {
            let all = view.shape[2];
            let width = width.unwrap_or(all / self.heads);
            require(
                width > 0 && all.is_multiple_of(width),
                "the width does not fall into heads",
            )?;
            let step = view.strides[2];
            view.shape[2] = all / width;
            view.strides[2] = step * width;
            view.shape.push(width);
            view.strides.push(step);
        }
        let wanted = [
            LayoutDimension::Batch,
            LayoutDimension::Head,
            LayoutDimension::Place,
            LayoutDimension::Width,
        ];
        let at = |dimension: &LayoutDimension| {
            let found = self.order.iter().position(|it| {
                it == dimension
                    || (*dimension == LayoutDimension::Head
                        && *it == LayoutDimension::HeadsOfWidths)
            });
            found.unwrap_or(0)
        };
        let order: Vec<usize> = wanted.iter().map(at).collect();
        Ok(x.seen(view.permuted(&order)))
    }
}

/// What keeps scores out: a mask, and a band of places around each one's own.
#[derive(Clone, Copy)]
struct MaskBand {
    before: i64,
    behind: i64,
    mode: i64,
}

impl MaskBand {
    /// Whether the mode uses only the upper corner of the mask, in all modes that have one.
    const fn is_causal(self) -> bool {
        matches!(self.mode, 2 | 3)
    }

    /// Is a score left out by its place?
    fn hides(self, row: usize, column: usize, rows: usize, columns: usize) -> bool {
        let (row, column) = (row as i64, column as i64);
        // Counted from the last places where the mode says so.
        let shift = columns as i64 - rows as i64;
        match self.mode {
            2 => column > row,
            3 => column > row + shift,
            4 => column > row + shift + self.behind || column < row + shift - self.before,
            _ => false,
        }
    }
}

/// The sizes of one attention.
#[derive(Clone, Copy)]
struct AttentionSizes {
    batch: usize,
    heads: usize,
    /// Heads of keys and values, each of which serves several others.
    shared: usize,
    rows: usize,
    columns: usize,
    width: usize,
    value_width: usize,
}

impl AttentionSizes {
    fn operations(self, products: u64) -> u64 {
        let scores = (self.batch * self.heads * self.rows * self.columns) as u64;
        scores * products * (self.width + self.value_width) as u64
    }

    fn parts(self) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..self.batch).flat_map(move |batch| {
            (0..self.heads).map(move |head| {
                let shared = head * self.shared / self.heads;
                (
                    batch * self.heads + head,
                    batch * self.shared + shared,
                    head,
                )
            })
        })
    }
}

/// All inputs other than query, key and value.
#[derive(Clone, Copy)]
struct AttentionRules {
    sizes: AttentionSizes,
    scale: f64,
    kept: f64,
    band: MaskBand,
    /// Where among the values bias, dropped elements and mask are.
    bias: Option<usize>,
    dropped: Option<usize>,
    mask: Option<usize>,
}

impl AttentionRules {
    /// The weights of the values for each place, before and after some are dropped, with the largest score and the sum
    /// of exponentials of each row.
    fn weights(
        &self,
        values: &[Vec<f64>],
        [query, key]: [&[f64]; 2],
        part: usize,
    ) -> AttentionWeights {
        let AttentionSizes {
            rows,
            columns,
            width,
            ..
        } = self.sizes;
        let mut scores = vec![0.0; rows * columns];
        gemm(
            [rows, width, columns],
            [query, key],
            [false, true],
            &mut scores,
        );
        let (mut tops, mut sums) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        for (row, line) in scores.chunks_mut(columns).enumerate() {
            for (column, score) in line.iter_mut().enumerate() {
                let at = (part * rows + row) * columns + column;
                *score = *score * self.scale + self.bias.map_or(0.0, |bias| values[bias][at]);
                if self.is_hidden(values, at, row, column) {
                    *score = f64::NEG_INFINITY;
                }
            }
            let top = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let base = if top == f64::NEG_INFINITY { 0.0 } else { top };
            line.iter_mut()
                .for_each(|score| *score = (*score - base).exp());
            let sum: f64 = line.iter().sum();
            // A row of which nothing is seen has no weights.
            let divisor = if sum == 0.0 { 1.0 } else { sum };
            line.iter_mut().for_each(|score| *score /= divisor);
            tops.push(top);
            sums.push(sum);
        }
        let kept = self.kept_of(values, &scores, part);
        AttentionWeights {
            all: scores,
            kept,
            tops,
            sums,
        }
    }

    fn is_hidden(&self, values: &[Vec<f64>], at: usize, row: usize, column: usize) -> bool {
        let AttentionSizes { rows, columns, .. } = self.sizes;
        if self.band.is_causal() || self.band.mode == 4 {
            return self.band.hides(row, column, rows, columns);
        }
        self.mask.is_some_and(|mask| values[mask][at] != 0.0)
    }

    fn kept_of(&self, values: &[Vec<f64>], weights: &[f64], part: usize) -> Vec<f64> {
        let Some(dropped) = self.dropped else {
            return weights.to_vec();
        };
        let first = part * weights.len();
        let stays = |at: usize| {
            values[dropped]
                .get(at / 8)
                .is_none_or(|bits| *bits as u8 >> (at % 8) & 1 == 1)
        };
        let each = weights.iter().enumerate();
        each.map(|(index, weight)| {
            if stays(first + index) {
                weight / self.kept
            } else {
                0.0
            }
        })
        .collect()
    }
}

struct AttentionWeights {
    all: Vec<f64>,
    kept: Vec<f64>,
    tops: Vec<f64>,
    sums: Vec<f64>,
}

/// Adds the product of two matrices.
fn gemm(shape: [usize; 3], factors: [&[f64]; 2], turned: [bool; 2], out: &mut [f64]) {
    super::convolution::product(shape, factors, turned, out);
}

/// The arguments that forward and backward have in common.
struct AttentionArguments {
    bias: OptionalTensor,
    dropped: OptionalTensor,
    mask: OptionalTensor,
    scale: f64,
    kept: f64,
    heads: i64,
    layout: String,
    band: MaskBand,
}

/// The tensors of an attention, and where those are that may be missing.
fn prepare(
    call: &mut Call,
    [query, key, value]: [In; 3],
    given: &AttentionArguments,
) -> Outcome<(AttentionLayout, Vec<Operand>, AttentionRules)> {
    let layout = AttentionLayout::named(&given.layout, given.heads)?;
    let query = layout.view(&call.input(query)?, None)?;
    let width = query.shape()[3];
    let key = layout.view(&call.input(key)?, Some(width))?;
    let value = call.input(value)?;
    // The values of a head may be of another width; there are as many heads as of keys.
    let value_width = if layout.rank == 3 {
        Some(value.shape()[2] / key.shape()[1].max(1))
    } else {
        None
    };
    let value = layout.view(&value, value_width)?;
    let sizes = AttentionSizes {
        batch: query.shape()[0],
        heads: query.shape()[1],
        shared: key.shape()[1],
        rows: query.shape()[2],
        columns: key.shape()[2],
        width,
        value_width: value.shape()[3],
    };
    require(
        sizes.shared > 0 && key.shape()[3] == width,
        "the shapes do not fit an attention",
    )?;
    let scores = [sizes.batch, sizes.heads, sizes.rows, sizes.columns];
    let mut inputs = vec![query, key, value];
    let mut add = |operand: Operand| {
        inputs.push(operand);
        inputs.len() - 1
    };
    let bias = stretched(call, given.bias, &scores)?.map(&mut add);
    let dropped = call.optional(given.dropped)?.map(&mut add);
    let looks = !given.band.is_causal() && given.band.mode != 4;
    let mask = if looks {
        stretched(call, given.mask, &scores)?.map(&mut add)
    } else {
        None
    };
    let rules = AttentionRules {
        sizes,
        scale: given.scale,
        kept: given.kept,
        band: given.band,
        bias,
        dropped,
        mask,
    };
    Ok((layout, inputs, rules))
}

/// A tensor that may be missing, seen with the shape of the scores.
fn stretched(call: &mut Call, tensor: OptionalTensor, shape: &[usize]) -> Outcome<Option<Operand>> {
    let Some(tensor) = call.optional(tensor)? else {
        return Ok(None);
    };
    if tensor.view.is_empty() {
        return Ok(None);
    }
    match tensor.view.clone().broadcast(shape) {
        Some(view) => Ok(Some(tensor.seen(view))),
        None => refuse("a mask or bias does not fit the scores"),
    }
}

/// Statistics are eight times the same in a row.
fn statistics(call: &mut Call, tensor: OptionalOutput) -> Outcome<Option<Operand>> {
    call.wanted(tensor)
}

fn forward(
    call: &mut Call,
    tensors: [In; 3],
    given: &AttentionArguments,
    [tops, sums, out]: [usize; 3],
) -> Outcome {
    let (layout, inputs, rules) = prepare(call, tensors, given)?;
    let (sizes, effort) = (rules.sizes, inputs[0].view.kind.effort());
    let out = layout.view(&call.output(out)?, Some(sizes.value_width))?;
    let outputs = vec![Some(out), statistics(call, tops)?, statistics(call, sums)?];
    let copies = |it: &Option<Operand>| {
        it.as_ref().map_or(0, |it| {
            it.elements() / (sizes.batch * sizes.heads * sizes.rows).max(1)
        })
    };
    let copies = [copies(&outputs[1]), copies(&outputs[2])];
    super::norms::partly(
        call,
        inputs,
        outputs,
        effort * sizes.operations(2),
        move |values| {
            let AttentionSizes {
                rows,
                columns,
                width,
                value_width,
                ..
            } = sizes;
            let mut results = vec![Vec::new(); 3];
            for (part, shared, _) in sizes.parts() {
                let query = &values[0][part * rows * width..][..rows * width];
                let key = &values[1][shared * columns * width..][..columns * width];
                let value = &values[2][shared * columns * value_width..][..columns * value_width];
                let weights = rules.weights(values, [query, key], part);
                let mut out = vec![0.0; rows * value_width];
                gemm(
                    [rows, columns, value_width],
                    [&weights.kept, value],
                    [false, false],
                    &mut out,
                );
                results[0].extend(out);
                results[1].extend(weights.tops.iter().flat_map(|it| vec![*it; copies[0]]));
                results[2].extend(weights.sums.iter().flat_map(|it| vec![*it; copies[1]]));
            }
            results
        },
    )
}

fn backward(
    call: &mut Call,
    tensors: [In; 3],
    grad: In,
    given: &AttentionArguments,
    outputs: [OptionalOutput; 4],
) -> Outcome {
    let (layout, mut inputs, rules) = prepare(call, tensors, given)?;
    let (sizes, effort) = (rules.sizes, inputs[0].view.kind.effort());
    let grad = layout.view(&call.input(grad)?, Some(sizes.value_width))?;
    let grad_at = inputs.len();
    inputs.push(grad);
    let widths = [sizes.width, sizes.width, sizes.value_width];
    let mut wanted = Vec::new();
    for (output, width) in outputs.into_iter().zip(widths) {
        let output = call.wanted(output)?;
        wanted.push(output.map(|it| layout.view(&it, Some(width))).transpose()?);
    }
    let bias = call.wanted(outputs[3])?;
    let scores = sizes.batch * sizes.heads * sizes.rows * sizes.columns;
    wanted.push(bias.filter(|it| it.elements() == scores));
    super::norms::partly(
        call,
        inputs,
        wanted,
        effort * sizes.operations(5),
        move |values| {
            let AttentionSizes {
                rows,
                columns,
                width,
                value_width,
                ..
            } = sizes;
            let mut grads =
                [values[0].len(), values[1].len(), values[2].len()].map(|it| vec![0.0; it]);
            let mut biases = Vec::new();
            for (part, shared, _) in sizes.parts() {
                let [at_query, at_out] = [width, value_width].map(|it| part * rows * it);
                let [at_key, at_value] = [width, value_width].map(|it| shared * columns * it);
                let query = &values[0][at_query..][..rows * width];
                let key = &values[1][at_key..][..columns * width];
                let value = &values[2][at_value..][..columns * value_width];
                let grad = &values[grad_at][at_out..][..rows * value_width];
                let weights = rules.weights(values, [query, key], part);
                let mut slopes = vec![0.0; rows * columns];
                gemm(
                    [rows, value_width, columns],
                    [grad, value],
                    [false, true],
                    &mut slopes,
                );
                slopes = rules.kept_of(values, &slopes, part);
                for (slopes, weights) in slopes.chunks_mut(columns).zip(weights.all.chunks(columns))
                {
                    let shared: f64 = slopes
                        .iter()
                        .zip(weights)
                        .map(|(slope, weight)| slope * weight)
                        .sum();
                    slopes
                        .iter_mut()
                        .zip(weights)
                        .for_each(|(slope, weight)| *slope = weight * (*slope - shared));
                }
                biases.extend_from_slice(&slopes);
                slopes.iter_mut().for_each(|it| *it *= rules.scale);
                gemm(
                    [rows, columns, width],
                    [&slopes, key],
                    [false, false],
                    &mut grads[0][at_query..][..rows * width],
                );
                gemm(
                    [columns, rows, width],
                    [&slopes, query],
                    [true, false],
                    &mut grads[1][at_key..][..columns * width],
                );
                gemm(
                    [columns, rows, value_width],
                    [&weights.kept, grad],
                    [true, false],
                    &mut grads[2][at_value..][..columns * value_width],
                );
            }
            let [query, key, value] = grads;
            vec![query, key, value, biases]
        },
    )
}

operators! {
    aclnnFlashAttentionScore |call, query: In, key: In, value: In, bias: OptionalTensor, dropped: OptionalTensor, _padding: OptionalTensor, mask: OptionalTensor, _prefix: IntegerArray, scale: f64, kept: f64, before: i64, behind: i64, heads: i64, layout: Text, _inner: i64, mode: i64, tops: OptionalOutput, sums: OptionalOutput, _weights: OptionalOutput, out: Written| {
        let given = AttentionArguments { bias, dropped, mask, scale, kept, heads, layout: layout.get()?, band: MaskBand { before, behind, mode } };
        forward(call, [query, key, value], &given, [tops, sums, out])
    };
    aclnnFlashAttentionScoreV2 |call, query: In, key: In, value: In, bias: OptionalTensor, dropped: OptionalTensor, _padding: OptionalTensor, mask: OptionalTensor, _prefix: IntegerArray, _first: IntegerArray, _first_key: IntegerArray, scale: f64, kept: f64, before: i64, behind: i64, heads: i64, layout: Text, _inner: i64, mode: i64, _bias_kind: i64, tops: OptionalOutput, sums: OptionalOutput, _weights: OptionalOutput, out: Written| {
        let given = AttentionArguments { bias, dropped, mask, scale, kept, heads, layout: layout.get()?, band: MaskBand { before, behind, mode } };
        forward(call, [query, key, value], &given, [tops, sums, out])
    };
    aclnnFlashAttentionScoreGrad |call, query: In, key: In, value: In, grad: In, bias: OptionalTensor, dropped: OptionalTensor, _padding: OptionalTensor, mask: OptionalTensor, _tops: OptionalTensor, _sums: OptionalTensor, _weights: OptionalTensor, _out: OptionalTensor, _prefix: IntegerArray, scale: f64, kept: f64, before: i64, behind: i64, heads: i64, layout: Text, _inner: i64, mode: i64, grad_query: OptionalOutput, grad_key: OptionalOutput, grad_value: OptionalOutput, grad_bias: OptionalOutput| {
        let given = AttentionArguments { bias, dropped, mask, scale, kept, heads, layout: layout.get()?, band: MaskBand { before, behind, mode } };
        backward(call, [query, key, value], grad, &given, [grad_query, grad_key, grad_value, grad_bias])
    };
    aclnnFlashAttentionScoreGradV2 |call, query: In, key: In, value: In, grad: In, bias: OptionalTensor, dropped: OptionalTensor, _padding: OptionalTensor, mask: OptionalTensor, _tops: OptionalTensor, _sums: OptionalTensor, _weights: OptionalTensor, _out: OptionalTensor, _prefix: IntegerArray, _first: IntegerArray, _first_key: IntegerArray, scale: f64, kept: f64, before: i64, behind: i64, heads: i64, layout: Text, _inner: i64, mode: i64, _bias_kind: i64, grad_query: OptionalOutput, grad_key: OptionalOutput, grad_value: OptionalOutput, grad_bias: OptionalOutput| {
        let given = AttentionArguments { bias, dropped, mask, scale, kept, heads, layout: layout.get()?, band: MaskBand { before, behind, mode } };
        backward(call, [query, key, value], grad, &given, [grad_query, grad_key, grad_value, grad_bias])
    };
}
