// Package fault makes a provider misbehave on demand, at any call, without the provider knowing. It sits between gRPC
// and the provider as an interceptor, so that it reaches every call of both protocols.
package fault

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// When tells at which moment of a call a fault strikes.
type When string

const (
	// Before the provider has seen the request.
	Before When = "before"
	// During: the work is done and the response headers are out, but not the answer.
	During When = "during"
	// After the answer is out; faults that change the answer change the real one.
	After When = "after"
)

// Start is the pseudo call that stands for the handshake.
const Start = "Start"

// Rule is one entry of FIXTURE_FAULT: `Rpc[type]#N:when:what[=value]`, type and N being optional.
type Rule struct {
	Rpc   string
	Type  string
	Nth   int
	When  When
	What  string
	Value string
}

// Parse reads a comma separated list of rules.
func Parse(text string) ([]Rule, error) {
	var rules []Rule
	for _, entry := range strings.Split(text, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		rule, err := parseRule(entry)
		if err != nil {
			return nil, fmt.Errorf("FIXTURE_FAULT: %q: %w", entry, err)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func parseRule(entry string) (Rule, error) {
	parts := strings.SplitN(entry, ":", 3)
	if len(parts) != 3 {
		return Rule{}, fmt.Errorf("want Rpc:when:what")
	}
	rule := Rule{Rpc: parts[0], When: When(parts[1])}
	if name, nth, found := strings.Cut(rule.Rpc, "#"); found {
		number, err := strconv.Atoi(nth)
		if err != nil || number < 1 {
			return Rule{}, fmt.Errorf("%q is not the number of a call", nth)
		}
		rule.Rpc, rule.Nth = name, number
	}
	if name, rest, found := strings.Cut(rule.Rpc, "["); found {
		rule.Rpc, rule.Type = name, strings.TrimSuffix(rest, "]")
	}
	if rule.When != Before && rule.When != During && rule.When != After {
		return Rule{}, fmt.Errorf("%q is not before, during or after", parts[1])
	}
	rule.What, rule.Value, _ = strings.Cut(parts[2], "=")
	if rule.What == "sleep" {
		if _, err := time.ParseDuration(rule.Value); err != nil {
			return Rule{}, err
		}
	}
	return rule, nil
}

// duration is the value of a sleep, checked by Parse.
func (r Rule) duration() time.Duration {
	duration, _ := time.ParseDuration(r.Value)
	return duration
}

// String is the rule as it appears in messages of the fixture.
func (r Rule) String() string {
	return fmt.Sprintf("fixture fault %s:%s:%s", r.Rpc, r.When, r.What)
}

// book knows the rules and how often each call came.
type book struct {
	mu    sync.Mutex
	calls map[string]int
}

// rules are read anew for each call: FIXTURE_FAULT_FILE may be rewritten while the provider runs.
func rules() []Rule {
	text := os.Getenv("FIXTURE_FAULT")
	if path := os.Getenv("FIXTURE_FAULT_FILE"); path != "" {
		if content, err := os.ReadFile(path); err == nil {
			text += "," + strings.Join(strings.Fields(string(content)), ",")
		}
	}
	list, err := Parse(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	return list
}

// count notes a call and returns which one it is, from 1, among those of its name and of its name and type.
func (b *book) count(rpc, kind string) (int, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls[rpc]++
	b.calls[rpc+"["+kind+"]"]++
	return b.calls[rpc], b.calls[rpc+"["+kind+"]"]
}

// find returns the rule for this call, if there is one that has not had its only chance.
func (b *book) find(rpc, kind string) (Rule, bool) {
	nth, nthOfKind := b.count(rpc, kind)
	for _, rule := range rules() {
		if rule.Rpc != rpc && rule.Rpc != "*" || rule.Type != "" && rule.Type != kind {
			continue
		}
		number := nth
		if rule.Type != "" {
			number = nthOfKind
		}
		if rule.Nth != 0 && rule.Nth != number || !chance() {
			continue
		}
		return rule, true
	}
	return Rule{}, false
}

// chance is false if FIXTURE_FAULT_ONCE names a file that exists; it is created by the first fault, so that a test can
// let the second attempt, in another process, succeed.
func chance() bool {
	path := os.Getenv("FIXTURE_FAULT_ONCE")
	if path == "" {
		return true
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	file.Close()
	return true
}

// AtStart returns the rule for the handshake.
func AtStart() (Rule, bool) {
	return (&book{calls: map[string]int{}}).find(Start, "")
}
