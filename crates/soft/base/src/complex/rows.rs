//! Reductions of rows of complex numbers.

use super::Complex;
use crate::call::Call;
use crate::code::Outcome;
use crate::number::Number;
use crate::operand::{Operand, OperandBase};
use crate::status::{refuse, require};

/// How an operator reduces complex numbers, with the function that it has for real ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComplexRows {
    /// The product of complex numbers.
    Product,
    /// The function of the absolute values.
    Lengths,
    /// The sum of the functions of both parts.
    Sum,
    /// The root of the sum of their squares.
    Root,
}

const ROWS: &[(&str, ComplexRows)] = &[
    ("aclnnAll", ComplexRows::Lengths),
    ("aclnnAny", ComplexRows::Lengths),
    ("aclnnCumprod", ComplexRows::Product),
    ("aclnnInplaceCumprod", ComplexRows::Product),
    ("aclnnLinalgVectorNorm", ComplexRows::Lengths),
    ("aclnnNorm", ComplexRows::Lengths),
    ("aclnnProd", ComplexRows::Product),
    ("aclnnProdDim", ComplexRows::Product),
    ("aclnnStd", ComplexRows::Root),
    ("aclnnVar", ComplexRows::Sum),
    ("aclnnVarCorrection", ComplexRows::Sum),
];

pub(super) fn find(name: &str) -> Option<ComplexRows> {
    ROWS.iter().find(|row| row.0 == name).map(|row| row.1)
}

impl Operand {
    /// The imaginary parts of a tensor, of which this has the real parts.
    pub fn imaginary(&self) -> Self {
        let mut view = self.view.clone();
        view.address += view.kind.size();
        self.seen(view)
    }
}

/// A row of real and of imaginary parts.
type PartRows<'a, C> = [&'a [C]; 2];

/// The product of complex numbers.
fn product([re, im]: PartRows<'_, f64>) -> Complex {
    let numbers = re.iter().zip(im);
    numbers.fold(super::ONE, |product, (re, im)| {
        product * Complex { re: *re, im: *im }
    })
}

/// The absolute values.
fn lengths<C: Number>([re, im]: PartRows<'_, C>) -> Vec<C> {
    let numbers = re.iter().zip(im);
    numbers
        .map(|(re, im)| C::from_f64(re.to_f64().hypot(im.to_f64())))
        .collect()
}

/// The rows of all places, one after the other.
fn rows<C: Number>(
    values: &[Vec<C>],
    places: usize,
    length: usize,
) -> impl Iterator<Item = PartRows<'_, C>> {
    (0..places).map(move |place| [0, 1].map(|part| &values[part][place * length..][..length]))
}

impl Call {
    /// Whether an operand has the real parts of a tensor of complex numbers.
    fn is_part(&self, operand: &Operand) -> bool {
        match operand.base {
            OperandBase::Tensor(index) => self.arguments[index].tensor.layout().is_complex(),
            OperandBase::Workspace => false,
        }
    }

    /// As `reduce`, of complex numbers: `input` has their real parts, behind the other dimensions those that are reduced.
    pub(crate) fn reduce_complex<C: Number>(
        &mut self,
        way: ComplexRows,
        input: &Operand,
        length: usize,
        outputs: &[Operand],
        compute: impl Fn(&[C], &mut [C]) + Send + Sync + 'static,
    ) -> Outcome {
        let [out] = outputs else {
            return refuse("the operator does not support complex numbers");
        };
        let (places, is_complex) = (out.elements(), self.is_part(out));
        require(
            self.is_part(input) && (is_complex || way != ComplexRows::Product),
            "the operator does not support real and complex tensors together",
        )?;
        let inputs = vec![input.clone(), input.imaginary()];
        let mut outputs = vec![out.clone()];
        if is_complex {
            outputs.push(out.imaginary());
        }
        let operations = 2 * input.elements() as u64;
        if way == ComplexRows::Product {
            return self.dense(inputs, outputs, operations, move |values: &[Vec<f64>]| {
                let products = rows(values, places, length).map(product);
                let (re, im) = products.map(|it| (it.re, it.im)).unzip();
                vec![re, im]
            });
        }
        self.dense(inputs, outputs, operations, move |values: &[Vec<C>]| {
            let of = |row: &[C]| {
                let mut found = [C::default()];
                compute(row, &mut found);
                found[0].to_f64()
            };
            let results = rows(values, places, length).map(|[re, im]| match way {
                ComplexRows::Sum => of(re) + of(im),
                ComplexRows::Root => of(re).hypot(of(im)),
                _ => of(&lengths([re, im])),
            });
            // Absolute values have no imaginary part.
            vec![
                results.map(C::from_f64).collect(),
                vec![C::default(); places],
            ]
        })
    }

    /// The running products of complex numbers along rows at the end; both operands have the real parts.
    pub fn complex_products_so_far(
        &mut self,
        input: &Operand,
        length: usize,
        out: &Operand,
    ) -> Outcome {
        require(
            self.is_part(input) && self.is_part(out),
            "the operator does not support real and complex tensors together",
        )?;
        let (inputs, outputs) = ([input, out])
            .map(|it| vec![it.clone(), it.imaginary()])
            .into();
        let places = input.elements() / length.max(1);
        self.dense(
            inputs,
            outputs,
            2 * input.elements() as u64,
            move |values: &[Vec<f64>]| {
                let mut results = vec![Vec::new(), Vec::new()];
                for [re, im] in rows(values, places, length) {
                    let mut so_far = super::ONE;
                    for (re, im) in re.iter().zip(im) {
                        so_far *= Complex { re: *re, im: *im };
                        results[0].push(so_far.re);
                        results[1].push(so_far.im);
                    }
                }
                results
            },
        )
    }
}
