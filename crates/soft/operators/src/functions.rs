//! Functions of one real number that the standard library has not.

/// The functions of the C library's mathematics.
mod c {
    unsafe extern "C" {
        pub(super) safe fn erf(x: f64) -> f64;
        pub(super) safe fn erfc(x: f64) -> f64;
    }
}

pub(super) fn erf(x: f64) -> f64 {
    c::erf(x)
}

pub(super) fn erfc(x: f64) -> f64 {
    c::erfc(x)
}

/// The logarithm of the gamma function's size: a series for large numbers, which smaller ones reach by factors. The C library's
/// function writes a global variable as well.
pub(super) fn lgamma(x: f64) -> f64 {
    use std::f64::consts::PI;

    if x <= 0.0 {
        // Mirrored at 1/2. It is infinite at 0, -1 and so on.
        return match x == x.floor() {
            true => f64::INFINITY,
            false => (PI / (PI * x).sin().abs()).ln() - lgamma(1.0 - x),
        };
    }
    let (mut x, mut factors) = (x, 1.0);
    while x < LARGE {
        factors *= x;
        x += 1.0;
    }
    let parts = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
    ];
    let rest = series(parts, x) * x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + rest - f64::ln(factors)
}

/// The slope of `lgamma`.
pub(super) fn digamma(x: f64) -> f64 {
    use std::f64::consts::PI;

    if x <= 0.0 {
        return match x == x.floor() {
            true => f64::NAN,
            false => digamma(1.0 - x) - PI / (PI * x).tan(),
        };
    }
    let (mut x, mut steps) = (x, 0.0);
    while x < LARGE {
        steps += x.recip();
        x += 1.0;
    }
    let parts = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
    ];
    x.ln() - 0.5 / x - series(parts, x) - steps
}

/// From here on, five parts of the series above are exact to the digits of a number.
const LARGE: f64 = 16.0;

/// Parts by the square of a number, by its fourth power, and so on.
fn series(parts: [f64; 5], x: f64) -> f64 {
    let square = (x * x).recip();
    parts.iter().rev().fold(0.0, |sum, it| square * (it + sum))
}

/// The inverse of `erf`: bisection would do, Newton's steps are quicker.
pub(super) fn erfinv(y: f64) -> f64 {
    if y.is_nan() || y.abs() > 1.0 {
        return f64::NAN;
    }
    if y.abs() == 1.0 {
        return f64::INFINITY.copysign(y);
    }
    // Winitzki's formula is right to three digits.
    let logarithm = (-y * y).ln_1p();
    let a = 0.147;
    let half = 2.0 / (std::f64::consts::PI * a) + logarithm / 2.0;
    let mut x = ((half * half - logarithm / a).sqrt() - half)
        .sqrt()
        .copysign(y);
    for _ in 0..3 {
        // The rest is computed without cancellation near 1.
        let left = if x.abs() < 1.0 {
            erf(x) - y
        } else {
            (1.0 - y.abs()).copysign(y) - erfc(x.abs()).copysign(y)
        };
        let slope = std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp();
        let step = left / slope;
        x -= step / (1.0 + x * step);
    }
    x
}

pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// log(1 / (1 + exp(-x))), without overflow.
pub(super) fn log_sigmoid(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}

/// log(1 + exp(x)), without overflow.
pub(super) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// The share of the normal distribution below x.
fn below(x: f64) -> f64 {
    0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

pub(super) fn gelu(x: f64) -> f64 {
    x * below(x)
}

pub(super) fn gelu_slope(x: f64) -> f64 {
    let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    below(x) + x * density
}

const TANH_FACTOR: f64 = 0.797_884_560_802_865_4;
const CUBE: f64 = 0.044_715;

/// The approximation of `gelu` by the hyperbolic tangent.
pub(super) fn gelu_tanh(x: f64) -> f64 {
    0.5 * x * (1.0 + (TANH_FACTOR * (x + CUBE * x * x * x)).tanh())
}

pub(super) fn gelu_tanh_slope(x: f64) -> f64 {
    let tanh = (TANH_FACTOR * (x + CUBE * x * x * x)).tanh();
    let inner = TANH_FACTOR * (1.0 + 3.0 * CUBE * x * x);
    0.5 * (1.0 + tanh) + 0.5 * x * (1.0 - tanh * tanh) * inner
}

pub(super) fn hard_sigmoid(x: f64) -> f64 {
    (x + 3.0).clamp(0.0, 6.0) / 6.0
}

pub(super) fn mish(x: f64) -> f64 {
    x * softplus(x).tanh()
}

/// The remainder with the divisor's sign.
pub(super) fn modulo(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
        rest + b
    } else {
        rest
    }
}

