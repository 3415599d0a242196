variable "a" {
  type = object({
    name=string
    count=optional(number,3)
   tags=map(string)
    list=list(object({a=string,b=optional(bool)}))
  })
}
variable "b" { type=tuple([string,number,  bool]) }
variable "c" {
  type = list ( string )
}
  

variable "d" {
  type = map(list)
}

resource "terraform_data" /*x*/"a" {
  lifecycle {
    create_before_destroy = "maybe"
  }
}
