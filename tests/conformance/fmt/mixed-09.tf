variable "a" {
  type    = number
  default = "abc"
}
variable "b" {
  type    = list(string)
  default = {}
}
variable "c" {
  type    = map(string)
  default =	 "x"
}
variable "d" {
  type    = bool
  default = "maybe"
}
variable "e" {
  type  /* c */    = object({ a = string })
  default = {}
   }
