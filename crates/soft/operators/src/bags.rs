//! Bags of embeddings: of several rows of a table their sum, mean, or largest elements.

use crate::parameters::{In, OptionalTensor, Written};
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::operand::Operand;
use softacl_base::status::require;

#[derive(Clone, Copy, PartialEq, Eq)]
enum BagMode {
    Sum,
    Mean,
    Largest,
}

/// Contents of a bag, in the order of the indices.
struct EmbeddingBag {
    weights: Vec<(usize, f64)>,
}

impl EmbeddingBag {
    fn largest(&self, table: &[f64], width: usize, at: usize) -> Option<(usize, f64)> {
        let rows = self.weights.iter().map(|(row, _)| *row);
        rows.map(|row| (row, table[row * width + at]))
            .reduce(|top, it| if it.1 > top.1 { it } else { top })
    }

    fn element(&self, mode: BagMode, table: &[f64], width: usize, at: usize) -> f64 {
        if mode == BagMode::Largest {
            return self.largest(table, width, at).map_or(0.0, |(_, top)| top);
        }
        let rows = self.weights.iter();
        let sum: f64 = rows
            .map(|(row, weight)| table[row * width + at] * weight)
            .sum();
        match mode {
            BagMode::Mean => sum / (self.weights.len() as f64).max(1.0),
            _ => sum,
        }
    }
}

/// How indices fall into bags.
struct BagLayout {
    starts: Vec<usize>,
    rows: usize,
    padding: i64,
}

impl BagLayout {
    /// The bag of each index; the first begins with the first index.
    fn of(&self, index: usize) -> usize {
        self.starts
            .partition_point(|start| *start <= index)
            .saturating_sub(1)
    }

    fn fill(
        &self,
        indices: &[f64],
        weights: Option<&Vec<f64>>,
        number: usize,
    ) -> Vec<EmbeddingBag> {
        let mut bags: Vec<EmbeddingBag> = (0..number)
            .map(|_| EmbeddingBag {
                weights: Vec::new(),
            })
            .collect();
        for (at, row) in indices.iter().enumerate() {
            let weight = weights.map_or(1.0, |weights| weights[at]);
            if *row as i64 == self.padding || *row as usize >= self.rows {
                continue;
            }
            if let Some(bag) = bags.get_mut(self.of(at)) {
                bag.weights.push((*row as usize, weight));
            }
        }
        bags
    }
}

fn bags(
    call: &mut Call,
    [table, indices, offsets, weights]: [usize; 4],
    mode: BagMode,
    padding: i64,
    outputs: [usize; 4],
) -> Outcome {
    let mut inputs = vec![
        call.input(table)?,
        call.input(indices)?,
        call.input(offsets)?,
    ];
    inputs.extend(call.optional(weights)?);
    let mut written: Vec<Operand> = Vec::new();
    for handle in outputs {
        written.push(call.output(handle)?);
    }
    require(
        inputs[0].rank() == 2 && written[0].rank() == 2,
        "the table of embeddings is no matrix",
    )?;
    let (rows, width) = (inputs[0].shape()[0], inputs[0].shape()[1]);
    let number = written[0].shape()[0];
    let room: Vec<usize> = written.iter().map(Operand::elements).collect();
    let per_bag = inputs[1].shape().get(1).copied();
    call.dense(inputs, written, 0, move |values: &[Vec<f64>]| {
        let starts = match per_bag {
            Some(per_bag) => (0..number).map(|bag| bag * per_bag).collect(),
            None => values[2]
                .iter()
                .take(number)
                .map(|it| *it as usize)
                .collect(),
        };
        let all = BagLayout {
            starts,
            rows,
            padding,
        };
        let found = all.fill(&values[1], values.get(3), number);
        let places = || {
            found
                .iter()
                .flat_map(|bag| (0..width).map(move |at| (bag, at)))
        };
        let elements = places()
            .map(|(bag, at)| bag.element(mode, &values[0], width, at))
            .collect();
        let of_each = (0..room[1]).map(|index| all.of(index) as f64).collect();
        let sizes = found.iter().map(|bag| bag.weights.len() as f64);
        let top = |(bag, at): (&EmbeddingBag, usize)| {
            bag.largest(&values[0], width, at)
                .map_or(0.0, |(row, _)| row as f64)
        };
        let tops = places().map(top).chain(std::iter::repeat(0.0));
        vec![
            elements,
            of_each,
            sizes.chain(std::iter::repeat(0.0)).take(room[2]).collect(),
            tops.take(room[3]).collect(),
        ]
    })
}

operators! {
    aclnnEmbeddingBag |call, table: In, indices: In, offsets: In, _by_frequency: bool, mode: i64, _sparse: bool, weights: OptionalTensor, _last: bool, padding: i64, out: Written, bag_of: Written, sizes: Written, tops: Written| {
        let mode = match mode {
            0 => BagMode::Sum,
            1 => BagMode::Mean,
            _ => BagMode::Largest,
        };
        bags(call, [table, indices, offsets, weights], mode, padding, [out, bag_of, sizes, tops])
    };
}
