variable "v" {
  validation {
    condition     = var.v > var.nope/**/
    error_message = "x"
  }
}

variable "a" { type = list(string, number ) }
variable "b" { type = list() }
variable "c" { type = object() }
variable "d" { type = tuple() }
variable "e" { type = map() }
