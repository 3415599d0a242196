variable "a"
