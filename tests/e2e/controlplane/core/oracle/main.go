// Oracle answers budget questions with Karpenter's own code, so that a port of
// its rules has a judge. It reads one JSON question per line and writes one JSON
// answer per line:
//
//	{"budgets": [...], "nodes": 10, "at": "2026-08-24T02:00:00Z"}
//	{"budgets": [...], "nodes": 10, "at": ["...", "..."]}   (then "answers": [...])
//
// "budgets" is decoded into Karpenter's types as a NodePool's would be; leave it
// out for a NodePool without the key. It fills in no defaults: the API server does.
package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"time"

	clock "k8s.io/utils/clock/testing"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
)

type question struct {
	Budgets json.RawMessage `json:"budgets,omitempty"`
	At      json.RawMessage `json:"at"`
	Nodes   int             `json:"nodes"`
}

type allowance struct {
	Value int  `json:"value"`
	Error bool `json:"error"`
}

// answer holds, per reason, what GetAllowedDisruptionsByReason says and what the
// disruption loop uses: MustGetAllowedDisruptions, 0 after any error.
type answer struct {
	Decode  string                                   `json:"decode,omitempty"`
	Invalid string                                   `json:"invalid,omitempty"`
	Allowed map[karpenter.DisruptionReason]allowance `json:"allowed,omitempty"`
	Must    map[karpenter.DisruptionReason]int       `json:"must,omitempty"`
	Answers []answer                                 `json:"answers,omitempty"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			if err := encoder.Encode(reply(line)); err != nil {
				os.Exit(1) // nobody reads any more
			}
		}
		if err == io.EOF {
			return
		}
		if in.Buffered() == 0 { // the asker may be waiting
			out.Flush()
		}
	}
}

func reply(line []byte) answer {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return answer{Invalid: err.Error()}
	}
	times, many, err := instants(q.At)
	if err != nil {
		return answer{Invalid: err.Error()}
	}
	pool, err := decode(q.Budgets)
	if err != nil {
		return answer{Decode: err.Error()}
	}
	if !many {
		return evaluate(pool, q.Nodes, times[0])
	}
	answers := make([]answer, len(times))
	for i, at := range times {
		answers[i] = evaluate(pool, q.Nodes, at)
	}
	return answer{Answers: answers}
}

func instants(raw json.RawMessage) (times []time.Time, many bool, err error) {
	if len(raw) > 0 && raw[0] == '[' {
		return times, true, json.Unmarshal(raw, &times)
	}
	times = make([]time.Time, 1)
	return times, false, json.Unmarshal(raw, &times[0])
}

func decode(budgets json.RawMessage) (*karpenter.NodePool, error) {
	disruption := map[string]json.RawMessage{}
	if budgets != nil {
		disruption["budgets"] = budgets
	}
	object := map[string]any{"spec": map[string]any{"disruption": disruption}}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	pool := &karpenter.NodePool{}
	return pool, json.Unmarshal(raw, pool)
}

func evaluate(pool *karpenter.NodePool, nodes int, at time.Time) answer {
	now := clock.NewFakeClock(at)
	a := answer{
		Allowed: map[karpenter.DisruptionReason]allowance{},
		Must:    map[karpenter.DisruptionReason]int{},
	}
	for _, reason := range []karpenter.DisruptionReason{
		karpenter.DisruptionReasonDrifted,
		karpenter.DisruptionReasonEmpty,
		karpenter.DisruptionReasonUnderutilized,
	} {
		value, err := pool.GetAllowedDisruptionsByReason(now, nodes, reason)
		a.Allowed[reason] = allowance{Value: value, Error: err != nil}
		a.Must[reason] = pool.MustGetAllowedDisruptions(now, nodes, reason)
	}
	return a
}
