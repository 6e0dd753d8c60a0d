//! GRU with gradients, as clients call it by name. Gates are in the order reset, update, new; the reset
//! gate multiplies the part of the hidden state, bias included.

use super::recurrent::{LayerLengths, add, add_outer, add_product, add_transposed, sigmoid};
use softacl_base::arguments::Arguments;
use softacl_base::call::Call;
use softacl_base::code::Outcome;
use softacl_base::status::require;

/// Output, hidden state, update, reset and new gate, and the hidden state's part of the new one.
const RESULTS: usize = 6;

struct RecurrentLayer<'a> {
    lengths: LayerLengths,
    input: &'a [f64],
    hidden: &'a [f64],
    biases: [&'a [f64]; 2],
}

impl RecurrentLayer<'_> {
    fn forward(&self, x: &[f64], first: &[f64]) -> Vec<Vec<f64>> {
        let LayerLengths {
            moments,
            batch,
            input,
            hidden: width,
        } = self.lengths;
        let states = self.lengths.states();
        let mut results = vec![vec![0.0; moments * states]; RESULTS];
        let mut h = first.to_vec();
        for place in 0..moments * batch {
            let row = place % batch;
            let (mut from_x, mut from_h) = (vec![0.0; 3 * width], vec![0.0; 3 * width]);
            add(&mut from_x, self.biases[0]);
            add(&mut from_h, self.biases[1]);
            add_product(&x[place * input..][..input], self.input, &mut from_x);
            add_product(&h[row * width..][..width], self.hidden, &mut from_h);
            for at in 0..width {
                let both = |gate: usize| from_x[gate * width + at] + from_h[gate * width + at];
                let (reset, update) = (sigmoid(both(0)), sigmoid(both(1)));
                let own = from_h[2 * width + at];
                let new = (from_x[2 * width + at] + reset * own).tanh();
                let state = &mut h[row * width + at];
                *state = (1.0 - update) * new + update * *state;
                let stored = [*state, *state, update, reset, new, own];
                let out = place * width + at;
                results
                    .iter_mut()
                    .zip(stored)
                    .for_each(|(all, it)| all[out] = it);
            }
        }
        results
    }

    /// Gradients of both weights, both biases, the input and the first state. `forward` are the results of
    /// the forward pass from the hidden state on.
    fn backward(
        &self,
        x: &[f64],
        first: &[f64],
        stored: [&[f64]; 5],
        grads: [&[f64]; 2],
    ) -> Vec<Vec<f64>> {
        let LayerLengths {
            moments,
            batch,
            input,
            hidden: width,
        } = self.lengths;
        let mut of_input = vec![0.0; self.input.len()];
        let mut of_hidden = vec![0.0; self.hidden.len()];
        let mut of_biases = [vec![0.0; 3 * width], vec![0.0; 3 * width]];
        let (mut of_x, mut dh) = (vec![0.0; x.len()], grads[1].to_vec());
        for place in (0..moments * batch).rev() {
            let row = place % batch;
            let before = match place.checked_sub(batch) {
                Some(earlier) => &stored[0][earlier * width..][..width],
                None => &first[row * width..][..width],
            };
            let (mut to_x, mut to_h) = (vec![0.0; 3 * width], vec![0.0; 3 * width]);
            let mut earlier = vec![0.0; width];
            for at in 0..width {
                let out = place * width + at;
                let [_, update, reset, new, own] = stored.map(|it| it[out]);
                let grad = dh[row * width + at] + grads[0][out];
                let of_new = grad * (1.0 - update) * (1.0 - new * new);
                let of_update = grad * (before[at] - new) * update * (1.0 - update);
                let of_reset = of_new * own * reset * (1.0 - reset);
                for (gate, [x, h]) in [
                    [of_reset, of_reset],
                    [of_update, of_update],
                    [of_new, of_new * reset],
                ]
                .into_iter()
                .enumerate()
                {
                    to_x[gate * width + at] = x;
                    to_h[gate * width + at] = h;
                }
                earlier[at] = grad * update;
            }
            add_transposed(&to_h, self.hidden, &mut earlier);
            add_transposed(&to_x, self.input, &mut of_x[place * input..][..input]);
            add_outer(&x[place * input..][..input], &to_x, &mut of_input);
            add_outer(before, &to_h, &mut of_hidden);
            add(&mut of_biases[0], &to_x);
            add(&mut of_biases[1], &to_h);
            dh[row * width..][..width].copy_from_slice(&earlier);
        }
        let [of_bias_x, of_bias_h] = of_biases;
        vec![of_input, of_hidden, of_bias_x, of_bias_h, of_x, dh]
    }
}

