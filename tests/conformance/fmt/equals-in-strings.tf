locals {
  a = "b=c"
  ddd="e = f"
}
