//! `pow` and `log` on `f64`, with the same last bits as Go's `math` package, which the language shows to users.
//!
//! System math libraries round better or differently; what counts here is to agree. The methods are the published
//! ones: argument reduction and an odd polynomial for the logarithm (the constants of fdlibm), a Taylor series on a
//! sixteenth of the reduced argument for the exponential function (Shibata 2010), repeated squaring for powers.

#![expect(clippy::excessive_precision, reason = "the constants are given as published")]

/// ln 2, cut so that products with small integers are exact, and the rest of it.
const LN2_HIGH: f64 = 6.931_471_803_691_238_164_90e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_700_02e-10;
/// The polynomial of the logarithm: coefficients of the even and the odd powers of s⁴.
const LOG_ODD: [f64; 4] = [
    6.666_666_666_666_735_130e-1,
    2.857_142_874_366_239_149e-1,
    1.818_357_216_161_805_012e-1,
    1.479_819_860_511_658_591e-1,
];
const LOG_EVEN: [f64; 3] = [3.999_999_999_940_941_908e-1, 2.222_219_843_214_978_396e-1, 1.531_383_769_920_937_332e-1];
/// ln 2 split differently, for the exponential function.
const EXP_LN2_HIGH: f64 = 0.693_147_180_559_662_956_511_601_805_686_950_683_593_75;
const EXP_LN2_LOW: f64 = 0.282_352_905_630_315_771_225_884_481_750_134_360_255_254_120_68e-12;
/// Above this, the exponential function is infinite.
const EXP_LIMIT: f64 = 7.097_827_128_933_84e2;
/// 1/8!, 1/7!, … 1/2!, 1
const TAYLOR: [f64; 8] = [
    2.480_158_730_158_730_158_7e-5,
    1.984_126_984_126_984_127_0e-4,
    1.388_888_888_888_888_888_9e-3,
    8.333_333_333_333_333_333_3e-3,
    4.166_666_666_666_666_666_7e-2,
    1.666_666_666_666_666_666_7e-1,
    0.5,
    1.0,
];

/// The natural logarithm.
pub(super) fn ln(x: f64) -> f64 {
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    let (mut fraction, mut exponent) = log_parts(x);
    if fraction < std::f64::consts::FRAC_1_SQRT_2 {
        fraction *= 2.0;
        exponent -= 1.0;
    }
    let f = fraction - 1.0;
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let odd = s2 * (LOG_ODD[0] + s4 * (LOG_ODD[1] + s4 * (LOG_ODD[2] + s4 * LOG_ODD[3])));
    let even = s4 * (LOG_EVEN[0] + s4 * (LOG_EVEN[1] + s4 * LOG_EVEN[2]));
    let half_square = 0.5 * f * f;
    let correction = s * (half_square + (odd + even)) + exponent * LN2_LOW;
    exponent * LN2_HIGH - ((half_square - correction) - f)
}

/// Fraction and exponent straight from the bits: subnormal numbers are not normalised, as on the reference platform.
fn log_parts(x: f64) -> (f64, f64) {
    let bits = x.to_bits();
    let fraction = f64::from_bits((bits & ((1 << 52) - 1)) | 0.5f64.to_bits());
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 0x3fe;
    (fraction, f64::from(exponent))
}

/// e to the power of x.
fn exp(x: f64) -> f64 {
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if x == f64::NEG_INFINITY {
        return 0.0;
    }
    if x > EXP_LIMIT {
        return f64::INFINITY;
    }
    // Far below the smallest number; also keeps the exponent in the range of an i32.
    if x < -1.0e6 {
        return 0.0;
    }
    let exponent = (std::f64::consts::LOG2_E * x).round_ties_even();
    let reduced = (-EXP_LN2_HIGH).mul_add(exponent, x);
    let reduced = (-EXP_LN2_LOW).mul_add(exponent, reduced);
    let sixteenth = reduced * 0.0625;
    let series = TAYLOR.iter().skip(1).fold(TAYLOR[0], |sum, term| sum.mul_add(sixteenth, *term));
    // With r = e^y - 1, doubling y makes r(r + 2) of it; four times gives back the whole argument.
    let mut r = sixteenth * series;
    for _ in 0..3 {
        r *= r + 2.0;
    }
    let result = (r + 2.0).mul_add(r, 1.0);
    scale_exp(result, exponent as i32)
}

