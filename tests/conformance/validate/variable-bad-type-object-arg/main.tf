variable "a" { type = object(string) }
variable "b" { type = object([string]) }
variable "c" { type = tuple({ a = string }) }
variable "d" { type = tuple([string], number) }
