variable "a" {
  default = { (path.module) = 1 }
}