pub(super) fn gru(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    // Between the biases and the first state stand lengths, which callers leave out.
    let inputs = all.read(call, [0, 1, 2, 3, 4, 6])?;
    let outputs = all.written(call)?;
    require(outputs.len() == RESULTS, "an output is missing")?;
    let lengths = LayerLengths::new(&inputs[0], &outputs[0])?;
    call.dense(
        inputs,
        outputs,
        lengths.operations(3),
        move |values: &[Vec<f64>]| {
            let layer = RecurrentLayer {
                lengths,
                input: &values[1],
                hidden: &values[2],
                biases: [&values[3], &values[4]],
            };
            layer.forward(&values[0], &values[5])
        },
    )
}

pub(super) fn gru_gradient(call: &mut Call, all: &Arguments<'_>) -> Outcome {
    let inputs = all.read(call, [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11])?;
    let outputs = all.written(call)?;
    require(outputs.len() == RESULTS, "an output is missing")?;
    let lengths = LayerLengths::new(&inputs[0], &inputs[4])?;
    let operations = 2 * lengths.operations(3);
    call.dense(inputs, outputs, operations, move |values: &[Vec<f64>]| {
        let layer = RecurrentLayer {
            lengths,
            input: &values[1],
            hidden: &values[2],
            biases: [&[], &[]],
        };
        let stored = [4, 7, 8, 9, 10].map(|it: usize| values[it].as_slice());
        layer.backward(&values[0], &values[3], stored, [&values[5], &values[6]])
    })
}

#[cfg(test)]
mod tests {
    use super::super::recurrent::differences::{alike, numbers, slopes, weighed};
    use super::*;

    #[test]
    fn gradients_are_how_results_change() {
        let lengths = LayerLengths {
            moments: 3,
            batch: 2,
            input: 4,
            hidden: 3,
        };
        let states = lengths.states();
        let given = [
            numbers(lengths.input * 3 * lengths.hidden, 1),
            numbers(lengths.hidden * 3 * lengths.hidden, 2),
            numbers(3 * lengths.hidden, 3),
            numbers(3 * lengths.hidden, 4),
            numbers(lengths.moments * lengths.batch * lengths.input, 5),
            numbers(states, 6),
        ];
        let forward = |given: &[Vec<f64>; 6]| {
            let [input, hidden, bias_x, bias_h, x, first] = given;
            let layer = RecurrentLayer {
                lengths,
                input,
                hidden,
                biases: [bias_x, bias_h],
            };
            layer.forward(x, first)
        };
        let weights = [numbers(lengths.moments * states, 7), numbers(states, 8)];
        let end = (lengths.moments - 1) * states;
        let total = |given: &[Vec<f64>; 6]| {
            let results = forward(given);
            weighed(&results[0], &weights[0]) + weighed(&results[1][end..], &weights[1])
        };
        let stored = forward(&given);
        let layer = RecurrentLayer {
            lengths,
            input: &given[0],
            hidden: &given[1],
            biases: [&[], &[]],
        };
        let stored = [
            &stored[1][..],
            &stored[2],
            &stored[3],
            &stored[4],
            &stored[5],
        ];
        let found = layer.backward(&given[4], &given[5], stored, [&weights[0], &weights[1]]);
        for (index, found) in found.iter().enumerate() {
            let expected = slopes(&given[index], |numbers| {
                let mut moved = given.clone();
                moved[index] = numbers.to_vec();
                total(&moved)
            });
            alike(found, &expected);
        }
    }
}
