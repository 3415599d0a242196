// Package cue reads what a configuration, or the environment, asks of a fixture: `cues = { create_delay = "2s" }`.
package cue

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Cues are the cues of one object.
type Cues map[string]string

// Of merges the cues of an object with FIXTURE_CUES (`name=value;name=value`), which hold for all objects. What the
// configuration says wins.
func Of(own map[string]string) Cues {
	all := Cues{}
	for _, entry := range strings.Split(os.Getenv("FIXTURE_CUES"), ";") {
		if name, value, found := strings.Cut(strings.TrimSpace(entry), "="); found {
			all[name] = value
		}
	}
	for name, value := range own {
		all[name] = value
	}
	return all
}

// On is true if the cue is set to anything but "" and "false".
func (c Cues) On(name string) bool {
	return c[name] != "" && c[name] != "false"
}

// Number is a cue as a number; 0 if it is none.
func (c Cues) Number(name string) int {
	number, _ := strconv.Atoi(c[name])
	return number
}

// Begin plays what a step (create, read, update, delete, plan, open, ...) begins with: `<step>_delay`, and `exit`,
// `panic` or `hang` if they name the step. A delay ends early, with an error, if the call is cancelled.
func (c Cues) Begin(ctx context.Context, step string) error {
	switch step {
	case c["exit"]:
		fmt.Fprintln(os.Stderr, "exit on cue in", step)
		os.Exit(1)
	case c["panic"]:
		panic("panic on cue in " + step)
	case c["hang"]:
		select {}
	}
	text := c[step+"_delay"]
	if text == "" {
		return nil
	}
	delay, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("cue %s_delay: %w", step, err)
	}
	select {
	case <-time.After(delay):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s was cancelled: %w", step, ctx.Err())
	}
}
