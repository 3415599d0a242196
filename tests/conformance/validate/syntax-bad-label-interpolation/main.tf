variable "a${1}" {}
