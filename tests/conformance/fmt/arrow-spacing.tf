locals {
  a = {for x in y:x=>x}
  b = {for x in y:x =>x}
  c = {for x in y:"${x}"=>"${x}"}
}
