//! How names of the registry are written in C, and which two would become one.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// The names that a header defines.
///
/// All of them start with the name of the protocol, so they meet no keyword and nothing of other headers. Members of
/// structs stand alone; see [`member`].
pub(super) struct Names {
    lower: String,
    upper: String,
    defined: RefCell<BTreeMap<String, String>>,
    problems: RefCell<Vec<String>>,
}

impl Names {
    pub(super) fn new(protocol: &str) -> Self {
        Self {
            lower: protocol.to_lowercase(),
            upper: protocol.to_uppercase(),
            defined: RefCell::default(),
            problems: RefCell::default(),
        }
    }

    /// The name of a function or a type.
    pub(super) fn lower(&self, name: &str) -> String {
        format!("{}_{}", self.lower, name.to_lowercase())
    }

    /// The name of a macro or a constant.
    pub(super) fn upper(&self, name: &str) -> String {
        format!("{}_{}", self.upper, name.to_uppercase())
    }

    /// A template of the header with the protocol's own prefix in place of `proto_` and `PROTO_`.
    pub(super) fn prefixed(&self, template: &str) -> String {
        template.replace("proto_", &self.lower("")).replace("PROTO_", &self.upper(""))
    }

    /// Notes that the header defines `name`, which stands for `what`. Two definitions of one name are a problem.
    pub(super) fn define(&self, name: &str, what: &str) {
        if RESERVED.contains(&name) {
            let problem = format!("{what} becomes `{name}`, which C or C++ has already");
            self.problems.borrow_mut().push(problem);
        }
        let first = self.defined.borrow_mut().insert(name.to_owned(), what.to_owned());
        if let Some(first) = first {
            let problem = format!("{first} and {what} both become `{name}` in C");
            self.problems.borrow_mut().push(problem);
        }
    }

    /// Notes the members of the struct of `what`, given by the names of the fields or parts that they stand for.
    pub(super) fn define_members<'f>(&self, what: &str, fields: impl Iterator<Item = &'f str>) {
        let mut seen = BTreeMap::new();
        for field in fields {
            if let Some(first) = seen.insert(member(field), field) {
                let problem =
                    format!("`{first}` and `{field}` of {what} both become `{}` in C", member(field));
                self.problems.borrow_mut().push(problem);
            }
        }
    }

    /// What is wrong with the names, one problem a line.
    pub(super) fn problems(&self) -> Option<String> {
        let problems = self.problems.borrow();
        if problems.is_empty() { None } else { Some(problems.join("\n")) }
    }

    /// Every name that the header defines.
    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<String> {
        self.defined.borrow().keys().cloned().collect()
    }
}

/// The name of a field as a member of a struct or a parameter: what is taken gets a trailing `_`.
pub(super) fn member(field: &str) -> String {
    if RESERVED.contains(&field) { format!("{field}_") } else { field.to_owned() }
}

/// A doc of a member, with what its name is in the registry where that is another.
pub(super) fn noted(mut doc: String, name: &str) -> String {
    if member(name) != name {
        let separator = if doc.is_empty() { "" } else { " " };
        doc += &format!("{separator}In the registry it is `{name}`, a name that C or C++ has taken.");
    }
    doc
}

/// A rule id as part of a name: `D8.1` as `d8_1`.
pub(super) fn rule(id: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    id.chars().map(letter).collect()
}

