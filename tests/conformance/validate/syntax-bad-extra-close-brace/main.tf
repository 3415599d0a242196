variable "a" {
}
}
