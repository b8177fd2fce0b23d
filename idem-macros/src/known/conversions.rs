//! What methods do to a value on its way to a key.

/// Those that hand on what they are called on, so that it can still be taken apart.
static TRANSPARENT: &[&str] = &[
    "as_deref",
    "as_deref_mut",
    "as_mut",
    "as_ref",
    "borrow",
    "by_ref",
    "clone",
    "cloned",
    "copied",
    "deref",
    "expect",
    "into",
    "into_inner",
    "ok",
    "ok_or",
    "ok_or_else",
    "take",
    "to_owned",
    "try_into",
    "unwrap",
    "context",
    "with_context",
    "map_err",
    "inspect",
    "into_iter",
    "iter",
    "unwrap_unchecked",
    "into_boxed_str",
];

/// Those that turn what they are called on into text, bytes or a number: whatever was fresh in it is fresh in that.
static RENDERING: &[&str] = &[
    "as_bytes",
    "as_slice",
    "as_str",
    "as_string",
    "build",
    "chars",
    "collect",
    "concat",
    "encode",
    "encode_hex",
    "encode_lower",
    "encode_upper",
    "finalize",
    "finish",
    "fixed",
    "hash",
    "hyphenated",
    "into_bytes",
    "into_string",
    "join",
    "digest",
    "key",
    "replace",
    "simple",
    "sum",
    "to_ascii_lowercase",
    "to_base62",
    "to_bytes",
    "to_hex",
    "to_lowercase",
    "to_str",
    "to_string",
    "to_string_lossy",
    "to_uppercase",
    "to_vec",
    "trim",
    "urn",
    "parse",
    "finalize_fixed",
    "to_ascii_uppercase",
    "render",
    "rev",
    "as_u128",
    "as_u64_pair",
    "to_bytes_le",
    "to_bits",
    "expose",
    "date_naive",
    "strftime",
    "timestamp_micros",
    "timestamp_millis",
    "timestamp_nanos",
    "timestamp_nanos_opt",
    "to_rfc2822",
    "to_rfc3339",
    "unix_timestamp",
    "unix_timestamp_nanos",
    "as_nanosecond",
    "as_microsecond",
    "as_millisecond",
    "as_second",
];

/// Those that answer something about a value that is the same for all values of its kind.
static FORGETFUL: &[&str] = &[
    "capacity",
    "cmp",
    "contains",
    "ends_with",
    "eq",
    "ge",
    "get_version",
    "get_version_num",
    "gt",
    "is_empty",
    "is_err",
    "is_nil",
    "is_none",
    "is_ok",
    "is_some",
    "le",
    "len",
    "lt",
    "ne",
    "partial_cmp",
    "starts_with",
];

/// Those whose arguments become a part of what they give.
static COMBINING: &[&str] = &[
    "add",
    "and",
    "chain",
    "chain_update",
    "choose",
    "choose_multiple",
    "concat",
    "get_or_insert",
    "get_or_insert_with",
    "insert",
    "join",
    "map_or",
    "max",
    "min",
    "or",
    "or_insert",
    "or_insert_with",
    "replace",
    "sub",
    "then_some",
    "unwrap_or",
    "xor",
    "zip",
    "bitxor",
    "with",
    "new_v5",
    "choose_weighted",
    "encode",
    "encode_string",
    "encrypt",
    "hash_password",
    "sign",
    "mul",
    "div",
    "rem",
    "pow",
    "bitand",
    "bitor",
    "shl",
    "shr",
    "abs_diff",
    "div_euclid",
    "rem_euclid",
    "rotate_left",
    "rotate_right",
];

