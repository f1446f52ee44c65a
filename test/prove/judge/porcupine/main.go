// Asks Porcupine which histories have a legal order: histories as JSON on standard input, a verdict each on standard
// output. test/prove/judge/history.ts describes their form.
package main

import (
	"encoding/json"
	"maps"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

type outcome struct {
	When map[string][2]int64
	Set  map[string]int64
	Add  map[string]int64
}

type operation struct {
	Call, Return int64
	Outcomes     []outcome
}

type history struct {
	Start      map[string]int64
	Operations []operation
}

type state = map[string]int64

// The state after an outcome; nil where one of its conditions does not hold.
func (o outcome) after(before state) state {
	for name, bounds := range o.When {
		if before[name] < bounds[0] || before[name] > bounds[1] {
			return nil
		}
	}
	after := maps.Clone(before)
	maps.Copy(after, o.Set)
	for name, amount := range o.Add {
		after[name] += amount
	}
	maps.DeleteFunc(after, func(_ string, value int64) bool { return value == 0 })
	return after
}

func (h history) model() porcupine.Model {
	nondeterministic := porcupine.NondeterministicModel{
		Init: func() []any { return []any{state(h.Start)} },
		Step: func(before, input, _ any) (found []any) {
			for _, o := range input.(operation).Outcomes {
				if after := o.after(before.(state)); after != nil {
					found = append(found, after)
				}
			}
			return found
		},
		Equal: func(a, b any) bool { return maps.Equal(a.(state), b.(state)) },
	}
	return nondeterministic.ToModel()
}

func (h history) verdict(limit time.Duration) string {
	operations := []porcupine.Operation{}
	for _, o := range h.Operations {
		operations = append(operations, porcupine.Operation{Input: o, Call: o.Call, Return: o.Return})
	}
	verdicts := map[porcupine.CheckResult]string{porcupine.Ok: "accepted", porcupine.Illegal: "refused"}
	if verdict, decided := verdicts[porcupine.CheckOperationsTimeout(h.model(), operations, limit)]; decided {
		return verdict
	}
	return "undecided"
}

func main() {
	var input struct {
		LimitMs   int64
		Histories []history
	}
	if err := json.NewDecoder(os.Stdin).Decode(&input); err != nil {
		panic(err)
	}
	limit := time.Duration(input.LimitMs) * time.Millisecond
	verdicts := []string{}
	for _, h := range input.Histories {
		verdicts = append(verdicts, h.verdict(limit))
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		panic(err)
	}
}
