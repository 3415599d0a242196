variable "a" {
  type = true ? string : number
}
