// Receives events of Earshot: checks the signature, answers immediately, and handles each event once.
//
//	EARSHOT_SIGNING_SECRET=whsec_... PORT=9000 go run receiver.go
//
// Needs only Go 1.19 or newer.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	toleranceSeconds = 300
	largestBody      = 1 << 20
	rememberedIDs    = 10_000
)

// Event has two of the keys that every event has. An item is in the key of its source: tweet, post, item, …
type Event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// handled stores the ids of events, because an event can arrive more than once. Several processes need a
// database table instead.
var handled = struct {
	sync.Mutex
	ids   map[string]bool
	order []string
}{ids: map[string]bool{}}

// isGenuine reports whether X-Signature (t=<seconds>,v1=<hex>; two v1 parts during a rotation) is valid for this body.
func isGenuine(header string, body []byte, secret string, now time.Time) bool {
	var timestamp string
	var signatures []string
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			timestamp = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(now.Unix()-seconds)) > toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	genuine := false
	for _, signature := range signatures {
		given, err := hex.DecodeString(signature)
		if err == nil && hmac.Equal(expected, given) {
			genuine = true
		}
	}
	return genuine
}

func isNew(id string) bool {
	handled.Lock()
	defer handled.Unlock()
	if handled.ids[id] {
		return false
	}
	handled.ids[id] = true
	handled.order = append(handled.order, id)
	if len(handled.order) > rememberedIDs {
		delete(handled.ids, handled.order[0])
		handled.order = handled.order[1:]
	}
	return true
}

func main() {
	secret, port := os.Getenv("EARSHOT_SIGNING_SECRET"), os.Getenv("PORT")
	if secret == "" {
		log.Fatal("EARSHOT_SIGNING_SECRET is missing")
	}
	if port == "" {
		port = "9000"
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestBody))
		if err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		var event Event
		if !isGenuine(r.Header.Get("X-Signature"), body, secret, time.Now()) || json.Unmarshal(body, &event) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		// Without this call, the answer would be sent only after the event has been handled.
		w.(http.Flusher).Flush()
		if isNew(event.ID) {
			fmt.Println(event.Type, event.ID)
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on " + port)
	log.Fatal(http.Serve(listener, nil))
}
