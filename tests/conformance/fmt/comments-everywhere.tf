# top
// slashes
/* block */
variable "a" { # after brace
# inside
type = string # after value
// before close
} # after close
/* multi
line
   comment */
variable /* mid */ "b" /* mid2 */ {
/* before */ type = /* in */ string /* after */
}
# last
