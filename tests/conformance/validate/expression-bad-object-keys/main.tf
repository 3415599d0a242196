locals {
  a = { (null) = 1 }
  b = { ([]) = 1 }
}
