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
  c = 3 /* trailing
  over lines */
  d = 4
}
