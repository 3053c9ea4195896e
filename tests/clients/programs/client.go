// GETs a URL; with a second argument, dials that address whatever the name says.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

func main() {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if len(os.Args) > 2 {
		var dialer net.Dialer
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, os.Args[2])
		}
	}
	response, err := (&http.Client{Transport: transport}).Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	io.Copy(os.Stdout, response.Body)
}
