variable "a" { type = string }
variable "c" { type = bool }
variable "d" { type = any }
variable "e" { type = list(string) }
variable "f" { type = set(number) }
variable "g" { type = map(any) }
variable "h" { type = tuple([string, number, list(bool)]) }
variable "i" { type = object({ a = string, b = optional(number), c = optional(list(string), ["x"]) }) }
 variable "j" { type = list(object({ m = map(object({ deep = optional(bool, true) })) })) }
variable "k" { type = object({}) }
variable "l" { type = tuple([]) }
variable "m" { type = list(any) }
variable "n" { type = set(object({ x = any })) }

resource "terraform_data" "r" {
  depends_on = [terraform_data.a]
}
