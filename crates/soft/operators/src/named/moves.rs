//! Operators that arrange elements, or pick some.

use super::NamedOperator;
use super::elements::same;
use crate::indices::{gathered, indexed_by, one_hot, rows as picked_rows, scatter_elements};
use crate::shapes::{self, EdgeMode, arranged, edges, flipped, gathered_back, halves, joined};
use crate::sorting::sorted;
use softacl_base::arguments::Arguments;
use softacl_base::call::{ArgumentRole, Call};
use softacl_base::code::Outcome;
use softacl_base::complex::parts;
use softacl_base::dense::dimension;
use softacl_base::formula::{float, number};
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("AsStrided", as_strided),
    ("BroadcastTo", broadcast),
    ("BroadcastToD", broadcast),
    ("Cast", same),
    // The real and the imaginary parts.
    ("Complex", |call, all| {
        let inputs = [all.operand(call, 0)?, all.operand(call, 1)?];
        let out = parts(call, all.output(), ArgumentRole::Output)?;
        require(out.len() == 2, "the output is not complex")?;
        for (input, out) in inputs.iter().zip(&out) {
            call.each(number(|[x]| x, |[x]| x), [input], out)?;
        }
        Ok(())
    }),
    ("CustImag", |call, all| part(call, all, 1)),
    ("CustReal", |call, all| part(call, all, 0)),
    ("Imag", |call, all| part(call, all, 1)),
    ("Real", |call, all| part(call, all, 0)),
    ("ConcatD", |call, all| {
        let mut parts = Vec::new();
        for index in 0..all.inputs.len() {
            parts.push(all.operand(call, index)?);
        }
        let out = call.output(all.output())?;
        let along = dimension(all.attributes.integer("concat_dim", 0), out.rank())?;
        joined(call, parts, along, &out)
    }),
    ("Flatten", same),
    ("GatherElements", |call, all| {
        let (x, index) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        gathered(call, &x, all.attributes.integer("dim", 0), index, &out)
    }),
    ("GatherV2", |call, all| {
        let (x, index) = (all.operand(call, 0)?, all.operand(call, 1)?);
        let out = call.output(all.output())?;
        let along = all.integers(2).first().copied().unwrap_or(0);
        picked_rows(call, &x, along, &index, &out)
    }),
    ("GLU", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let [a, b] = halves(&x, all.attributes.integer("dim", -1))?;
        let formula = float(|[a, b]| a * crate::functions::sigmoid(b));
        call.each(formula, [&a, &b], &out)
    }),
    ("Identity", same),
    ("Index", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let mut given = Vec::new();
        for index in 3..all.inputs.len() {
            given.push(all.operand(call, index)?);
        }
        indexed_by(call, x, &all.integers(1), given, out)
    }),
    // The classes are those of the output.
    ("OneHot", |call, all| {
        let [x, on, off] = [0, 2, 3].map(|it| all.operand(call, it));
        let inputs = [x?, on?, off?];
        let out = call.output(all.output())?;
        let along = dimension(all.attributes.integer("axis", -1), out.rank())?;
        one_hot(call, inputs, out.shape()[along], along, out)
    }),
    ("Pack", |call, all| {
        let out = call.output(all.output())?;
        let along = dimension(all.attributes.integer("axis", 0), out.rank())?;
        let mut parts = Vec::new();
        for index in 0..all.inputs.len() {
            let part = all.operand(call, index)?;
            parts.push(part.seen(part.view.clone().with_dimension(along)));
        }
        joined(call, parts, along, &out)
    }),
    ("MirrorPad", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let from = edges(front(all, x.rank())?, x.shape(), mirror(all)?);
        arranged(call, &x, &out, from)
    }),
    ("MirrorPadGrad", |call, all| {
        let (grad, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let from = edges(front(all, out.rank())?, out.shape(), mirror(all)?);
        gathered_back(call, &grad, &out, from)
    }),
    // The padding begins with the first dimension, in pairs.
    ("PadV3", |call, all| {
        let (x, value) = (all.operand(call, 0)?, all.optional(call, 2)?);
        let out = call.output(all.output())?;
        let front = front(all, x.rank())?;
        if let Some(edge) = edge(all)? {
            return arranged(call, &x, &out, edges(front, x.shape(), edge));
        }
        let value = match value {
            Some(value) => value.shaped(&[])?,
            None => {
                let zero = call.temporary(out.view.kind, &[]);
                call.each(number(|[]| 0.0, |[]| 0), [], &zero)?;
                zero
            }
        };
        call.each(number(|[value]| value, |[value]| value), [&value], &out)?;
        shapes::placed(call, &x, &front, &out)
    }),
    // The gradient of a padding that repeats elements.
    ("PadV3Grad", |call, all| {
        let (grad, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let front = front(all, out.rank())?;
        match edge(all)? {
            Some(edge) => gathered_back(call, &grad, &out, edges(front, out.shape(), edge)),
            None => {
                let begin: Vec<i64> = front.iter().map(|it| -it).collect();
                shapes::placed(call, &grad, &begin, &out)
            }
        }
    }),
    ("ReverseV2", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        flipped(call, &x, &all.integers(1), &out)
    }),
    ("Roll", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let [shifts, dims] = ["shifts", "dims"].map(|it| all.attributes.integers(it));
        shapes::rolled(call, &x, [&shifts, &dims], &out)
    }),
    ("ScatterElements", |call, all| {
        let axis = all.attributes.integer("axis", 0);
        scatter_elements(call, [0, 1, 2].map(|it| all.input(it)), axis, all.output())
    }),
    ("ShuffleChannel", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        shapes::shuffled(call, &x, all.attributes.integer("group", 1), &out)
    }),
    ("Slice", |call, all| {
        let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        let begin = all.integers(1);
        require(
            begin.len() == x.rank(),
            "there is not a begin for each dimension",
        )?;
        from(call, &x, &out, &begin, &vec![1; x.rank()])
    }),
    ("Sort", |call, all| {
        let x = all.operand(call, 0)?;
        let outputs = super::two_outputs(call, all)?;
        let is_descending = all.attributes.integer("descending", 0) != 0;
        sorted(
            call,
            &x,
            outputs,
            all.attributes.integer("axis", -1),
            is_descending,
        )
    }),
    ("StridedSlice", strided_slice),
    ("Tile", |call, all| {
        let (mut x, out) = (all.operand(call, 0)?, call.output(all.output())?);
        while x.rank() < out.rank() {
            x.view = x.view.with_dimension(0);
        }
        let shape = x.shape().to_vec();
        arranged(call, &x, &out, move |dimension, at| {
            Some(at % shape[dimension].max(1))
        })
    }),
    ("TensorMove", same),
    ("TopK", top),
    ("TopKV2", top),
    ("TransData", same),
    ("Transpose", |call, all| {
        transposed(call, all, all.integers(1))
    }),
    ("TransposeD", |call, all| {
        transposed(call, all, all.attributes.integers("perm"))
    }),
    ("Tril", |call, all| triangle(call, all, false)),
    ("Triu", |call, all| triangle(call, all, true)),
    // Parts of a length of 1 along a dimension, which their outputs do not have.
    ("Unpack", |call, all| {
        let x = all.operand(call, 0)?;
        let along = dimension(all.attributes.integer("axis", 0), x.rank())?;
        require(
            x.shape().get(along) == Some(&all.outputs.len()),
            "there is not an output for each part",
        )?;
        for (at, handle) in all.outputs.iter().enumerate() {
            let part = x.view.part(along, at, 1).without_dimension(along);
            let out = call.output(*handle)?;
            call.each(number(|[x]| x, |[x]| x), [&x.seen(part)], &out)?;
        }
        Ok(())
    }),
    // The inputs are the target and the source, each before its shape, strides and offset.
    ("ViewCopy", |call, all| {
        let target = call.in_place(all.input(0))?;
        let source = all.operand(call, 4)?;
        let target = viewed(&target, [1, 2, 3].map(|it| all.integers(it)))?;
        let source = viewed(&source, [5, 6, 7].map(|it| all.integers(it)))?;
        call.each(number(|[x]| x, |[x]| x), [&source], &target)
    }),
];

