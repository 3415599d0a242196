locals {
  policy = jsonencode({
    "Version": "2012-10-17",
    "Statement": [{
      "Effect": "Allow",
      "Action": ["a:*","b:Get"],
      "Resource": "*"
    }]
  })
}
