#!/usr/bin/env bash
# The main job, offline: a command sealed in the lab reaches the allowed host and nothing else.
#
#   lab/demo.sh path/to/closedbook
#
# Exits 1 if the allowed host does not answer, or if any way out is not refused.
set -u

allowed=api.anthropic.com
# An address of the lab at which everything answers that is not refused on the way: shown by the control run.
elsewhere=198.51.100.7

# --- what runs sealed ------------------------------------------------------------------------------------------------

# try EXPECTED WHAT COMMAND...: runs the command for at most 8 seconds and says how it ended.
try() {
  local expected=$1 what=$2 said code
  shift 2
  said=$(timeout 8 bash -c '"$@"' try "$@" 2>&1)
  code=$?
  said=$(printf '%s' "$said" | head -n 1 | tr -d '\r' | cut -c1-86)
  case "$code:$expected" in
    0:allowed) verdict=answered ;;
    0:refused) verdict=LEAK ;;
    124:*) verdict=HANGS ;;
    *:refused) verdict=refused ;;
    *:allowed) verdict=DEAD ;;
  esac
  printf '  %-9s %-46s %s\n' "$verdict" "$what" "$said"
  case "$verdict" in answered | refused) ;; *) wrong=$((wrong + 1)) ;; esac
}

get() { curl -sS --fail --max-time 6 -o /dev/null -w '%{http_code} over HTTP/%{http_version}\n' "$@"; }

# A datagram that is refused fails on the second write at the latest, when the kernel's answer has come.
datagram() { exec 3<>"/dev/udp/$1/$2" && printf x >&3 && read -r -t 1 -n 1 -u 3; }

stream() { exec 3<>"/dev/tcp/$1/$2" && printf '%b' "$3" >&3 && head -c 1 <&3 | grep -q .; }

# Any HTTP answer but a refusal counts as one.
raw_http() { exec 3<>"/dev/tcp/$1/80" && printf '%b' "$2" >&3 && head -n 1 <&3 | tee /dev/stderr | grep -q ' [23]..'; }

# getent says nothing when it finds nothing.
lookup() { getent ahostsv4 "$1" || { echo "$1: no such name"; return 2; }; }

export -f lookup get datagram stream raw_http

inside() {
  wrong=0
  try allowed "https://$allowed/" get "https://$allowed/"
  try allowed "http://$allowed/" get "http://$allowed/"
  try allowed "the same at a wrong address: sent to the right" get --resolve "$allowed:443:$elsewhere" "https://$allowed/"
  try refused "https://example.com/" get https://example.com/
  try refused "example.com by its address" get -k --resolve "example.com:443:$elsewhere" https://example.com/
  try refused "https://$elsewhere/, without a name" get -k "https://$elsewhere/"
  try refused "http://$elsewhere/ with another Host" get -H 'Host: example.com' "http://$elsewhere/"
  try refused "two Host fields" bash -c "raw_http $elsewhere 'GET / HTTP/1.1\r\nHost: $allowed\r\nHost: example.com\r\n\r\n'"
  try refused "CONNECT through port 80" bash -c "raw_http $elsewhere 'CONNECT example.com:443 HTTP/1.1\r\nHost: $allowed\r\n\r\n'"
  try refused "HTTP/2 without TLS" bash -c "raw_http $elsewhere 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'"
  try refused "$allowed on another port" get "https://$allowed:8443/"
  try refused "ssh" bash -c "stream $elsewhere 22 ''"
  try refused "anything at all on port 443" bash -c "stream $elsewhere 443 'hello\n'"
  try refused "DNS for another name" lookup nonce.leak.test
  try refused "QUIC (UDP 443)" bash -c "datagram $elsewhere 443"
  try refused "NTP (UDP 123)" bash -c "datagram $elsewhere 123"
  try refused "IPv6" get -k 'https://[2001:db8::7]/'
  try refused "the cloud's metadata service" get http://169.254.169.254/
  try refused "the proxy's own port" get -k https://127.0.0.1:12345/
  return $((wrong > 0))
}

# --- the demonstration -----------------------------------------------------------------------------------------------

if [ "${1:-}" = inside ]; then
  inside
  exit
fi

closedbook=${1:?usage: lab/demo.sh PATH-TO-CLOSEDBOOK}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo
echo "  closedbook run --lab --allow $allowed -- ..."
echo
"$closedbook" run --lab --quiet --allow "$allowed" --log "$log" -- bash "$0" inside
code=$?
echo
echo "  $(wc -l <"$log") attempts recorded; refusals by reason:"
sed -n 's/.*"verdict":"deny".*"reason":"\([a-z-]*\)".*/    \1/p' "$log" | sort | uniq -c | sort -rn
echo
if [ "$code" = 0 ]; then
  echo "  The allowed host answered; everything else was refused. Nothing left this machine."
else
  echo "  Something is wrong: see above." >&2
fi
exit "$code"