fn scale_exp(fraction: f64, exponent: i32) -> f64 {
    let biased = exponent + 0x3ff;
    if biased >= 0x7ff {
        return f64::INFINITY;
    }
    if biased > 0 {
        return fraction * f64::from_bits((biased as u64) << 52);
    }
    if biased < -52 {
        return 0.0;
    }
    fraction * f64::from_bits(((biased + 0x3fe) as u64) << 52) * f64::from_bits(1 << 52)
}

/// x to the power of y.
pub(super) fn pow(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if y == 1.0 {
        return x;
    }
    if x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if let Some(result) = pow_special(x, y) {
        return result;
    }
    let whole = y.abs().trunc();
    let part = y.abs() - whole;
    if part != 0.0 && x < 0.0 {
        return f64::NAN;
    }
    if whole >= 9_223_372_036_854_775_808.0 {
        return pow_endless(x, y > 0.0);
    }
    pow_finite(x, y < 0.0, whole, part)
}

/// Zeros, infinities and square roots.
fn pow_special(x: f64, y: f64) -> Option<f64> {
    if x == 0.0 {
        let signed = if is_odd(y) { x } else { 0.0 };
        return Some(if y > 0.0 { signed } else { f64::INFINITY.copysign(signed) });
    }
    if y.is_infinite() {
        return Some(pow_endless(x, y > 0.0));
    }
    if x == f64::NEG_INFINITY {
        return Some(pow(-0.0, -y));
    }
    if x == f64::INFINITY {
        return Some(if y < 0.0 { 0.0 } else { f64::INFINITY });
    }
    if y == 0.5 {
        return Some(x.sqrt());
    }
    (y == -0.5).then(|| 1.0 / x.sqrt())
}

/// The limit for exponents without end.
fn pow_endless(x: f64, positive: bool) -> f64 {
    if x == -1.0 {
        1.0
    } else if (x.abs() < 1.0) == positive {
        0.0
    } else {
        f64::INFINITY
    }
}

fn is_odd(y: f64) -> bool {
    // From 2^53 on, all numbers are even.
    y.abs() < 9_007_199_254_740_992.0 && y.fract() == 0.0 && (y as i64) & 1 == 1
}

fn pow_finite(x: f64, inverse: bool, mut whole: f64, mut part: f64) -> f64 {
    let mut result = 1.0;
    let mut result_exponent = 0i64;
    if part != 0.0 {
        if part > 0.5 {
            part -= 1.0;
            whole += 1.0;
        }
        result = exp(part * ln(x));
    }
    let (mut square, exponent) = split(x);
    let mut square_exponent = i64::from(exponent);
    let mut bits = whole as i64;
    while bits != 0 {
        if square_exponent.abs() > 1 << 12 {
            // Out of range already, whatever the other bits say.
            result_exponent += square_exponent;
            break;
        }
        if bits & 1 == 1 {
            result *= square;
            result_exponent += square_exponent;
        }
        square *= square;
        square_exponent *= 2;
        if square < 0.5 {
            square += square;
            square_exponent -= 1;
        }
        bits >>= 1;
    }
    if inverse {
        result = 1.0 / result;
        result_exponent = -result_exponent;
    }
    join(result, result_exponent)
}

/// `x = fraction * 2^exponent` with a fraction of at least a half and less than one.
fn split(x: f64) -> (f64, i32) {
    let (x, lift) = if x.abs() < f64::MIN_POSITIVE { (x * 2f64.powi(52), -52) } else { (x, 0) };
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 0x3fe;
    (f64::from_bits((bits & !(0x7ff << 52)) | (0x3fe << 52)), exponent + lift)
}

/// `fraction * 2^exponent`, rounded once.
fn join(fraction: f64, exponent: i64) -> f64 {
    if fraction == 0.0 || fraction.is_infinite() || fraction.is_nan() {
        return fraction;
    }
    let (fraction, lift) = split(fraction);
    let exponent = exponent + i64::from(lift);
    if exponent > 1024 {
        return f64::INFINITY.copysign(fraction);
    }
    if exponent < -1074 {
        return 0f64.copysign(fraction);
    }
    if exponent >= -1021 {
        return fraction * 2.0 * 2f64.powi(exponent as i32 - 1);
    }
    fraction * 2f64.powi(exponent as i32 + 53) * 2f64.powi(-53)
}
