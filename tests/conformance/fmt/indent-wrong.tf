      resource "terraform_data"   "x"   {
  input = [
        1,
   2,
              3
 ]
           lifecycle {
      create_before_destroy = true
  }
 }
