locals {
	a = 1
		b = 2
	 	c = [
			1,
	]
  d	=	4	# trailing	
}
