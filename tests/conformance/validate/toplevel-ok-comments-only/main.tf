# nothing
// here
/* at
   all */
