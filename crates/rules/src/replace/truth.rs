//! True, false, or not known before the apply.

/// The result of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Truth {
    /// It does not hold.
    False,
    /// That depends on values that are not known yet.
    Unknown,
    /// It holds.
    True,
}

impl Truth {
    /// False if any is false, else unknown if any is unknown.
    pub fn and(self, other: Truth) -> Truth {
        self.min(other)
    }

    /// True if any is true, else unknown if any is unknown.
    pub fn or(self, other: Truth) -> Truth {
        self.max(other)
    }

    /// The opposite. Unknown stays so.
    pub fn negated(self) -> Truth {
        match self {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
        }
    }

    /// As machines are told.
    pub fn name(self) -> &'static str {
        match self {
            Truth::True => "true",
            Truth::False => "false",
            Truth::Unknown => "unknown",
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Truth::True } else { Truth::False }
    }
}