/// The same of integers; division by zero gives zero.
pub(super) fn modulo_integer(a: i64, b: i64) -> i64 {
    let rest = a.checked_rem(b).unwrap_or(0);
    if rest != 0 && (rest < 0) != (b < 0) {
        rest + b
    } else {
        rest
    }
}

/// The quotient rounded down; division by zero gives zero.
pub(super) fn floor_integer(a: i64, b: i64) -> i64 {
    let quotient = a.checked_div(b).unwrap_or(0);
    let is_exact = a.wrapping_sub(quotient.wrapping_mul(b)) == 0;
    quotient - i64::from(!is_exact && (a < 0) != (b < 0))
}

/// The quotient rounded down, as if by exact arithmetic.
pub(super) fn floor_quotient(a: f64, b: f64) -> f64 {
    if b == 0.0 {
        return a / b;
    }
    let quotient = (a - modulo(a, b)) / b;
    // The difference is a multiple of the divisor up to rounding.
    quotient.round()
}

/// An integer to the power of another: 0 where that is a fraction, save of 1 and -1.
pub(super) fn power_integer(base: i64, exponent: i64) -> i64 {
    match (base, u32::try_from(exponent)) {
        (_, Ok(exponent)) => base.wrapping_pow(exponent),
        (1, _) => 1,
        (-1, _) => 1 - 2 * (exponent & 1),
        _ => 0,
    }
}

/// The larger one; NaN wins.
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// The smaller one; NaN wins.
pub(super) fn smaller(a: f64, b: f64) -> f64 {
    if a.is_nan() || a < b { a } else { b }
}

/// -1, 0 or 1.
pub(super) fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x * 0.0
    }
}

/// x log(y), which is 0 for x = 0.
pub(super) fn x_log_y(x: f64, y: f64) -> f64 {
    if y.is_nan() {
        f64::NAN
    } else if x == 0.0 {
        0.0
    } else {
        x * y.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::{
        erf, erfinv, floor_integer, floor_quotient, modulo, modulo_integer, power_integer,
    };

    #[test]
    fn the_inverse_of_erf_is_one() {
        for x in [-3.0, -1.5, -0.7, -1e-5, 0.0, 1e-9, 0.3, 0.99, 1.0, 2.5, 4.0] {
            let back = erfinv(erf(x));
            assert!(
                (back - x).abs() < 1e-6 * x.abs().max(1e-9) + 1e-12,
                "{x} {back}"
            );
        }
        assert_eq!(
            (erfinv(1.0), erfinv(-1.0)),
            (f64::INFINITY, f64::NEG_INFINITY)
        );
        assert!(erfinv(1.5).is_nan());
    }

    #[test]
    fn the_gamma_functions_have_their_known_values() {
        let euler = 0.577_215_664_901_532_9;
        let known = [
            (1.0, 0.0, -euler),
            (2.0, 0.0, 1.0 - euler),
            (5.0, 24.0_f64.ln(), 25.0 / 12.0 - euler),
        ];
        for (x, log, slope) in known {
            assert!((super::lgamma(x) - log).abs() < 1e-13, "{x}");
            assert!((super::digamma(x) - slope).abs() < 1e-13, "{x}");
        }
        let half = -euler - 2.0 * std::f64::consts::LN_2;
        assert!((super::digamma(0.5) - half).abs() < 1e-13);
        assert!((super::digamma(-0.5) - (half + 2.0)).abs() < 1e-12);
        assert!(super::digamma(-1.0).is_nan());
    }

    #[test]
    fn quotients_and_remainders_belong_together() {
        for (a, b) in [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (-6, 3), (0, 5)] {
            let (quotient, rest) = (floor_integer(a, b), modulo_integer(a, b));
            assert_eq!(quotient * b + rest, a);
            assert!(rest == 0 || (rest < 0) == (b < 0));
            assert_eq!(floor_quotient(a as f64, b as f64), quotient as f64);
            assert_eq!(modulo(a as f64, b as f64), rest as f64);
        }
        assert_eq!((floor_integer(i64::MIN, -1), modulo_integer(5, 0)), (0, 0));
        assert_eq!(floor_quotient(1.0, 0.0), f64::INFINITY);
        assert_eq!(floor_quotient(1.0, 0.1), 9.0);
    }

    #[test]
    fn powers_of_integers() {
        assert_eq!(power_integer(-3, 3), -27);
        assert_eq!((power_integer(2, -1), power_integer(1, -5)), (0, 1));
        assert_eq!((power_integer(-1, -3), power_integer(-1, -2)), (-1, 1));
    }
}
