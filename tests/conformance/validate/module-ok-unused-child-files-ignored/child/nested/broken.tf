this is not HCL {{{
