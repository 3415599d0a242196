

   
locals {

  a = 1

}