/// One part of complex numbers.
fn part(call: &mut Call, all: &Arguments<'_>, part: usize) -> Outcome {
    let parts = parts(call, all.input(0), ArgumentRole::Input)?;
    let out = call.output(all.output())?;
    let Some(part) = parts.get(part) else {
        return refuse("the input is not complex");
    };
    call.each(number(|[x]| x, |[x]| x), [part], &out)
}

/// The padding in front of each dimension.
fn front(all: &Arguments<'_>, rank: usize) -> Outcome<Vec<i64>> {
    let paddings = all.integers(1);
    require(
        paddings.len() == 2 * rank,
        "there is not a padding for each dimension",
    )?;
    // In pairs, or all in front before all behind.
    Ok(match all.attributes.integer("paddings_contiguous", 1) {
        0 => paddings[..rank].to_vec(),
        _ => paddings.into_iter().step_by(2).collect(),
    })
}

/// Where elements in the padding come from; none for one number.
fn edge(all: &Arguments<'_>) -> Outcome<Option<EdgeMode>> {
    match all.attributes.text("mode") {
        "constant" | "" => Ok(None),
        "edge" => Ok(Some(EdgeMode::Repeated)),
        "reflect" => Ok(Some(EdgeMode::Mirrored)),
        _ => refuse("PadV3 has no such mode"),
    }
}

