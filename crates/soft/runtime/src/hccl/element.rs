//! Elements of collectives, and how those of several ranks become one.

use half::{bf16, f16};

use super::{NOT_SUPPORTED, PARA};
use crate::code::{Outcome, fault};

/// `HcclDataType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    I8,
    I16,
    I32,
    F16,
    F32,
    I64,
    U64,
    U8,
    U16,
    U32,
    F64,
    Bf16,
    /// It can be moved, but nothing can be computed with it.
    Opaque(usize),
}

/// `HcclReduceOp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reduction {
    Sum,
    Product,
    Largest,
    Smallest,
}

impl Element {
    pub(crate) fn of(code: i32) -> Outcome<Self> {
        Ok(match code {
            0 => Self::I8,
            1 => Self::I16,
            2 => Self::I32,
            3 => Self::F16,
            4 => Self::F32,
            5 => Self::I64,
            6 => Self::U64,
            7 => Self::U8,
            8 => Self::U16,
            9 => Self::U32,
            10 => Self::F64,
            11 => Self::Bf16,
            12 => Self::Opaque(16),
            14..=17 => Self::Opaque(1),
            _ => return fault(PARA, "this data type does not exist"),
        })
    }

    pub(crate) const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
            Self::Opaque(size) => size,
        }
    }

    pub(crate) fn may_be_reduced(self) -> Outcome {
        match self {
            Self::Opaque(_) => fault(NOT_SUPPORTED, "this data type cannot be reduced"),
            _ => Ok(()),
        }
    }
}

impl Reduction {
    pub(crate) fn of(code: i32) -> Outcome<Self> {
        Ok(match code {
            0 => Self::Sum,
            1 => Self::Product,
            2 => Self::Largest,
            3 => Self::Smallest,
            _ => return fault(PARA, "this reduction does not exist"),
        })
    }
}

/// Makes one of what several ranks have, element by element. Types with fractions are computed in 64 bits and
/// rounded once; integers wrap.
pub(super) fn combine(element: Element, reduction: Reduction, sources: &[Vec<u8>]) -> Vec<u8> {
    /// Reads a number of each source, and writes their combination.
    fn each<const N: usize, T: Copy>(
        sources: &[Vec<u8>],
        read: impl Fn([u8; N]) -> T,
        next: impl Fn(T, T) -> T,
        write: impl Fn(T) -> [u8; N],
    ) -> Vec<u8> {
        let Some((first, others)) = sources.split_first() else {
            return Vec::new();
        };
        let number = |bytes: &[u8], index: usize| {
            let mut own = [0; N];
            own.copy_from_slice(&bytes[index * N..][..N]);
            read(own)
        };
        let all = (0..first.len() / N).flat_map(|index| {
            let start = number(first, index);
            write(
                others
                    .iter()
                    .fold(start, |sum, source| next(sum, number(source, index))),
            )
        });
        all.collect()
    }
    let fraction = move |a: f64, b: f64| match reduction {
        Reduction::Sum => a + b,
        Reduction::Product => a * b,
        Reduction::Largest if a.is_nan() || a > b => a,
        Reduction::Smallest if a.is_nan() || a < b => a,
        Reduction::Largest | Reduction::Smallest => b,
    };
    macro_rules! integers {
        ($type:ty) => {
            each(
                sources,
                <$type>::from_ne_bytes,
                |a, b| match reduction {
                    Reduction::Sum => a.wrapping_add(b),
                    Reduction::Product => a.wrapping_mul(b),
                    Reduction::Largest => a.max(b),
                    Reduction::Smallest => a.min(b),
                },
                <$type>::to_ne_bytes,
            )
        };
    }
    match element {
        Element::I8 => integers!(i8),
        Element::I16 => integers!(i16),
        Element::I32 => integers!(i32),
        Element::I64 => integers!(i64),
        Element::U8 => integers!(u8),
        Element::U16 => integers!(u16),
        Element::U32 => integers!(u32),
        Element::U64 => integers!(u64),
        Element::F64 => each(sources, f64::from_ne_bytes, fraction, f64::to_ne_bytes),
        Element::F32 => each(
            sources,
            |bytes| f64::from(f32::from_ne_bytes(bytes)),
            fraction,
            |sum| (sum as f32).to_ne_bytes(),
        ),
        Element::F16 => each(
            sources,
            |bytes| f16::from_ne_bytes(bytes).to_f64(),
            fraction,
            |sum| f16::from_f64(sum).to_ne_bytes(),
        ),
        Element::Bf16 => each(
            sources,
            |bytes| bf16::from_ne_bytes(bytes).to_f64(),
            fraction,
            |sum| bf16::from_f64(sum).to_ne_bytes(),
        ),
        Element::Opaque(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Element, Reduction, combine};

    #[test]
    fn each_type_is_reduced_in_its_own_way() {
        let bytes = |values: &[i8]| values.iter().map(|it| *it as u8).collect::<Vec<_>>();
        let sources = [bytes(&[100, -3, 5]), bytes(&[100, 2, 7])];
        let reduced = |element, reduction| combine(element, reduction, &sources);
        assert_eq!(reduced(Element::I8, Reduction::Sum), bytes(&[-56, -1, 12]));
        assert_eq!(
            reduced(Element::I8, Reduction::Largest),
            bytes(&[100, 2, 7])
        );
        assert_eq!(
            reduced(Element::U8, Reduction::Largest),
            bytes(&[100, -3, 7])
        );
        assert_eq!(
            reduced(Element::U8, Reduction::Smallest),
            bytes(&[100, 2, 5])
        );
        let halves = |values: [f32; 2]| {
            values
                .map(half::bf16::from_f32)
                .map(half::bf16::to_ne_bytes)
                .concat()
        };
        let sources = [
            halves([1.0, 2.0]),
            halves([0.5, f32::NAN]),
            halves([3.0, 1.0]),
        ];
        assert_eq!(
            combine(Element::Bf16, Reduction::Product, &sources[..1]),
            halves([1.0, 2.0])
        );
        let sum = combine(Element::Bf16, Reduction::Sum, &sources);
        assert_eq!(&sum[..2], &half::bf16::from_f32(4.5).to_ne_bytes());
        let largest = combine(Element::Bf16, Reduction::Largest, &sources);
        assert!(half::bf16::from_ne_bytes([largest[2], largest[3]]).is_nan());
        let floats = [vec![1.5_f32, -2.0], vec![2.0, 4.0]]
            .map(|it| it.into_iter().flat_map(f32::to_ne_bytes).collect());
        let product: Vec<u8> = [3.0_f32, -8.0]
            .into_iter()
            .flat_map(f32::to_ne_bytes)
            .collect();
        assert_eq!(combine(Element::F32, Reduction::Product, &floats), product);
    }
}
