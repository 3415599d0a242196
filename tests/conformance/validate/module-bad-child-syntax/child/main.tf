variable "x" {
  type = 
}
