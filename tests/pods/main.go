// Command pod is what runs in the pods of tests: one static program that does on cue what real ones do now and then. Without arguments it
// waits, so its image is also the one that holds a pod's network.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const usage = `pod [COMMAND]
  pause            wait for a signal (what it does without a command)
  exit CODE        end at once
  sleep DURATION   end well after a while
  say WORDS...     print them
  env              print the environment
  fetch URL        print what is there; anything but 2xx is a failure, and while nobody listens it tries again
  api PATH         the same, of the API server, as the pod's own account
  hog MEBIBYTES    take memory, then wait
  serve ADDRESS [DURATION]
                   answer HTTP: / says the name of the pod, /ready answers 200 once the duration is over`

// Where Kubernetes puts the credentials of a pod's account.
const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

func main() {
	arguments := os.Args[1:]
	if len(arguments) == 0 {
		arguments = []string{"pause"}
	}
	if err := run(arguments[0], arguments[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pod:", err)
		os.Exit(1)
	}
}

func run(command string, arguments []string) error {
	first := ""
	if len(arguments) > 0 {
		first = arguments[0]
	}
	switch command {
	case "pause":
		pause()
		return nil
	case "exit":
		code, err := strconv.Atoi(first)
		if err == nil {
			os.Exit(code)
		}
		return err
	case "sleep":
		duration, err := time.ParseDuration(first)
		time.Sleep(duration)
		return err
	case "say":
		fmt.Println(strings.Join(arguments, " "))
		return nil
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
		return nil
	case "fetch":
		return fetch(http.DefaultClient, first, "")
	case "api":
		return askAPI(first)
	case "hog":
		return hog(first)
	case "serve":
		return serve(first, arguments)
	default:
		return errors.New(usage)
	}
}

// pause waits until it is told to end, and buries what others left behind: it may be the first process of a pod.
func pause() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			if buried, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); buried <= 0 || err != nil {
				break
			}
		}
	}
}

func fetch(client *http.Client, url, token string) error {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	// A service is known to everybody only some time after it has been made.
	for began := time.Now(); err != nil && time.Since(began) < 20*time.Second; response, err = client.Do(request) {
		time.Sleep(200 * time.Millisecond)
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		return err
	}
	fmt.Println()
	if response.StatusCode/100 != 2 {
		return errors.New(response.Status)
	}
	return nil
}

// askAPI finds the API server as every client in a pod does.
func askAPI(path string) error {
	token, err := os.ReadFile(account + "token")
	if err != nil {
		return err
	}
	certificate, err := os.ReadFile(account + "ca.crt")
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	client := &http.Client{
		Timeout:   20 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
	}
	server := net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	return fetch(client, "https://"+server+path, string(token))
}

func hog(mebibytes string) error {
	size, err := strconv.Atoi(mebibytes)
	if err != nil {
		return err
	}
	taken := make([]byte, size<<20)
	for at := 0; at < len(taken); at += 4096 {
		taken[at] = 1
	}
	pause()
	fmt.Println(len(taken))
	return nil
}

func serve(address string, arguments []string) error {
	var notYet time.Duration
	if len(arguments) > 1 {
		var err error
		if notYet, err = time.ParseDuration(arguments[1]); err != nil {
			return err
		}
	}
	ready := time.Now().Add(notYet)
	http.HandleFunc("/ready", func(response http.ResponseWriter, _ *http.Request) {
		if time.Now().Before(ready) {
			response.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("/", func(response http.ResponseWriter, _ *http.Request) {
		name, _ := os.Hostname()
		fmt.Fprintln(response, name)
	})
	failed := make(chan error, 1)
	go func() { failed <- http.ListenAndServe(address, nil) }()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	select {
	case err := <-failed:
		return err
	case <-stop:
		return nil
	}
}
