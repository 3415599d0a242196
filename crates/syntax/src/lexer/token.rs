//! What the lexer cuts a text into.

/// A piece of text. Spaces and tabs between tokens are in none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// Offset of the first byte.
    pub(crate) start: u32,
    /// Offset behind the last byte.
    pub(crate) end: u32,
}

impl Token {
    pub(crate) fn text(self, source: &str) -> &str {
        &source[self.start as usize..self.end as usize]
    }
}

/// What kind of piece a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TokenKind {
    Ident,
    Number,
    Newline,
    /// With its line ending, if it starts with `#` or `//`.
    Comment,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    OpenQuote,
    CloseQuote,
    /// The marker and the line ending behind it.
    OpenHeredoc,
    /// All of the line but its ending.
    CloseHeredoc,
    Star,
    Slash,
    Plus,
    Minus,
    Percent,
    Equal,
    EqualEqual,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Bang,
    Dot,
    Comma,
    Ellipsis,
    FatArrow,
    Question,
    Colon,
    DoubleColon,
    /// `${` or `${~`
    TemplateInterp,
    /// `%{` or `%{~`
    TemplateControl,
    /// `}` or `~}`
    TemplateEnd,
    /// Text between quotes, escapes and all.
    QuotedLit,
    /// Text of a heredoc or a bare template; at most one line.
    StringLit,
    /// A line ending between quotes, where none may be.
    QuotedNewline,
    BitwiseAnd,
    BitwiseOr,
    BitwiseNot,
    BitwiseXor,
    Apostrophe,
    Backtick,
    Semicolon,
    Invalid,
    Eof,
}

impl TokenKind {
    /// The other one of a pair of brackets. `None` for anything that comes alone.
    pub(crate) fn opposite(self) -> Option<TokenKind> {
        use TokenKind as K;
        Some(match self {
            K::OpenBrace => K::CloseBrace,
            K::OpenBracket => K::CloseBracket,
            K::OpenParen => K::CloseParen,
            K::OpenQuote => K::CloseQuote,
            K::OpenHeredoc => K::CloseHeredoc,
            K::CloseBrace => K::OpenBrace,
            K::CloseBracket => K::OpenBracket,
            K::CloseParen => K::OpenParen,
            K::CloseQuote => K::OpenQuote,
            K::CloseHeredoc => K::OpenHeredoc,
            K::TemplateControl | K::TemplateInterp => K::TemplateEnd,
            K::TemplateEnd => K::TemplateInterp,
            _ => return None,
        })
    }
}
