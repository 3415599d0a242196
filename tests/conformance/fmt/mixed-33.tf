variable  "a" { default = f(
1,
2) + 2 }
variable "b" { default = [for x in [1, 2] : x * 2] }
variable "c" { default = true ? "a" : "b" }


moved {
  from = data.terraform_remote_state.a# tail
  to   = /* a
b */  data.terraform_remote_state.b
}
variable "d" { default = "x${1}y" }