terraform {
  encryption {
    state {
      method = method.aes_gcm.nope
    }
  }
}
