//! Encrypted states, against OpenTofu itself: each reads what the other wrote. `cargo xtask test` says where it is
//! (`GROMA_TOFU`).

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use groma_state::encryption::{AesGcm, Envelope, HashFunction, Key, NONCE, Passphrase, PassphraseMeta};
use groma_state::{Layout, State, decode, encode};

const PASSPHRASE: &str = "correct horse battery staple";
const PROVIDER: &str = "key_provider.pbkdf2.mine";

/// A configuration with an encrypted state, and an output that a variable gives.
fn config(provider: &str, method: &str) -> String {
    format!(
        r#"
terraform {{
  encryption {{
    key_provider "pbkdf2" "mine" {{
      passphrase = "{PASSPHRASE}"
      {provider}
    }}
    method "aes_gcm" "mine" {{
      keys = key_provider.pbkdf2.mine
      {method}
    }}
    state {{
      method   = method.aes_gcm.mine
      enforced = true
    }}
  }}
}}
variable "a" {{
  default = "of OpenTofu"
}}
output "a" {{
  value = var.a
}}
"#
    )
}

struct Tofu {
    dir: tempfile::TempDir,
}

impl Tofu {
    fn new(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("main.tf"), config).unwrap();
        Self { dir }
    }

    fn run(&self, arguments: &[&str]) -> String {
        #[expect(clippy::disallowed_methods, reason = "the environment says where the peers are")]
        let program = std::env::var_os("GROMA_TOFU").expect("GROMA_TOFU is not set: use `cargo xtask test`");
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.dir.path()).env("TF_CLI_CONFIG_FILE", "/dev/null");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        said
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("terraform.tfstate")
    }

    fn envelope(&self) -> Envelope {
        Envelope::decode(&fs::read(self.path()).unwrap()).unwrap().expect("it is encrypted")
    }
}

fn output(state: &State) -> String {
    format!("{:?}", state.outputs["a"].value)
}

fn opened(envelope: &Envelope, method: &AesGcm) -> Option<State> {
    let state = decode(&String::from_utf8(method.decrypt(&envelope.data).ok()?).unwrap()).unwrap();
    envelope.check_stamp(state.serial, &state.lineage).unwrap();
    Some(state)
}

/// OpenTofu writes, we read, write, and OpenTofu reads and writes again.
fn there_and_back(tofu: &Tofu, passphrase: &Passphrase, aad: &[u8], expected: &PassphraseMeta) {
    tofu.run(&["init"]);
    tofu.run(&["apply", "-auto-approve"]);
    let envelope = tofu.envelope();
    let meta = PassphraseMeta::decode(&envelope.meta[PROVIDER]).unwrap();
    assert_eq!(PassphraseMeta { salt: expected.salt.clone(), ..meta.clone() }, *expected);
    assert_eq!(meta.encode(), envelope.meta[PROVIDER]);
    let method = AesGcm::new(passphrase.key(&meta), aad.to_vec()).unwrap();
    let mut state = opened(&envelope, &method).unwrap();
    assert!(output(&state).contains("of OpenTofu"));
    assert_eq!(envelope.serial, Some(state.serial));
    // The layout is its own too.
    assert_eq!(envelope.encode(Layout::Indented).trim_end(), fs::read_to_string(tofu.path()).unwrap().trim_end());

    state.serial += 1;
    let ours = groma_model::value::Value::string("of groma");
    state.outputs.values_mut().for_each(|output| output.value = ours.clone());
    let meta = passphrase.new_meta(&mut |salt| salt.fill(42)).unwrap();
    let method = AesGcm::new(passphrase.key(&meta), aad.to_vec()).unwrap();
    let text = encode(&state, Layout::Indented).unwrap();
    let meta = BTreeMap::from([(PROVIDER.to_owned(), meta.encode())]);
    let data = method.encrypt(text.as_bytes(), [3; NONCE]).unwrap();
    let sealed = Envelope { serial: Some(state.serial), lineage: Some(state.lineage.clone()), meta, data };
    fs::write(tofu.path(), sealed.encode(Layout::Indented)).unwrap();
    assert!(tofu.run(&["output", "-no-color"]).contains("of groma"));
    tofu.run(&["apply", "-auto-approve", "-var", "a=again"]);
    let again = tofu.envelope();
    assert_eq!(again.serial, Some(state.serial + 1));
    let meta = PassphraseMeta::decode(&again.meta[PROVIDER]).unwrap();
    let method = AesGcm::new(passphrase.key(&meta), aad.to_vec()).unwrap();
    assert!(output(&opened(&again, &method).unwrap()).contains("again"));
    let wrong = AesGcm::new(Key::new(vec![0; 32]), aad.to_vec()).unwrap();
    assert!(opened(&again, &wrong).is_none());
}

#[test]
fn each_reads_what_the_other_encrypts() {
    let passphrase = Passphrase::new(PASSPHRASE).unwrap();
    let expected = passphrase.new_meta(&mut |_| ()).unwrap();
    there_and_back(&Tofu::new(&config("", "")), &passphrase, b"", &expected);
}

#[test]
fn also_with_everything_set() {
    let mut passphrase = Passphrase::new(PASSPHRASE).unwrap();
    (passphrase.key_length, passphrase.iterations) = (24, 200_000);
    (passphrase.salt_length, passphrase.hash) = (20, HashFunction::Sha256);
    let provider = "key_length = 24\n iterations = 200000\n salt_length = 20\n hash_function = \"sha256\"";
    let tofu = Tofu::new(&config(provider, "aad = [103, 114, 111, 109, 97]"));
    let expected = passphrase.new_meta(&mut |_| ()).unwrap();
    there_and_back(&tofu, &passphrase, b"groma", &expected);
}
