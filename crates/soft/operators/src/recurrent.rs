//! Layers that carry a state from one time to the next, with gradients: LSTM, as clients call it by
//! name. Gates are in one of two orders: input, then forget and cell or cell and forget, then output.

use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::operand::Operand;
use softacl_base::status::require;

/// Numbers of a call of a layer.
#[derive(Clone, Copy)]
pub(super) struct LayerLengths {
    pub(super) moments: usize,
    pub(super) batch: usize,
    pub(super) input: usize,
    pub(super) hidden: usize,
}

impl LayerLengths {
    /// Of the input `[times, batch, input]` and an output `[times, batch, hidden]`.
    pub(super) fn new(x: &Operand, out: &Operand) -> Outcome<Self> {
        // A single time may come without that dimension.
        let (&[.., batch, input], &[.., moments, _, hidden]) = (x.shape(), out.shape()) else {
            return softacl_base::status::refuse("a sequence has not three dimensions");
        };
        require(
            x.elements() == moments * batch * input,
            "input and output are not of the same sequence",
        )?;
        Ok(Self {
            moments,
            batch,
            input,
            hidden,
        })
    }

    pub(super) fn states(&self) -> usize {
        self.batch * self.hidden
    }

    /// Refuses weights and first states of other sizes, such as those of a layer that projects its state.
    fn check(&self, weights: &[&Operand], states: [&Operand; 2]) -> Outcome {
        let given: usize = weights.iter().map(|it| it.elements()).sum();
        let fits = given == 4 * self.hidden * (self.input + self.hidden)
            && states.iter().all(|it| it.elements() == self.states());
        require(
            fits,
            "the weights or states do not fit the layer; a projection of its state is not supported",
        )
    }

    /// Multiplications and additions of all times with this number of gates.
    pub(super) fn operations(&self, gates: usize) -> u64 {
        let weights = (self.input + self.hidden) * gates * self.hidden;
        2 * (self.moments * self.batch * weights) as u64
    }
}

/// Adds a row times a matrix with its rows one after the other.
pub(super) fn add_product(row: &[f64], matrix: &[f64], sums: &mut [f64]) {
    for (factor, weights) in row.iter().zip(matrix.chunks(sums.len().max(1))) {
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += factor * weight;
        }
    }
}

/// Adds a row times a transposed matrix.
pub(super) fn add_transposed(row: &[f64], matrix: &[f64], sums: &mut [f64]) {
    for (sum, weights) in sums.iter_mut().zip(matrix.chunks(row.len().max(1))) {
        *sum += row.iter().zip(weights).map(|(a, b)| a * b).sum::<f64>();
    }
}

/// Adds the matrix of all products of two rows.
pub(super) fn add_outer(column: &[f64], row: &[f64], sums: &mut [f64]) {
    for (factor, sums) in column.iter().zip(sums.chunks_mut(row.len().max(1))) {
        for (sum, element) in sums.iter_mut().zip(row) {
            *sum += factor * element;
        }
    }
}

pub(super) fn add(sums: &mut [f64], row: &[f64]) {
    sums.iter_mut().zip(row).for_each(|(sum, it)| *sum += it);
}

pub(super) use super::functions::sigmoid;

/// What moves a state on, and in which order.
struct RecurrentLayer<'a> {
    lengths: LayerLengths,
    input: &'a [f64],
    hidden: &'a [f64],
    bias: &'a [f64],
    /// Where sequences of a batch have ended already: 0 there, else 1.
    mask: &'a [f64],
    backwards: bool,
    order: GateOrder,
}

/// The places of the gates between the first and the last one.
#[derive(Clone, Copy)]
struct GateOrder {
    forget: usize,
    cell: usize,
}

impl GateOrder {
    const FORGET_FIRST: Self = Self { forget: 1, cell: 2 };
    const CELL_FIRST: Self = Self { forget: 2, cell: 1 };

    /// By the attribute. Without it, the cell is first where one tensor has the weights, as MindSpore passes them. PyTorch passes two
    /// tensors with the forget gate first.
    fn of(all: &Arguments<'_>, parts: usize) -> Self {
        match all.attributes.text("gate_order") {
            "ijfo" => Self::CELL_FIRST,
            text if parts == 2 || text.starts_with("if") => Self::FORGET_FIRST,
            _ => Self::CELL_FIRST,
        }
    }
}

/// Output, hidden and cell state, the four gates, and the tangent of the cell state.
const RESULTS: usize = 8;

