terraform {
  cloud {}
  cloud {}
}
