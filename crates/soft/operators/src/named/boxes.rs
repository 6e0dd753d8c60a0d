//! Boxes in images: overlaps, differences, choices, and the part of an image in a box. A box is its left, upper, right and
//! lower edge.

use super::NamedOperator;
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::operand::Operand;
use softacl_base::status::{refuse, require};

pub(super) const OPERATORS: &[NamedOperator] = &[
    ("BoundingBoxDecode", |call, all| {
        let bounds = all.attributes.integers("max_shape");
        let &[height, width] = &bounds[..] else {
            return refuse("max_shape has not two numbers");
        };
        let (scales, ratio) = (
            Scales::of(all),
            all.attributes.float_or("wh_ratio_clip", 0.016),
        );
        let bounds = [width as f64, height as f64];
        each_pair(call, all, move |anchor, change| {
            scales.moved(anchor, change, ratio.ln().abs(), bounds)
        })
    }),
    ("BoundingBoxEncode", |call, all| {
        let scales = Scales::of(all);
        each_pair(call, all, move |anchor, target| {
            scales.change(anchor, target)
        })
    }),
    ("Iou", overlaps),
    ("NMSWithMask", suppressed),
    ("ROIAlign", aligned),
];

type BoxEdges = [f64; 4];

fn edges(row: &[f64]) -> BoxEdges {
    [row[0], row[1], row[2], row[3]]
}

/// The area of a box, with a border of this width.
fn area(it: BoxEdges, border: f64) -> f64 {
    (it[2] - it[0] + border).max(0.0) * (it[3] - it[1] + border).max(0.0)
}

fn common(a: BoxEdges, b: BoxEdges) -> BoxEdges {
    [
        a[0].max(b[0]),
        a[1].max(b[1]),
        a[2].min(b[2]),
        a[3].min(b[3]),
    ]
}

/// Whether a tensor has rows of at least this number of elements, and how many elements a row has.
fn rows(x: &Operand, least: usize) -> Outcome<usize> {
    match *x.shape() {
        [_, columns] if columns >= least => Ok(columns),
        _ => refuse("the tensor has no rows of boxes"),
    }
}

/// The part of the second boxes that the first ones cover, or the part of both. The second ones are the rows of the output.
fn overlaps(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (boxes, targets) = (all.operand(call, 0)?, all.operand(call, 1)?);
    let out = call.output(all.output())?;
    rows(&boxes, 4)?;
    rows(&targets, 4)?;
    let shape = [targets.shape()[0], boxes.shape()[0]];
    require(
        out.shape() == shape,
        "the output's shape is not that of the result",
    )?;
    let of_target = all.attributes.text("mode") == "iof";
    let border = all.attributes.float_or("eps", 1.0);
    let operations = 16 * out.elements() as u64;
    call.dense(
        vec![boxes, targets],
        vec![out],
        operations,
        move |values: &[Vec<f64>]| {
            let mut shares = Vec::new();
            for target in values[1].chunks(4).map(edges) {
                for one in values[0].chunks(4).map(edges) {
                    let both = area(common(one, target), border);
                    let whole = match of_target {
                        true => area(target, border),
                        false => area(one, border) + area(target, border) - both,
                    };
                    shares.push(both / whole);
                }
            }
            vec![shares]
        },
    )
}

