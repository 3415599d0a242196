broken {{{
