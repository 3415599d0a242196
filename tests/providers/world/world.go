// Package world is what the fixtures manage: objects that are JSON files in a folder, which outlive the process and can
// be edited to make drift. Without a folder there is no world, and the fixtures believe what a state says.
package world

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// World is a folder, or nothing.
type World struct {
	dir string
}

// Object is one thing in the world.
type Object struct {
	ID         string         `json:"id"`
	Type       string         `json:"type"`
	Reads      int            `json:"reads"`
	ReadyAfter int            `json:"ready_after"`
	Attributes map[string]any `json:"attributes"`
}

// Open takes the folder that the provider's configuration names, else FIXTURE_WORLD.
func Open(dir string) World {
	if dir == "" {
		dir = os.Getenv("FIXTURE_WORLD")
	}
	return World{dir: dir}
}

// Exists is false if there is no world.
func (w World) Exists() bool { return w.dir != "" }

// NewID is an identifier that no object has.
func NewID() string {
	bytes := make([]byte, 6)
	_, _ = rand.Read(bytes)
	return hex.EncodeToString(bytes)
}

// Status is "pending" until the object was read often enough.
func (o Object) Status() string {
	if o.Reads >= o.ReadyAfter {
		return "available"
	}
	return "pending"
}

// Put writes an object, whole or not at all.
func (w World) Put(object Object) error {
	if !w.Exists() {
		return nil
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return err
	}
	text, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		return err
	}
	unfinished := w.path(object.Type, object.ID) + "." + NewID() + ".tmp"
	if err := os.WriteFile(unfinished, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(unfinished, w.path(object.Type, object.ID))
}

// Get reads an object; false if it is gone.
func (w World) Get(kind, id string) (Object, bool, error) {
	var object Object
	text, err := os.ReadFile(w.path(kind, id))
	if errors.Is(err, fs.ErrNotExist) {
		return object, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &object)
	}
	return object, err == nil, err
}

// Look is Get that counts as a reading, for readiness.
func (w World) Look(kind, id string) (Object, bool, error) {
	object, found, err := w.Get(kind, id)
	if err != nil || !found {
		return object, found, err
	}
	object.Reads++
	return object, true, w.Put(object)
}

// Remove deletes an object; one that is gone is no error.
func (w World) Remove(kind, id string) error {
	if !w.Exists() {
		return nil
	}
	if err := os.Remove(w.path(kind, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// List is every object of a type, by identifier.
func (w World) List(kind string) ([]Object, error) {
	if !w.Exists() {
		return nil, nil
	}
	paths, err := filepath.Glob(filepath.Join(w.dir, kind+".*.json"))
	if err != nil {
		return nil, err
	}
	sort.Strings(paths)
	var objects []Object
	for _, path := range paths {
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), kind+"."), ".json")
		object, found, err := w.Get(kind, id)
		if err != nil {
			return nil, err
		}
		if found {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

func (w World) path(kind, id string) string {
	return filepath.Join(w.dir, kind+"."+filepath.Base(id)+".json")
}
