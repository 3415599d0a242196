   # indented comment
      // more
 /* and this */
