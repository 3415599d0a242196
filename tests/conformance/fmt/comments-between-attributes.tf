locals {
  a = 1

  # about bbb
  bbb = 2
  # about c

  c = 3
  /* about dddd */
  dddd = 4
}
