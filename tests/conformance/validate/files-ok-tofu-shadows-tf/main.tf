this would be a syntax error {{{
