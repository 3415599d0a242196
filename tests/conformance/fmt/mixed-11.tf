variable "n" { type = number }
variable /*x*/" l" { type = list(string) }
variable "o" { type = object({ b = string }) }

locals {
  obj = { a = 1, bb = 2,
    ccc = 3, d = 4
    eeeee = 5
  }
  other = {
    x = { y = 1
      zz = 2 }
    "quoted key" = 3
    (var.k) = 4
    k2 : 5
    "a${var.x}" = 6
  }
}