impl RecurrentLayer<'_> {
    /// The times in the order of the state.
    fn order(&self) -> Vec<usize> {
        let moments = 0..self.lengths.moments;
        if self.backwards {
            moments.rev().collect()
        } else {
            moments.collect()
        }
    }

    fn is_there(&self, at: usize) -> f64 {
        self.mask.get(at).copied().unwrap_or(1.0)
    }

    fn forward(&self, x: &[f64], hidden: &[f64], cell: &[f64]) -> Vec<Vec<f64>> {
        let LayerLengths {
            moments,
            input,
            hidden: width,
            ..
        } = self.lengths;
        let states = self.lengths.states();
        let mut results = vec![vec![0.0; moments * states]; RESULTS];
        let (mut h, mut c) = (hidden.to_vec(), cell.to_vec());
        for moment in self.order() {
            for row in 0..self.lengths.batch {
                let mut gates = vec![0.0; 4 * width];
                add(&mut gates, self.bias);
                let from = (moment * self.lengths.batch + row) * input;
                add_product(&x[from..from + input], self.input, &mut gates);
                add_product(&h[row * width..][..width], self.hidden, &mut gates);
                for at in 0..width {
                    let (state, out) = (row * width + at, moment * states + row * width + at);
                    let gate = |number: usize| gates[number * width + at];
                    let GateOrder { forget, cell } = self.order;
                    let (i, f, o) = (sigmoid(gate(0)), sigmoid(gate(forget)), sigmoid(gate(3)));
                    let j = gate(cell).tanh();
                    let there = self.is_there(out);
                    let next = f * c[state] + i * j;
                    let (tangent, before) = (next.tanh(), h[state]);
                    c[state] += there * (next - c[state]);
                    h[state] = before + there * (o * tangent - before);
                    let stored = [o * tangent * there, h[state], c[state], i, j, f, o, tangent];
                    results
                        .iter_mut()
                        .zip(stored)
                        .for_each(|(all, it)| all[out] = it);
                }
            }
        }
        results
    }
}

