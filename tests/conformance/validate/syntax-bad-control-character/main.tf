locals {
  a = 1	
  b = $
}