fn mirror(all: &Arguments<'_>) -> Outcome<EdgeMode> {
    match all.attributes.text("mode") {
        "REFLECT" => Ok(EdgeMode::Mirrored),
        "SYMMETRIC" => Ok(EdgeMode::Doubled),
        _ => refuse("MirrorPad has no such mode"),
    }
}

const STRIDES: &str = "there is not a stride for each dimension";

fn triangle(call: &mut Call, all: &Arguments<'_>, is_upper: bool) -> Outcome {
    let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
    let diagonal = all.attributes.integer("diagonal", 0);
    shapes::triangle(call, &x, diagonal, is_upper, &out)
}

fn broadcast(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    super::each(call, all, number(|[x]| x, |[x]| x))
}

fn top(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let x = all.operand(call, 0)?;
    let outputs = super::two_outputs(call, all)?;
    let is_descending = all.attributes.integer("largest", 1) != 0;
    let along = all.attributes.integer("dim", -1);
    sorted(call, &x, outputs, along, is_descending)
}

fn transposed(call: &mut Call, all: &Arguments<'_>, given: Vec<i64>) -> Outcome {
    let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
    shapes::turned(call, &x, &given, &out)
}

/// Some elements of a tensor without gaps: their shape, strides and offset count in elements.
fn viewed(x: &Operand, [shape, strides, offset]: [Vec<i64>; 3]) -> Outcome<Operand> {
    require(shape.len() == strides.len(), STRIDES)?;
    let offset = offset.first().copied().unwrap_or(0);
    let mut given = shape.iter().chain(&strides).chain(Some(&offset));
    require(
        given.all(|it| *it >= 0),
        "a shape, stride or offset is negative",
    )?;
    let size = x.view.kind.size();
    let bytes = |elements: &i64| (*elements as usize).saturating_mul(size);
    let mut view = x.view.clone();
    view.shape = shape.iter().map(|it| *it as usize).collect();
    view.strides = strides.iter().map(bytes).collect();
    let end = view
        .span()
        .and_then(|span| span.checked_add(bytes(&offset)));
    let fits = end.is_some_and(|end| end as u64 <= x.view.bytes());
    require(fits, "a view reaches beyond its tensor")?;
    view.address += bytes(&offset);
    Ok(x.seen(view))
}

/// Elements from a begin by steps, in each dimension.
fn from(call: &mut Call, x: &Operand, out: &Operand, begin: &[i64], steps: &[i64]) -> Outcome {
    let (begin, steps) = (begin.to_vec(), steps.to_vec());
    let shape = x.shape().to_vec();
    arranged(call, x, out, move |dimension, at| {
        let place = begin[dimension] + steps[dimension] * at as i64;
        usize::try_from(place)
            .ok()
            .filter(|it| *it < shape[dimension])
    })
}

/// The inputs are shape, strides and offset in elements of the first input, which are in order.
fn as_strided(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
    let (strides, offset) = (all.integers(2), all.integers(3));
    let shape = out.shape().to_vec();
    require(strides.len() == shape.len(), STRIDES)?;
    let offset = offset.first().copied().unwrap_or(0);
    call.moved(&x, &out, move |index| {
        let at = shapes::coordinates(index, &shape);
        let each = at.iter().zip(&strides);
        let place = offset + each.map(|(at, stride)| *at as i64 * stride).sum::<i64>();
        usize::try_from(place).ok()
    })
}

/// The inputs are begin, end and step of each dimension. The bits of an attribute name dimensions that the output
/// does not have.
fn strided_slice(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (x, out) = (all.operand(call, 0)?, call.output(all.output())?);
    let mask = |name: &str| all.attributes.integer(name, 0);
    if mask("ellipsis_mask") != 0 || mask("new_axis_mask") != 0 {
        return refuse("a mask of StridedSlice is not supported");
    }
    let (begin, steps) = (all.integers(1), all.integers(3));
    let complete = begin.len() == x.rank() && steps.len() == x.rank();
    require(
        complete,
        "there is not a begin and a step for each dimension",
    )?;
    let named = |bits: i64, dimension: usize| bits >> dimension & 1 == 1;
    let first = |dimension: usize| {
        let (length, given) = (x.shape()[dimension] as i64, begin[dimension]);
        match (named(mask("begin_mask"), dimension), steps[dimension] < 0) {
            (true, true) => length - 1,
            (true, false) => 0,
            _ if given < 0 => given + length,
            _ => given,
        }
    };
    let firsts: Vec<i64> = (0..x.rank()).map(first).collect();
    let mut shape = out.shape().iter().copied();
    let mut wide = Vec::with_capacity(x.rank());
    for dimension in 0..x.rank() {
        wide.push(match named(mask("shrink_axis_mask"), dimension) {
            true => 1,
            false => shape.next().unwrap_or(1),
        });
    }
    let out = out.shaped(&wide)?;
    from(call, &x, &out, &firsts, &steps)
}
