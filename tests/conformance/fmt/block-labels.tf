resource terraform_data x {
}
resource "terraform_data" y {
}
resource   "terraform_data"   "z"   {
}
provider terraform {
alias="a"
}
module "m"{
source="./m"
}
