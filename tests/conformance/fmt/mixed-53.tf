resource "terraform_data" "a" {
  dynamic "nope" {
    for_each = [1]
    content {}
  }
}

/*
 * Banner
   * odd indent
 */
locals {
    /* indented
    block
       comment */
  a = 1
  /* one */ b = 2
  c = 3 /*
 trailing
  over lines */
  d = 4
}
