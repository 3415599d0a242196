locals {
  a = (x # cond
    ? y # yes
    : z # no
  )
}
