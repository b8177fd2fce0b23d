//! The near name for a misspelt one.

/// The candidate that is nearest to `name`, if it is near enough to be meant.
pub(crate) fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // Every letter is near every other: a name of one letter says nothing of what was meant.
    let allowed = match name.chars().count() {
        0 | 1 => 0,
        2 => 1,
        length => length.div_ceil(3),
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters have to be added, taken away, changed, or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (rows[i - 1][j - 1] + change).min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_what_was_meant_and_another_word_does_not() {
        let names = ["key", "keep", "ttl", "scope", "max_tries"];
        assert_eq!(nearest("kye", names), Some("key"));
        assert_eq!(nearest("scop", names), Some("scope"));
        assert_eq!(nearest("maxtries", names), Some("max_tries"));
        assert_eq!(nearest("tlt", names), Some("ttl"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest("n", ["m"]), None);
    }
}
