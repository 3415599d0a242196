


variable "a" {



  type = string



  default = "x"



}



variable "b" {

}



