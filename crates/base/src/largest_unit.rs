//! Quantities in the unit that suits them.

/// `amount` in the largest unit that it reaches, as the shortest exact decimal.
pub(crate) fn in_largest_unit(amount: u64, units: &[(&str, u64)]) -> String {
    let (unit, scale) = units.iter().rev().find(|(_, scale)| amount >= *scale).unwrap_or(&units[0]);
    let (whole, rest) = (amount / scale, amount % scale);
    if rest == 0 {
        return format!("{whole} {unit}");
    }
    let width = scale.ilog10() as usize;
    let fraction = format!("{rest:0width$}");
    format!("{whole}.{} {unit}", fraction.trim_end_matches('0'))
}
