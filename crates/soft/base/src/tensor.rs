//! A program's description of a tensor.

use super::data_type::{DataType, ScalarValue};
use super::status::{refuse, require};
use super::view::View;
use crate::code::Outcome;
use crate::sync::{Mutex, lock};

/// Operators take no more dimensions than this.
const MOST_DIMENSIONS: usize = 8;
/// The layouts with elements at the places of shape and strides: ND and the named orders of dimensions.
pub const PLAIN_FORMATS: [i32; 7] = [2, 0, 1, 16, 27, 30, 47];

/// Which numbers of complex elements a view has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComplexPart {
    Real,
    Imaginary,
}

pub struct Tensor(Mutex<Layout>);

#[derive(Debug, Clone)]
pub struct Layout {
    pub shape: Vec<i64>,
    /// In elements.
    pub strides: Vec<i64>,
    /// Of the first element, in elements.
    pub offset: i64,
    pub data_type: i32,
    pub format: i32,
    pub storage: Vec<i64>,
    pub data: usize,
}

impl Tensor {
    pub fn new(layout: Layout) -> Self {
        Self(Mutex::new(layout))
    }

    pub fn layout(&self) -> Layout {
        lock(&self.0).clone()
    }

    pub fn replace(&self, layout: Layout) {
        *lock(&self.0) = layout;
    }

    /// Gives the tensor the shape of a result that was unknown before.
    pub fn reshape(&self, shape: &[usize]) {
        let mut layout = lock(&self.0);
        layout.shape = shape.iter().map(|length| *length as i64).collect();
        layout.strides = Layout::packed(&layout.shape);
    }

    pub fn data(&self) -> usize {
        lock(&self.0).data
    }

    pub fn set_data(&self, data: usize) {
        lock(&self.0).data = data;
    }
}

impl Layout {
    /// Negative numbers are refused.
    pub fn checked(self) -> Outcome<Self> {
        let mut numbers = self.shape.iter().chain(&self.strides).chain(&self.storage);
        let valid = self.offset >= 0 && numbers.all(|it| *it >= 0);
        require(valid, "a shape, stride or offset is negative")?;
        Ok(self)
    }

    /// Strides for elements without gaps.
    pub fn packed(shape: &[i64]) -> Vec<i64> {
        let mut strides = vec![1_i64; shape.len()];
        for index in (1..shape.len()).rev() {
            strides[index - 1] = strides[index].wrapping_mul(shape[index]);
        }
        strides
    }

    /// The type of the parts of complex elements.
    const fn part_type(&self) -> Option<i32> {
        match self.data_type {
            16 => Some(0),
            17 => Some(11),
            33 => Some(1),
            _ => None,
        }
    }

    pub const fn is_complex(&self) -> bool {
        self.part_type().is_some()
    }

    /// One part of each complex element.
    pub fn part(&self, part: ComplexPart) -> Self {
        let Some(data_type) = self.part_type() else {
            return self.clone();
        };
        let strides = self.strides.iter().map(|it| it.saturating_mul(2));
        Self {
            strides: strides.collect(),
            offset: self.offset.saturating_mul(2) + i64::from(part == ComplexPart::Imaginary),
            data_type,
            ..self.clone()
        }
    }

    /// The elements as operators see them. The address counts from where the data begin.
    pub fn view(&self) -> Outcome<View> {
        let Some(kind) = DataType::from_code(self.data_type) else {
            return refuse("the operator does not support this data type");
        };
        require(
            self.shape.len() <= MOST_DIMENSIONS,
            "a tensor has more than 8 dimensions",
        )?;
        require(
            PLAIN_FORMATS.contains(&self.format),
            "the operator does not support this format",
        )?;
        let bytes = |elements: &i64| (*elements as usize).checked_mul(kind.size());
        let strides: Option<Vec<usize>> = self.strides.iter().map(bytes).collect();
        let (Some(strides), Some(address)) = (strides, bytes(&self.offset)) else {
            return refuse("the tensor is too large");
        };
        let shape: Vec<usize> = self.shape.iter().map(|length| *length as usize).collect();
        let size = shape
            .iter()
            .try_fold(kind.size(), |n, it| n.checked_mul(*it));
        let view = View {
            kind,
            address,
            shape,
            strides,
        };
        let fits = size.is_some_and(|size| size <= isize::MAX as usize)
            && view.span().and_then(|it| it.checked_add(address)).is_some();
        require(fits, "the tensor is too large")?;
        Ok(view)
    }
}

/// Reads a scalar of a value of `aclDataType`.
pub fn scalar(address: usize, data_type: i32) -> Outcome<ScalarValue> {
    /// Reads a plain number.
    fn at<T: Copy>(address: usize) -> T {
        // SAFETY: not null, and the program passes a value of the type that it names.
        unsafe { (address as *const T).read_unaligned() }
    }
    if address == 0 {
        return super::status::null("the value is NULL");
    }
    Ok(match data_type {
        0 => ScalarValue::Float(at::<f32>(address).into()),
        1 => ScalarValue::Float(at::<half::f16>(address).to_f64()),
        11 => ScalarValue::Float(at(address)),
        27 => ScalarValue::Float(at::<half::bf16>(address).to_f64()),
        2 => ScalarValue::Integer(at::<i8>(address).into()),
        3 => ScalarValue::Integer(at::<i32>(address).into()),
        4 => ScalarValue::Integer(at::<u8>(address).into()),
        6 => ScalarValue::Integer(at::<i16>(address).into()),
        7 => ScalarValue::Integer(at::<u16>(address).into()),
        8 => ScalarValue::Integer(at::<u32>(address).into()),
        9 => ScalarValue::Integer(at(address)),
        10 => ScalarValue::Integer(at::<u64>(address) as i64),
        12 => ScalarValue::Integer((at::<u8>(address) != 0).into()),
        16 => {
            let [re, im] = at::<[f32; 2]>(address).map(f64::from);
            ScalarValue::Complex(re, im)
        }
        17 => {
            let [re, im] = at::<[f64; 2]>(address);
            ScalarValue::Complex(re, im)
        }
        _ => return refuse("there are no scalars of this data type"),
    })
}
