//! One line of a CSV file (RFC 4180), of which no cell spans lines here: their length is limited, and faults name them.

use std::borrow::Cow;

/// The cells of a line, without their quotes and without the spaces around them.
///
/// # Errors
/// The mistake in its quotes.
pub(super) fn cells(line: &str) -> Result<Vec<Cow<'_, str>>, &'static str> {
    let mut cells = Vec::new();
    let mut rest = line;
    loop {
        let after = if let Some(quoted) = rest.trim_start().strip_prefix('"') {
            let (text, after) = unquoted(quoted)?;
            cells.push(Cow::Owned(text.trim().to_owned()));
            after.trim_start()
        } else {
            let (text, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
            cells.push(Cow::Borrowed(text.trim()));
            after
        };
        rest = match after.strip_prefix(',') {
            Some(next) => next,
            None if after.is_empty() => return Ok(cells),
            None => return Err("has text after a closing quote"),
        };
    }
}

/// The text up to its closing quote, doubled quotes made single, and what follows.
fn unquoted(mut rest: &str) -> Result<(String, &str), &'static str> {
    let mut text = String::new();
    while let Some((before, after)) = rest.split_once('"') {
        text.push_str(before);
        match after.strip_prefix('"') {
            Some(next) => {
                text.push('"');
                rest = next;
            }
            None => return Ok((text, after)),
        }
    }
    Err("has an opening quote but no closing quote")
}

#[cfg(test)]
mod tests {
    use super::cells;

    #[test]
    fn cells_are_read_as_rfc_4180_writes_them() {
        assert_eq!(cells("a,b").unwrap(), ["a", "b"]);
        assert_eq!(cells(" a , ,").unwrap(), ["a", "", ""]);
        assert_eq!(cells("").unwrap(), [""]);
        assert_eq!(cells(r#""a","b c"#).unwrap_err(), "has an opening quote but no closing quote");
        assert_eq!(cells(r#""a", "b, ""c""" ,"" "#).unwrap(), ["a", r#"b, "c""#, ""]);
        assert_eq!(cells(r#""a"b,c"#).unwrap_err(), "has text after a closing quote");
        assert_eq!(cells(r#"5" disk,c"#).unwrap(), [r#"5" disk"#, "c"]);
    }
}
