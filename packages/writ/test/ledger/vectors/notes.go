// Makes notes.json: keys, notes and checkpoints as golang.org/x/mod/sumdb/note writes them, from fixed seeds. Run once, in a module of its own:
//
//	go mod init vectors && go get golang.org/x/mod && go run notes.go > notes.json
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type key struct {
	Seed    string `json:"seed"`
	Private string `json:"private"`
	Public  string `json:"public"`
}

// make derives the key of 32 equal bytes.
func makeKey(name string, b byte) (key, note.Signer) {
	seed := bytes.Repeat([]byte{b}, 32)
	private, public, err := note.GenerateKey(bytes.NewReader(seed), name)
	check(err)
	signer, err := note.NewSigner(private)
	check(err)
	return key{fmt.Sprintf("%x", seed), private, public}, signer
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	name := "acme.example/prod"
	first, signFirst := makeKey(name, 7)
	second, signSecond := makeKey(name, 8)
	witness, signWitness := makeKey("witness.example", 9)

	// Trees of the entries "entry 0", "entry 1", …, hashed by Go's tlog.
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			out[i] = stored[index]
		}
		return out, nil
	})
	type checkpoint struct {
		Size int64  `json:"size"`
		Root string `json:"root"`
		Note string `json:"note"`
	}
	type inclusion struct {
		Size  int64    `json:"size"`
		Index int64    `json:"index"`
		Proof []string `json:"proof"`
	}
	type consistency struct {
		From  int64    `json:"from"`
		To    int64    `json:"to"`
		Proof []string `json:"proof"`
	}
	var checkpoints []checkpoint
	var inclusions []inclusion
	var consistencies []consistency
	sizes := map[int64]bool{1: true, 2: true, 3: true, 7: true, 8: true, 255: true, 256: true, 257: true, 1000: true}
	for n := int64(0); n < 1000; n++ {
		hashes, err := tlog.StoredHashes(n, []byte(fmt.Sprintf("entry %d", n)), reader)
		check(err)
		stored = append(stored, hashes...)
		if !sizes[n+1] {
			continue
		}
		root, err := tlog.TreeHash(n+1, reader)
		check(err)
		text := fmt.Sprintf("%s/_system/1\n%d\n%s\n", name, n+1, root)
		signed, err := note.Sign(&note.Note{Text: text}, signFirst, signWitness)
		check(err)
		checkpoints = append(checkpoints, checkpoint{n + 1, fmt.Sprintf("%x", root[:]), string(signed)})
		for _, index := range []int64{0, n / 2, n} {
			proof, err := tlog.ProveRecord(n+1, index, reader)
			check(err)
			inclusions = append(inclusions, inclusion{n + 1, index, texts(proof)})
		}
		for from := range sizes {
			if from <= n+1 {
				proof, err := tlog.ProveTree(n+1, from, reader)
				check(err)
				consistencies = append(consistencies, consistency{from, n + 1, texts(proof)})
			}
		}
	}
	both, err := note.Sign(&note.Note{Text: "two keys\n\nan empty line is part of the text\n"}, signFirst, signSecond)
	check(err)
	paths := map[string]string{}
	for _, tile := range []tlog.Tile{{H: 8, L: 0, N: 0, W: 256}, {H: 8, L: 0, N: 1234067, W: 256}, {H: 8, L: 2, N: 1000, W: 17}, {H: 8, L: 1, N: 999, W: 1}} {
		paths[fmt.Sprintf("%d %d %d", tile.L, tile.N, tile.W)] = tile.Path()
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	check(encoder.Encode(map[string]any{
		"first": first, "second": second, "witness": witness,
		"checkpoints": checkpoints, "inclusions": inclusions, "consistencies": consistencies, "both": string(both), "paths": paths,
	}))
}

func texts[T ~[]tlog.Hash](proof T) []string {
	out := []string{}
	for _, hash := range proof {
		out = append(out, hash.String())
	}
	return out
}
