variable "a" {
  type    = string
  default = "default"
}

variable "b" {
  type = number
}

variable "c" {
  type    = list(any)
  default = []
  

}
   
variable "d" {
  default = "from default"
}

variable "order" {
  type    = string
  default = "0"
}

variable "untyped" {}

variable "obj" {
  type = object({ list = list(string), n = optional(number, 3) })
}

variable "heredoc" {
  type = string
}

variable "nullable_default" {
  type     = string
  default  = "d"
  nullable = true
}

variable "nullable_given_null" {
  type     = string
  default  = "d"
  
 nullable = false
}

variable "a" { type = object({ x = optional(string, upper("a")) }) }