/// Those whose arguments become a part of what they are called on.
static MUTATING: &[&str] = &[
    "extend",
    "extend_from_slice",
    "insert_str",
    "push",
    "push_str",
    "put",
    "update",
    "write",
    "write_all",
    "write_fmt",
    "write_str",
    "write_u128",
    "write_u16",
    "write_u32",
    "write_u64",
    "write_u8",
    "write_usize",
    "write_i64",
    "shuffle",
    "append",
    "set",
    "replace_with",
    "get_or_insert",
    "get_or_insert_with",
    "copy_from_slice",
    "clone_from",
    "fill",
    "fill_with",
    "partial_shuffle",
    "resize",
    "resize_with",
];

/// Those that give what their closure makes of what they are called on.
static MAPPING: &[&str] = &[
    "fold",
    "try_fold",
    "reduce",
    "map_while",
    "map",
    "and_then",
    "map_or",
    "map_or_else",
    "filter_map",
    "flat_map",
    "map_ok",
    "then",
    "find_map",
    "scan",
];

/// Those that give what they are called on, or else what they are given.
static FALLING_BACK: &[&str] = &[
    "get_or_try_init",
    "get_or_try_insert_with",
    "or_try_insert_with",
    "get_with",
    "try_get_with",
    "unwrap_or",
    "unwrap_or_else",
    "or",
    "or_else",
    "or_insert",
    "or_insert_with",
    "get_or_insert",
    "get_or_insert_with",
    "get_or_init",
    "or_default",
    "or_insert_with_key",
];

/// Those that do something with each of what they are called on.
static EACH: &[&str] = &[
    "for_each",
    "try_for_each",
    "for_each_concurrent",
    "try_for_each_concurrent",
    "inspect",
    "tap",
    "filter",
    "buffer_unordered",
];

/// Those that give one of the entries of what they are called on, or all of them.
static PICKING: &[&str] = &[
    "back",
    "chunks",
    "drain",
    "first",
    "first_mut",
    "front",
    "get",
    "get_mut",
    "into_values",
    "iter_mut",
    "last",
    "next",
    "next_back",
    "nth",
    "peek",
    "pop",
    "pop_back",
    "pop_front",
    "remove",
    "rev",
    "swap_remove",
    "values",
];

/// Macros that give a text made from their arguments.
static FORMATTING: &[&str] =
    &["format", "format_args", "concat", "concat_string", "formatcp", "format_compact", "eformat"];

/// Macros that never return.
static DIVERGING: &[&str] = &["panic", "unreachable", "todo", "unimplemented", "bail"];

/// Macros that write to a log or a terminal.
static LOGGING: &[&str] = &[
    "trace",
    "debug",
    "info",
    "warn",
    "error",
    "event",
    "log",
    "println",
    "eprintln",
    "print",
    "eprint",
    "span",
    "trace_span",
    "debug_span",
    "info_span",
    "warn_span",
    "error_span",
];

pub(crate) fn is_transparent(method: &str) -> bool {
    TRANSPARENT.contains(&method)
}

pub(crate) fn renders(method: &str) -> bool {
    RENDERING.contains(&method)
}

pub(crate) fn forgets(method: &str) -> bool {
    FORGETFUL.contains(&method)
}

pub(crate) fn combines(method: &str) -> bool {
    let arithmetic = ["wrapping_", "checked_", "saturating_", "overflowing_"];
    COMBINING.contains(&method) || arithmetic.iter().any(|how| method.starts_with(how))
}

pub(crate) fn mutates(method: &str) -> bool {
    MUTATING.contains(&method)
}

pub(crate) fn maps(method: &str) -> bool {
    MAPPING.contains(&method)
}

pub(crate) fn falls_back(method: &str) -> bool {
    FALLING_BACK.contains(&method)
}

pub(crate) fn visits(method: &str) -> bool {
    EACH.contains(&method)
}

pub(crate) fn picks(method: &str) -> bool {
    PICKING.contains(&method)
}

pub(crate) fn formats(name: &str) -> bool {
    FORMATTING.contains(&name)
}

pub(crate) fn diverges(name: &str) -> bool {
    DIVERGING.contains(&name)
}

pub(crate) fn logs(name: &str) -> bool {
    LOGGING.contains(&name)
}