/// Keywords of C and C++ up to C23 and C++23, and macros and types of their standard headers that a name could be,
/// with what compilers predefine on the quiet.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    // Keywords of both.
    "alignas", "alignof", "auto", "bool", "break", "case", "char", "const", "constexpr", "continue", "default", "do",
    "double", "else", "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int", "long", "nullptr",
    "register", "return", "short", "signed", "sizeof", "static", "static_assert", "struct", "switch", "thread_local",
    "true", "typedef", "typeof", "typeof_unqual", "union", "unsigned", "void", "volatile", "while",
    // Of C.
    "restrict", "asm", "fortran",
    // Of C++.
    "and", "and_eq", "bitand", "bitor", "catch", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
    "co_yield", "compl", "concept", "const_cast", "consteval", "constinit", "decltype", "delete", "dynamic_cast",
    "explicit", "export", "friend", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "operator", "or",
    "or_eq", "private", "protected", "public", "reinterpret_cast", "requires", "static_cast", "template", "this",
    "throw", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor", "xor_eq",
    // Macros.
    "assert", "complex", "errno", "imaginary", "math_errhandling", "noreturn", "offsetof", "setjmp", "stderr",
    "stdin", "stdout", "unreachable", "va_arg", "va_copy", "va_end", "va_start",
    "BUFSIZ", "CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "CLOCKS_PER_SEC", "EDOM", "EILSEQ", "EOF", "ERANGE", "EXIT_FAILURE",
    "EXIT_SUCCESS", "FILENAME_MAX", "FOPEN_MAX", "HUGE_VAL", "I", "INFINITY", "INT16_C", "INT16_MAX", "INT16_MIN",
    "INT32_C", "INT32_MAX", "INT32_MIN", "INT64_C", "INT64_MAX", "INT64_MIN", "INT8_C", "INT8_MAX", "INT8_MIN",
    "INTMAX_C", "INTMAX_MAX", "INTMAX_MIN", "INTPTR_MAX", "INTPTR_MIN", "INT_MAX", "INT_MIN", "LC_ALL", "LC_COLLATE",
    "LC_CTYPE", "LC_MONETARY", "LC_NUMERIC", "LC_TIME", "LLONG_MAX", "LLONG_MIN", "LONG_MAX", "LONG_MIN", "L_tmpnam",
    "MB_CUR_MAX", "MB_LEN_MAX", "NAN", "NDEBUG", "NULL", "PTRDIFF_MAX", "PTRDIFF_MIN", "RAND_MAX", "SCHAR_MAX",
    "SCHAR_MIN", "SEEK_CUR", "SEEK_END", "SEEK_SET", "SHRT_MAX", "SHRT_MIN", "SIGABRT", "SIGFPE", "SIGILL", "SIGINT",
    "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_ERR", "SIG_IGN", "SIZE_MAX", "TMP_MAX", "UCHAR_MAX", "UINT16_C",
    "UINT16_MAX", "UINT32_C", "UINT32_MAX", "UINT64_C", "UINT64_MAX", "UINT8_C", "UINT8_MAX", "UINTMAX_C",
    "UINTMAX_MAX", "UINTPTR_MAX", "UINT_MAX", "ULLONG_MAX", "ULONG_MAX", "USHRT_MAX", "WCHAR_MAX", "WCHAR_MIN",
    "WEOF", "WINT_MAX", "WINT_MIN", "TIME_UTC",
    // Types that the header uses, or that hide what it uses.
    "int16_t", "int32_t", "int64_t", "int8_t", "ptrdiff_t", "size_t", "uint16_t", "uint32_t", "uint64_t", "uint8_t",
    // Predefined by gcc and clang in their default mode.
    "i386", "linux", "unix",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_names_are_escaped() {
        assert_eq!(member("class"), "class_");
        assert_eq!(member("errno"), "errno_");
        assert_eq!(member("kind"), "kind");
        assert_eq!(noted("A doc.".to_owned(), "kind"), "A doc.");
        assert_eq!(
            noted("A doc.".to_owned(), "class"),
            "A doc. In the registry it is `class`, a name that C or C++ has taken."
        );
    }

    #[test]
    fn one_name_for_two_things_is_a_problem() {
        let names = Names::new("p");
        names.define("p_a", "layout `a`");
        assert_eq!(names.problems(), None);
        names.define("p_a", "enum `a`");
        assert_eq!(names.problems().as_deref(), Some("layout `a` and enum `a` both become `p_a` in C"));
    }
}