/// Boxes by their score, the highest first, their numbers in this order, and whether no box with a higher score covers them.
fn suppressed(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    /// Edges and score.
    const COLUMNS: usize = 5;
    let (boxes, outputs) = (all.operand(call, 0)?, all.written(call)?);
    let columns = rows(&boxes, COLUMNS)?;
    let count = boxes.shape()[0];
    let fits = outputs.len() == 3
        && outputs[0].shape() == [count, COLUMNS]
        && outputs[1..].iter().all(|it| it.elements() == count);
    require(fits, "an output is missing, or has another shape")?;
    let most = all.attributes.float_or("iou_threshold", 0.5);
    let operations = 16 * (count * count) as u64;
    call.dense(
        vec![boxes],
        outputs,
        operations,
        move |values: &[Vec<f64>]| {
            let row = |at: usize| &values[0][at * columns..][..COLUMNS];
            let mut order: Vec<usize> = (0..count).collect();
            order.sort_by(|a, b| row(*b)[4].total_cmp(&row(*a)[4]));
            let mut kept: Vec<BoxEdges> = Vec::new();
            let mut mask = Vec::new();
            for at in &order {
                let one = edges(row(*at));
                let is_covered = kept.iter().any(|other| {
                    let both = area(common(one, *other), 0.0);
                    both / (area(one, 0.0) + area(*other, 0.0) - both) > most
                });
                mask.push(f64::from(u8::from(!is_covered)));
                if !is_covered {
                    kept.push(one);
                }
            }
            let sorted = order.iter().flat_map(|at| row(*at)).copied().collect();
            vec![sorted, (0..count).map(|at| at as f64).collect(), mask]
        },
    )
}

/// Computes four numbers of each box and the other tensor's four numbers.
fn each_pair(
    call: &mut Call,
    all: &Arguments<'_>,
    compute: impl Fn(BoxEdges, BoxEdges) -> BoxEdges + Send + Sync + 'static,
) -> Outcome {
    let (a, b) = (all.operand(call, 0)?, all.operand(call, 1)?);
    let out = call.output(all.output())?;
    let fits = a.shape() == b.shape() && out.shape() == a.shape() && rows(&a, 4)? == 4;
    require(
        fits,
        "the tensors have not the same shape, with four columns",
    )?;
    let operations = 16 * a.elements() as u64;
    call.dense(
        vec![a, b],
        vec![out],
        operations,
        move |values: &[Vec<f64>]| {
            let pairs = values[0].chunks(4).zip(values[1].chunks(4));
            let results = pairs.flat_map(|(a, b)| compute(edges(a), edges(b)));
            vec![results.collect()]
        },
    )
}

/// How differences of boxes are scaled.
#[derive(Clone, Copy)]
struct Scales {
    means: BoxEdges,
    deviations: BoxEdges,
}

/// The middle and the size of a box, in both directions.
fn middle_and_size(it: BoxEdges) -> [[f64; 2]; 2] {
    [[0, 2], [1, 3]].map(|[low, high]| [f64::midpoint(it[low], it[high]), it[high] - it[low] + 1.0])
}

impl Scales {
    fn of(all: &Arguments<'_>) -> Self {
        let four = |name: &str, otherwise: f64| {
            let given = all.attributes.floats(name);
            std::array::from_fn(|at| given.get(at).copied().unwrap_or(otherwise))
        };
        Self {
            means: four("means", 0.0),
            deviations: four("stds", 1.0),
        }
    }

    /// The change from one box to another: of the middle, in sizes, and of the logarithm of the size.
    fn change(self, from: BoxEdges, to: BoxEdges) -> BoxEdges {
        let ([[x, width], [y, height]], [[new_x, new_width], [new_y, new_height]]) =
            (middle_and_size(from), middle_and_size(to));
        let change = [
            (new_x - x) / width,
            (new_y - y) / height,
            (new_width / width).ln(),
            (new_height / height).ln(),
        ];
        std::array::from_fn(|at| (change[at] - self.means[at]) / self.deviations[at])
    }

    /// A box after a change, within an image. `most` bounds the change of the logarithm of the size.
    fn moved(self, from: BoxEdges, change: BoxEdges, most: f64, bounds: [f64; 2]) -> BoxEdges {
        let change: BoxEdges =
            std::array::from_fn(|at| change[at] * self.deviations[at] + self.means[at]);
        let mut found = [0.0; 4];
        for (at, [middle, size]) in middle_and_size(from).into_iter().enumerate() {
            let middle = middle + size * change[at];
            let size = size * change[at + 2].clamp(-most, most).exp();
            found[at] = (middle - (size - 1.0) / 2.0).clamp(0.0, bounds[at]);
            found[at + 2] = (middle + (size - 1.0) / 2.0).clamp(0.0, bounds[at]);
        }
        found
    }
}

