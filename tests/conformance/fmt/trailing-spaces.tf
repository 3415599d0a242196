locals {   
  a = 1   
   
  b = 2	
}   
  
# comment with trailing   