/// Results of the forward pass, and the gradients of its outputs.
struct BackwardInputs<'a> {
    x: &'a [f64],
    first: [&'a [f64]; 2],
    states: [&'a [f64]; 2],
    gates: [&'a [f64]; 5],
    grads: [&'a [f64]; 3],
}

impl RecurrentLayer<'_> {
    /// Gradients of both weights, the bias, the input and both first states.
    fn backward(&self, stored: &BackwardInputs<'_>) -> [Vec<f64>; 6] {
        let LayerLengths {
            batch,
            input,
            hidden: width,
            ..
        } = self.lengths;
        let states = self.lengths.states();
        let mut of_input = vec![0.0; self.input.len()];
        let mut of_hidden = vec![0.0; self.hidden.len()];
        let (mut of_bias, mut of_x) = (vec![0.0; 4 * width], vec![0.0; stored.x.len()]);
        let (mut dh, mut dc) = (stored.grads[1].to_vec(), stored.grads[2].to_vec());
        let order = self.order();
        for (number, moment) in order.iter().enumerate().rev() {
            let before = |which: usize| match number.checked_sub(1) {
                Some(earlier) => &stored.states[which][order[earlier] * states..][..states],
                None => stored.first[which],
            };
            for row in 0..batch {
                let mut gates = vec![0.0; 4 * width];
                let mut earlier = vec![0.0; width];
                for at in 0..width {
                    let (state, out) = (row * width + at, moment * states + row * width + at);
                    let there = self.is_there(out);
                    let [i, j, f, o, tangent] = stored.gates.map(|it| it[out]);
                    let grad = there * (dh[state] + stored.grads[0][out]);
                    let inner = there * dc[state] + grad * o * (1.0 - tangent * tangent);
                    gates[at] = inner * j * i * (1.0 - i);
                    let GateOrder { forget, cell } = self.order;
                    gates[forget * width + at] = inner * before(1)[state] * f * (1.0 - f);
                    gates[cell * width + at] = inner * i * (1.0 - j * j);
                    gates[3 * width + at] = grad * tangent * o * (1.0 - o);
                    dc[state] = (1.0 - there) * dc[state] + inner * f;
                    earlier[at] = (1.0 - there) * dh[state];
                }
                let x = (moment * batch + row) * input;
                add_transposed(&gates, self.hidden, &mut earlier);
                add_transposed(&gates, self.input, &mut of_x[x..x + input]);
                add_outer(&stored.x[x..x + input], &gates, &mut of_input);
                add_outer(&before(0)[row * width..][..width], &gates, &mut of_hidden);
                add(&mut of_bias, &gates);
                dh[row * width..][..width].copy_from_slice(&earlier);
            }
        }
        [of_input, of_hidden, of_bias, of_x, dh, dc]
    }
}

/// Where inputs stand that may be missing or come in two parts.
struct OperandList {
    all: Vec<Operand>,
}

impl OperandList {
    fn add(&mut self, operand: Operand) -> usize {
        self.all.push(operand);
        self.all.len() - 1
    }

    fn maybe(&mut self, operand: Option<Operand>) -> Option<usize> {
        operand.map(|it| self.add(it))
    }
}

fn all_of(values: &[Vec<f64>], place: Option<usize>) -> &[f64] {
    place.map_or(&[], |place| &values[place])
}

/// The weights of the input, and those of the hidden state: one matrix upon the other, or two of them.
fn weights<'v>(values: &'v [Vec<f64>], places: &[usize], input: usize) -> [&'v [f64]; 2] {
    match *places {
        [input, hidden] => [&values[input], &values[hidden]],
        _ => {
            let all = &values[places[0]];
            let (input, hidden) = all.split_at((input * 4).min(all.len()));
            [input, hidden]
        }
    }
}

fn is_backwards(all: &Arguments<'_>) -> bool {
    all.attributes.text("direction") == "REDIRECTIONAL"
}

/// `parts` is how many tensors hold the weights.
pub(super) fn lstm(call: &mut Call, all: &Arguments<'_>, parts: usize) -> Outcome {
    let x = call.input(all.input(0))?;
    let outputs = all.written(call)?;
    require(outputs.len() == RESULTS, "an output is missing")?;
    let lengths = LayerLengths::new(&x, &outputs[0])?;
    let mut places = OperandList { all: vec![x] };
    let mut matrices = Vec::new();
    for part in 0..parts {
        matrices.push(places.add(call.input(all.input(1 + part))?));
    }
    let bias = places.maybe(call.optional(all.input(1 + parts))?);
    let mask = call.optional(all.input(2 + parts))?;
    let mask = places.maybe(mask.filter(|it| it.rank() > 0));
    let hidden = places.add(call.input(all.input(3 + parts))?);
    let cell = places.add(call.input(all.input(4 + parts))?);
    let taken = |at: usize| &places.all[at];
    let weights_given: Vec<_> = matrices.iter().map(|at| taken(*at)).collect();
    lengths.check(&weights_given, [taken(hidden), taken(cell)])?;
    let (backwards, order) = (is_backwards(all), GateOrder::of(all, parts));
    let operations = lengths.operations(4);
    call.dense(
        places.all,
        outputs,
        operations,
        move |values: &[Vec<f64>]| {
            let [input, weights] = weights(values, &matrices, lengths.input * lengths.hidden);
            let layer = RecurrentLayer {
                lengths,
                input,
                hidden: weights,
                bias: all_of(values, bias),
                mask: all_of(values, mask),
                backwards,
                order,
            };
            layer.forward(&values[0], &values[hidden], &values[cell])
        },
    )
}

/// The inputs are those and the results of the forward pass, and the gradients of its outputs.
pub(super) fn lstm_gradient(call: &mut Call, all: &Arguments<'_>, parts: usize) -> Outcome {
    // Behind one matrix stands its bias, which no gradient needs.
    const BEHIND: usize = 3;
    let x = call.input(all.input(0))?;
    let mut places = OperandList {
        all: vec![x.clone()],
    };
    let mut matrices = Vec::new();
    for part in 0..parts {
        matrices.push(places.add(call.input(all.input(1 + part))?));
    }
    // The output itself, first states, states, gradients and gates.
    let mut stored = Vec::new();
    for index in BEHIND..BEHIND + 13 {
        stored.push(places.add(call.input(all.input(index))?));
    }
    let lengths = LayerLengths::new(&x, &places.all[stored[0]])?;
    let taken = |at: usize| &places.all[at];
    let weights_given: Vec<_> = matrices.iter().map(|at| taken(*at)).collect();
    lengths.check(&weights_given, [taken(stored[1]), taken(stored[2])])?;
    let mask = call.optional(all.input(BEHIND + 13))?;
    let mask = places.maybe(mask.filter(|it| it.rank() > 0));
    let outputs = all.written(call)?;
    let (backwards, order) = (is_backwards(all), GateOrder::of(all, parts));
    let operations = 2 * lengths.operations(4);
    call.dense(
        places.all,
        outputs,
        operations,
        move |values: &[Vec<f64>]| {
            let [input, hidden] = weights(values, &matrices, lengths.input * lengths.hidden);
            let layer = RecurrentLayer {
                lengths,
                input,
                hidden,
                bias: &[],
                mask: all_of(values, mask),
                backwards,
                order,
            };
            let at = |index: usize| values[stored[index]].as_slice();
            let [of_input, of_hidden, of_bias, of_x, dh, dc] = layer.backward(&BackwardInputs {
                x: &values[0],
                first: [at(1), at(2)],
                states: [at(3), at(4)],
                grads: [at(5), at(6), at(7)],
                gates: [at(8), at(9), at(10), at(11), at(12)],
            });
            match matrices.len() {
                1 => vec![[of_input, of_hidden].concat(), of_bias, of_x, dh, dc],
                _ => vec![of_input, of_hidden, of_bias, of_x, dh, dc],
            }
        },
    )
}

/// Reference for gradients of layers: the change of results when one number changes.
#[cfg(test)]
pub(super) mod differences {
    /// Numbers between -1 and 1 that do not repeat soon.
    pub(crate) fn numbers(count: usize, seed: usize) -> Vec<f64> {
        (0..count)
            .map(|at| ((at * 37 + seed * 101) as f64 * 0.7).sin())
            .collect()
    }

    /// How `total` grows with each number.
    pub(crate) fn slopes(at: &[f64], total: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        const STEP: f64 = 1e-5;
        let moved = |index: usize, by: f64| {
            let mut numbers = at.to_vec();
            numbers[index] += by;
            total(&numbers)
        };
        (0..at.len())
            .map(|index| (moved(index, STEP) - moved(index, -STEP)) / (2.0 * STEP))
            .collect()
    }

    pub(crate) fn weighed(values: &[f64], weights: &[f64]) -> f64 {
        values
            .iter()
            .zip(weights)
            .map(|(value, weight)| value * weight)
            .sum()
    }

    #[track_caller]
    pub(crate) fn alike(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-7 * (1.0 + b.abs()), "{a}, not {b}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::differences::{alike, numbers, slopes, weighed};
    use super::*;

    const LENGTHS: LayerLengths = LayerLengths {
        moments: 3,
        batch: 2,
        input: 4,
        hidden: 3,
    };

    /// All gradients of a layer, and the same by differences.
    #[track_caller]
    fn compare(mask: &[f64], backwards: bool) {
        compare_in(mask, backwards, GateOrder::FORGET_FIRST);
        compare_in(mask, backwards, GateOrder::CELL_FIRST);
    }

    #[track_caller]
    fn compare_in(mask: &[f64], backwards: bool, order: GateOrder) {
        let states = LENGTHS.states();
        let given = [
            numbers(LENGTHS.input * 4 * LENGTHS.hidden, 1),
            numbers(LENGTHS.hidden * 4 * LENGTHS.hidden, 2),
            numbers(4 * LENGTHS.hidden, 3),
            numbers(LENGTHS.moments * LENGTHS.batch * LENGTHS.input, 4),
            numbers(states, 5),
            numbers(states, 6),
        ];
        let layer = |given: &[Vec<f64>; 6], x: &dyn Fn(&RecurrentLayer<'_>) -> Vec<Vec<f64>>| {
            let [input, hidden, bias, ..] = given;
            x(&RecurrentLayer {
                lengths: LENGTHS,
                input,
                hidden,
                bias,
                mask,
                backwards,
                order,
            })
        };
        let forward = |given: &[Vec<f64>; 6]| {
            layer(given, &|layer| {
                layer.forward(&given[3], &given[4], &given[5])
            })
        };
        let weights = [
            numbers(LENGTHS.moments * states, 7),
            numbers(states, 8),
            numbers(states, 9),
        ];
        let end = if backwards {
            0
        } else {
            (LENGTHS.moments - 1) * states
        };
        let total = |given: &[Vec<f64>; 6]| {
            let results = forward(given);
            weighed(&results[0], &weights[0])
                + weighed(&results[1][end..][..states], &weights[1])
                + weighed(&results[2][end..][..states], &weights[2])
        };
        let stored = forward(&given);
        let [grad, grad_h, grad_c] = weights.each_ref().map(Vec::as_slice);
        let found = layer(&given, &|layer| {
            let stored = BackwardInputs {
                x: &given[3],
                first: [&given[4], &given[5]],
                states: [&stored[1], &stored[2]],
                gates: [&stored[3], &stored[4], &stored[5], &stored[6], &stored[7]],
                grads: [grad, grad_h, grad_c],
            };
            layer.backward(&stored).to_vec()
        });
        for (index, found) in found.iter().enumerate() {
            let expected = slopes(&given[index], |numbers| {
                let mut moved = given.clone();
                moved[index] = numbers.to_vec();
                total(&moved)
            });
            alike(found, &expected);
        }
    }

    #[test]
    fn gradients_are_how_results_change() {
        compare(&[], false);
        compare(&[], true);
    }

    /// The second sequence has ended before the last time.
    #[test]
    fn sequences_end_at_different_steps() {
        let mut mask = vec![1.0; LENGTHS.moments * LENGTHS.states()];
        mask[2 * LENGTHS.states() + LENGTHS.hidden..].fill(0.0);
        compare(&mask, false);
        compare(&mask, true);
    }
}
