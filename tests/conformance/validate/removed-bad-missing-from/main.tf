removed {}