/// How the parts of boxes become images of one size.
#[derive(Clone, Copy)]
struct BoxSampling {
    rows: usize,
    columns: usize,
    /// Samples of each element, in each direction. 0 means as many as an element has places.
    samples: usize,
    scale: f64,
    border: f64,
}

/// The part of an image in each box, by the mean of samples between the elements.
fn aligned(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let (images, boxes) = (all.operand(call, 0)?, all.operand(call, 1)?);
    let out = call.output(all.output())?;
    // The number of an image is in front of the edges.
    let row = rows(&boxes, 5)?;
    let number = |name: &str| all.attributes.integer(name, 0).max(0) as usize;
    let way = BoxSampling {
        rows: number("pooled_height"),
        columns: number("pooled_width"),
        samples: all.attributes.integer("sample_num", 2).max(0) as usize,
        scale: all.attributes.float("spatial_scale"),
        border: all.attributes.integer("roi_end_mode", 1) as f64,
    };
    let &[batch, channels, height, width] = images.shape() else {
        return refuse("the input is no image");
    };
    let shape = [boxes.shape()[0], channels, way.rows, way.columns];
    require(
        out.shape() == shape,
        "the output's shape is not that of the result",
    )?;
    let operations = 8 * out.elements() as u64 * (way.samples.max(1) as u64).pow(2);
    call.dense(
        vec![images, boxes],
        vec![out],
        operations,
        move |values: &[Vec<f64>]| {
            let mut results = Vec::new();
            for one in values[1].chunks(row) {
                let image = (one[0].max(0.0) as usize).min(batch.saturating_sub(1));
                let places = way.places(edges(&one[1..]), [height, width]);
                for channel in 0..channels {
                    let plane = &values[0][(image * channels + channel) * height * width..]
                        [..height * width];
                    let mean = |samples: &Vec<(usize, f64)>| {
                        samples
                            .iter()
                            .map(|(at, weight)| plane[*at] * weight)
                            .sum::<f64>()
                    };
                    results.extend(places.iter().map(mean));
                }
            }
            vec![results]
        },
    )
}

impl BoxSampling {
    /// For each element of the result the elements of the image, with their weights.
    fn places(self, one: BoxEdges, lengths: [usize; 2]) -> Vec<Vec<(usize, f64)>> {
        let down = self.along(self.rows, [one[1], one[3]], lengths[0]);
        let across = self.along(self.columns, [one[0], one[2]], lengths[1]);
        let mut places = Vec::with_capacity(down.len() * across.len());
        for rows in &down {
            for columns in &across {
                let pairs = rows
                    .iter()
                    .flat_map(|row| columns.iter().map(move |column| (row, column)));
                places.push(
                    pairs
                        .map(|(row, column)| (row.0 * lengths[1] + column.0, row.1 * column.1))
                        .collect(),
                );
            }
        }
        places
    }

    /// The same in one direction.
    fn along(self, count: usize, [low, high]: [f64; 2], length: usize) -> Vec<Vec<(usize, f64)>> {
        let begin = low * self.scale;
        let size = ((high + self.border) * self.scale - begin).max(0.0) / count as f64;
        let samples = match self.samples {
            0 => size.ceil().max(1.0) as usize,
            samples => samples,
        };
        let share = (samples as f64).recip();
        let of_element = |element: usize| {
            let at =
                |sample: usize| begin + size * (element as f64 + (sample as f64 + 0.5) * share);
            (0..samples)
                .flat_map(|sample| between(at(sample), length, share))
                .collect()
        };
        (0..count).map(of_element).collect()
    }
}

/// The two elements around a place, with their parts of a weight; none outside of the image.
fn between(at: f64, length: usize, weight: f64) -> [(usize, f64); 2] {
    let last = length.saturating_sub(1);
    if at < -1.0 || at > length as f64 {
        return [(0, 0.0); 2];
    }
    let at = at.max(0.0).min(last as f64);
    let (first, part) = (at.floor(), at - at.floor());
    let first = first as usize;
    [
        (first, weight * (1.0 - part)),
        ((first + 1).min(last), weight * part),
    ]
}
